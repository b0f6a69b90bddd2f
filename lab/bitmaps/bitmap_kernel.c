/* bitmap_kernel.c: see bitmap_kernel.h. */
#include "lab/bitmaps/bitmap_kernel.h"

#include "engine/cuda/cccl.h"
#include "engine/cuda/kernel_cache.h"
#include "lab/bench/kernel_text.h"
#include "lab/kernels/bitmaps/inline_large.h"
#include "operators/index/index_arguments.h"
#include "operators/index/index_launch.h"
#include "storage/index/wah_format.h"

#include <inttypes.h>
#include <stdlib.h>

/* A kernel's name, its bounds, its parameters and its body. The names are those that the host looks up. */
struct text {
    const char *name, *bounds, *parameters, *body;
};

#define TRAFFIC  "unsigned long long *traffic"
#define COA      "uint64_t *data, uint64_t stride, uint64_t words, uint32_t half, uint32_t blocks_each, " TRAFFIC
#define COA_CALL "(data, stride, words, half, blocks_each, traffic)"
#define ROA      "const uint64_t *data, uint64_t stride, uint32_t vectors, uint64_t *out, " TRAFFIC
#define ROA_CALL "(data, stride, vectors, out, traffic)"
#define TILE                                                                                   \
    "const uint64_t *data, uint64_t stride, uint64_t words, uint32_t columns, uint32_t step, " \
    "uint32_t log_k, uint32_t tiles, uint64_t *out, uint32_t out_step, " TRAFFIC
#define TILE_CALL "(data, stride, words, columns, step, log_k, tiles, out, out_step, traffic)"
#define SCAN(item) \
    "const " item " *items, uint64_t count, uint32_t *sums, unsigned long long *states, uint32_t *ticket"
#define SCAN_CALL "scan_device(items, count, sums, states, ticket)"
#define CUB_SHAPE "uint32_t count, uint64_t *shape"
#define CUB_SUMS(item)                                                                               \
    "const " item " *items, uint32_t count, uint32_t *sums, unsigned char *states, uint64_t bytes, " \
    "uint32_t tiles"
#define CUB_SUMS_CALL "cub_scan_sums(items, count, sums, states, bytes, tiles)"
#define INLINE                                                                                           \
    "const bound_vector *vectors, uint32_t vector_count, uint64_t groups, uint64_t *out, unsigned long " \
    "long *count"
#define INLINE_CALL "(vectors, vector_count, groups, out, count)"

/* At least two blocks of 1024 threads share a multiprocessor, and five of `inline`, which then has 48 registers. */
static const struct text texts[BITMAP_FUNCTIONS] = {
    [BITMAP_SIZES] = {"sizes", "256", "const uint64_t *words, uint64_t count, uint32_t *sizes_of",
                      "wah_sizes(words, count, sizes_of)"},
    [BITMAP_SCAN_WORDS] = {"scan_words", "256, 3", SCAN("uint32_t"), SCAN_CALL},
    [BITMAP_SCAN_BYTES] = {"scan_bytes", "256, 4", SCAN("uint8_t"), SCAN_CALL},
    [BITMAP_ENDS] = {"ends", "256", "const uint32_t *starts, uint64_t count, uint8_t *ends_of",
                     "wah_ends(starts, count, ends_of)"},
    [BITMAP_WRITE] = {"write_groups", "256",
                      "const uint64_t *words, const uint32_t *word_index, uint64_t groups, uint64_t *out",
                      "wah_write(words, word_index, groups, out)"},
    [BITMAP_COA] = {"coa", "1024, 2", COA, "bitmap_coa_level<bitmap_uncounted>" COA_CALL},
    [BITMAP_ROA] = {"roa", "1024, 2", ROA, "bitmap_roa<bitmap_uncounted>" ROA_CALL},
    [BITMAP_TILE] = {"tile", "1024, 2", TILE, "bitmap_tile<bitmap_uncounted>" TILE_CALL},
    [BITMAP_COA_COUNTED] = {"coa_counted", "1024, 2", COA, "bitmap_coa_level<bitmap_counted>" COA_CALL},
    [BITMAP_ROA_COUNTED] = {"roa_counted", "1024, 2", ROA, "bitmap_roa<bitmap_counted>" ROA_CALL},
    [BITMAP_TILE_COUNTED] = {"tile_counted", "1024, 2", TILE, "bitmap_tile<bitmap_counted>" TILE_CALL},
    [BITMAP_INLINE] = {"inline_or", "256, 5", INLINE, "wah_inline_or<WAH_PIECE_GROUPS>" INLINE_CALL},
    [BITMAP_INLINE_LARGE] = {"inline_or_large", "256, 5", INLINE,
                             "wah_inline_or<INDEX_LARGE_GROUPS>" INLINE_CALL},
    [BITMAP_FLATTEN] = {"flatten", "256",
                        "const uint64_t *groups, uint64_t stride, uint64_t count, uint64_t *bits, "
                        "uint64_t flat_stride, uint32_t vectors",
                        "lab_flatten(groups, stride, count, bits, flat_stride, vectors)"},
    [BITMAP_FLAT] = {"flat", "256, 4",
                     "const uint64_t *bits, uint64_t stride, uint64_t words, uint32_t sets, uint64_t *out",
                     "flat_or(bits, stride, words, sets, out)"},
    [BITMAP_COMPARE] = {"compare_words", "256",
                        "const uint64_t *words, const uint64_t *expected, uint64_t count, uint32_t *wrong",
                        "lab_compare_words(words, expected, count, wrong)"},
    [BITMAP_COMPARE_SUMS] =
        {"compare_sums", "256",
         "const uint32_t *words, const uint32_t *expected, uint64_t count, uint32_t *wrong",
         "lab_compare_words(words, expected, count, wrong)"},
    [BITMAP_COMPARE_LANES] = {"compare_lanes", "256",
                              "const uint64_t *groups, const uint32_t *masks, uint64_t rows, uint32_t *wrong",
                              "lab_compare_lanes(groups, masks, rows, wrong)"},
    [BITMAP_CUB_SHAPE_WORDS] = {"cub_shape_words", "1", CUB_SHAPE, "cub_scan_shape<uint32_t>(count, shape)"},
    [BITMAP_CUB_SHAPE_BYTES] = {"cub_shape_bytes", "1", CUB_SHAPE, "cub_scan_shape<uint8_t>(count, shape)"},
    [BITMAP_CUB_BEGIN] = {"cub_begin", "CUB_BEGIN_THREADS",
                          "unsigned char *states, uint64_t bytes, uint32_t tiles",
                          "cub_scan_begin(states, bytes, tiles)"},
    [BITMAP_CUB_WORDS] = {"cub_words", "cub_scan<uint32_t>::THREADS", CUB_SUMS("uint32_t"), CUB_SUMS_CALL},
    [BITMAP_CUB_BYTES] = {"cub_bytes", "cub_scan<uint8_t>::THREADS", CUB_SUMS("uint8_t"), CUB_SUMS_CALL},
};

/* The text of functions first .. end - 1. */
static enum status write_text(const char *header, uint32_t first, uint32_t end, char **source,
                              struct error *error)
{
    struct kernel_text text;
    RETURN_IF_ERROR(kernel_text_begin(header, NULL, &text, error));
    for (uint32_t f = first; f < end; f++)
        fprintf(text.out, "extern \"C\" __global__ void __launch_bounds__(%s) %s(%s)\n{\n    %s;\n}\n",
                texts[f].bounds, texts[f].name, texts[f].parameters, texts[f].body);
    return kernel_text_close(&text, source, error);
}

enum status bitmap_kernel_text(char **source, struct error *error)
{
    return write_text("bitmaps/bitmaps_cuda.h", 0, BITMAP_OWN, source, error);
}

enum status bitmap_cub_text(char **source, struct error *error)
{
    return write_text("bitmaps/cub_scan_cuda.h", BITMAP_OWN, BITMAP_FUNCTIONS, source, error);
}

enum status bitmap_scan_text(const struct kernel_column *column, char **source, struct error *error)
{
    struct kernel_text text;
    RETURN_IF_ERROR(kernel_text_begin("scan_cuda.h", column, &text, error));
    fprintf(text.out,
            "extern \"C\" __global__ void __launch_bounds__(%u, 4) %s(const bound_chunk *chunks,\n"
            "    const uint4 *work, uint32_t items, uint32_t chunk_tiles, int32_t low, int32_t high,\n"
            "    uint32_t *masks)\n"
            "{\n    lab_scan<DECODER, PRELOADS>(chunks, work, items, chunk_tiles, low, high, masks);\n}\n",
            BITMAP_SCAN_THREADS, BITMAP_SCAN);
    return kernel_text_close(&text, source, error);
}

/* Loads what was compiled, and finds functions first .. end - 1 in it. */
static enum status load(struct bitmap_kernels *kernels, const struct kernel_binary *binary, uint32_t first,
                        uint32_t end, struct cuda_module **module, struct error *error)
{
    struct cuda *const cuda = kernels->lab->cuda;
    RETURN_IF_ERROR(cuda_module_load(cuda, binary->cubin, module, error));
    for (uint32_t f = first; f < end; f++)
        RETURN_IF_ERROR(cuda_module_function(cuda, *module, texts[f].name, &kernels->functions[f], error));
    return STATUS_OK;
}

static enum status open_own(struct bitmap_kernels *kernels, struct error *error)
{
    struct kernel_binary binary = {0};
    char *source;
    RETURN_IF_ERROR(bitmap_kernel_text(&source, error));
    const struct nvrtc_request request = {.source = source,
                                          .arch = cuda_properties(kernels->lab->cuda)->arch};
    enum status status = kernel_cache_get(&request, &binary, NULL, error);
    free(source);
    if (status == STATUS_OK)
        status = load(kernels, &binary, 0, BITMAP_OWN, &kernels->module, error);
    kernel_binary_free(&binary);
    return status;
}

/* Another version of CUB may have other parts, and then its kernels do not compile (STATUS_BAD_INPUT). */
static enum status open_cub(struct bitmap_kernels *kernels, struct error *error)
{
    struct kernel_binary binary = {0};
    struct error *const why = &kernels->without_cub;
    const char *const *options;
    char *source;
    if (cccl_options(&options, why) != STATUS_OK)
        return STATUS_OK;
    RETURN_IF_ERROR(bitmap_cub_text(&source, error));
    const struct nvrtc_request request = {
        .source = source, .arch = cuda_properties(kernels->lab->cuda)->arch, .options = options};
    enum status status = kernel_cache_get(&request, &binary, NULL, why);
    free(source);
    if (status == STATUS_BAD_INPUT)
        return STATUS_OK;
    if (status != STATUS_OK && error)
        *error = *why;
    if (status == STATUS_OK)
        status = load(kernels, &binary, BITMAP_OWN, BITMAP_FUNCTIONS, &kernels->cub, error);
    kernel_binary_free(&binary);
    return status;
}

enum status bitmap_kernels_open(struct lab *lab, struct bitmap_kernels *kernels, struct error *error)
{
    *kernels = (struct bitmap_kernels){.lab = lab};
    RETURN_IF_ERROR(open_own(kernels, error));
    return open_cub(kernels, error);
}

bool bitmap_kernels_have_cub(const struct bitmap_kernels *kernels)
{
    return kernels->cub != NULL;
}

void bitmap_kernels_close(struct bitmap_kernels *kernels)
{
    if (kernels->module)
        cuda_module_unload(kernels->lab->cuda, kernels->module);
    if (kernels->cub)
        cuda_module_unload(kernels->lab->cuda, kernels->cub);
    *kernels = (struct bitmap_kernels){0};
}

/* A GPU that still has work for all of its multiprocessors takes pieces of four times the groups: a look at a directory
 * each, and a wait at a block's begin and end, are for four times the words. With dense vectors, which hide the waits, few
 * and large blocks are up to a tenth slower: 2 uniform vectors of 1 G rows take 0.105 ms in small pieces, 0.114 in large
 * ones, 128 in runs of 1000 rows 0.095 and 0.072, 365 days of 120 M rows 0.063 and 0.051. */
#define INDEX_LARGE_WARPS 8u

#define INDEX_LARGE_PIECES \
    12u /* of 1024 groups, a multiprocessor: as many larger ones that all have three or four */
#define INDEX_LARGE_WORDS 512u /* of a vector in 1024 groups: from there on the smaller ones are faster */

/* `words`: of the vectors, which have `pieces` of 1024 groups each, in the mean. */
static bool index_inline_large(uint64_t words, uint64_t pieces, uint32_t multiprocessors)
{
    return pieces >= (uint64_t)INDEX_LARGE_PIECES * multiprocessors && words < INDEX_LARGE_WORDS * pieces;
}

enum status bitmap_launch_inline(const struct bitmap_kernels *kernels, const struct bitmap_set *set,
                                 void **arguments, struct error *error)
{
    const uint32_t multiprocessors = cuda_properties(kernels->lab->cuda)->multiprocessors;
    const uint64_t pieces = set->pieces;
    if (index_inline_large(set->compressed_bytes / 8 / set->count, pieces, multiprocessors))
        return bitmap_launch(kernels, BITMAP_INLINE_LARGE,
                             (pieces * WAH_PIECE_GROUPS + INDEX_LARGE_GROUPS - 1) / INDEX_LARGE_GROUPS,
                             32 * INDEX_LARGE_WARPS, arguments, error);
    return bitmap_launch(kernels, BITMAP_INLINE, pieces, 32 * index_inline_warps(pieces, multiprocessors),
                         arguments, error);
}

enum status bitmap_launch(const struct bitmap_kernels *kernels, enum bitmap_function function,
                          uint64_t blocks, unsigned threads, void **arguments, struct error *error)
{
    if (blocks > INT32_MAX)
        return error_set(error, STATUS_MACHINE, "%s: %" PRIu64 " thread blocks are more than a GPU takes",
                         texts[function].name, blocks);
    return cuda_launch(kernels->lab->cuda, kernels->functions[function], (unsigned)blocks, threads, 0,
                       arguments, error);
}
