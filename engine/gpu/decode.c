/* decode.c: see decode.h. */
#include "engine/gpu/decode.h"

#include "engine/gpu/kernel_decoder.h"
#include "storage/codec/chunk_reader.h"
#include "storage/base/text/text_stream.h"

#include <stdio.h>
#include <stdlib.h>

#define STAGE_THREADS (32u * WORK_TILES) /* as in operators/dialect/stage_cuda.h */

/* Blocks a multiprocessor: together they have 64 warps, the most that are resident. */
#define STAGE_BLOCKS 8u

/* ---- The kernels of a column ---- */

static void write_blocks(FILE *out, const struct kernel_column *column, uint32_t index)
{
    fprintf(out,
            "extern \"C\" __global__ void __launch_bounds__(STAGE_THREADS, STAGE_RESIDENT)\n"
            "    decode_%u_0(const bound_chunk *from, const bound_chunk *to, const uint4 *work, uint32_t "
            "items, unsigned long long *fault)\n"
            "{\n    stage_blocks<",
            index);
    kernel_decoder_write(out, column);
    fprintf(out, ", int%u_t>(from, to, work, items, fault);\n}\n", column->value_bytes * 8);
}

static void write_pass(FILE *out, const struct kernel_column *column, uint32_t index, uint32_t pass)
{
    fprintf(out,
            "extern \"C\" __global__ void __launch_bounds__(STAGE_THREADS)\n"
            "    decode_%u_%u(const bound_chunk *from, const bound_chunk *to, const uint4 *work, uint32_t "
            "items)\n"
            "{\n    stage_column<",
            index, pass);
    kernel_decoder_write(out, column);
    fprintf(out, ", int%u_t, %u>(from, to, work, items);\n}\n", column->value_bytes * 8, pass);
}

enum status cuda_decoder_source(const struct kernel_column *columns, uint32_t count, char **source,
                                struct error *error)
{
    size_t bytes = 0;
    FILE *out = text_stream(source, &bytes);
    if (!out)
        return error_out_of_memory(error, 4096, "a kernel's source");
    fputs("#define TILE_CUDA 1\n#include <stdint.h>\n#include \"operators/dialect/stage_cuda.h\"\n", out);
    for (uint32_t c = 0; c < count; c++) {
        kernel_decoder_include(out, columns[c].data->codec);
        if (columns[c].data->codec->decode_block)
            write_blocks(out, &columns[c], c);
        for (uint32_t pass = 0; pass < kernel_decoder_passes(columns[c].data); pass++)
            if (!columns[c].data->codec->decode_block)
                write_pass(out, &columns[c], c, pass);
    }
    return fclose(out) == 0 ? STATUS_OK : error_out_of_memory(error, 4096, "a kernel's source");
}

enum status cuda_decoder_load(struct cuda *cuda, struct cuda_module *module, uint32_t index,
                              const struct column_data *data, struct cuda_decoder *decoder,
                              struct error *error)
{
    char name[32];
    decoder->scratch_bytes = data->codec->gpu.scratch_bytes;
    decoder->pass_count = kernel_decoder_passes(data);
    decoder->of_blocks = data->codec->decode_block;
    for (uint32_t pass = 0; pass < decoder->pass_count; pass++) {
        snprintf(name, sizeof name, "decode_%u_%u", index, pass);
        RETURN_IF_ERROR(cuda_module_function(cuda, module, name, &decoder->passes[pass], error));
        RETURN_IF_ERROR(cuda_function_allow_shared(cuda, decoder->passes[pass],
                                                   (uint64_t)decoder->scratch_bytes * WORK_TILES, error));
    }
    return STATUS_OK;
}

uint64_t cuda_decoder_segment_bytes(const struct segment_data *segment)
{
    return (uint64_t)segment->chunk.tiles * TILE_ROWS * segment->chunk.value_bytes;
}

uint64_t cuda_decoder_segment_layers(const struct segment_data *segment)
{
    return kernel_decoder_layer_bytes(&segment->chunk);
}

uint64_t cuda_decoder_layer_most(const struct column_data *data)
{
    uint64_t most = 0;
    for (uint32_t s = 0; s < data->segment_count; s++) {
        const uint64_t bytes = cuda_decoder_segment_layers(&data->segments[s]);
        most = bytes > most ? bytes : most;
    }
    return most;
}

uint64_t cuda_decoder_values_bytes(const struct column_data *data)
{
    uint64_t bytes = 0;
    for (uint32_t s = 0; s < data->segment_count; s++)
        bytes += cuda_decoder_segment_bytes(&data->segments[s]);
    return bytes;
}

uint64_t cuda_decoder_layer_bytes(const struct column_data *data)
{
    uint64_t bytes = 0;
    for (uint32_t s = 0; s < data->segment_count; s++)
        bytes += cuda_decoder_segment_layers(&data->segments[s]);
    return bytes;
}

void cuda_decoder_target(const struct column_data *data, cuda_address values, cuda_address layers,
                         struct bound_chunk *chunks)
{
    for (uint32_t s = 0; s < data->segment_count; s++) {
        chunks[s] = (struct bound_chunk){.data = values, .auxiliary = layers, .validity = chunks[s].validity};
        values += cuda_decoder_segment_bytes(&data->segments[s]);
        layers += cuda_decoder_segment_layers(&data->segments[s]);
    }
}

enum status cuda_decoder_blocks(const struct column_data *data, const struct tile_skip *skip,
                                struct bound_block **list, uint64_t *bytes, struct cuda_decoder *decoder,
                                struct error *error)
{
    struct tile_run *units;
    uint64_t count;
    RETURN_IF_ERROR(tile_skip_units(skip, data, WORK_TILES, &units, &count, error));
    *bytes = (count + 1) * sizeof **list;
    *list = malloc(*bytes);
    free(decoder->segment_blocks);
    decoder->segment_blocks = calloc(data->segment_count + 1ull, sizeof *decoder->segment_blocks);
    if (!*list || !decoder->segment_blocks) {
        free(*list);
        free(units);
        return error_out_of_memory(error, *bytes, "a list of blocks");
    }
    for (uint64_t u = 0; u < count; u++) {
        const struct chunk_view *chunk = &data->segments[units[u].segment].chunk;
        decoder->segment_blocks[units[u].segment + 1] = (uint32_t)u + 1;
        (*list)[u + 1] = (struct bound_block){.segment = units[u].segment,
                                              .block = units[u].first / chunk_unit_tiles(chunk),
                                              .first_tile = units[u].first,
                                              .tiles = units[u].tiles};
    }
    for (uint32_t s = 0; s < data->segment_count; s++)
        if (decoder->segment_blocks[s + 1] < decoder->segment_blocks[s])
            decoder->segment_blocks[s + 1] = decoder->segment_blocks[s];
    free(units);
    decoder->block_count = (uint32_t)count;
    return STATUS_OK;
}

void cuda_decoder_free(struct cuda *cuda, struct cuda_decoder *decoder)
{
    cuda_free(cuda, decoder->blocks);
    free(decoder->segment_blocks);
    decoder->blocks = 0;
    decoder->segment_blocks = NULL;
}

static enum status run_blocks(struct cuda *cuda, const struct cuda_decoder *decoder, uint32_t first,
                              uint32_t items, cuda_address from, cuda_address to, struct error *error)
{
    const uint64_t shared = (uint64_t)decoder->scratch_bytes * WORK_TILES;
    cuda_address fault = decoder->blocks, work = fault + (first + UINT64_C(1)) * sizeof(struct bound_block);
    unsigned resident;
    void *arguments[] = {&from, &to, &work, &items, &fault};
    RETURN_IF_ERROR(cuda_function_blocks(cuda, decoder->passes[0], STAGE_THREADS, shared, &resident, error));
    RETURN_IF_ERROR(cuda_set_bytes(cuda, fault, 0xff, sizeof(uint64_t), error)); /* BLOCK_SOUND */
    const uint32_t most = resident * cuda_properties(cuda)->multiprocessors;
    const uint32_t blocks = (items + WORK_TILES - 1) / WORK_TILES;
    return items ? cuda_launch(cuda, decoder->passes[0], blocks < most ? blocks : most, STAGE_THREADS, shared,
                               arguments, error)
                 : STATUS_OK;
}

enum status cuda_decoder_check(struct cuda *cuda, const struct cuda_decoder *decoder,
                               const struct column_data *data, struct error *error)
{
    uint64_t fault = BLOCK_SOUND;
    if (!decoder->of_blocks)
        return STATUS_OK;
    RETURN_IF_ERROR(cuda_copy_to_host(cuda, &fault, decoder->blocks, sizeof fault, error));
    RETURN_IF_ERROR(cuda_synchronize(cuda, error));
    return fault == BLOCK_SOUND
               ? STATUS_OK
               : chunk_block_damaged(&data->segments[fault >> 32].chunk, (uint32_t)fault, error);
}

enum status cuda_decoder_run(struct cuda *cuda, const struct cuda_decoder *decoder, cuda_address from,
                             cuda_address to, cuda_address work, uint32_t items, struct error *error)
{
    if (decoder->of_blocks)
        return run_blocks(cuda, decoder, 0, decoder->block_count, from, to, error);
    const uint32_t most = STAGE_BLOCKS * cuda_properties(cuda)->multiprocessors;
    const uint32_t blocks = items < most ? items : most;
    void *arguments[] = {&from, &to, &work, &items};
    for (uint32_t pass = 0; pass < decoder->pass_count && blocks; pass++)
        RETURN_IF_ERROR(cuda_launch(cuda, decoder->passes[pass], blocks, STAGE_THREADS,
                                    (uint64_t)decoder->scratch_bytes * WORK_TILES, arguments, error));
    return STATUS_OK;
}

enum status cuda_decoder_run_segment(struct cuda *cuda, const struct cuda_decoder *decoder, uint32_t segment,
                                     cuda_address from, cuda_address to, cuda_address work, uint32_t items,
                                     struct error *error)
{
    const uint32_t *blocks = decoder->of_blocks ? decoder->segment_blocks + segment : NULL;
    return blocks ? run_blocks(cuda, decoder, blocks[0], blocks[1] - blocks[0], from, to, error)
                  : cuda_decoder_run(cuda, decoder, from, to, work, items, error);
}
