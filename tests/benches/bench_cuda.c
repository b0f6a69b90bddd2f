/*
 * bench_cuda.c: times every decoder of operators/decode/decode_cuda.h alone on the GPU: a kernel decodes a
 * column and sums it.
 *
 *     bench_cuda [ROWS [REPEATS]]       250,000,000 rows and 11 repeats by default; prints a table
 *
 * Values are uniform with each width; for codecs that store runs they are runs of 1 to 7 rows (as SSB's
 * orders have lines). A warp decodes a tile, as in a query. GB/s are of the encoded bytes; the read ceiling
 * is measured in the same run. The sums are checked; the exit code is 1 if one is wrong.
 */
#define _GNU_SOURCE
#include "engine/measure/ceiling.h"
#include "engine/cuda/cuda.h"
#include "engine/cuda/kernel_cache.h"
#include "engine/gpu/kernel_decoder.h"
#include "operators/dialect/bound.h"
#include "storage/base/clock.h"
#include "storage/codec/codec.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A chunk has 2^22 rows. */
#define CHUNK_BITS 22

static const char kernel_text[] =
    "extern __shared__ uint32_t scratch[];\n"
    "extern \"C\" __global__ void __launch_bounds__(256, 4)\n"
    "    decode_sum(const bound_chunk *chunks, uint32_t tile_bits, uint64_t rows, unsigned long long "
    "*out)\n"
    "{\n"
    "    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;\n"
    "    const uint64_t tiles = (rows + TILE_ROWS - 1) / TILE_ROWS;\n"
    "    unsigned long long sum = 0;\n"
    "    for (uint64_t tile = blockIdx.x * 8ull + warp; tile < tiles; tile += gridDim.x * 8ull) {\n"
    "        DECODER decode;\n"
    "        uint32_t part = 0;\n"
    "        decode.seek(chunks[tile >> tile_bits], (uint32_t)tile & ((1u << tile_bits) - 1), lane);\n"
    "        if ((tile + 1) * TILE_ROWS <= rows)\n"
    "            decode.items<false>(scratch + 64 * warp, [&](uint32_t, int32_t value) { part += "
    "(uint32_t)value; });\n"
    "        else\n"
    "            decode.items<false>(scratch + 64 * warp, [&](uint32_t j, int32_t value) {\n"
    "                part += tile * TILE_ROWS + 32 * j + lane < rows ? (uint32_t)value : 0u;\n"
    "            });\n"
    "        sum += part;\n"
    "        __syncwarp();\n"
    "    }\n"
    "    atomicAdd(out, sum);\n"
    "}\n";

struct bench {
    struct cuda *cuda;
    struct cuda_event *begin, *end;
    double ceiling;
    uint64_t rows;
    int repeats;
};

static uint32_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*state >> 32);
}

/* Values stay below 2^27, because the kernel adds a lane's 32 values of a tile modulo 2^32. The sums of the
 * lanes are added in 64 bits, which cannot overflow. */
static void fill(int32_t *values, uint32_t rows, unsigned width, bool runs, uint64_t *seed)
{
    uint32_t value = 0, left = 0;
    for (uint32_t row = 0; row < rows; row++) {
        if (left-- == 0 || !runs) {
            value = width ? next(seed) >> (32 - width) : 0;
            left = next(seed) % 7;
        }
        values[row] = (int32_t)value;
    }
}

/* The kernel's text for columns like the chunk, the caller's to free. */
static char *source_of(const struct chunk_view *chunk)
{
    struct segment_data segment = {.chunk = *chunk};
    const struct column_data data = {.codec = chunk->codec, .segment_count = 1, .segments = &segment};
    const struct kernel_column column = {.data = &data,
                                         .value_bytes = chunk->value_bytes,
                                         .width_low = chunk->width_low,
                                         .width_high = chunk->width_high};
    char *source = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&source, &bytes);
    if (!out)
        return NULL;
    fputs("#define TILE_CUDA 1\n#include <stdint.h>\n", out);
    kernel_decoder_include(out, chunk->codec);
    fputs("typedef ", out);
    kernel_decoder_write(out, &column);
    fprintf(out, " DECODER;\n%s", kernel_text);
    return fclose(out) == 0 ? source : NULL;
}

/* Encodes one segment of values and copies it for every chunk, so that the device's memory holds `rows`
 * rows. */
static enum status run(struct bench *bench, const struct codec *codec, unsigned width, bool runs,
                       struct error *error)
{
    struct cuda *cuda = bench->cuda;
    const uint32_t chunk_rows = 1u << CHUNK_BITS;
    const uint32_t chunks = (uint32_t)(bench->rows / chunk_rows);
    const uint64_t rows = (uint64_t)chunks * chunk_rows;
    uint64_t seed = 20261120 + width, expected = 0;
    int32_t *values = malloc(chunk_rows * sizeof *values);
    uint8_t *bytes = aligned_alloc(128, codec->bound(chunk_rows, 4));
    struct bound_chunk *bound = calloc(chunks, sizeof *bound);
    double *times = calloc((size_t)bench->repeats, sizeof *times);
    if (!values || !bytes || !bound || !times)
        return error_out_of_memory(error, chunk_rows * sizeof *values, "values");
    fill(values, chunk_rows, width, runs, &seed);
    for (uint32_t row = 0; row < chunk_rows; row++)
        expected += (uint32_t)values[row];
    size_t size = codec->encode(values, chunk_rows, 4, bytes);
    struct chunk_view chunk;
    RETURN_IF_ERROR(chunk_open(bytes, size, &chunk, error));
    cuda_address memory, list, out;
    RETURN_IF_ERROR(cuda_allocate(cuda, chunks * (uint64_t)size + 256, "chunks", &memory, error));
    RETURN_IF_ERROR(cuda_allocate(cuda, chunks * sizeof *bound, "the list of chunks", &list, error));
    RETURN_IF_ERROR(cuda_allocate(cuda, 8, "a sum", &out, error));
    for (uint32_t c = 0; c < chunks; c++) {
        cuda_address at = memory + c * (uint64_t)size;
        RETURN_IF_ERROR(c == 0 ? cuda_upload(cuda, at, bytes, size, error)
                               : cuda_copy_on_device(cuda, at, memory, size, error));
        bound[c] = (struct bound_chunk){.directory = at + (uint64_t)(chunk.directory - bytes),
                                        .data = at + (uint64_t)(chunk.data - bytes),
                                        .auxiliary = at + (uint64_t)(chunk.auxiliary - bytes),
                                        .detail = kernel_decoder_detail(&chunk)};
    }
    RETURN_IF_ERROR(cuda_upload(cuda, list, bound, chunks * sizeof *bound, error));
    char *source = source_of(&chunk);
    if (!source)
        return error_out_of_memory(error, sizeof kernel_text, "a kernel's source");
    struct nvrtc_request request = {.source = source, .arch = cuda_properties(cuda)->arch};
    struct kernel_binary binary = {0};
    struct cuda_module *module;
    struct cuda_function *function;
    struct cuda_function_properties properties;
    unsigned blocks;
    RETURN_IF_ERROR(kernel_cache_get(&request, &binary, NULL, error));
    RETURN_IF_ERROR(cuda_module_load(cuda, binary.cubin, &module, error));
    kernel_binary_free(&binary);
    free(source);
    RETURN_IF_ERROR(cuda_module_function(cuda, module, "decode_sum", &function, error));
    RETURN_IF_ERROR(cuda_function_properties(cuda, function, &properties, error));
    RETURN_IF_ERROR(cuda_function_blocks(cuda, function, 256, 2048, &blocks, error));
    uint32_t tile_bits = CHUNK_BITS - 10;
    void *arguments[] = {&list, &tile_bits, (void *)(uintptr_t)&rows, &out};
    uint64_t sum = 0;
    for (int repeat = -2; repeat < bench->repeats; repeat++) {
        double ms;
        RETURN_IF_ERROR(cuda_set_words(cuda, out, 0, 2, error));
        RETURN_IF_ERROR(cuda_event_record(cuda, bench->begin, error));
        RETURN_IF_ERROR(cuda_launch(cuda, function, blocks * cuda_properties(cuda)->multiprocessors, 256,
                                    2048, arguments, error));
        RETURN_IF_ERROR(cuda_event_record(cuda, bench->end, error));
        RETURN_IF_ERROR(cuda_copy_to_host(cuda, &sum, out, sizeof sum, error));
        RETURN_IF_ERROR(cuda_synchronize(cuda, error));
        RETURN_IF_ERROR(cuda_event_elapsed(cuda, bench->begin, bench->end, &ms, error));
        if (repeat >= 0)
            times[repeat] = ms;
    }
    if (sum != expected * chunks)
        return error_set(error, STATUS_CHECK_FAILED, "%s at width %u sums to %" PRIu64 ", not %" PRIu64,
                         codec->name, width, sum, expected * chunks);
    double median = clock_median(times, (size_t)bench->repeats),
           rate = (double)size * chunks / (median * 1e-3);
    printf("%-11s %-8s %5u %8.2f %9.4f %9.4f %8.0f %8.1f %5u %6u\n", codec->name, runs ? "runs" : "uniform",
           width, 8.0 * (double)size / chunk_rows, median, times[0], rate / 1e9, 100 * rate / bench->ceiling,
           properties.registers, properties.local_bytes);
    fflush(stdout);
    cuda_module_unload(cuda, module);
    cuda_free(cuda, memory);
    cuda_free(cuda, list);
    cuda_free(cuda, out);
    free(times);
    free(bound);
    free(bytes);
    free(values);
    return STATUS_OK;
}

/* Whether runs are what the codec is about: they take less than half of what other values take. */
static bool gains_by_runs(const struct codec *codec)
{
    static int32_t values[1u << 16];
    uint64_t seed = 1;
    size_t size[2] = {0};
    uint8_t *bytes = aligned_alloc(128, codec->bound(1u << 16, 4));
    for (int runs = 0; bytes && runs < 2; runs++) {
        fill(values, 1u << 16, 16, runs, &seed);
        size[runs] = codec->encode(values, 1u << 16, 4, bytes);
    }
    free(bytes);
    return 2 * size[1] < size[0];
}

static enum status run_all(struct bench *bench, struct error *error)
{
    static const unsigned widths[] = {4, 8, 12, 16, 20, 24};
    RETURN_IF_ERROR(cuda_open(0, &bench->cuda, error));
    RETURN_IF_ERROR(ceiling_cuda(bench->cuda, &bench->ceiling, error));
    RETURN_IF_ERROR(cuda_event_create(bench->cuda, &bench->begin, error));
    RETURN_IF_ERROR(cuda_event_create(bench->cuda, &bench->end, error));
    printf("%s, %" PRIu64 " rows, memory read at %.0f GB/s at most\n\n", cuda_properties(bench->cuda)->name,
           bench->rows / (1u << CHUNK_BITS) * (1u << CHUNK_BITS), bench->ceiling / 1e9);
    printf("%-11s %-8s %5s %8s %9s %9s %8s %8s %5s %6s\n", "codec", "values", "width", "bits", "ms", "min ms",
           "GB/s", "% of max", "regs", "spill");
    for (uint32_t id = 1; id < CODEC_COUNT; id++)
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
            const struct codec *codec = codec_by_id(id);
            const bool runs = gains_by_runs(codec);
            if (codec->layout == CODEC_LAYOUT_ARRAY && w > 3) /* 32 bits for each of them */
                continue;
            if (codec->gpu.passes) /* no kernel decodes and sums it in one pass */
                continue;
            RETURN_IF_ERROR(run(bench, codec, widths[w], runs, error));
            if (runs && widths[w] == 12)
                RETURN_IF_ERROR(run(bench, codec, widths[w], false, error));
        }
    return STATUS_OK;
}

int main(int argc, char **argv)
{
    struct bench bench = {.rows = argc > 1 ? strtoull(argv[1], NULL, 10) : 250000000ull,
                          .repeats = argc > 2 ? atoi(argv[2]) : 11};
    struct error error = {0};
    enum status status = run_all(&bench, &error);
    if (status != STATUS_OK)
        fprintf(stderr, "bench_cuda: %s\n", error.text);
    cuda_event_destroy(bench.cuda, bench.begin);
    cuda_event_destroy(bench.cuda, bench.end);
    cuda_close(bench.cuda);
    return (int)status;
}
