/* bitmap_device.c: see bitmap_device.h. */
#include "lab/bitmaps/bitmap_device.h"

#include "lab/bench/kernel.h"
#include "operators/index/index_arguments.h"
#include "storage/base/clock.h"
#include "storage/base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* As in lab/kernels/bitmaps. */
#define THREADS          256u
#define STRATEGY_THREADS 1024u

#define HYBRID_K 16u /* the most of a hybrid's tile */

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
    bool counted;
    uint32_t k, j;                                               /* of the layout that run_layout takes */
    cuda_address words, starts, vectors, expected, out, numbers; /* of 64 bits, as NUMBERS says */
    struct bitmap_decompression decompression;
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

/* ---- Strategies ---- */

static enum status run_coa(void *context, struct error *error)
{
    struct bitmap_batch *const batch = context;
    uint64_t stride = batch->set->stride, words = batch->set->groups;
    uint32_t half, blocks = (uint32_t)blocks_of(words, 2 * STRATEGY_THREADS);
    cuda_address traffic = number_at(batch, NUMBER_READS);
    void *arguments[] = {&batch->decompression.data, &stride, &words, &half, &blocks, &traffic};
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
    void *arguments[] = {&batch->decompression.data, &stride, &vectors, &batch->out, &traffic};
    return bitmap_launch(batch->kernels, batch->counted ? BITMAP_ROA_COUNTED : BITMAP_ROA, batch->set->groups,
                         ((vectors + 1) / 2 + 31) / 32 * 32, arguments, error);
}

/* One round of tiles of k x j threads: `columns` vectors, each the step-th one of the data. */
static enum status run_tiles(struct bitmap_batch *batch, uint32_t columns, uint32_t step, uint32_t k,
                             uint32_t j, cuda_address out, uint32_t out_step, struct error *error)
{
    uint64_t stride = batch->set->stride, words = batch->set->groups;
    uint32_t tiles = bitmap_layout_tiles(k, columns), log_k = (uint32_t)__builtin_ctz(k);
    cuda_address traffic = number_at(batch, NUMBER_READS);
    void *arguments[] = {&batch->decompression.data,
                         &stride,
                         &words,
                         &columns,
                         &step,
                         &log_k,
                         &tiles,
                         &out,
                         &out_step,
                         &traffic};
    return bitmap_launch(batch->kernels, batch->counted ? BITMAP_TILE_COUNTED : BITMAP_TILE,
                         tiles * blocks_of(words, 2 * (uint64_t)j), k * j, arguments, error);
}

/* The k of the smallest tile that spans all columns, of which there are at most 2048. */
static uint32_t spanning_k(uint32_t columns)
{
    uint32_t k = 1;
    while (2 * k < columns)
        k *= 2;
    return k;
}

static enum status run_spanning(struct bitmap_batch *batch, uint32_t columns, uint32_t step,
                                struct error *error)
{
    const uint32_t k = spanning_k(columns);
    return run_tiles(batch, columns, step, k, STRATEGY_THREADS / k, batch->out, 0, error);
}

static enum status run_ideal(void *context, struct error *error)
{
    struct bitmap_batch *const batch = context;
    return run_spanning(batch, batch->set->count, 1, error);
}

bool bitmap_layout_offered(uint32_t k, uint32_t j)
{
    return k * j >= BITMAP_LAYOUT_THREADS_MIN && k * j <= STRATEGY_THREADS;
}

uint32_t bitmap_hybrid_k(uint32_t columns)
{
    uint32_t k = HYBRID_K;
    while (k && 2 * k >= columns)
        k /= 2;
    return k;
}

/* A hybrid's two rounds; where one tile spans all columns, the first one gives the result. */
static enum status run_layout(void *context, struct error *error)
{
    struct bitmap_batch *const batch = context;
    const uint32_t tiles = bitmap_layout_tiles(batch->k, batch->set->count), columns = 2 * batch->k;
    if (tiles == 1)
        return run_tiles(batch, batch->set->count, 1, batch->k, batch->j, batch->out, 0, error);
    RETURN_IF_ERROR(run_tiles(batch, batch->set->count, 1, batch->k, batch->j, batch->decompression.data,
                              columns, error));
    return run_spanning(batch, tiles, columns, error);
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
    char layout[48] = "";
    if (step == BITMAP_BY_HYBRID)
        snprintf(layout, sizeof layout, " by tiles of %u x %u threads", batch->k, batch->j);
    return error_set(error, STATUS_CHECK_FAILED, "%s, %u vectors of %" PRIu64 " rows, %s%s: %s",
                     batch->set->kind->name, batch->set->count, batch->set->rows, bitmap_step_names[step],
                     layout, what);
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

/* The paper's formula of a hybrid with so many tiles side by side (its k); with one it is ideal's. */
static struct bitmap_traffic hybrid_traffic(const struct bitmap_set *set, uint32_t tiles)
{
    const uint64_t second = tiles > 1 ? tiles : 0;
    return (struct bitmap_traffic){
        .formula = {(set->count + second) * set->stride, (1 + second) * set->stride}};
}

/* A thread that takes two rows at a time also takes the one after an odd number of them. */
static struct bitmap_traffic traffic_of(const struct bitmap_set *set, enum bitmap_step step)
{
    const uint64_t m = set->count, n = set->stride;
    switch (step) {
    case BITMAP_BY_COA:
        return (struct bitmap_traffic){.formula = {(2 * m - 2) * n, (m - 1) * n}};
    case BITMAP_BY_ROA:
        return (struct bitmap_traffic){.formula = {m * set->groups, set->groups}};
    case BITMAP_BY_HYBRID:
        return hybrid_traffic(set, bitmap_layout_tiles(bitmap_hybrid_k(set->count), set->count));
    default:
        return hybrid_traffic(set, 1);
    }
}

/* COA and hybrid write to the vectors, so these are made anew before each of them is checked. */
static enum status measure_strategy(struct bitmap_batch *batch, enum bitmap_step step, lab_work *run,
                                    const struct bitmap_options *options, struct bitmap_traffic *traffic,
                                    struct speed *speed, struct error *error)
{
    const cuda_address result = step == BITMAP_BY_COA ? batch->decompression.data : batch->out;
    for (uint32_t counted = 0; counted <= options->counts; counted++) {
        batch->counted = counted;
        RETURN_IF_ERROR(bitmap_decompress(&batch->decompression, error));
        RETURN_IF_ERROR(check_strategy(batch, step, run, result, traffic, error));
    }
    batch->counted = false;
    return lab_time(batch->lab, run, batch, speed, error);
}

static enum status measure_layouts(struct bitmap_batch *batch, const struct bitmap_options *options,
                                   struct bitmap_times *times, struct error *error)
{
    for (uint32_t a = 0; a < BITMAP_LAYOUT_KS; a++)
        for (uint32_t b = 0; b < BITMAP_LAYOUT_JS; b++) {
            batch->k = bitmap_layout_k(a);
            batch->j = bitmap_layout_j(b);
            if (!bitmap_layout_offered(batch->k, batch->j))
                continue;
            struct bitmap_traffic traffic =
                hybrid_traffic(batch->set, bitmap_layout_tiles(batch->k, batch->set->count));
            RETURN_IF_ERROR(measure_strategy(batch, BITMAP_BY_HYBRID, run_layout, options, &traffic,
                                             &times->layouts[a][b], error));
        }
    return STATUS_OK;
}

static enum status measure_strategies(struct bitmap_batch *batch, const struct bitmap_options *options,
                                      struct bitmap_times *times, struct error *error)
{
    static const struct {
        enum bitmap_step step;
        lab_work *run;
    } strategies[] = {{BITMAP_BY_IDEAL, run_ideal},
                      {BITMAP_BY_ROA, run_roa},
                      {BITMAP_BY_HYBRID, run_layout},
                      {BITMAP_BY_COA, run_coa}};
    const uint32_t hybrid_k = bitmap_hybrid_k(batch->set->count);
    for (size_t s = 0; s < sizeof strategies / sizeof *strategies; s++) {
        const enum bitmap_step step = strategies[s].step;
        if (step == BITMAP_BY_HYBRID && !hybrid_k)
            continue;
        if ((step == BITMAP_BY_ROA || step == BITMAP_BY_IDEAL) && batch->set->count > BITMAP_ROW_VECTORS_MAX)
            continue;
        batch->k = hybrid_k;
        batch->j = hybrid_k ? STRATEGY_THREADS / hybrid_k : 0;
        times->traffic[step] = traffic_of(batch->set, step);
        RETURN_IF_ERROR(measure_strategy(batch, step, strategies[s].run, options, &times->traffic[step],
                                         &times->steps[step], error));
    }
    return options->layouts ? measure_layouts(batch, options, times, error) : STATUS_OK;
}

/* With our sums and with CUB's, which were compared. */
static enum status measure_decompression(struct bitmap_batch *batch, struct bitmap_times *times,
                                         struct error *error)
{
    struct bitmap_decompression *const of = &batch->decompression;
    RETURN_IF_ERROR(bitmap_sums_measure(of, times->sums, error));
    RETURN_IF_ERROR(lab_time(batch->lab, bitmap_decompress, of, &times->steps[BITMAP_DECOMPRESS], error));
    if (!bitmap_kernels_have_cub(batch->kernels))
        return STATUS_OK;
    of->sums = BITMAP_SUMS_CUB;
    const enum status status = lab_time(batch->lab, bitmap_decompress, of, &times->decompress_cub, error);
    of->sums = BITMAP_SUMS_OURS;
    return status;
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
    RETURN_IF_ERROR(flatten(batch, batch->decompression.data, batch->set->count, batch->flat, error));
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
    };
    for (size_t a = 0; a < sizeof all / sizeof *all; a++)
        RETURN_IF_ERROR(cuda_allocate(batch->lab->cuda, all[a].bytes, all[a].what, all[a].address, error));
    return bitmap_decompression_open(batch->kernels, batch->words, set->word_count, batch->all_groups,
                                     &batch->decompression, error);
}

static void release(struct bitmap_batch *batch)
{
    cuda_address *const all[] = {&batch->words, &batch->starts,  &batch->vectors, &batch->expected,
                                 &batch->out,   &batch->numbers, &batch->flat,    &batch->flat_expected};
    bitmap_decompression_close(&batch->decompression);
    for (size_t a = 0; a < sizeof all / sizeof *all; a++)
        cuda_free(batch->lab->cuda, *all[a]);
}

static enum status measure(struct bitmap_batch *batch, struct bound_vector *vectors,
                           const struct bitmap_options *options, struct bitmap_times *times,
                           struct error *error)
{
    RETURN_IF_ERROR(allocate(batch, error));
    RETURN_IF_ERROR(transfer(batch, &times->steps[BITMAP_TRANSFER], error));
    RETURN_IF_ERROR(upload_vectors(batch, vectors, error));
    RETURN_IF_ERROR(measure_inline(batch, times, error));
    RETURN_IF_ERROR(measure_decompression(batch, times, error));
    RETURN_IF_ERROR(measure_strategies(batch, options, times, error));
    RETURN_IF_ERROR(bitmap_decompress(&batch->decompression, error));
    return measure_flat(batch, times, error);
}

enum status bitmap_device_measure(const struct bitmap_kernels *kernels, const struct bitmap_set *set,
                                  const struct bitmap_options *options, struct bitmap_times *times,
                                  struct error *error)
{
    struct bitmap_batch batch = {.kernels = kernels,
                                 .lab = kernels->lab,
                                 .set = set,
                                 .all_groups = set->count * set->stride,
                                 .flat_stride = (set->rows + 127) / 128 * 2};
    struct bound_vector *vectors = NULL;
    *times = (struct bitmap_times){.words = set->word_count,
                                   .groups = batch.all_groups,
                                   .flat_bytes = (set->count + 1) * batch.flat_stride * 8,
                                   .inline_bytes = set->compressed_bytes + set->groups * 8};
    if (set->count > BITMAP_VECTORS_MAX || batch.all_groups > UINT32_MAX)
        return error_set(error, STATUS_MACHINE, "%u vectors of %" PRIu64 " rows are too many: see --scale",
                         set->count, set->rows);
    RETURN_IF_ERROR(memory_take(&vectors, set->count * sizeof *vectors, "a list of vectors", error));
    const enum status status = measure(&batch, vectors, options, times, error);
    release(&batch);
    free(vectors);
    return status;
}
