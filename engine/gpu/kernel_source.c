/*
 * kernel_source.c: a kernel's source text (kernel_plan.h): some definitions, the types of the query's columns
 * and dimensions by their codecs and places, then the query and the kernels around it as they stand in the
 * tree.
 */
#include "engine/gpu/kernel_plan.h"
#include "engine/gpu/kernel_decoder.h"

#include <stdio.h>

static const char *unsigned_type(uint32_t bytes)
{
    return bytes == 1 ? "unsigned char" : bytes == 2 ? "unsigned short" : "unsigned int";
}

void kernel_head_write(FILE *out, const struct kernel_plan *plan)
{
    fprintf(out, "#define TILE_CUDA 1\n#define TILE_THREADS %u\n#define TILE_BLOCKS %u\n", plan->threads,
            plan->blocks_per_multiprocessor);
    fputs("#include <stdint.h>\n#include \"operators/dialect/tile.h\"\n", out);
}

void kernel_column_write(FILE *out, const struct kernel_shape *shape, const struct kernel_plan *plan,
                         uint32_t c, const char *name)
{
    const struct kernel_column *column = &shape->columns[c];
    const uint32_t end = c + 1 < shape->column_count ? plan->staging[c + 1] : plan->staging_bytes;
    kernel_decoder_include(out, column->data->codec);
    if (column->value_bytes == 8) {
        fputs("typedef tile_wide_column<", out);
        kernel_decoder_write(out, column);
    } else {
        fputs("typedef tile_column<", out);
        kernel_decoder_write(out, column);
        fprintf(out, ", %s, %s", plan->preload[c] ? "true" : "false", column->fetched ? "true" : "false");
    }
    fprintf(out, ", %s> %s_TYPE;\n", column->nullable ? "true" : "false", name);
    fprintf(out, "static_assert(%s_TYPE::STAGING_BYTES == %u, \"staging\");\n", name, end - plan->staging[c]);
}

void kernel_join_write(FILE *out, const struct kernel_plan *plan, uint32_t j, uint32_t code_bytes,
                       const char *name)
{
    static const char *const bitmaps[] = {"TILE_BITMAP_NONE", "TILE_BITMAP_SHARED", "TILE_BITMAP_GLOBAL",
                                          "TILE_BITMAP_RANGE"};
    fprintf(out, "typedef tile_dimension<%s, %u, %s> %s_TYPE;\n", bitmaps[plan->bitmap[j]],
            plan->bitmap_offset[j], unsigned_type(code_bytes), name);
}

static void write_layout_column(FILE *out, const struct bound_query *bound, const struct kernel_shape *shape,
                                const struct kernel_plan *plan, uint32_t place)
{
    const char *name = bound->query->layout->column_names[place];
    for (uint32_t c = 0; c < bound->column_count; c++)
        if (bound->columns[c].place == place) {
            kernel_column_write(out, shape, plan, c, name);
            return;
        }
    fprintf(out, "typedef tile_absent %s_TYPE;\n", name);
}

static void write_layout_dimension(FILE *out, const struct bound_query *bound, const struct kernel_plan *plan,
                                   uint32_t place)
{
    const char *name = bound->query->layout->dimension_names[place];
    for (uint32_t j = 0; j < bound->join_count; j++)
        if (bound->joins[j].place == place) {
            const struct dimension_join *join = &bound->joins[j];
            kernel_join_write(out, plan, j, join->code < 0 ? 4 : bound->attributes[join->code].value_bytes,
                              name);
            return;
        }
    fprintf(out, "typedef tile_absent %s_TYPE;\n", name);
}

enum status kernel_source_write(const struct bound_query *bound, const struct kernel_shape *shape,
                                struct kernel_plan *plan, struct error *error)
{
    static const char *const sums[] = {"tile_sums_single", "tile_sums_shared", "tile_sums_global"};
    size_t bytes = 0;
    FILE *out = open_memstream(&plan->source, &bytes);
    if (!out)
        return error_out_of_memory(error, 4096, "a kernel's source");
    kernel_head_write(out, plan);
    for (uint32_t i = 0; i < bound->layout_columns; i++)
        write_layout_column(out, bound, shape, plan, i);
    for (uint32_t i = 0; i < bound->layout_dimensions; i++)
        write_layout_dimension(out, bound, plan, i);
    fprintf(out,
            "typedef %s sums_TYPE;\n#include \"%s\"\n#include \"operators/dialect/scan_cuda.h\"\n"
            "#include \"operators/dialect/prepare_cuda.h\"\n",
            sums[plan->sums], bound->query->source);
    if (fclose(out) != 0)
        return error_out_of_memory(error, 4096, "a kernel's source");
    return STATUS_OK;
}
