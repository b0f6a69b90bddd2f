/*
 * test_kernel_decoder.c: every codec's decoder compiles for values of 32 and 64 bits, with and without NULLs, without a
 * GPU; what the descriptors say of it is what it is. Skipped where NVRTC is not installed, unless TESSERA_REQUIRE_NVRTC
 * is set.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/gpu/kernel_decoder.h"
#include "engine/gpu/decode.h"
#include "tests/support/codec/codec_cases.h"
#include "tests/support/gpu/compile_targets.h"

#define ROWS 5000u

/* A column of the kernel: values of 16 bits in one segment, or of 16 and of 8 in two. */
struct made {
    uint8_t *bytes[2];
    struct segment_data segments[2];
    struct column_data data;
};

static void made_encode(struct made *made, const struct codec *codec, uint32_t value_bytes, uint32_t segments)
{
    void *values = cases_allocate((size_t)ROWS * value_bytes);
    uint64_t seed = CODEC_CASES_SEED;
    struct error error = {0};
    *made = (struct made){.data = {.codec = codec, .segment_count = segments, .segments = made->segments}};
    for (uint32_t s = 0; s < segments; s++) {
        for (uint32_t row = 0; row < ROWS; row++)
            cases_set(values, row, value_bytes, random_bits(&seed, s ? 8 : 16));
        made->bytes[s] = cases_allocate(codec->bound(ROWS, value_bytes));
        const size_t size = codec_encode(codec, values, ROWS, value_bytes, made->bytes[s]);
        if (chunk_open(made->bytes[s], size, &made->segments[s].chunk, &error) != STATUS_OK)
            fail_msg("%s", error.text);
    }
    free(values);
}

static void made_free(struct made *made)
{
    free(made->bytes[0]);
    free(made->bytes[1]);
}

static struct kernel_column column_of(const struct made *made)
{
    const struct chunk_view *first = &made->segments[0].chunk,
                            *last = &made->segments[made->data.segment_count - 1].chunk;
    return (struct kernel_column){
        .data = &made->data,
        .value_bytes = first->value_bytes,
        .width_low = first->width_low < last->width_low ? first->width_low : last->width_low,
        .width_high = first->width_high > last->width_high ? first->width_high : last->width_high,
        .fetched = true,
        .kept = 1};
}

/* Fetches a value of every row of a tile, and tells NULLs apart; of 32-bit columns it also filters. */
static const char kernel_text[] =
    "template <class COLUMN> TILE_INLINE void use(const bound_column &bound, long long *out)\n"
    "{\n"
    "    COLUMN column;\n"
    "    const tile t = {0, blockIdx.x, TILE_ROWS, threadIdx.x};\n"
    "    tile_mask keep = tile_all(&t);\n"
    "    column.bind(bound, tile_shared);\n"
    "    column.seek(t);\n"
    "    tile_fetch(&t, keep, column);\n"
    "    tile_each (&t, keep, row)\n"
    "        out[row] = column.is_null(&t, row) ? 0 : tile_value(&t, column, row);\n"
    "}\n"
    "extern \"C\" __global__ void use_all(const __grid_constant__ bound_column bound, long long *out)\n"
    "{\n";

/* A kernel that reads a column in each size that the codec holds, nullable and not. */
static enum status compile(const struct codec *codec, uint32_t segments, const char *arch,
                           struct error *error)
{
    struct kernel_shape shape = {.name = codec->name};
    struct kernel_layout plan = {.threads = 32, .blocks_per_multiprocessor = 1};
    struct made made[4];
    char *source = NULL, name[16];
    size_t bytes = 0;
    FILE *out = open_memstream(&source, &bytes);
    assert_non_null(out);
    for (uint32_t value_bytes = 4; value_bytes <= 8; value_bytes += 4)
        for (int nullable = 0; nullable < 2 && codec_holds(codec, value_bytes); nullable++) {
            made_encode(&made[shape.column_count], codec, value_bytes, segments);
            shape.columns[shape.column_count] = column_of(&made[shape.column_count]);
            shape.columns[shape.column_count].nullable = nullable;
            plan.staging[shape.column_count] = plan.staging_bytes;
            plan.staging_bytes += kernel_decoder_staging(&shape.columns[shape.column_count++]);
        }
    kernel_head_write(out, &shape, &plan);
    fputs("#include \"operators/dialect/query_cuda.h\"\n", out);
    for (uint32_t c = 0; c < shape.column_count; c++) {
        snprintf(name, sizeof name, "c%u", c);
        kernel_column_write(out, &shape, &plan, c, name); /* with a static_assert on the staging bytes */
        fprintf(out,
                "static_assert(decltype(%s_TYPE::decode)::RANDOM_ACCESS == %s, \"random access\");\n"
                "static_assert(decltype(%s_TYPE::decode)::SCRATCH_BYTES == %u, \"scratch\");\n",
                name, codec->gpu.random_access ? "true" : "false", name, codec->gpu.scratch_bytes);
    }
    fputs(kernel_text, out);
    for (uint32_t c = 0; c < shape.column_count; c++)
        fprintf(out, "    use<c%u_TYPE>(bound, out);\n", c);
    fputs("}\n", out);
    assert_int_equal(fclose(out), 0);
    const enum status status = compile_source(codec->name, source, arch, NULL, error);
    for (uint32_t c = 0; c < shape.column_count; c++)
        made_free(&made[c]);
    free(source);
    return status;
}

/* For the oldest and for the architecture that matters most. */
static enum status compile_item(void *context, uint64_t item, unsigned thread, struct error *error)
{
    (void)context;
    (void)thread;
    if (codec_is_staged(codec_by_id((uint32_t)item / 2 + 1), true))
        return STATUS_OK; /* no kernel of a query has such a decoder */
    return compile(codec_by_id((uint32_t)item / 2 + 1), 1 + item % 2, item % 2 ? "sm_90" : "sm_75", error);
}

static void every_decoder_compiles(void **state)
{
    (void)state;
    need_nvrtc();
    struct error error = {0};
    if (parallel_for(0, 2 * (CODEC_COUNT - 1), compile_item, NULL, &error) != STATUS_OK)
        fail_msg("%s", error.text);
}

/* The source with checks of what the descriptors say; the caller frees it. */
static char *with_checks(const char *source, const struct kernel_column *columns, uint32_t count)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    fputs(source, out);
    for (uint32_t c = 0; c < count; c++) {
        const struct codec_gpu *gpu = &columns[c].data->codec->gpu;
        fprintf(out, "typedef ");
        kernel_decoder_write(out, &columns[c]);
        fprintf(out, " checked_%u;\nstatic_assert(checked_%u::LAYERED == %s, \"layers\");\n", c, c,
                gpu->passes ? "true" : "false");
        fprintf(out, "static_assert(checked_%u::BYTE_BLOCKS == %s, \"blocks\");\n", c,
                columns[c].data->codec->decode_block ? "true" : "false");
        fprintf(out, "static_assert(checked_%u::SCRATCH_BYTES == %u, \"scratch\");\n", c, gpu->scratch_bytes);
    }
    assert_int_equal(fclose(out), 0);
    return text;
}

/* Decoding into memory, of both types. */
static enum status compile_passes(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct codec *codec = codec_by_id((uint32_t)item / 2 + 1);
    struct made made[2];
    struct kernel_column columns[2];
    uint32_t count = 0;
    char *source;
    (void)context;
    (void)thread;
    for (uint32_t value_bytes = 4; value_bytes <= 8; value_bytes += 4)
        if (codec_holds(codec, value_bytes)) {
            made_encode(&made[count], codec, value_bytes, 2);
            columns[count] = column_of(&made[count]);
            count++;
        }
    assert_int_equal(cuda_decoder_source(columns, count, &source, error), STATUS_OK);
    char *checked = with_checks(source, columns, count);
    const enum status status =
        compile_source(codec->name, checked, item % 2 ? "sm_90" : "sm_75", NULL, error);
    free(checked);
    free(source);
    for (uint32_t c = 0; c < count; c++)
        made_free(&made[c]);
    return status;
}

static void every_codec_can_be_staged(void **state)
{
    (void)state;
    need_nvrtc();
    struct error error = {0};
    if (parallel_for(0, 2 * (CODEC_COUNT - 1), compile_passes, NULL, &error) != STATUS_OK)
        fail_msg("%s", error.text);
}

/* Kernels include the decoders that their columns need, and no others. */
static void a_decoder_has_a_file(void **state)
{
    (void)state;
    for (uint32_t id = 1; id < CODEC_COUNT; id++) {
        const struct codec_gpu *gpu = &codec_by_id(id)->gpu;
        char path[512], text[65536] = "", wanted[80];
        snprintf(path, sizeof path, "%s/%s", TESSERA_SOURCE, gpu->header);
        FILE *file = fopen(path, "re");
        assert_non_null(file);
        (void)!fread(text, 1, sizeof text - 1, file);
        fclose(file);
        snprintf(wanted, sizeof wanted, "struct %s", gpu->decoder);
        assert_non_null(strstr(text, wanted));
        assert_int_equal(gpu->scratch_bytes % 128, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_decoder_compiles),
        cmocka_unit_test(every_codec_can_be_staged),
        cmocka_unit_test(a_decoder_has_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
