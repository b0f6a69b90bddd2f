/* bitmap_decompress.c: see bitmap_decompress.h. */
#include "lab/bitmaps/bitmap_decompress.h"

#include "lab/bench/kernel.h"

#include <inttypes.h>

/* As in lab/kernels/bitmaps. */
#define THREADS           256u
#define SCAN_TILE         8192u
#define CUB_BEGIN_THREADS 128u

#define ALIGNMENT UINT64_C(256) /* of the device's memory */

static uint64_t blocks_of(uint64_t items, uint64_t of_block)
{
    return (items + of_block - 1) / of_block;
}

static uint64_t aligned(uint64_t bytes)
{
    return blocks_of(bytes, ALIGNMENT) * ALIGNMENT;
}

/* ---- Exclusive sums ---- */

struct scan {
    enum bitmap_summed summed;
    cuda_address items, sums;
    uint64_t count;
};

static enum status scan_ours(const struct bitmap_decompression *of, struct scan scan, struct error *error)
{
    const uint64_t tiles = blocks_of(scan.count, SCAN_TILE);
    cuda_address ticket = of->states + tiles * sizeof(uint64_t), states = of->states;
    void *arguments[] = {&scan.items, &scan.count, &scan.sums, &states, &ticket};
    RETURN_IF_ERROR(cuda_set_words(of->lab->cuda, states, 0, 2 * tiles + 1, error));
    return bitmap_launch(of->kernels,
                         scan.summed == BITMAP_SUMMED_WORDS ? BITMAP_SCAN_WORDS : BITMAP_SCAN_BYTES, tiles,
                         THREADS, arguments, error);
}

static enum status scan_cub(const struct bitmap_decompression *of, struct scan scan, struct error *error)
{
    const struct bitmap_cub_shape *const shape = &of->cub[scan.summed];
    uint32_t count = (uint32_t)scan.count, tiles = (uint32_t)shape->tiles;
    uint64_t bytes = shape->bytes;
    cuda_address states = of->states;
    void *of_begin[] = {&states, &bytes, &tiles};
    void *of_sums[] = {&scan.items, &count, &scan.sums, &states, &bytes, &tiles};
    RETURN_IF_ERROR(bitmap_launch(of->kernels, BITMAP_CUB_BEGIN, blocks_of(tiles, CUB_BEGIN_THREADS),
                                  CUB_BEGIN_THREADS, of_begin, error));
    return bitmap_launch(of->kernels,
                         scan.summed == BITMAP_SUMMED_WORDS ? BITMAP_CUB_WORDS : BITMAP_CUB_BYTES, tiles,
                         (unsigned)shape->threads, of_sums, error);
}

static enum status scan_by(const struct bitmap_decompression *of, struct scan scan, struct error *error)
{
    return of->sums == BITMAP_SUMS_CUB ? scan_cub(of, scan, error) : scan_ours(of, scan, error);
}

/* ---- Decompression ---- */

/* The points are sizes, then starting points; the end points are bytes at the beginning of the data. */
static enum status write_sizes(struct bitmap_decompression *of, struct error *error)
{
    void *arguments[] = {&of->words, &of->word_count, &of->points};
    return bitmap_launch(of->kernels, BITMAP_SIZES, blocks_of(of->word_count, THREADS), THREADS, arguments,
                         error);
}

static enum status write_ends(struct bitmap_decompression *of, struct error *error)
{
    void *arguments[] = {&of->points, &of->word_count, &of->data};
    RETURN_IF_ERROR(cuda_set_bytes(of->lab->cuda, of->data, 0, of->groups, error));
    return bitmap_launch(of->kernels, BITMAP_ENDS, blocks_of(of->word_count, THREADS), THREADS, arguments,
                         error);
}

enum status bitmap_decompress(void *decompression, struct error *error)
{
    struct bitmap_decompression *const of = decompression;
    const struct scan points = {BITMAP_SUMMED_WORDS, of->points, of->points, of->word_count};
    const struct scan ends = {BITMAP_SUMMED_GROUPS, of->data, of->word_index, of->groups};
    void *of_write[] = {&of->words, &of->word_index, &of->groups, &of->data};
    RETURN_IF_ERROR(write_sizes(of, error));
    RETURN_IF_ERROR(scan_by(of, points, error));
    RETURN_IF_ERROR(write_ends(of, error));
    RETURN_IF_ERROR(scan_by(of, ends, error));
    return bitmap_launch(of->kernels, BITMAP_WRITE, blocks_of(of->groups, 2 * THREADS), THREADS, of_write,
                         error);
}

/* ---- The scans alone ---- */

struct timed_scan {
    struct bitmap_decompression *of;
    struct scan scan;
};

static enum status run_scan(void *context, struct error *error)
{
    struct timed_scan *const timed = context;
    return scan_by(timed->of, timed->scan, error);
}

/* Compares `count` sums; counts what differs in the memory of the states, which no scan has now. */
static enum status compare(const struct bitmap_decompression *of, cuda_address sums, cuda_address expected,
                           uint64_t count, struct error *error)
{
    struct cuda *const cuda = of->lab->cuda;
    cuda_address wrong = of->states;
    uint32_t differ;
    void *arguments[] = {&sums, &expected, &count, &wrong};
    RETURN_IF_ERROR(cuda_set_words(cuda, wrong, 0, 1, error));
    RETURN_IF_ERROR(bitmap_launch(of->kernels, BITMAP_COMPARE_SUMS, blocks_of(count, THREADS), THREADS,
                                  arguments, error));
    RETURN_IF_ERROR(cuda_copy_to_host(cuda, &differ, wrong, sizeof differ, error));
    RETURN_IF_ERROR(cuda_synchronize(cuda, error));
    return differ ? error_set(error, STATUS_CHECK_FAILED,
                              "%" PRIu32 " of %" PRIu64 " sums of WAH's decompression are not CUB's", differ,
                              count)
                  : STATUS_OK;
}

/* Times both ways to sum the same items. `other` is memory for CUB's sums. */
static enum status measure_scan(struct bitmap_decompression *of, struct scan scan, cuda_address other,
                                struct speed times[BITMAP_SUMS], struct error *error)
{
    struct timed_scan timed = {.of = of, .scan = scan};
    of->sums = BITMAP_SUMS_OURS;
    RETURN_IF_ERROR(lab_time(of->lab, run_scan, &timed, &times[BITMAP_SUMS_OURS], error));
    if (!bitmap_kernels_have_cub(of->kernels))
        return STATUS_OK;
    timed.scan.sums = other;
    RETURN_IF_ERROR(cuda_set_bytes(of->lab->cuda, other, 0xa5, scan.count * sizeof(uint32_t), error));
    RETURN_IF_ERROR(scan_cub(of, timed.scan, error));
    RETURN_IF_ERROR(compare(of, other, scan.sums, scan.count, error));
    of->sums = BITMAP_SUMS_CUB;
    const enum status status = lab_time(of->lab, run_scan, &timed, &times[BITMAP_SUMS_CUB], error);
    of->sums = BITMAP_SUMS_OURS;
    return status;
}

/* Sizes are summed to the index of words, which has room for them, as a word has a group at least. */
enum status bitmap_sums_measure(struct bitmap_decompression *of,
                                struct speed times[BITMAP_SUMMED][BITMAP_SUMS], struct error *error)
{
    const cuda_address other = of->data + aligned(of->groups);
    const struct scan sizes = {BITMAP_SUMMED_WORDS, of->points, of->word_index, of->word_count};
    const struct scan points = {BITMAP_SUMMED_WORDS, of->points, of->points, of->word_count};
    const struct scan ends = {BITMAP_SUMMED_GROUPS, of->data, of->word_index, of->groups};
    RETURN_IF_ERROR(write_sizes(of, error));
    RETURN_IF_ERROR(measure_scan(of, sizes, other, times[BITMAP_SUMMED_WORDS], error));
    RETURN_IF_ERROR(scan_ours(of, points, error));
    RETURN_IF_ERROR(write_ends(of, error));
    return measure_scan(of, ends, other, times[BITMAP_SUMMED_GROUPS], error);
}

/* ---- Memory ---- */

static enum status ask_cub(struct bitmap_decompression *of, enum bitmap_summed summed, struct error *error)
{
    struct cuda *const cuda = of->lab->cuda;
    uint32_t count = (uint32_t)(summed == BITMAP_SUMMED_WORDS ? of->word_count : of->groups);
    cuda_address shape = of->points;
    void *arguments[] = {&count, &shape};
    RETURN_IF_ERROR(bitmap_launch(
        of->kernels, summed == BITMAP_SUMMED_WORDS ? BITMAP_CUB_SHAPE_WORDS : BITMAP_CUB_SHAPE_BYTES, 1, 1,
        arguments, error));
    RETURN_IF_ERROR(cuda_copy_to_host(cuda, &of->cub[summed], shape, sizeof of->cub[summed], error));
    RETURN_IF_ERROR(cuda_synchronize(cuda, error));
    if (of->cub[summed].bytes > of->state_bytes)
        of->state_bytes = of->cub[summed].bytes;
    return STATUS_OK;
}

enum status bitmap_decompression_open(const struct bitmap_kernels *kernels, cuda_address words,
                                      uint64_t word_count, uint64_t groups, struct bitmap_decompression *of,
                                      struct error *error)
{
    struct cuda *const cuda = kernels->lab->cuda;
    const uint64_t most = word_count > groups ? word_count : groups;
    *of = (struct bitmap_decompression){.kernels = kernels,
                                        .lab = kernels->lab,
                                        .words = words,
                                        .word_count = word_count,
                                        .groups = groups,
                                        .state_bytes =
                                            blocks_of(most, SCAN_TILE) * sizeof(uint64_t) + sizeof(uint64_t)};
    RETURN_IF_ERROR(
        cuda_allocate(cuda, groups * 8 + 2 * ALIGNMENT, "decompressed vectors", &of->data, error));
    RETURN_IF_ERROR(cuda_allocate(cuda, groups * 4, "an index of words", &of->word_index, error));
    RETURN_IF_ERROR(cuda_allocate(cuda, aligned(word_count * 4), "starting points", &of->points, error));
    for (uint32_t summed = 0; summed < BITMAP_SUMMED && bitmap_kernels_have_cub(kernels); summed++)
        RETURN_IF_ERROR(ask_cub(of, (enum bitmap_summed)summed, error));
    return cuda_allocate(cuda, of->state_bytes, "a scan's state", &of->states, error);
}

void bitmap_decompression_close(struct bitmap_decompression *of)
{
    const cuda_address all[] = {of->data, of->word_index, of->points, of->states};
    for (size_t a = 0; a < sizeof all / sizeof *all && of->lab; a++)
        cuda_free(of->lab->cuda, all[a]);
    *of = (struct bitmap_decompression){0};
}
