/*
 * test_cuda_decode.c: every decoder of operators/decode/decode_cuda.h against the same codec's decoder on the host,
 * on random data of several shapes and odd sizes: all items at once, one by one where there is random
 * access, and which lie in a range where that can be told without decoding. Needs a GPU; without one it is skipped, unless TESSERA_REQUIRE_GPU is set.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/cuda/cuda.h"
#include "engine/cuda/kernel_cache.h"
#include "operators/dialect/bound.h"
#include "tests/support/codec_cases.h"

/* One warp a tile; row order comes back, so that the host can compare. */
static const char kernel_text[] =
    "#define TILE_CUDA 1\n"
    "#include <stdint.h>\n"
    "#include \"operators/decode/decode_cuda.h\"\n"
    "template <class D, bool SINGLY> TILE_INLINE void decode_all(const bound_chunk &chunk, uint32_t "
    "tiles, int32_t *out)\n"
    "{\n"
    "    __shared__ uint32_t scratch[64];\n"
    "    const uint32_t lane = threadIdx.x;\n"
    "    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {\n"
    "        D decode;\n"
    "        decode.seek(chunk, tile, lane);\n"
    "        int32_t *rows = out + tile * TILE_ROWS + lane;\n"
    "        if constexpr (SINGLY) {\n"
    "            decode.stage(scratch);\n"
    "            for (uint32_t j = 0; j < 32; j++)\n"
    "                rows[32 * (31 - j)] = decode.item(scratch, 32 * (31 - j) + lane);\n"
    "        } else {\n"
    "            decode.template items<false>(scratch, [&](uint32_t j, int32_t value) { rows[32 * j] = "
    "value; });\n"
    "        }\n"
    "        __syncwarp();\n"
    "    }\n"
    "}\n"
    "extern \"C\" __global__ void all_items(const __grid_constant__ bound_chunk chunk, uint32_t tiles, "
    "int32_t *out)\n"
    "{\n"
    "    decode_all<DECODER, false>(chunk, tiles, out);\n"
    "}\n"
    "extern \"C\" __global__ void single_items(const __grid_constant__ bound_chunk chunk, uint32_t tiles, "
    "int32_t *out)\n"
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
    "int32_t *out, int32_t low, int32_t high)\n"
    "{\n"
    "    range_all<DECODER>(chunk, tiles, out, low, high);\n"
    "}\n";

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
    struct cuda_module *module;
    struct cuda_function *all, *single, *range;
    bool ranges; /* the decoder has in_range */
};

/* Whether it is lane-for's decoder for a column of few widths: decode_lane_for<LOW,HIGH,...>. */
static bool few_widths(const char *decoder)
{
    unsigned low, high;
    return sscanf(decoder, "decode_lane_for<%u,%u,", &low, &high) == 2 && high - low < TILE_WIDTHS_MAX;
}

static struct kernels compile(const char *decoder)
{
    char define[96], *log = NULL;
    struct kernels kernels;
    struct kernel_binary binary = {0};
    struct error error = {0};
    snprintf(define, sizeof define, "-DDECODER=%s", decoder);
    const char *const options[] = {define, NULL};
    struct nvrtc_request request = {
        .source = kernel_text, .arch = cuda_properties(cuda)->arch, .options = options};
    if (kernel_cache_get(&request, &binary, &log, &error) != STATUS_OK)
        fail_msg("%s\n%s", error.text, log ? log : "");
    must(cuda_module_load(cuda, binary.cubin, &kernels.module, &error), &error);
    kernel_binary_free(&binary);
    must(cuda_module_function(cuda, kernels.module, "all_items", &kernels.all, &error), &error);
    must(cuda_module_function(cuda, kernels.module, "single_items", &kernels.single, &error), &error);
    must(cuda_module_function(cuda, kernels.module, "items_in_range", &kernels.range, &error), &error);
    kernels.ranges = strstr(decoder, "lane_slice") || few_widths(decoder);
    return kernels;
}

static void check_chunk(const struct kernels *kernels, const struct chunk_view *chunk, const int32_t *values)
{
    struct error error = {0};
    cuda_address memory, out;
    uint64_t out_bytes = (uint64_t)chunk->tiles * TILE_ROWS * sizeof(int32_t);
    must(cuda_allocate(cuda, chunk->size + 256, "a chunk", &memory, &error), &error);
    must(cuda_allocate(cuda, out_bytes, "decoded rows", &out, &error), &error);
    must(cuda_copy_to_device(cuda, memory, chunk->bytes, chunk->size, &error), &error);
    struct bound_chunk bound = {.directory = memory + (uint64_t)(chunk->directory - chunk->bytes),
                                .data = memory + (uint64_t)(chunk->data - chunk->bytes),
                                .auxiliary = memory + (uint64_t)(chunk->auxiliary - chunk->bytes),
                                .detail = chunk->codec->id == CODEC_NSF ? chunk->width_high / 8
                                                                        : chunk->tiles * 2ull};
    uint32_t tiles = chunk->tiles;
    void *arguments[] = {&bound, &tiles, &out};
    int32_t *decoded = cases_allocate(out_bytes);
    for (int single = 0; single < 2; single++) {
        must(cuda_set_bytes(cuda, out, 0xcc, out_bytes, &error), &error);
        must(cuda_launch(cuda, single ? kernels->single : kernels->all, tiles < 264 ? tiles : 264, 32, 0,
                         arguments, &error),
             &error);
        must(cuda_copy_to_host(cuda, decoded, out, out_bytes, &error), &error);
        must(cuda_synchronize(cuda, &error), &error);
        assert_memory_equal(decoded, values, chunk->rows * sizeof(int32_t));
    }
    /* From one value to another; the same as both bounds; all there are; none. */
    const int32_t first = values[0], last = values[chunk->rows / 2];
    const int32_t ranges[][2] = {{first < last ? first : last, first < last ? last : first},
                                 {last, last},
                                 {INT32_MIN, INT32_MAX},
                                 {INT32_MIN, first},
                                 {1, 0}};
    for (size_t r = 0; kernels->ranges && r < sizeof ranges / sizeof *ranges; r++) {
        int32_t low = ranges[r][0], high = ranges[r][1];
        void *bounds[] = {&bound, &tiles, &out, &low, &high};
        must(cuda_launch(cuda, kernels->range, tiles < 264 ? tiles : 264, 32, 0, bounds, &error), &error);
        must(cuda_copy_to_host(cuda, decoded, out, out_bytes, &error), &error);
        must(cuda_synchronize(cuda, &error), &error);
        for (uint32_t row = 0; row < chunk->rows; row++)
            if (decoded[row] != (values[row] >= low && values[row] <= high))
                fail_msg("row %u, %d, is wrongly told from the range %d to %d", row, values[row], low, high);
    }
    free(decoded);
    cuda_free(cuda, memory);
    cuda_free(cuda, out);
}

enum shape { UNIFORM, RUNS, SORTED, OUTLIER, EXTREMES, SHAPES };

static void make_values(int32_t *values, uint32_t rows, enum shape shape, unsigned width, uint64_t *seed)
{
    int32_t run = (int32_t)random_bits(seed, width);
    for (uint32_t row = 0; row < rows; row++) {
        if (random_next(seed) % 4 == 0)
            run = (int32_t)random_bits(seed, width);
        switch (shape) {
        case UNIFORM:
            values[row] = (int32_t)((uint32_t)random_bits(seed, width) - (width < 32 ? 7u : 0u));
            break;
        case RUNS:
            values[row] = run;
            break;
        case SORTED:
            values[row] = (int32_t)(row * (1u + width) / 3);
            break;
        case OUTLIER:
            values[row] = row % 3001 == 1500 ? INT32_MAX : (int32_t)random_bits(seed, width % 20);
            break;
        default:
            values[row] = row % 2 ? INT32_MAX : INT32_MIN;
        }
    }
}

static void check_codec(const char *name)
{
    static const uint32_t sizes[] = {1, 31, 33, 127, 511, 1023, 1024, 1025, 4096 + 7, 100001};
    static const unsigned widths[] = {0, 1, 4, 7, 8, 12, 16, 17, 24, 31, 32};
    if (!cuda)
        skip();
    const struct codec *codec = codec_by_name(name);
    uint64_t seed = CODEC_CASES_SEED;
    char compiled[64] = "";
    struct kernels kernels = {0};
    printf("%s: seed %llu\n", name, (unsigned long long)seed);
    for (enum shape shape = 0; shape < SHAPES; shape++)
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes && (shape <= RUNS || w % 4 == 0); s++) {
                int32_t *values = cases_allocate(sizes[s] * sizeof *values);
                make_values(values, sizes[s], shape, widths[w], &seed);
                if (codec->id == CODEC_NSF)
                    for (uint32_t row = 0; row < sizes[s]; row++)
                        values[row] &= widths[w] >= 31 ? 0x7fffffff : (1 << widths[w]) - 1;
                uint8_t *bytes = cases_allocate(codec->bound(sizes[s], 4));
                size_t size = codec->encode(values, sizes[s], 4, bytes);
                struct chunk_view chunk;
                struct error error = {0};
                must(chunk_open(bytes, size, &chunk, &error), &error);
                char decoder[64];
                static const char *const plain_names[CODEC_COUNT] = {
                    [CODEC_PLAIN] = "decode_plain",           [CODEC_GPU_FOR] = "decode_gpu_for",
                    [CODEC_GPU_DFOR] = "decode_gpu_dfor",     [CODEC_GPU_RFOR] = "decode_gpu_rfor",
                    [CODEC_LANE_DELTA] = "decode_lane_delta", [CODEC_RANK_RLE] = "decode_rank_rle",
                };
                if (codec->id == CODEC_LANE_SLICE)
                    snprintf(decoder, sizeof decoder, "decode_lane_slice<%u,%u,false>", chunk.width_low,
                             chunk.width_high);
                else if (codec->id == CODEC_LANE_FOR)
                    snprintf(decoder, sizeof decoder, "decode_lane_for<%u,%u,false>", chunk.width_low,
                             chunk.width_high);
                else if (codec->id == CODEC_NSF)
                    snprintf(decoder, sizeof decoder, s % 2 ? "decode_nsf_mixed" : "decode_nsf<unsigned%s>",
                             chunk.width_high == 8    ? " char"
                             : chunk.width_high == 16 ? " short"
                                                      : "");
                else
                    snprintf(decoder, sizeof decoder, "%s", plain_names[codec->id]);
                if (strcmp(decoder, compiled) != 0) {
                    cuda_module_unload(cuda, kernels.module);
                    kernels = compile(decoder);
                    snprintf(compiled, sizeof compiled, "%s", decoder);
                }
                check_chunk(&kernels, &chunk, values);
                free(values);
                free(bytes);
            }
    cuda_module_unload(cuda, kernels.module);
}

#define CODEC_TEST(name, text)                              \
    static void name##_decodes_as_on_the_host(void **state) \
    {                                                       \
        (void)state;                                        \
        check_codec(text);                                  \
    }
CODEC_TEST(plain, "plain")
CODEC_TEST(nsf, "nsf")
CODEC_TEST(gpu_for, "gpu-for")
CODEC_TEST(gpu_dfor, "gpu-dfor")
CODEC_TEST(gpu_rfor, "gpu-rfor")
CODEC_TEST(lane_for, "lane-for")
CODEC_TEST(lane_slice, "lane-slice")
CODEC_TEST(lane_delta, "lane-delta")
CODEC_TEST(rank_rle, "rank-rle")

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_decodes_as_on_the_host),
        cmocka_unit_test(nsf_decodes_as_on_the_host),
        cmocka_unit_test(gpu_for_decodes_as_on_the_host),
        cmocka_unit_test(gpu_dfor_decodes_as_on_the_host),
        cmocka_unit_test(gpu_rfor_decodes_as_on_the_host),
        cmocka_unit_test(lane_for_decodes_as_on_the_host),
        cmocka_unit_test(lane_slice_decodes_as_on_the_host),
        cmocka_unit_test(lane_delta_decodes_as_on_the_host),
        cmocka_unit_test(rank_rle_decodes_as_on_the_host),
    };
    return cmocka_run_group_tests(tests, open_gpu, close_gpu);
}
