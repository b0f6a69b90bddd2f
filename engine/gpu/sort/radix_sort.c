/* radix_sort.c: see radix_sort.h. */
#include "engine/gpu/sort/radix_sort.h"

#include "engine/cuda/ahead.h"
#include "engine/gpu/memory/modules.h"

#define MODULE_NAME "radix_sort"

/* Blocks of a multiprocessor: each has 8 KB of shared memory, and reads many tiles. */
#define HISTOGRAM_BLOCKS 8u

bool cuda_radix_sort_exists(const struct cuda *cuda)
{
    return ahead_has(MODULE_NAME, cuda_properties(cuda)->arch);
}

enum status cuda_radix_sort_open(struct cuda *cuda, struct cuda_modules *modules,
                                 struct cuda_radix_sort *sort, struct error *error)
{
    const struct {
        const char *name;
        struct cuda_function **function;
    } functions[] = {
        {"radix_sort_histogram", &sort->histogram}, {"radix_sort_histogram_narrow", &sort->histogram_narrow},
        {"radix_sort_starts", &sort->starts},       {"radix_sort_pass_pairs", &sort->pairs},
        {"radix_sort_pass_keys", &sort->keys},      {"radix_sort_pass_narrow", &sort->narrow}};
    RETURN_IF_ERROR(cuda_modules_take_ahead(modules, MODULE_NAME, &sort->number, &sort->module, error));
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
        RETURN_IF_ERROR(
            cuda_module_function(cuda, sort->module, functions[f].name, functions[f].function, error));
    return STATUS_OK;
}

void cuda_radix_sort_close(struct cuda *cuda, struct cuda_modules *modules, struct cuda_radix_sort *sort)
{
    struct cuda_graph *none = NULL;
    cuda_modules_give(modules, MODULE_NAME, &sort->number, &sort->module, &none);
    if (sort->module) { /* there was no memory to give it */
        cuda_modules_drop(modules, sort->number);
        cuda_module_unload(cuda, sort->module);
    }
    *sort = (struct cuda_radix_sort){0};
}

/* ---- Scratch memory: the bins of each pass, its number of blocks that have begun, and the look-back of one ---- */

#define BINS_BYTES  (RADIX_SORT_DIGITS * sizeof(uint32_t))
#define NEXT_AT     (RADIX_SORT_PASSES_MAX * BINS_BYTES)
#define LOOKBACK_AT (NEXT_AT + BINS_BYTES)

static unsigned blocks_of(uint64_t count, bool narrow)
{
    const uint64_t items = narrow ? RADIX_SORT_NARROW_ITEMS : RADIX_SORT_ITEMS;
    return (unsigned)((count + items - 1) / items);
}

uint64_t cuda_radix_sort_scratch(uint64_t count)
{
    return LOOKBACK_AT + blocks_of(count, false) * BINS_BYTES; /* of narrow keys fewer */
}

/* ---- Passes ---- */

static enum status find_starts(struct cuda *cuda, const struct cuda_radix_sort *sort,
                               const struct cuda_pairs *pairs, uint64_t count, uint32_t first_bit,
                               uint32_t bits, cuda_address scratch, struct error *error)
{
    const unsigned all = blocks_of(count, pairs->narrow),
                   most = cuda_properties(cuda)->multiprocessors * HISTOGRAM_BLOCKS;
    uint32_t items = (uint32_t)count;
    cuda_address keys = pairs->keys;
    void *histogram[] = {&scratch, &keys, &items, &first_bit, &bits}, *starts[] = {&scratch};
    RETURN_IF_ERROR(cuda_set_words(cuda, scratch, 0, LOOKBACK_AT / sizeof(uint32_t), error));
    RETURN_IF_ERROR(cuda_launch(cuda, pairs->narrow ? sort->histogram_narrow : sort->histogram,
                                all < most ? all : most, RADIX_SORT_HISTOGRAM_THREADS, 0, histogram, error));
    return cuda_launch(cuda, sort->starts, (bits - first_bit + RADIX_SORT_BITS - 1) / RADIX_SORT_BITS,
                       RADIX_SORT_DIGITS, 0, starts, error);
}

/* A pass, the first one has `number` 0. */
static enum status sort_by(struct cuda *cuda, const struct cuda_radix_sort *sort, struct cuda_pairs *pairs,
                           uint64_t count, uint32_t number, uint32_t first_bit, uint32_t bits,
                           cuda_address scratch, struct error *error)
{
    const struct cuda_pairs from = *pairs;
    const unsigned blocks = blocks_of(count, from.narrow);
    struct radix_sort_pass pass = {.keys = from.keys,
                                   .values = from.values,
                                   .keys_out = from.other_keys,
                                   .values_out = from.other_values,
                                   .bins = scratch + number * BINS_BYTES,
                                   .lookback = scratch + LOOKBACK_AT,
                                   .next = scratch + NEXT_AT + number * sizeof(uint32_t),
                                   .count = (int32_t)count,
                                   .first_bit = (int32_t)first_bit,
                                   .bits = (int32_t)bits};
    void *arguments[] = {&pass};
    RETURN_IF_ERROR(cuda_set_words(cuda, pass.lookback, 0, blocks * (uint64_t)RADIX_SORT_DIGITS, error));
    RETURN_IF_ERROR(cuda_launch(cuda,
                                from.narrow   ? sort->narrow
                                : from.values ? sort->pairs
                                              : sort->keys,
                                blocks, RADIX_SORT_THREADS, 0, arguments, error));
    *pairs = (struct cuda_pairs){from.other_keys, from.other_values, from.keys, from.values, from.narrow};
    return STATUS_OK;
}

enum status cuda_radix_sort(struct cuda *cuda, const struct cuda_radix_sort *sort, struct cuda_pairs *pairs,
                            uint64_t count, uint32_t first_bit, uint32_t bits, cuda_address scratch,
                            struct error *error)
{
    if (count < 2 || bits <= first_bit)
        return STATUS_OK;
    RETURN_IF_ERROR(find_starts(cuda, sort, pairs, count, first_bit, bits, scratch, error));
    for (uint32_t bit = first_bit, number = 0; bit < bits; bit += RADIX_SORT_BITS, number++)
        RETURN_IF_ERROR(sort_by(cuda, sort, pairs, count, number, bit,
                                bits - bit < RADIX_SORT_BITS ? bits - bit : RADIX_SORT_BITS, scratch, error));
    return STATUS_OK;
}
