/* bitmap_device.c: see bitmap_device.h. */
#include "lab/bitmaps/bitmap_device.h"

#include "lab/bench/kernel.h"
#include "operators/index/index_arguments.h"
#include "storage/base/clock.h"
#include "storage/base/memory.h"

#include <inttypes.h>
#include <stdlib.h>

/* As in operators/index. */
#define THREADS          256u
#define SCAN_TILE        8192u
#define STRATEGY_THREADS 1024u
#define HYBRID_LOG_K     4u /* a hybrid's tile has up to 32 vectors */

const char *const bitmap_step_names[BITMAP_STEPS] = {"transfer", "decompression", "COA",    "ROA",  "hybrid",
                                                     "ideal",    "flat",          "inline", "count"};
const char *const bitmap_step_keys[BITMAP_STEPS] = {"transfer_ms", "decompression_ms", "coa_ms",
                                                    "roa_ms",      "hybrid_ms",        "ideal_ms",
                                                    "flat_ms",     "inline_ms",        "count_ms"};

/* A set on the device. */
struct bitmap_batch {
    const struct bitmap_kernels *kernels;
    struct lab *lab;
    const struct bitmap_set *set;
    uint64_t all_groups;  /* of all vectors */
    uint64_t flat_stride; /* words of a bitset, made even */
    uint64_t states;      /* of the larger scan */
    bool counted;
    cuda_address words, starts, vectors, expected, out,
        numbers;                                 /* numbers: six of 64 bits, as NUMBERS says */
    cuda_address data, word_index, points, scan; /* of the decompression */
    cuda_address flat, flat_expected;
};

enum { NUMBER_READS, NUMBER_WRITES, NUMBER_COUNT, NUMBER_WRONG, NUMBERS };

static cuda_address number_at(const struct bitmap_batch *batch, uint32_t number)
{
    return batch->numbers + number * sizeof(uint64_t);
}

static uint64_t blocks_of(uint64_t items, uint64_t of_block)
{
    return (items + of_block - 1) / of_block;
}

/* ---- Decompression ---- */

static enum status scan(const struct bitmap_batch *batch, enum bitmap_function function, cuda_address items,
                        uint64_t count, cuda_address sums, struct error *error)
{
    const uint64_t tiles = blocks_of(count, SCAN_TILE);
    cuda_address states = batch->scan, ticket = batch->scan + batch->states * sizeof(uint64_t);
    void *arguments[] = {&items, &count, &sums, &states, &ticket};
    RETURN_IF_ERROR(cuda_set_words(batch->lab->cuda, batch->scan, 0, 2 * batch->states + 1, error));
    return bitmap_launch(batch->kernels, function, tiles, THREADS, arguments, error);
}

/* The points are sizes, then starting points; the end points are bytes at the beginning of the data. */
static enum status decompress(void *context, struct error *error)
{
    struct bitmap_batch *const batch = context;
    uint64_t words = batch->set->word_count, groups = batch->all_groups;
    void *of_sizes[] = {&batch->words, &words, &batch->points};
    void *of_ends[] = {&batch->points, &words, &batch->data};
    void *of_write[] = {&batch->words, &batch->word_index, &groups, &batch->data};
    const uint64_t blocks = blocks_of(words, THREADS);
    RETURN_IF_ERROR(bitmap_launch(batch->kernels, BITMAP_SIZES, blocks, THREADS, of_sizes, error));
    RETURN_IF_ERROR(scan(batch, BITMAP_SCAN_WORDS, batch->points, words, batch->points, error));
    RETURN_IF_ERROR(cuda_set_bytes(batch->lab->cuda, batch->data, 0, groups, error));
    RETURN_IF_ERROR(bitmap_launch(batch->kernels, BITMAP_ENDS, blocks, THREADS, of_ends, error));
    RETURN_IF_ERROR(scan(batch, BITMAP_SCAN_BYTES, batch->data, groups, batch->word_index, error));
    return bitmap_launch(batch->kernels, BITMAP_WRITE, blocks_of(groups, 2 * THREADS), THREADS, of_write,
                         error);
}

/* ---- Strategies ---- */

static enum status run_coa(void *context, struct error *error)
{
    struct bitmap_batch *const batch = context;
    uint64_t stride = batch->set->stride, words = batch->set->groups;
    uint32_t half, blocks = (uint32_t)blocks_of(words, 2 * STRATEGY_THREADS);
    cuda_address traffic = number_at(batch, NUMBER_READS);
    void *arguments[] = {&batch->data, &stride, &words, &half, &blocks, &traffic};
    for (uint32_t count = batch->set->count; count > 1; count = half) {
        half = (count + 1) / 2;
        RETURN_IF_ERROR(bitmap_launch(batch->kernels, batch->counted ? BITMAP_COA_COUNTED : BITMAP_COA,
                                      (uint64_t)blocks * (count - half), STRATEGY_THREADS, arguments, error));
    }
    return STATUS_OK;
}

static enum status run_roa(void *context, struct error *error)
{
    struct bitmap_batch *const batch = context;
    uint64_t stride = batch->set->stride;
    uint32_t vectors = batch->set->count;
    cuda_address traffic = number_at(batch, NUMBER_READS);
    void *arguments[] = {&batch->data, &stride, &vectors, &batch->out, &traffic};
    return bitmap_launch(batch->kernels, batch->counted ? BITMAP_ROA_COUNTED : BITMAP_ROA, batch->set->groups,
                         ((vectors + 1) / 2 + 31) / 32 * 32, arguments, error);
}

/* One round of tiles: `columns` vectors, each the step-th one of the data. */
static enum status run_tiles(struct bitmap_batch *batch, uint32_t columns, uint32_t step, uint32_t log_k,
                             cuda_address out, uint32_t out_step, struct error *error)
{
    uint64_t stride = batch->set->stride, words = batch->set->groups;
    uint32_t tiles = (uint32_t)blocks_of(columns, 2u << log_k);
    cuda_address traffic = number_at(batch, NUMBER_READS);
    void *arguments[] = {&batch->data, &stride, &words, &columns,  &step,
                         &log_k,       &tiles,  &out,   &out_step, &traffic};
    return bitmap_launch(batch->kernels, batch->counted ? BITMAP_TILE_COUNTED : BITMAP_TILE,
                         tiles * blocks_of(words, 2 * (STRATEGY_THREADS >> log_k)), STRATEGY_THREADS,
                         arguments, error);
}

/* The smallest tile that spans all columns. */
static uint32_t log_k_of(uint32_t columns)
{
    uint32_t log_k = 0;
    while (2u << log_k < columns)
        log_k++;
    return log_k;
}

static enum status run_ideal(void *context, struct error *error)
{
    struct bitmap_batch *const batch = context;
    return run_tiles(batch, batch->set->count, 1, log_k_of(batch->set->count), batch->out, 0, error);
}

static uint32_t hybrid_tiles(uint32_t columns)
{
    return (uint32_t)blocks_of(columns, 2u << HYBRID_LOG_K);
}

/* Where one tile spans all columns, there is no second round. */
static enum status run_hybrid(void *context, struct error *error)
{
    struct bitmap_batch *const batch = context;
    const uint32_t tiles = hybrid_tiles(batch->set->count), columns = 2u << HYBRID_LOG_K;
    if (tiles == 1)
        return run_ideal(context, error);
    RETURN_IF_ERROR(run_tiles(batch, batch->set->count, 1, HYBRID_LOG_K, batch->data, columns, error));
    return run_tiles(batch, tiles, columns, log_k_of(tiles), batch->out, 0, error);
}

static enum status run_flat(void *context, struct error *error)
{
    struct bitmap_batch *const batch = context;
    uint64_t stride = batch->flat_stride;
    uint32_t sets = batch->set->count;
    void *arguments[] = {&batch->flat, &stride, &stride, &sets, &batch->out};
    return bitmap_launch(batch->kernels, BITMAP_FLAT, blocks_of(stride, 2 * THREADS), THREADS, arguments,
                         error);
}

static enum status launch_inline(struct bitmap_batch *batch, cuda_address out, cuda_address count,
                                 struct error *error)
{
    uint64_t groups = batch->set->groups;
    uint32_t vectors = batch->set->count;
    void *arguments[] = {&batch->vectors, &vectors, &groups, &out, &count};
    return bitmap_launch_inline(batch->kernels, batch->set, arguments, error);
}

static enum status run_inline(void *context, struct error *error)
{
    struct bitmap_batch *const batch = context;
    return launch_inline(batch, batch->out, 0, error);
}

static enum status run_count(void *context, struct error *error)
{
    struct bitmap_batch *const batch = context;
    RETURN_IF_ERROR(cuda_set_words(batch->lab->cuda, number_at(batch, NUMBER_COUNT), 0, 2, error));
    return launch_inline(batch, 0, number_at(batch, NUMBER_COUNT), error);
}

/* ---- Checks ---- */

static enum status read_numbers(const struct bitmap_batch *batch, uint64_t numbers[NUMBERS],
                                struct error *error)
{
    RETURN_IF_ERROR(
        cuda_copy_to_host(batch->lab->cuda, numbers, batch->numbers, NUMBERS * sizeof *numbers, error));
    return cuda_synchronize(batch->lab->cuda, error);
}

static enum status fail(const struct bitmap_batch *batch, enum bitmap_step step, const char *what,
                        struct error *error)
{
    return error_set(error, STATUS_CHECK_FAILED, "%s, %u vectors of %" PRIu64 " rows, %s: %s",
                     batch->set->kind->name, batch->set->count, batch->set->rows, bitmap_step_names[step],
                     what);
}

/* Compares `count` words of a result. */
static enum status compare(struct bitmap_batch *batch, enum bitmap_step step, cuda_address result,
                           cuda_address expected, uint64_t count, struct error *error)
{
    cuda_address wrong = number_at(batch, NUMBER_WRONG);
    void *arguments[] = {&result, &expected, &count, &wrong};
    uint64_t numbers[NUMBERS];
    RETURN_IF_ERROR(cuda_set_words(batch->lab->cuda, wrong, 0, 2, error));
    RETURN_IF_ERROR(
        bitmap_launch(batch->kernels, BITMAP_COMPARE, blocks_of(count, THREADS), THREADS, arguments, error));
    RETURN_IF_ERROR(read_numbers(batch, numbers, error));
    return numbers[NUMBER_WRONG] ? fail(batch, step, "words of the result are wrong", error) : STATUS_OK;
}

/* Runs a strategy once over the decompressed vectors, checks its result, and its traffic if that is counted. */
static enum status check_strategy(struct bitmap_batch *batch, enum bitmap_step step, lab_work *run,
                                  cuda_address result, struct bitmap_traffic *traffic, struct error *error)
{
    uint64_t numbers[NUMBERS];
    RETURN_IF_ERROR(cuda_set_bytes(batch->lab->cuda, batch->out, 0xa5, batch->set->stride * 8, error));
    RETURN_IF_ERROR(cuda_set_words(batch->lab->cuda, batch->numbers, 0, 2 * NUMBERS, error));
    RETURN_IF_ERROR(run(batch, error));
    RETURN_IF_ERROR(read_numbers(batch, numbers, error));
    RETURN_IF_ERROR(compare(batch, step, result, batch->expected, batch->set->groups, error));
    if (!batch->counted)
        return STATUS_OK;
    for (uint32_t i = 0; i < 2; i++)
        traffic->counted[i] = numbers[NUMBER_READS + i];
    if (traffic->counted[0] != traffic->formula[0] || traffic->counted[1] != traffic->formula[1])
        return fail(batch, step, "it reads or writes more or less than the paper says", error);
    return STATUS_OK;
}

/* ---- Measuring ---- */

/* The paper's formulas; a thread that takes two rows at a time also takes the one after an odd number of them. */
static void fill_formulas(const struct bitmap_set *set, struct bitmap_times *times)
{
    const uint64_t m = set->count, n = set->stride, k = hybrid_tiles(set->count);
    const uint64_t second = k > 1 ? k : 0;
    times->traffic[BITMAP_BY_COA] = (struct bitmap_traffic){.formula = {(2 * m - 2) * n, (m - 1) * n}};
    times->traffic[BITMAP_BY_ROA] = (struct bitmap_traffic){.formula = {m * set->groups, set->groups}};
    times->traffic[BITMAP_BY_HYBRID] =
        (struct bitmap_traffic){.formula = {(m + second) * n, (1 + second) * n}};
    times->traffic[BITMAP_BY_IDEAL] = (struct bitmap_traffic){.formula = {m * n, n}};
}

/* COA and hybrid write to the vectors, so these are made anew before each of them is checked. */
static enum status measure_strategy(struct bitmap_batch *batch, enum bitmap_step step, lab_work *run,
                                    bool counts, struct bitmap_times *times, struct error *error)
{
    const cuda_address result = step == BITMAP_BY_COA ? batch->data : batch->out;
    for (uint32_t counted = 0; counted <= counts; counted++) {
        batch->counted = counted;
        RETURN_IF_ERROR(decompress(batch, error));
        RETURN_IF_ERROR(check_strategy(batch, step, run, result, &times->traffic[step], error));
    }
    batch->counted = false;
    return lab_time(batch->lab, run, batch, &times->steps[step], error);
}

static enum status measure_strategies(struct bitmap_batch *batch, bool counts, struct bitmap_times *times,
                                      struct error *error)
{
    RETURN_IF_ERROR(lab_time(batch->lab, decompress, batch, &times->steps[BITMAP_DECOMPRESS], error));
    RETURN_IF_ERROR(measure_strategy(batch, BITMAP_BY_IDEAL, run_ideal, counts, times, error));
    RETURN_IF_ERROR(measure_strategy(batch, BITMAP_BY_ROA, run_roa, counts, times, error));
    RETURN_IF_ERROR(measure_strategy(batch, BITMAP_BY_HYBRID, run_hybrid, counts, times, error));
    RETURN_IF_ERROR(measure_strategy(batch, BITMAP_BY_COA, run_coa, counts, times, error));
    return decompress(batch, error);
}

static enum status flatten(struct bitmap_batch *batch, cuda_address groups, uint32_t vectors,
                           cuda_address bits, struct error *error)
{
    uint64_t stride = batch->set->stride, count = batch->set->groups;
    void *arguments[] = {&groups, &stride, &count, &bits, &batch->flat_stride, &vectors};
    return bitmap_launch(batch->kernels, BITMAP_FLATTEN, blocks_of(vectors * batch->flat_stride, THREADS),
                         THREADS, arguments, error);
}

static enum status measure_flat(struct bitmap_batch *batch, struct bitmap_times *times, struct error *error)
{
    struct cuda *const cuda = batch->lab->cuda;
    const uint64_t bytes = batch->flat_stride * 8;
    RETURN_IF_ERROR(cuda_allocate(cuda, batch->set->count * bytes, "bitsets", &batch->flat, error));
    RETURN_IF_ERROR(cuda_allocate(cuda, bytes, "a bitset to compare with", &batch->flat_expected, error));
    RETURN_IF_ERROR(flatten(batch, batch->data, batch->set->count, batch->flat, error));
    RETURN_IF_ERROR(flatten(batch, batch->expected, 1, batch->flat_expected, error));
    RETURN_IF_ERROR(cuda_set_bytes(cuda, batch->out, 0xa5, batch->set->stride * 8, error));
    RETURN_IF_ERROR(run_flat(batch, error));
    RETURN_IF_ERROR(
        compare(batch, BITMAP_BY_FLAT, batch->out, batch->flat_expected, batch->flat_stride, error));
    return lab_time(batch->lab, run_flat, batch, &times->steps[BITMAP_BY_FLAT], error);
}

static uint64_t expected_rows(const struct bitmap_set *set)
{
    uint64_t rows = 0;
    for (uint64_t g = 0; g < set->groups; g++)
        rows += (uint64_t)__builtin_popcountll(set->expected[g]);
    return rows;
}

static enum status measure_inline(struct bitmap_batch *batch, struct bitmap_times *times, struct error *error)
{
    uint64_t numbers[NUMBERS];
    RETURN_IF_ERROR(check_strategy(batch, BITMAP_BY_INLINE, run_inline, batch->out, NULL, error));
    RETURN_IF_ERROR(lab_time(batch->lab, run_inline, batch, &times->steps[BITMAP_BY_INLINE], error));
    RETURN_IF_ERROR(run_count(batch, error));
    RETURN_IF_ERROR(read_numbers(batch, numbers, error));
    if (numbers[NUMBER_COUNT] != expected_rows(batch->set))
        return fail(batch, BITMAP_BY_COUNT, "the number of rows is wrong", error);
    return lab_time(batch->lab, run_count, batch, &times->steps[BITMAP_BY_COUNT], error);
}

/* ---- A set on the device ---- */

/* Copies the words, and times that. */
static enum status transfer(struct bitmap_batch *batch, struct speed *speed, struct error *error)
{
    struct cuda *const cuda = batch->lab->cuda;
    double times[3];
    for (uint32_t i = 0; i < 3; i++) {
        RETURN_IF_ERROR(cuda_synchronize(cuda, error));
        const double begin = clock_ms();
        RETURN_IF_ERROR(
            cuda_upload(cuda, batch->words, batch->set->words, batch->set->word_count * 8, error));
        RETURN_IF_ERROR(cuda_synchronize(cuda, error));
        times[i] = clock_ms() - begin;
    }
    *speed = speed_of(times, 3);
    return STATUS_OK;
}

static enum status upload_vectors(struct bitmap_batch *batch, struct bound_vector *vectors,
                                  struct error *error)
{
    const struct bitmap_set *const set = batch->set;
    struct cuda *const cuda = batch->lab->cuda;
    for (uint32_t v = 0; v < set->count; v++)
        vectors[v] =
            (struct bound_vector){.words = batch->words + (uint64_t)(set->vectors[v].words - set->words) * 8,
                                  .starts = batch->starts + v * set->pieces * sizeof *set->starts,
                                  .count = set->vectors[v].count};
    RETURN_IF_ERROR(cuda_upload(cuda, batch->vectors, vectors, set->count * sizeof *vectors, error));
    RETURN_IF_ERROR(
        cuda_upload(cuda, batch->starts, set->starts, set->count * set->pieces * sizeof *set->starts, error));
    RETURN_IF_ERROR(cuda_upload(cuda, batch->expected, set->expected, set->groups * 8, error));
    return cuda_synchronize(cuda, error);
}

static enum status allocate(struct bitmap_batch *batch, struct error *error)
{
    const struct bitmap_set *const set = batch->set;
    const uint64_t larger = set->word_count > batch->all_groups ? set->word_count : batch->all_groups;
    batch->states = blocks_of(larger, SCAN_TILE);
    const struct {
        cuda_address *address;
        uint64_t bytes;
        const char *what;
    } all[] = {
        {&batch->words, blocks_of(set->word_count, 4) * 32, "compressed vectors"},
        {&batch->starts, set->count * set->pieces * sizeof *set->starts, "directories"},
        {&batch->vectors, set->count * sizeof(struct bound_vector), "a list of vectors"},
        {&batch->expected, set->stride * 8, "groups to compare with"},
        {&batch->out, set->stride * 8 + 16, "the result"},
        {&batch->numbers, NUMBERS * 8, "numbers"},
        {&batch->data, batch->all_groups * 8, "decompressed vectors"},
        {&batch->word_index, batch->all_groups * 4, "an index of words"},
        {&batch->points, set->word_count * 4, "starting points"},
        {&batch->scan, batch->states * 8 + 8, "a scan's state"},
    };
    for (size_t a = 0; a < sizeof all / sizeof *all; a++)
        RETURN_IF_ERROR(cuda_allocate(batch->lab->cuda, all[a].bytes, all[a].what, all[a].address, error));
    return STATUS_OK;
}

static void release(struct bitmap_batch *batch)
{
    cuda_address *const all[] = {&batch->words,  &batch->starts,  &batch->vectors, &batch->expected,
                                 &batch->out,    &batch->numbers, &batch->data,    &batch->word_index,
                                 &batch->points, &batch->scan,    &batch->flat,    &batch->flat_expected};
    for (size_t a = 0; a < sizeof all / sizeof *all; a++)
        cuda_free(batch->lab->cuda, *all[a]);
}

static enum status measure(struct bitmap_batch *batch, struct bound_vector *vectors, bool counts,
                           struct bitmap_times *times, struct error *error)
{
    RETURN_IF_ERROR(allocate(batch, error));
    RETURN_IF_ERROR(transfer(batch, &times->steps[BITMAP_TRANSFER], error));
    RETURN_IF_ERROR(upload_vectors(batch, vectors, error));
    RETURN_IF_ERROR(measure_inline(batch, times, error));
    RETURN_IF_ERROR(measure_strategies(batch, counts, times, error));
    return measure_flat(batch, times, error);
}

enum status bitmap_device_measure(const struct bitmap_kernels *kernels, const struct bitmap_set *set,
                                  bool counts, struct bitmap_times *times, struct error *error)
{
    struct bitmap_batch batch = {.kernels = kernels,
                                 .lab = kernels->lab,
                                 .set = set,
                                 .all_groups = set->count * set->stride,
                                 .flat_stride = (set->rows + 127) / 128 * 2};
    struct bound_vector *vectors = NULL;
    *times = (struct bitmap_times){.flat_bytes = (set->count + 1) * batch.flat_stride * 8,
                                   .inline_bytes = set->compressed_bytes + set->groups * 8};
    if (set->count > BITMAP_VECTORS_MAX || batch.all_groups > UINT32_MAX)
        return error_set(error, STATUS_MACHINE, "%u vectors of %" PRIu64 " rows are too many: see --scale",
                         set->count, set->rows);
    fill_formulas(set, times);
    RETURN_IF_ERROR(memory_take(&vectors, set->count * sizeof *vectors, "a list of vectors", error));
    const enum status status = measure(&batch, vectors, counts, times, error);
    release(&batch);
    free(vectors);
    return status;
}
