/*
 * test_cuda_radix_sort.c: pairs, and keys alone of 64 and 32 bits, sorted on a GPU (engine/gpu/sort/radix_sort.h) are those of a
 * stable sort on the host, bit by bit: 0 to 100,003 pairs, around the sizes of tiles, by 1 to 64 bits and by bits in the middle, keys
 * all alike, of few values, ascending, random. On the emulated GPU of tests/emulator the sort itself is another one, and what launches it is tested. Prints what a sort of
 * 2^27 pairs takes if TESSERA_TEST_TIMES is set. Skipped without a GPU, unless TESSERA_REQUIRE_GPU is set.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/gpu/memory/modules.h"
#include "engine/gpu/sort/radix_sort.h"
#include "tests/support/not_run.h"
#include "tests/fuzz/fuzz_random.h"
#include "tests/support/database_cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct cuda *cuda;
static struct cuda_modules *modules;
static struct cuda_radix_sort sort;

struct pair {
    uint64_t key, value;
};

static uint64_t mask; /* of the bits that are sorted by */

static int compare(const void *left, const void *right)
{
    const struct pair *const a = left, *const b = right;
    const uint64_t x = a->key & mask, y = b->key & mask;
    return x != y ? (x > y) - (x < y) : (a->value > b->value) - (a->value < b->value);
}

enum shape { RANDOM, ALIKE, FEW, ASCENDING, SHAPES };

static uint64_t key_of(enum shape shape, uint64_t i)
{
    const uint64_t any = (uint64_t)below(UINT32_MAX) << 32 | below(UINT32_MAX);
    return shape == RANDOM ? any : shape == ALIKE ? 7 : shape == FEW ? below(3) * (UINT64_MAX / 3) : i;
}

/* The pairs on the device, with room for as many again, and scratch memory; returns the scratch memory's address. */
static cuda_address take(uint64_t count, cuda_address *all, struct cuda_pairs *pairs)
{
    const uint64_t column = (count * 8 + 255) / 256 * 256;
    must(cuda_allocate(cuda, 4 * column + cuda_radix_sort_scratch(count), "pairs", all, error));
    *pairs = (struct cuda_pairs){.keys = *all,
                                 .values = *all + column,
                                 .other_keys = *all + 2 * column,
                                 .other_values = *all + 3 * column};
    return *all + 4 * column;
}

/* Keys alone are told apart by the other bits, as pairs are by their values. */
static void check(enum shape shape, uint64_t count, uint32_t first_bit, uint32_t bits, bool keys_alone)
{
    struct pair *const right = calloc(count + 1, sizeof *right);
    uint64_t *const keys = calloc(count + 1, 8), *const values = calloc(count + 1, 8);
    struct cuda_pairs pairs;
    cuda_address all;
    mask = (bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1) >> first_bit << first_bit;
    for (uint64_t i = 0; i < count; i++) {
        right[i] = (struct pair){keys[i] = key_of(shape, i), values[i] = i};
    }
    qsort(right, count, sizeof *right, compare);
    const cuda_address scratch = take(count, &all, &pairs);
    must(cuda_copy_to_device(cuda, pairs.keys, keys, count * 8, error));
    must(cuda_copy_to_device(cuda, pairs.values, values, count * 8, error));
    const cuda_address kept = pairs.values;
    if (keys_alone)
        pairs.values = pairs.other_values = 0;
    must(cuda_radix_sort(cuda, &sort, &pairs, count, first_bit, bits, scratch, error));
    must(cuda_copy_to_host(cuda, keys, pairs.keys, count * 8, error));
    must(cuda_copy_to_host(cuda, values, keys_alone ? kept : pairs.values, count * 8, error));
    must(cuda_synchronize(cuda, error));
    for (uint64_t i = 0; i < count; i++)
        if (keys[i] != right[i].key || values[i] != (keys_alone ? i : right[i].value))
            fail_msg("shape %u, %llu pairs, bits %u to %u: place %llu has %llx of pair %llu", shape,
                     (unsigned long long)count, first_bit, bits, (unsigned long long)i,
                     (unsigned long long)keys[i], (unsigned long long)values[i]);
    cuda_free(cuda, all);
    free(right);
    free(keys);
    free(values);
}

static void check_narrow(enum shape shape, uint64_t count, uint32_t first_bit, uint32_t bits)
{
    struct pair *const right = calloc(count + 1, sizeof *right);
    uint32_t *const keys = calloc(count + 1, sizeof *keys);
    struct cuda_pairs pairs;
    cuda_address all;
    mask = ((UINT64_C(1) << bits) - 1) >> first_bit << first_bit;
    for (uint64_t i = 0; i < count; i++)
        right[i] = (struct pair){keys[i] = (uint32_t)key_of(shape, i), i};
    qsort(right, count, sizeof *right, compare);
    const cuda_address scratch = take(count, &all, &pairs);
    pairs = (struct cuda_pairs){.keys = pairs.keys, .other_keys = pairs.other_keys, .narrow = true};
    must(cuda_copy_to_device(cuda, pairs.keys, keys, count * sizeof *keys, error));
    must(cuda_radix_sort(cuda, &sort, &pairs, count, first_bit, bits, scratch, error));
    must(cuda_copy_to_host(cuda, keys, pairs.keys, count * sizeof *keys, error));
    must(cuda_synchronize(cuda, error));
    for (uint64_t i = 0; i < count; i++)
        if (keys[i] != right[i].key)
            fail_msg("shape %u, %llu narrow keys, bits %u to %u: place %llu has %x", shape,
                     (unsigned long long)count, first_bit, bits, (unsigned long long)i, keys[i]);
    cuda_free(cuda, all);
    free(right);
    free(keys);
}

static void narrow_keys_are_in_order(void **state)
{
    static const uint64_t counts[] = {
        0,     1, 31, 1025, RADIX_SORT_NARROW_ITEMS - 1, RADIX_SORT_NARROW_ITEMS, RADIX_SORT_NARROW_ITEMS + 1,
        100003};
    static const uint32_t bits[][2] = {{0, 1}, {0, 8}, {0, 17}, {0, 32}, {6, 25}, {5, 5}, {31, 32}};
    (void)state;
    need_gpu(cuda);
    random_state = 20261128;
    for (enum shape shape = 0; shape < SHAPES; shape++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (size_t b = 0; b < sizeof bits / sizeof *bits; b++)
                check_narrow(shape, counts[c], bits[b][0], bits[b][1]);
}

static void pairs_are_in_order(void **state)
{
    static const uint64_t counts[] = {0,
                                      1,
                                      2,
                                      31,
                                      1000,
                                      RADIX_SORT_ITEMS - 1,
                                      RADIX_SORT_ITEMS,
                                      RADIX_SORT_ITEMS + 1,
                                      2 * RADIX_SORT_ITEMS + 17,
                                      100003};
    static const uint32_t bits[][2] = {{0, 1},  {0, 7},  {0, 8},   {0, 9}, {0, 16}, {0, 33},
                                       {0, 40}, {0, 64}, {27, 47}, {5, 5}, {3, 4},  {30, 64}};
    (void)state;
    need_gpu(cuda);
    random_state = 20261124;
    for (enum shape shape = 0; shape < SHAPES; shape++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (size_t b = 0; b < sizeof bits / sizeof *bits; b++)
                for (int keys_alone = 0; keys_alone < 2; keys_alone++)
                    check(shape, counts[c], bits[b][0], bits[b][1], keys_alone);
}

static void sort_is_timed(void **state)
{
    const uint64_t count = UINT64_C(1) << 27;
    struct cuda_event *begin, *end;
    struct cuda_pairs pairs;
    cuda_address all;
    double ms;
    (void)state;
    need_gpu(cuda);
    if (!getenv("TESSERA_TEST_TIMES"))
        not_run("the sort is timed where TESSERA_TEST_TIMES is set");
    uint64_t *const keys = malloc(count * 8);
    assert_non_null(keys);
    for (uint64_t i = 0; i < count; i++)
        keys[i] = i * UINT64_C(0x9e3779b97f4a7c15) >> 24;
    const cuda_address scratch = take(count, &all, &pairs);
    must(cuda_event_create(cuda, &begin, error));
    must(cuda_event_create(cuda, &end, error));
    for (int round = 0; round < 3; round++) {
        must(cuda_upload(cuda, pairs.keys, keys, count * 8, error));
        must(cuda_event_record(cuda, begin, error));
        must(cuda_radix_sort(cuda, &sort, &pairs, count, 0, 40, scratch, error));
        must(cuda_event_record(cuda, end, error));
        must(cuda_synchronize(cuda, error));
        must(cuda_event_elapsed(cuda, begin, end, &ms, error));
        printf("%llu pairs of 16 bytes, keys of 40 bits: %.2f ms, %.2f pairs a ns\n",
               (unsigned long long)count, ms, (double)count / ms * 1e-6);
    }
    cuda_event_destroy(cuda, begin);
    cuda_event_destroy(cuda, end);
    cuda_free(cuda, all);
    free(keys);
}

static int open_gpu(void **state)
{
    struct error why = {0};
    (void)state;
    enum status status = cuda_open(0, &cuda, &why);
    if (status == STATUS_OK)
        status = cuda_wait_until_open(cuda, &why);
    if (status != STATUS_OK || !cuda_radix_sort_exists(cuda)) {
        fprintf(stderr, "no GPU: %s\n", status == STATUS_OK ? "this build has no CUB" : why.text);
        cuda_close(cuda);
        cuda = NULL;
        return getenv("TESSERA_REQUIRE_GPU") && status != STATUS_OK ? 1 : 0;
    }
    must(cuda_modules_create(cuda, &modules, error));
    must(cuda_radix_sort_open(cuda, modules, &sort, error));
    return 0;
}

static int close_gpu(void **state)
{
    (void)state;
    if (cuda)
        cuda_radix_sort_close(cuda, modules, &sort);
    cuda_modules_destroy(modules);
    cuda_close(cuda);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pairs_are_in_order),
                                       cmocka_unit_test(narrow_keys_are_in_order),
                                       cmocka_unit_test(sort_is_timed)};
    return cmocka_run_group_tests(tests, open_gpu, close_gpu);
}
