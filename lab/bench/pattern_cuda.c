/* pattern_cuda.c: see pattern.h; a GPU. */
#include "lab/bench/kernel.h"
#include "lab/bench/pattern.h"

#include "operators/dialect/bound.h"

struct matching {
    struct lab *lab;
    struct lab_kernel kernel;
    struct cuda_decode *decode; /* runs before the kernel; NULL: the kernel decodes */
    cuda_address chunks, plain_chunk, pattern, distances, best;
    uint32_t chunk_tiles, tiles;
};

static enum status match_work(void *context, struct error *error)
{
    struct matching *const matching = context;
    void *arguments[] = {&matching->chunks,  &matching->chunk_tiles, &matching->tiles,
                         &matching->pattern, &matching->distances,   &matching->best};
    RETURN_IF_ERROR(cuda_set_words(matching->lab->cuda, matching->best, UINT32_MAX, 2, error));
    if (matching->decode)
        RETURN_IF_ERROR(cuda_decode_run(matching->decode, error));
    return lab_kernel_launch(matching->lab, &matching->kernel, arguments, error);
}

static enum status allocate(struct matching *matching, const struct pattern *pattern, struct error *error)
{
    struct cuda *const cuda = matching->lab->cuda;
    const uint64_t bytes = pattern->series * sizeof(uint32_t), pattern_bytes = TILE_ROWS * sizeof(int32_t);
    RETURN_IF_ERROR(cuda_allocate(cuda, bytes, "distances of time series", &matching->distances, error));
    RETURN_IF_ERROR(cuda_allocate(cuda, sizeof(uint64_t), "the least distance", &matching->best, error));
    RETURN_IF_ERROR(cuda_allocate(cuda, pattern_bytes, "the pattern", &matching->pattern, error));
    return cuda_upload(cuda, matching->pattern, pattern->values, pattern_bytes, error);
}

/* The kernel that decodes the column's own chunks. */
static enum status open_fused(struct matching *matching, const struct lab_column *column, struct error *error)
{
    char *source;
    matching->chunks = cuda_decode_chunks(column->decode);
    matching->chunk_tiles = ENCODED_CHUNK_ROWS / TILE_ROWS;
    RETURN_IF_ERROR(kernel_text_match(&column->shape, &source, error));
    return lab_kernel_open(matching->lab, source, KERNEL_MATCH, KERNEL_MATCH_THREADS,
                           (uint64_t)column->data.codec->gpu.scratch_bytes * KERNEL_MATCH_THREADS / 32,
                           &matching->kernel, error);
}

/* The kernel that reads the decoded values, as one chunk that is not compressed. */
static enum status open_staged(struct matching *matching, const struct lab_column *column,
                               struct error *error)
{
    const struct bound_chunk chunk = {.data = cuda_decode_values(column->decode, 0)};
    const struct column_data data = {.codec = codec_baseline()};
    const struct kernel_column shape = {.data = &data, .value_bytes = sizeof(int32_t)};
    struct cuda *const cuda = matching->lab->cuda;
    char *source;
    RETURN_IF_ERROR(cuda_allocate(cuda, sizeof chunk, "a list of chunks", &matching->plain_chunk, error));
    RETURN_IF_ERROR(cuda_upload(cuda, matching->plain_chunk, &chunk, sizeof chunk, error));
    matching->chunks = matching->plain_chunk;
    matching->chunk_tiles = matching->tiles;
    matching->decode = column->decode;
    RETURN_IF_ERROR(kernel_text_match(&shape, &source, error));
    return lab_kernel_open(matching->lab, source, KERNEL_MATCH, KERNEL_MATCH_THREADS, 0, &matching->kernel,
                           error);
}

static enum status check(struct matching *matching, struct pattern *pattern, const char *codec,
                         struct error *error)
{
    struct cuda *const cuda = matching->lab->cuda;
    const uint64_t bytes = pattern->series * sizeof *pattern->found;
    uint64_t best;
    RETURN_IF_ERROR(cuda_set_bytes(cuda, matching->distances, UINT8_MAX, bytes, error));
    RETURN_IF_ERROR(match_work(matching, error));
    RETURN_IF_ERROR(cuda_copy_to_host(cuda, pattern->found, matching->distances, bytes, error));
    RETURN_IF_ERROR(cuda_copy_to_host(cuda, &best, matching->best, sizeof best, error));
    RETURN_IF_ERROR(cuda_synchronize(cuda, error));
    return pattern_check(pattern, best, codec, error);
}

static enum status measure(struct matching *matching, struct pattern *pattern,
                           const struct lab_column *column, enum pattern_way way, struct speed *speed,
                           struct error *error)
{
    RETURN_IF_ERROR(allocate(matching, pattern, error));
    RETURN_IF_ERROR(way == PATTERN_FUSED ? open_fused(matching, column, error)
                                         : open_staged(matching, column, error));
    RETURN_IF_ERROR(check(matching, pattern, column->data.codec->name, error));
    return lab_time(matching->lab, match_work, matching, speed, error);
}

static void matching_close(struct matching *matching)
{
    struct lab *const lab = matching->lab;
    const cuda_address owned[] = {matching->plain_chunk, matching->pattern, matching->distances,
                                  matching->best};
    lab_kernel_close(lab, &matching->kernel);
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        cuda_free(lab->cuda, owned[i]);
}

enum status pattern_measure_cuda(struct pattern *pattern, const struct encoded *encoded, enum pattern_way way,
                                 struct speed *speed, struct error *error)
{
    struct matching matching = {.lab = pattern->lab, .tiles = pattern->series};
    struct lab_column column;
    enum status status = lab_column_open(pattern->lab, encoded, &column, error);
    if (status == STATUS_OK)
        status = measure(&matching, pattern, &column, way, speed, error);
    matching_close(&matching);
    lab_column_close(&column);
    return status;
}
