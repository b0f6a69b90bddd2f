/* calibrate_cuda.c: measures costs on a GPU; see calibrate.h. Times are those of the whole GPU, by its
 * events. */
#include "engine/measure/calibrate.h"
#include "engine/measure/ceiling.h"
#include "engine/cuda/kernel_cache.h"
#include "engine/gpu/kernel_decoder.h"
#include "storage/base/memory.h"
#include "storage/base/text/text_stream.h"

#include <stdio.h>
#include <stdlib.h>

#define THREADS    1024u /* of a block; one block a multiprocessor, as in queries */
#define WARPS      (THREADS / 32)
#define COPIES     128u /* chunks that are fetched from: 512 MB of plain values */
#define HOT_CHUNKS 4u   /* 16 MB of plain values: they stay in the second-level cache */
#define HOT_TURNS  64u
#define ROUNDS     5

/* This text comes after the definition of DECODER. Tiles cycle over chunk_mask + 1 chunks. */
static const char kernel_text[] =
    "struct arguments {\n"
    "    bound_column column;\n"
    "    bound_dimension dimension;\n"
    "    uint64_t out, fetched;\n"
    "    uint32_t tiles, chunk_mask, staging_offset, reserved;\n"
    "};\n"
    "template <class COLUMN, class F> __device__ __forceinline__ void each_tile(const arguments &a, F f)\n"
    "{\n"
    "    const uint32_t warp = threadIdx.x / 32;\n"
    "    COLUMN column;\n"
    "    column.bind(a.column, tile_shared + a.staging_offset + warp * SCRATCH);\n"
    "    unsigned long long total = 0;\n"
    "    for (uint32_t i = blockIdx.x * (blockDim.x / 32) + warp; i < a.tiles; i += gridDim.x * (blockDim.x "
    "/ 32)) {\n"
    "        const uint32_t chunk = i / CHUNK_TILES & a.chunk_mask;\n"
    "        const tile t = {chunk, i % CHUNK_TILES, TILE_ROWS, threadIdx.x % 32, 0, chunk};\n"
    "        column.seek(t);\n"
    "        column.preload();\n"
    "        total += f(column, &t);\n"
    "        __syncwarp();\n"
    "    }\n"
    "    atomicAdd(reinterpret_cast<unsigned long long *>(a.out), total);\n"
    "}\n"
    "typedef tile_column<DECODER, true, false, 0, false> filtering;\n"
    "typedef tile_column<DECODER, false, true, 0, false> fetching;\n"
    "extern \"C\" __global__ void __launch_bounds__(1024, 1) compare(const __grid_constant__ arguments a)\n"
    "{\n"
    "    each_tile<filtering>(a, [](filtering &column, const tile *t) {\n"
    "        return __popc(tile_filter(t, tile_all(t), column));\n"
    "    });\n"
    "}\n"
    "extern \"C\" __global__ void __launch_bounds__(1024, 1) probe(const __grid_constant__ arguments a)\n"
    "{\n"
    "    tile_dimension<TILE_BITMAP_SHARED, 0, unsigned char> dimension;\n"
    "    dimension.bind(a.dimension);\n"
    "    __syncthreads();\n"
    "    each_tile<filtering>(a, [&](filtering &column, const tile *t) {\n"
    "        return __popc(tile_semi_join(t, tile_all(t), column, dimension));\n"
    "    });\n"
    "}\n"
    "extern \"C\" __global__ void __launch_bounds__(1024, 1) fetch(const __grid_constant__ arguments a)\n"
    "{\n"
    "    const tile_mask keep = words_at(a.fetched)[threadIdx.x % 32];\n"
    "    each_tile<fetching>(a, [=](fetching &column, const tile *t) {\n"
    "        unsigned long long sum = 0;\n"
    "        tile_fetch(t, keep, column);\n"
    "        tile_each (t, keep, row)\n"
    "            sum += (uint32_t)tile_value(t, column, row);\n"
    "        return sum;\n"
    "    });\n"
    "}\n";

/* Must have the layout of the kernels' struct. */
struct arguments {
    struct bound_column column;
    struct bound_dimension dimension;
    uint64_t out, fetched;
    uint32_t tiles, chunk_mask, staging_offset, reserved;
};

struct bench {
    bool once; /* every kernel, over few chunks */
    struct cuda *cuda;
    char *sources[CALIBRATIONS_MAX];
    struct kernel_binary binaries[CALIBRATIONS_MAX];
    uint32_t *reversed; /* a bitmap's words with their bits in the GPU's order */
    struct cuda_event *begin, *end;
    cuda_address chunks, list, bitmap, fetched, out;
};

/* ---- Compiling ---- */

/* The column for a kernel that fetches from it. `data` gets the codec and must outlive the result. */
static struct kernel_column kernel_column_of(const struct calibration *calibration, struct column_data *data)
{
    data->codec = calibration->codec;
    return (struct kernel_column){.data = data,
                                  .value_bytes = sizeof(int32_t),
                                  .width_low = calibration->chunk.width_low,
                                  .width_high = calibration->chunk.width_high,
                                  .fetched = true};
}

enum status calibrate_kernel_source(const struct calibration *calibration, char **source, struct error *error)
{
    size_t bytes = 0;
    FILE *out = text_stream(source, &bytes);
    if (!out)
        return error_out_of_memory(error, 4096, "a kernel's source");
    struct segment_data segment = {.chunk = calibration->chunk};
    struct column_data data = {.segment_count = 1, .segments = &segment};
    const struct kernel_column column = kernel_column_of(calibration, &data);
    fputs("#define TILE_CUDA 1\n#include <stdint.h>\n#include \"operators/dialect/tile_cuda.h\"\n", out);
    kernel_decoder_include(out, calibration->codec);
    fputs("typedef ", out);
    kernel_decoder_write(out, &column);
    fprintf(out, " DECODER;\n#define SCRATCH %uu\n#define CHUNK_TILES %uu\n%s",
            kernel_decoder_staging(&column), CALIBRATE_TILES, kernel_text);
    return fclose(out) == 0 ? STATUS_OK : error_out_of_memory(error, 4096, "a kernel's source");
}

/* A pass over the columns that only collects their decoders; nothing is measured. */
static enum status write_source(void *context, uint32_t index, const struct calibration *calibration,
                                double ns[CODEC_USES], struct error *error)
{
    struct bench *bench = context;
    for (uint32_t use = 0; use < CODEC_USES; use++)
        ns[use] = 0;
    return calibrate_kernel_source(calibration, &bench->sources[index], error);
}

static enum status compile(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct bench *bench = context;
    const struct nvrtc_request request = {
        .name = "calibrate", .source = bench->sources[item], .arch = cuda_properties(bench->cuda)->arch};
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    return kernel_cache_get(&request, &bench->binaries[item], NULL, error);
}

/* ---- Measuring ---- */

static enum status upload(struct bench *bench, const struct calibration *calibration, struct error *error)
{
    struct cuda *cuda = bench->cuda;
    const struct chunk_view *chunk = &calibration->chunk;
    struct bound_chunk bound[COPIES];
    uint32_t fetched[TILE_LANES] = {0};
    for (uint32_t i = 0; i < CODEC_COST_FETCHED; i++)
        fetched[calibration->fetched[i] % TILE_LANES] |= 1u << calibration->fetched[i] / TILE_LANES;
    for (uint32_t word = 0; word < calibration->bitmap_words; word++) {
        uint32_t bits = calibration->bitmap[word], reversed = 0;
        for (uint32_t bit = 0; bit < 32; bit++)
            reversed |= (bits >> bit & 1) << (31 - bit);
        bench->reversed[word] = reversed;
    }
    for (uint32_t copy = 0; copy < COPIES; copy++) {
        const cuda_address at = bench->chunks + copy * chunk->size;
        RETURN_IF_ERROR(copy == 0 ? cuda_copy_to_device(cuda, at, chunk->bytes, chunk->size, error)
                                  : cuda_copy_on_device(cuda, at, bench->chunks, chunk->size, error));
        bound[copy] = (struct bound_chunk){.directory = at + (uint64_t)(chunk->directory - chunk->bytes),
                                           .data = at + (uint64_t)(chunk->data - chunk->bytes),
                                           .auxiliary = at + (uint64_t)(chunk->auxiliary - chunk->bytes),
                                           .detail = kernel_decoder_detail(chunk)};
    }
    RETURN_IF_ERROR(cuda_copy_to_device(cuda, bench->list, bound, sizeof bound, error));
    RETURN_IF_ERROR(cuda_copy_to_device(cuda, bench->fetched, fetched, sizeof fetched, error));
    RETURN_IF_ERROR(cuda_copy_to_device(cuda, bench->bitmap, bench->reversed,
                                        calibration->bitmap_words * sizeof(uint32_t), error));
    return cuda_synchronize(cuda, error);
}

static enum status measure_use(struct bench *bench, const struct calibration *calibration, enum codec_use use,
                               struct cuda_module *module, double *ns, struct error *error)
{
    struct cuda *cuda = bench->cuda;
    struct cuda_function *function;
    const bool fetches = use == CODEC_USE_FETCH, copies = use == CODEC_USE_PROBE;
    const uint32_t chunks = fetches && !bench->once ? COPIES : HOT_CHUNKS;
    const uint32_t turns = fetches || bench->once ? 1 : HOT_TURNS;
    struct arguments arguments = {
        .column = {.chunks = bench->list, .low = 0, .high = calibration->high},
        .dimension = {.bitmap = bench->bitmap, .bitmap_words = calibration->bitmap_words},
        .out = bench->out,
        .fetched = bench->fetched,
        .tiles = turns * chunks * CALIBRATE_TILES,
        .chunk_mask = chunks - 1,
        .staging_offset =
            copies ? (calibration->bitmap_words * (uint32_t)sizeof(uint32_t) + 15) / 16 * 16 : 0};
    struct column_data data;
    const struct kernel_column column = kernel_column_of(calibration, &data);
    const uint64_t shared = arguments.staging_offset + WARPS * kernel_decoder_staging(&column);
    void *pointers[] = {&arguments};
    uint64_t found = 0;
    RETURN_IF_ERROR(cuda_module_function(cuda, module, codec_use_names[use], &function, error));
    RETURN_IF_ERROR(cuda_function_allow_shared(cuda, function, shared, error));
    double best = 1e30;
    for (int round = 0; round <= (bench->once ? 1 : ROUNDS); round++) {
        double ms;
        RETURN_IF_ERROR(cuda_set_words(cuda, bench->out, 0, 2, error));
        RETURN_IF_ERROR(cuda_event_record(cuda, bench->begin, error));
        RETURN_IF_ERROR(cuda_launch(cuda, function, cuda_properties(cuda)->multiprocessors, THREADS, shared,
                                    pointers, error));
        RETURN_IF_ERROR(cuda_event_record(cuda, bench->end, error));
        RETURN_IF_ERROR(cuda_copy_to_host(cuda, &found, bench->out, sizeof found, error));
        RETURN_IF_ERROR(cuda_synchronize(cuda, error));
        RETURN_IF_ERROR(cuda_event_elapsed(cuda, bench->begin, bench->end, &ms, error));
        if (round > 0 && ms < best) /* the first round warms up */
            best = ms;
    }
    *ns = best * 1e6 / ((double)arguments.tiles * (fetches ? CODEC_COST_FETCHED : TILE_ROWS));
    return calibrate_check(calibration, use, (uint64_t)turns * chunks, found, error);
}

static enum status measure(void *context, uint32_t index, const struct calibration *calibration,
                           double ns[CODEC_USES], struct error *error)
{
    struct bench *bench = context;
    struct cuda_module *module;
    RETURN_IF_ERROR(upload(bench, calibration, error));
    RETURN_IF_ERROR(cuda_module_load(bench->cuda, bench->binaries[index].cubin, &module, error));
    enum status status = STATUS_OK;
    for (uint32_t use = 0; status == STATUS_OK && use < CODEC_USES; use++)
        if (use != CODEC_USE_PROBE || calibration->bitmap)
            status = measure_use(bench, calibration, (enum codec_use)use, module, &ns[use], error);
    cuda_module_unload(bench->cuda, module);
    return status;
}

static enum status measure_all(struct bench *bench, unsigned threads, struct progress *progress,
                               struct codec_costs *costs, struct error *error)
{
    static const char what[] = "calibrating";
    struct cuda *cuda = bench->cuda;
    const uint64_t bitmap_bytes = 1ull << (CODEC_COST_NEAR_WIDTH - 3);
    RETURN_IF_ERROR(ceiling_cuda(cuda, &costs->read_bytes_per_ns, error));
    costs->read_bytes_per_ns /= 1e9;
    RETURN_IF_ERROR(calibrate_codecs(write_source, bench, NULL, costs, error));
    RETURN_IF_ERROR(
        parallel_for(threads, calibrate_codec_count() * CODEC_COST_WIDTHS, compile, bench, error));
    RETURN_IF_ERROR(memory_take(&bench->reversed, bitmap_bytes, what, error));
    RETURN_IF_ERROR(cuda_allocate(cuda, COPIES * calibrate_chunk_bytes(), what, &bench->chunks, error));
    RETURN_IF_ERROR(cuda_allocate(cuda, COPIES * sizeof(struct bound_chunk), what, &bench->list, error));
    RETURN_IF_ERROR(cuda_allocate(cuda, bitmap_bytes, what, &bench->bitmap, error));
    RETURN_IF_ERROR(cuda_allocate(cuda, TILE_LANES * sizeof(uint32_t), what, &bench->fetched, error));
    RETURN_IF_ERROR(cuda_allocate(cuda, sizeof(uint64_t), what, &bench->out, error));
    RETURN_IF_ERROR(cuda_event_create(cuda, &bench->begin, error));
    RETURN_IF_ERROR(cuda_event_create(cuda, &bench->end, error));
    return calibrate_codecs(measure, bench, progress, costs, error);
}

enum status calibrate_cuda(struct cuda *cuda, unsigned threads, bool once, struct progress *progress,
                           struct codec_costs *costs, struct error *error)
{
    struct bench *bench;
    RETURN_IF_ERROR(memory_zeros(&bench, sizeof *bench, "calibrating", error));
    bench->cuda = cuda;
    bench->once = once;
    enum status status = measure_all(bench, threads, progress, costs, error);
    for (uint32_t i = 0; i < CALIBRATIONS_MAX; i++) {
        free(bench->sources[i]);
        kernel_binary_free(&bench->binaries[i]);
    }
    cuda_event_destroy(cuda, bench->begin);
    cuda_event_destroy(cuda, bench->end);
    cuda_free(cuda, bench->chunks);
    cuda_free(cuda, bench->list);
    cuda_free(cuda, bench->bitmap);
    cuda_free(cuda, bench->fetched);
    cuda_free(cuda, bench->out);
    free(bench->reversed);
    free(bench);
    return status;
}
