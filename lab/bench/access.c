/* access.c: see access.h. */
#include "lab/bench/access.h"

#include "storage/base/clock.h"
#include "storage/base/memory.h"

#include <stdlib.h>

#define CHUNK_TILES (ENCODED_CHUNK_ROWS / TILE_ROWS)
#define ITEM_TILES  64u /* of a thread's item on a processor */

static uint64_t tiles_of(const struct access *access)
{
    return (access->dataset->rows + TILE_ROWS - 1) / TILE_ROWS;
}

static uint64_t threshold_of(double selectivity)
{
    return (uint64_t)(selectivity * 0x1p32);
}

static enum status wrong_sum(const struct access *access, uint32_t found, uint32_t expected,
                             struct error *error)
{
    return error_set(error, STATUS_CHECK_FAILED, "%s: the selected rows sum to %u, not %u (modulo 2^32)",
                     access->encoded->codec->name, found, expected);
}

bool access_possible(const struct access *access, const struct codec *codec, bool fetch)
{
    if (codec_is_staged(codec, access->lab->cuda))
        return false;
    return !fetch || (access->lab->cuda ? codec->gpu.random_access : codec->random_access);
}

/* ---- On a GPU ---- */

static enum status open_select(struct access *access, struct error *error)
{
    char *source;
    RETURN_IF_ERROR(kernel_text_choose(&source, error));
    return lab_kernel_open(access->lab, source, KERNEL_CHOOSE, 256, 0, &access->select, error);
}

static enum status open_expected(struct access *access, struct error *error)
{
    char *source;
    RETURN_IF_ERROR(kernel_text_expected(&source, error));
    return lab_kernel_open(access->lab, source, KERNEL_EXPECTED, 256, 0, &access->expected, error);
}

/* What serves all codecs. */
static enum status open_shared(struct access *access, struct error *error)
{
    struct cuda *const cuda = access->lab->cuda;
    if (access->device_bits)
        return STATUS_OK;
    RETURN_IF_ERROR(
        cuda_allocate(cuda, tiles_of(access) * TILE_ROWS / 8, "a bit vector", &access->device_bits, error));
    RETURN_IF_ERROR(cuda_allocate(cuda, sizeof(uint32_t), "a sum", &access->out, error));
    RETURN_IF_ERROR(open_select(access, error));
    return open_expected(access, error);
}

static enum status open_cuda(struct access *access, struct error *error)
{
    char *source;
    RETURN_IF_ERROR(open_shared(access, error));
    RETURN_IF_ERROR(lab_column_open(access->lab, access->encoded, &access->column, error));
    RETURN_IF_ERROR(kernel_text_access(&access->column.shape, access->fetch, &source, error));
    return lab_kernel_open(access->lab, source, KERNEL_ACCESS, KERNEL_ACCESS_THREADS,
                           (uint64_t)access->encoded->codec->gpu.scratch_bytes * WORK_TILES, &access->kernel,
                           error);
}

static enum status launch(void *context, struct error *error)
{
    struct access *const access = context;
    uint32_t items, chunk_tiles = CHUNK_TILES;
    cuda_address chunks = cuda_decode_chunks(access->column.decode),
                 work = cuda_decode_work(access->column.decode, &items);
    void *arguments[] = {&chunks, &work, &items, &chunk_tiles, &access->device_bits, &access->out};
    return lab_kernel_launch(access->lab, &access->kernel, arguments, error);
}

static enum status launch_expected(void *context, struct error *error)
{
    struct access *const access = context;
    cuda_address values = access->dataset->on_device;
    uint64_t rows = access->dataset->rows;
    void *arguments[] = {&values, &access->device_bits, &rows, &access->out};
    return lab_kernel_launch(access->lab, &access->expected, arguments, error);
}

/* Runs a kernel that adds to the sum, and gives the sum. */
static enum status sum_of(struct access *access, lab_work *work, uint32_t *sum, struct error *error)
{
    RETURN_IF_ERROR(cuda_set_words(access->lab->cuda, access->out, 0, 1, error));
    RETURN_IF_ERROR(work(access, error));
    RETURN_IF_ERROR(cuda_copy_to_host(access->lab->cuda, sum, access->out, sizeof *sum, error));
    return cuda_synchronize(access->lab->cuda, error);
}

static enum status measure_cuda(struct access *access, double selectivity, struct speed *speed,
                                struct error *error)
{
    uint64_t rows = access->dataset->rows, threshold = threshold_of(selectivity);
    uint32_t expected, found;
    void *arguments[] = {&access->device_bits, &rows, &threshold};
    RETURN_IF_ERROR(lab_kernel_launch(access->lab, &access->select, arguments, error));
    RETURN_IF_ERROR(sum_of(access, launch_expected, &expected, error));
    RETURN_IF_ERROR(sum_of(access, launch, &found, error));
    if (found != expected)
        return wrong_sum(access, found, expected, error);
    return lab_time(access->lab, launch, access, speed, error);
}

/* ---- On a processor ---- */

struct reading {
    const struct access *access;
    _Atomic uint32_t sum;
};

static uint32_t sum_tile(const struct access *access, const struct chunk_view *chunk, uint32_t tile,
                         const uint32_t *keep)
{
    _Alignas(64) int32_t values[TILE_ROWS];
    uint32_t sum = 0;
    if (!access->fetch)
        chunk->codec->decode_tile(chunk, tile, values);
    for (uint32_t lane = 0; lane < TILE_LANES; lane++)
        for (uint32_t bits = keep[lane]; bits; bits &= bits - 1) {
            const uint32_t row = (uint32_t)__builtin_ctz(bits) * TILE_LANES + lane;
            sum += access->fetch ? (uint32_t)chunk->codec->value(chunk, tile * TILE_ROWS + row)
                                 : (uint32_t)values[row];
        }
    return sum;
}

static enum status read_item(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct reading *const reading = context;
    const struct access *const access = reading->access;
    const uint64_t tiles = tiles_of(access), first = item * ITEM_TILES;
    uint32_t sum = 0;
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    for (uint64_t tile = first; tile < first + ITEM_TILES && tile < tiles; tile++) {
        const uint32_t *const keep = access->bits + tile * TILE_LANES;
        uint32_t any = 0;
        for (uint32_t lane = 0; lane < TILE_LANES; lane++)
            any |= keep[lane];
        if (any)
            sum += sum_tile(access, &access->encoded->chunks[tile / CHUNK_TILES],
                            (uint32_t)(tile % CHUNK_TILES), keep);
    }
    reading->sum += sum;
    return STATUS_OK;
}

static enum status read_all(const struct access *access, uint32_t *sum, double *ms, struct error *error)
{
    struct reading reading = {.access = access};
    const double begin = clock_ms();
    RETURN_IF_ERROR(parallel_for(access->lab->threads, (tiles_of(access) + ITEM_TILES - 1) / ITEM_TILES,
                                 read_item, &reading, error));
    *ms = clock_ms() - begin;
    *sum = reading.sum;
    return STATUS_OK;
}

/* Selects rows; gives the sum of their values. */
static uint32_t choose(const struct access *access, uint64_t threshold)
{
    uint64_t random = 1;
    uint32_t sum = 0;
    for (uint64_t w = 0; w < tiles_of(access) * TILE_LANES; w++)
        access->bits[w] = 0;
    for (uint64_t row = 0; row < access->dataset->rows; row++)
        if (random_next(&random) >> 32 < threshold) {
            access->bits[row / TILE_ROWS * TILE_LANES + row % TILE_LANES] |= 1u
                                                                             << row % TILE_ROWS / TILE_LANES;
            sum += (uint32_t)access->dataset->values[row];
        }
    return sum;
}

static enum status measure_cpu(struct access *access, double selectivity, struct speed *speed,
                               struct error *error)
{
    const uint32_t expected = choose(access, threshold_of(selectivity));
    uint32_t found;
    double unmeasured, *ms = NULL;
    RETURN_IF_ERROR(read_all(access, &found, &unmeasured, error));
    if (found != expected)
        return wrong_sum(access, found, expected, error);
    RETURN_IF_ERROR(memory_take(&ms, access->lab->repeat * sizeof *ms, "a list of times", error));
    enum status status = STATUS_OK;
    for (uint32_t i = 0; status == STATUS_OK && i < access->lab->repeat; i++)
        status = read_all(access, &found, &ms[i], error);
    if (status == STATUS_OK)
        *speed = speed_of(ms, access->lab->repeat);
    free(ms);
    return status;
}

/* ---- On either ---- */

enum status access_open(struct access *access, const struct encoded *encoded, bool fetch, struct error *error)
{
    access->encoded = encoded;
    access->fetch = fetch;
    if (access->lab->cuda)
        return open_cuda(access, error);
    return access->bits
               ? STATUS_OK
               : memory_zeros(&access->bits, tiles_of(access) * TILE_ROWS / 8, "a bit vector", error);
}

enum status access_measure(struct access *access, double selectivity, struct speed *speed,
                           struct error *error)
{
    return access->lab->cuda ? measure_cuda(access, selectivity, speed, error)
                             : measure_cpu(access, selectivity, speed, error);
}

void access_close(struct access *access)
{
    if (!access->lab->cuda)
        return;
    lab_kernel_close(access->lab, &access->kernel);
    lab_column_close(&access->column);
}

void access_destroy(struct access *access)
{
    free(access->bits);
    if (!access->lab->cuda)
        return;
    lab_kernel_close(access->lab, &access->select);
    lab_kernel_close(access->lab, &access->expected);
    cuda_free(access->lab->cuda, access->device_bits);
    cuda_free(access->lab->cuda, access->out);
}
