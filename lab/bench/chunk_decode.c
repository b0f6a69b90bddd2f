/* chunk_decode.c: see chunk_decode.h. */
#include "lab/bench/chunk_decode.h"

#include "engine/cuda/kernel_cache.h"
#include "engine/gpu/memory/columns.h"
#include "storage/base/memory.h"

#include <stdlib.h>

struct cuda_decode {
    struct cuda *cuda;
    const struct column_data *data;
    struct cuda_module *module;
    struct cuda_decoder decoder;
    cuda_address from, to, values, layers, work;
    uint32_t items;
};

static enum status compile(struct cuda_decode *decode, struct error *error)
{
    const struct column_data *data = decode->data;
    struct kernel_column column = {.data = data, .value_bytes = data->segments->chunk.value_bytes};
    column_data_widths(data, &column.width_low, &column.width_high);
    char *source;
    struct kernel_binary binary = {0};
    RETURN_IF_ERROR(cuda_decoder_source(&column, 1, &source, error));
    const struct nvrtc_request request = {
        .name = "decode.cu", .source = source, .arch = cuda_properties(decode->cuda)->arch};
    enum status status = kernel_cache_get(&request, &binary, NULL, error);
    if (status == STATUS_OK)
        status = cuda_module_load(decode->cuda, binary.cubin, &decode->module, error);
    if (status == STATUS_OK)
        status = cuda_decoder_load(decode->cuda, decode->module, 0, data, &decode->decoder, error);
    kernel_binary_free(&binary);
    free(source);
    return status;
}

static enum status allocate(struct cuda_decode *decode, struct error *error)
{
    struct cuda *cuda = decode->cuda;
    const struct column_data *data = decode->data;
    RETURN_IF_ERROR(cuda_allocate(cuda, cuda_chunks_bytes(data), "encoded chunks", &decode->from, error));
    RETURN_IF_ERROR(
        cuda_allocate(cuda, cuda_decoder_values_bytes(data), "decoded values", &decode->values, error));
    RETURN_IF_ERROR(cuda_allocate(cuda, cuda_decoder_layer_bytes(data), "layers between decoding passes",
                                  &decode->layers, error));
    RETURN_IF_ERROR(cuda_allocate(cuda, data->segment_count * sizeof(struct bound_chunk), "a list of chunks",
                                  &decode->to, error));
    return cuda_chunks_upload(cuda, data, decode->from, error);
}

/* Lists all tiles of all chunks as work. */
static enum status list_work(struct cuda_decode *decode, struct error *error)
{
    const struct column_data *data = decode->data;
    uint64_t items = 0;
    for (uint32_t s = 0; s < data->segment_count; s++)
        items += (data->segments[s].chunk.tiles + WORK_TILES - 1) / WORK_TILES;
    struct bound_work *work = malloc((items + 1) * sizeof *work);
    if (!work)
        return error_out_of_memory(error, items * sizeof *work, "the list of work");
    for (uint32_t s = 0; s < data->segment_count; s++)
        for (uint32_t tile = 0; tile < data->segments[s].chunk.tiles; tile += WORK_TILES) {
            const uint32_t left = data->segments[s].chunk.rows - tile * TILE_ROWS;
            work[decode->items++] =
                (struct bound_work){.segment = s,
                                    .first_tile = tile,
                                    .rows = left < WORK_TILES * TILE_ROWS ? left : WORK_TILES * TILE_ROWS};
        }
    enum status status =
        cuda_allocate(decode->cuda, items * sizeof *work, "the list of work", &decode->work, error);
    if (status == STATUS_OK)
        status = cuda_upload(decode->cuda, decode->work, work, items * sizeof *work, error);
    free(work);
    return status;
}

/* Lists all blocks of all chunks. */
static enum status list_blocks(struct cuda_decode *decode, struct error *error)
{
    const struct column_data *data = decode->data;
    struct bound_block *list = NULL;
    uint64_t bytes;
    struct tile_skip all = {.run_count = data->segment_count};
    if (!decode->decoder.of_blocks)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_take(&all.runs, all.run_count * sizeof *all.runs, "a list of tiles", error));
    for (uint32_t s = 0; s < data->segment_count; s++)
        all.runs[s] = (struct tile_run){.segment = s, .tiles = data->segments[s].chunk.tiles};
    enum status status = cuda_decoder_blocks(data, &all, &list, &bytes, &decode->decoder, error);
    if (status == STATUS_OK)
        status = cuda_allocate(decode->cuda, bytes, "a list of blocks", &decode->decoder.blocks, error);
    if (status == STATUS_OK)
        status = cuda_upload(decode->cuda, decode->decoder.blocks, list, bytes, error);
    free(list);
    free(all.runs);
    return status;
}

static enum status upload_target(struct cuda_decode *decode, struct error *error)
{
    const struct column_data *data = decode->data;
    struct bound_chunk *chunks = calloc(data->segment_count + 1, sizeof *chunks);
    if (!chunks)
        return error_out_of_memory(error, data->segment_count * sizeof *chunks, "a list of chunks");
    cuda_decoder_target(data, decode->values, decode->layers, chunks);
    const enum status status =
        cuda_upload(decode->cuda, decode->to, chunks, data->segment_count * sizeof *chunks, error);
    free(chunks);
    return status;
}

enum status cuda_decode_open(struct cuda *cuda, const struct column_data *data, struct cuda_decode **out,
                             struct error *error)
{
    if (data->segment_count == 0)
        return error_set(error, STATUS_BAD_INPUT, "there is no chunk to decode");
    struct cuda_decode *decode = calloc(1, sizeof *decode);
    if (!decode)
        return error_out_of_memory(error, sizeof *decode, "a column's decoding");
    decode->cuda = cuda;
    decode->data = data;
    enum status status = compile(decode, error);
    if (status == STATUS_OK)
        status = allocate(decode, error);
    if (status == STATUS_OK)
        status = upload_target(decode, error);
    if (status == STATUS_OK)
        status = list_work(decode, error);
    if (status == STATUS_OK)
        status = list_blocks(decode, error);
    if (status == STATUS_OK)
        *out = decode;
    else
        cuda_decode_close(decode);
    return status;
}

enum status cuda_decode_run(struct cuda_decode *decode, struct error *error)
{
    return cuda_decoder_run(decode->cuda, &decode->decoder, decode->from, decode->to, decode->work,
                            decode->items, error);
}

enum status cuda_decode_check(struct cuda_decode *decode, struct error *error)
{
    return cuda_decoder_check(decode->cuda, &decode->decoder, decode->data, error);
}

cuda_address cuda_decode_values(const struct cuda_decode *decode, uint32_t segment)
{
    cuda_address values = decode->values;
    for (uint32_t s = 0; s < segment; s++)
        values += cuda_decoder_segment_bytes(&decode->data->segments[s]);
    return values;
}

cuda_address cuda_decode_chunks(const struct cuda_decode *decode)
{
    return decode->from;
}

cuda_address cuda_decode_work(const struct cuda_decode *decode, uint32_t *items)
{
    *items = decode->items;
    return decode->work;
}

void cuda_decode_close(struct cuda_decode *decode)
{
    if (!decode)
        return;
    const cuda_address owned[] = {decode->from, decode->to, decode->values, decode->layers, decode->work};
    cuda_decoder_free(decode->cuda, &decode->decoder);
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        cuda_free(decode->cuda, owned[i]);
    cuda_module_unload(decode->cuda, decode->module);
    free(decode);
}
