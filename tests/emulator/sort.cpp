/* sort.cpp: the kernels of a radix sort (operators/sort/radix_sort_cuda.h), whose parts of CUB g++ does not compile: one
 * thread does what they do together. */
#include "tests/emulator/warp.h"

#include "operators/sort/radix_sort.h"

static uint32_t digit_of(uint64_t key, uint32_t first_bit, uint32_t bits)
{
    return (uint32_t)(key >> first_bit) & ((1u << bits) - 1);
}

template <class KEY> static void run_histogram(void **parameters)
{
    uint32_t *const bins = *(uint32_t **)parameters[0];
    const KEY *const keys = *(const KEY **)parameters[1];
    const uint32_t count = *(uint32_t *)parameters[2], first_bit = *(uint32_t *)parameters[3],
                   bits = *(uint32_t *)parameters[4];
    if (blockIdx.x || threadIdx.x)
        return;
    for (uint32_t bit = first_bit, first = 0; bit < bits; bit += RADIX_SORT_BITS, first += RADIX_SORT_DIGITS)
        for (uint32_t i = 0; i < count; i++)
            bins[first +
                 digit_of(keys[i], bit, bits - bit < RADIX_SORT_BITS ? bits - bit : RADIX_SORT_BITS)]++;
}

static void run_starts(void **parameters)
{
    uint32_t *const bins = *(uint32_t **)parameters[0] + blockIdx.x * RADIX_SORT_DIGITS, start = 0;
    for (uint32_t digit = 0; threadIdx.x == 0 && digit < RADIX_SORT_DIGITS; digit++) {
        const uint32_t count = bins[digit];
        bins[digit] = start;
        start += count;
    }
}

template <class KEY> static void run_pass(void **parameters)
{
    const radix_sort_pass pass = *(radix_sort_pass *)parameters[0];
    uint32_t places[RADIX_SORT_DIGITS];
    if (blockIdx.x || threadIdx.x)
        return;
    memcpy(places, (const void *)pass.bins, sizeof places);
    for (int32_t i = 0; i < pass.count; i++) {
        const KEY key = ((const KEY *)pass.keys)[i];
        const uint32_t to = places[digit_of(key, pass.first_bit, pass.bits)]++;
        ((KEY *)pass.keys_out)[to] = key;
        if (pass.values)
            ((uint64_t *)pass.values_out)[to] = ((const uint64_t *)pass.values)[i];
    }
}

extern emulated_module emulated_of_radix_sort;
emulated_module emulated_of_radix_sort = {
    "radix_sort",
    nullptr,
    0,
    {{"radix_sort_histogram", run_histogram<uint64_t>, 5, {8, 8, 4, 4, 4}},
     {"radix_sort_histogram_narrow", run_histogram<uint32_t>, 5, {8, 8, 4, 4, 4}},
     {"radix_sort_starts", run_starts, 1, {8}},
     {"radix_sort_pass_pairs", run_pass<uint64_t>, 1, {sizeof(radix_sort_pass)}},
     {"radix_sort_pass_keys", run_pass<uint64_t>, 1, {sizeof(radix_sort_pass)}},
     {"radix_sort_pass_narrow", run_pass<uint32_t>, 1, {sizeof(radix_sort_pass)}}}};
