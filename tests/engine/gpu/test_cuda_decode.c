/*
 * test_cuda_decode.c: every codec's decoder on the GPU (operators/decode/decode_cuda.h) against the same codec's decoder
 * on the host, for values of 32 and 64 bits, on random data of several shapes and odd sizes: all items at once, one by
 * one where there is random access, and which lie in a range where that can be told without decoding; and decoded into
 * memory, in as many passes as the codec takes. Needs a GPU; without one it is skipped, unless TESSERA_REQUIRE_GPU is
 * set.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/cuda/cuda.h"
#include "engine/cuda/kernel_cache.h"
#include "lab/bench/chunk_decode.h"
#include "engine/gpu/kernel_decoder.h"
#include "operators/dialect/bound.h"
#include "tests/support/codec/codec_cases.h"
#include "tests/support/not_run.h"

/* Behind the definition of DECODER and VALUE. One warp a tile; row order comes back, so that the host can compare. */
static const char kernel_text[] =
    "template <class D, bool SINGLY> TILE_INLINE void decode_all(const bound_chunk &chunk, uint32_t tiles, "
    "VALUE *out)\n"
    "{\n"
    "    __shared__ __align__(16) uint32_t scratch[D::SCRATCH_BYTES / 4 + 1];\n"
    "    const uint32_t lane = threadIdx.x;\n"
    "    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {\n"
    "        D decode;\n"
    "        decode.seek(chunk, tile, lane);\n"
    "        VALUE *rows = out + tile * TILE_ROWS + lane;\n"
    "        if constexpr (SINGLY) {\n"
    "            decode.stage(scratch);\n"
    "            for (uint32_t j = 0; j < 32; j++)\n"
    "                rows[32 * (31 - j)] = decode.item(scratch, 32 * (31 - j) + lane);\n"
    "        } else {\n"
    "            decode.template items<false>(scratch, [&](uint32_t j, VALUE value) { rows[32 * j] = value; "
    "});\n"
    "        }\n"
    "        __syncwarp();\n"
    "    }\n"
    "}\n"
    "extern \"C\" __global__ void all_items(const __grid_constant__ bound_chunk chunk, uint32_t tiles, VALUE "
    "*out)\n"
    "{\n"
    "    decode_all<DECODER, false>(chunk, tiles, out);\n"
    "}\n"
    "extern \"C\" __global__ void single_items(const __grid_constant__ bound_chunk chunk, uint32_t tiles, "
    "VALUE *out)\n"
    "{\n"
    "    decode_all<DECODER, DECODER::RANDOM_ACCESS>(chunk, tiles, out);\n"
    "}\n"
    "template <class D> __device__ void range_all(const bound_chunk &chunk, uint32_t tiles, int32_t *out, "
    "int32_t low, "
    "int32_t high)\n"
    "{\n"
    "    if constexpr (D::RANGES)\n"
    "        for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {\n"
    "            D decode;\n"
    "            decode.seek(chunk, tile, threadIdx.x);\n"
    "            const uint32_t mask = decode.template in_range<false>(low, high);\n"
    "            for (uint32_t j = 0; j < 32; j++)\n"
    "                out[tile * TILE_ROWS + 32 * j + threadIdx.x] = mask >> j & 1;\n"
    "        }\n"
    "}\n"
    "extern \"C\" __global__ void items_in_range(const __grid_constant__ bound_chunk chunk, uint32_t tiles, "
    "int32_t *out, "
    "int32_t low, int32_t high)\n"
    "{\n"
    "    range_all<DECODER>(chunk, tiles, out, low, high);\n"
    "}\n";

#define UNTOUCHED (-858993460) /* bytes 0xcc */

static struct cuda *cuda;

static int open_gpu(void **state)
{
    struct error error = {0};
    (void)state;
    if (cuda_open(0, &cuda, &error) != STATUS_OK) {
        fprintf(stderr, "no GPU: %s\n", error.text);
        return getenv("TESSERA_REQUIRE_GPU") ? 1 : 0;
    }
    return 0;
}

static int close_gpu(void **state)
{
    (void)state;
    cuda_close(cuda);
    return 0;
}

static void must(enum status status, const struct error *error)
{
    if (status != STATUS_OK)
        fail_msg("%s", error->text);
}

struct kernels {
    char *source; /* of the compiled module */
    struct cuda_module *module;
    struct cuda_function *all, *single, *range;
};

static void kernels_free(struct kernels *kernels)
{
    if (kernels->module)
        cuda_module_unload(cuda, kernels->module);
    free(kernels->source);
}

/* The kernels for a column with chunks of the widths width_low .. the chunk's own; compiled unless they are there. */
static void kernels_make(struct kernels *kernels, const struct chunk_view *chunk, uint32_t width_low)
{
    struct segment_data segment = {.chunk = *chunk};
    const struct column_data data = {.codec = chunk->codec, .segment_count = 1, .segments = &segment};
    const struct kernel_column column = {.data = &data,
                                         .value_bytes = chunk->value_bytes,
                                         .width_low = width_low,
                                         .width_high = chunk->width_high};
    char *source = NULL, *log = NULL;
    size_t bytes = 0;
    struct kernel_binary binary = {0};
    struct error error = {0};
    FILE *out = open_memstream(&source, &bytes);
    assert_non_null(out);
    fputs("#define TILE_CUDA 1\n#include <stdint.h>\n", out);
    kernel_decoder_include(out, chunk->codec);
    fprintf(out, "typedef int%u_t VALUE;\ntypedef ", chunk->value_bytes * 8);
    kernel_decoder_write(out, &column);
    fprintf(out, " DECODER;\n%s", kernel_text);
    assert_int_equal(fclose(out), 0);
    if (kernels->source && strcmp(source, kernels->source) == 0) {
        free(source);
        return;
    }
    kernels_free(kernels);
    kernels->source = source;
    const struct nvrtc_request request = {.source = source, .arch = cuda_properties(cuda)->arch};
    if (kernel_cache_get(&request, &binary, &log, &error) != STATUS_OK)
        fail_msg("%s\n%s", error.text, log ? log : "");
    must(cuda_module_load(cuda, binary.cubin, &kernels->module, &error), &error);
    kernel_binary_free(&binary);
    must(cuda_module_function(cuda, kernels->module, "all_items", &kernels->all, &error), &error);
    must(cuda_module_function(cuda, kernels->module, "single_items", &kernels->single, &error), &error);
    must(cuda_module_function(cuda, kernels->module, "items_in_range", &kernels->range, &error), &error);
}

struct on_device {
    struct bound_chunk bound;
    uint32_t tiles;
    cuda_address memory, out;
    uint64_t out_bytes;
    void *rows; /* what came back */
};

static void launch(struct on_device *device, struct cuda_function *function, void **arguments)
{
    struct error error = {0};
    must(cuda_set_bytes(cuda, device->out, 0xcc, device->out_bytes, &error), &error);
    must(cuda_launch(cuda, function, device->tiles < 264 ? device->tiles : 264, 32, 0, arguments, &error),
         &error);
    must(cuda_copy_to_host(cuda, device->rows, device->out, device->out_bytes, &error), &error);
    must(cuda_synchronize(cuda, &error), &error);
}

/* From one value to another; the same as both bounds; all there are; up to one; none. */
static void check_ranges(const struct kernels *kernels, struct on_device *device, uint32_t count,
                         const int32_t *values)
{
    const int32_t first = values[0], last = values[count / 2];
    const int32_t ranges[][2] = {{first < last ? first : last, first < last ? last : first},
                                 {last, last},
                                 {INT32_MIN, INT32_MAX},
                                 {INT32_MIN, first},
                                 {1, 0}};
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
        int32_t low = ranges[r][0], high = ranges[r][1];
        const int32_t *inside = device->rows;
        void *bounds[] = {&device->bound, &device->tiles, &device->out, &low, &high};
        launch(device, kernels->range, bounds);
        if (inside[0] == UNTOUCHED)
            return; /* the decoder has no in_range */
        for (uint32_t row = 0; row < count; row++)
            if (inside[row] != (values[row] >= low && values[row] <= high))
                fail_msg("row %u, %d, is wrongly told from the range %d to %d", row, values[row], low, high);
    }
}

static void check_chunk(const struct kernels *kernels, const struct chunk_view *chunk, const void *values)
{
    struct error error = {0};
    struct on_device device = {.tiles = chunk->tiles,
                               .out_bytes = (uint64_t)chunk->tiles * TILE_ROWS * chunk->value_bytes};
    must(cuda_allocate(cuda, chunk->size + 256, "a chunk", &device.memory, &error), &error);
    must(cuda_allocate(cuda, device.out_bytes, "decoded rows", &device.out, &error), &error);
    must(cuda_copy_to_device(cuda, device.memory, chunk->bytes, chunk->size, &error), &error);
    device.bound =
        (struct bound_chunk){.directory = device.memory + (uint64_t)(chunk->directory - chunk->bytes),
                             .data = device.memory + (uint64_t)(chunk->data - chunk->bytes),
                             .auxiliary = device.memory + (uint64_t)(chunk->auxiliary - chunk->bytes),
                             .detail = kernel_decoder_detail(chunk)};
    device.rows = cases_allocate(device.out_bytes);
    for (int single = 0; single < 2; single++) {
        void *arguments[] = {&device.bound, &device.tiles, &device.out};
        launch(&device, single ? kernels->single : kernels->all, arguments);
        assert_memory_equal(device.rows, values, (size_t)chunk->rows * chunk->value_bytes);
    }
    if (chunk->value_bytes == 4)
        check_ranges(kernels, &device, chunk->rows, values);
    free(device.rows);
    cuda_free(cuda, device.memory);
    cuda_free(cuda, device.out);
}

enum shape { UNIFORM, RUNS, SORTED, OUTLIER, EXTREMES, SHAPES };

/* Values of `width` bits; 64-bit ones have twice as many. */
static void make_values(void *values, uint32_t rows, uint32_t value_bytes, enum shape shape, unsigned width,
                        uint64_t *seed)
{
    const unsigned bits = width * (value_bytes / 4);
    const uint64_t greatest = value_bytes == 4 ? INT32_MAX : INT64_MAX;
    uint64_t run = random_bits(seed, bits);
    for (uint32_t row = 0; row < rows; row++) {
        if (random_next(seed) % 4 == 0)
            run = random_bits(seed, bits);
        const uint64_t of_shape[SHAPES] = {
            [UNIFORM] = random_bits(seed, bits) - (rows % 2 && bits < 32 ? 7 : 0),
            [RUNS] = run,
            [SORTED] = (uint64_t)row * (1 + bits) / 3,
            [OUTLIER] = row % 3001 == 1500 ? greatest : random_bits(seed, bits % 20),
            [EXTREMES] = greatest + row % 2,
        };
        cases_set(values, row, value_bytes, of_shape[shape]);
    }
}

/* Decodes two chunks into memory, pass by pass. */
static void check_passes(const struct chunk_view *chunk, const void *values)
{
    const struct segment_data segments[2] = {{.chunk = *chunk}, {.chunk = *chunk}};
    const struct column_data data = {.codec = chunk->codec, .segment_count = 2, .segments = segments};
    const uint64_t bytes = (uint64_t)chunk->tiles * TILE_ROWS * chunk->value_bytes;
    struct cuda_decode *decode;
    struct error error = {0};
    void *rows = cases_allocate(bytes);
    must(cuda_decode_open(cuda, &data, &decode, &error), &error);
    for (uint32_t s = 0; s < 2; s++) {
        must(cuda_set_bytes(cuda, cuda_decode_values(decode, s), 0xcc, bytes, &error), &error);
        must(cuda_decode_run(decode, &error), &error);
        must(cuda_decode_check(decode, &error), &error);
        must(cuda_copy_to_host(cuda, rows, cuda_decode_values(decode, s), bytes, &error), &error);
        must(cuda_synchronize(cuda, &error), &error);
        assert_memory_equal(rows, values, (size_t)chunk->rows * chunk->value_bytes);
    }
    cuda_decode_close(decode);
    free(rows);
}

/* A chunk with its own kernels, and with those of a column that has narrower chunks, too. `passes`: it is decoded into
 * memory, which is all that can be done with some codecs. */
static void check_values(const struct codec *codec, uint32_t value_bytes, const void *values, uint32_t rows,
                         bool passes, struct kernels kernels[2])
{
    struct chunk_view chunk;
    struct error error = {0};
    uint8_t *bytes = cases_allocate(codec->bound(rows, value_bytes));
    const size_t size = codec_encode(codec, values, rows, value_bytes, bytes);
    if (size) {
        must(chunk_open(bytes, size, &chunk, &error), &error);
        if (passes || codec_is_staged(codec, true))
            check_passes(&chunk, values);
        for (int mixed = 0; mixed < 2 && !codec_is_staged(codec, true); mixed++) {
            kernels_make(&kernels[mixed], &chunk, mixed ? chunk.width_low / 2 : chunk.width_low);
            check_chunk(&kernels[mixed], &chunk, values);
        }
    }
    free(bytes);
}

static void check_codec(const struct codec *codec, uint32_t value_bytes)
{
    static const uint32_t sizes[] = {1, 31, 33, 127, 511, 1023, 1024, 1025, 4096 + 7, 100001};
    static const unsigned widths[] = {0, 1, 4, 7, 8, 12, 16, 17, 24, 31, 32};
    /* Under compute-sanitizer the most rows take minutes, and run what fewer run. */
    const size_t size_count = sizeof sizes / sizeof *sizes - (getenv("TESSERA_UNDER_SANITIZER") != NULL);
    uint64_t seed = CODEC_CASES_SEED;
    struct kernels kernels[2] = {{0}};
    printf("%s, %u bits: seed %llu\n", codec->name, value_bytes * 8, (unsigned long long)seed);
    for (enum shape shape = 0; shape < SHAPES; shape++)
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
            for (size_t s = 0; s < size_count && (shape <= RUNS || w % 4 == 0); s++) {
                void *values = cases_allocate((size_t)sizes[s] * value_bytes);
                make_values(values, sizes[s], value_bytes, shape, widths[w], &seed);
                /* The kernels of each width are compiled: for codecs that queries decode, only one is. */
                const bool passes = shape == RUNS && widths[w] == 12 && sizes[s] == 4096 + 7;
                check_values(codec, value_bytes, values, sizes[s], passes, kernels);
                free(values);
            }
    kernels_free(&kernels[0]);
    kernels_free(&kernels[1]);
}

static void decodes_as_on_the_host(void **state)
{
    const struct codec *codec = codec_by_id(cases_codec(state));
    need_gpu(cuda);
    for (uint32_t value_bytes = 4; value_bytes <= 8; value_bytes += 4)
        if (codec_holds(codec, value_bytes))
            check_codec(codec, value_bytes);
}

/* test_cuda_decode [CODEC]: of that codec alone. */
int main(int count, char **arguments)
{
    static enum codec_id ids[CODEC_COUNT];
    struct CMUnitTest tests[CODEC_COUNT - 1];
    for (uint32_t id = 1; id < CODEC_COUNT; id++) {
        ids[id] = (enum codec_id)id;
        tests[id - 1] = (struct CMUnitTest){
            .name = codec_by_id(id)->name, .test_func = decodes_as_on_the_host, .initial_state = &ids[id]};
    }
    if (count > 1 && !codec_by_name(arguments[1])) {
        fprintf(stderr, "test_cuda_decode: there is no codec %s\n", arguments[1]);
        return 2;
    }
    if (count > 1)
        cmocka_set_test_filter(arguments[1]);
    return cmocka_run_group_tests(tests, open_gpu, close_gpu);
}
