/*
 * kernel_types.c: writes the types of a kernel's columns and dimensions, which follow from their codecs and
 * from the layout (kernel_layout.h).
 */
#include "engine/gpu/kernel_layout.h"

#include "engine/gpu/kernel_decoder.h"

#include <stdio.h>

static const char *unsigned_type(uint32_t bytes)
{
    return bytes == 1 ? "unsigned char" : bytes == 2 ? "unsigned short" : "unsigned int";
}

void kernel_head_write(FILE *out, const struct kernel_layout *layout)
{
    fprintf(out, "#define TILE_CUDA 1\n#define TILE_THREADS %u\n#define TILE_BLOCKS %u\n", layout->threads,
            layout->blocks_per_multiprocessor);
    fputs("#include <stdint.h>\n#include \"operators/dialect/tile.h\"\n", out);
}

void kernel_column_write(FILE *out, const struct kernel_shape *shape, const struct kernel_layout *layout,
                         uint32_t c, const char *name)
{
    const struct kernel_column *column = &shape->columns[c];
    const uint32_t end = c + 1 < shape->column_count ? layout->staging[c + 1] : layout->staging_bytes;
    kernel_decoder_include(out, column->data->codec);
    if (column->value_bytes == 8) {
        fputs("typedef tile_wide_column<", out);
        kernel_decoder_write(out, column);
    } else {
        fputs("typedef tile_column<", out);
        kernel_decoder_write(out, column);
        fprintf(out, ", %s, %s", layout->preload[c] ? "true" : "false", column->fetched ? "true" : "false");
    }
    fprintf(out, ", %s> %s_TYPE;\n", column->nullable ? "true" : "false", name);
    fprintf(out, "static_assert(%s_TYPE::STAGING_BYTES == %u, \"staging\");\n", name,
            end - layout->staging[c]);
}

void kernel_join_write(FILE *out, const struct kernel_layout *layout, uint32_t j, uint32_t code_bytes,
                       const char *name)
{
    static const char *const bitmaps[] = {"TILE_BITMAP_NONE", "TILE_BITMAP_SHARED", "TILE_BITMAP_GLOBAL",
                                          "TILE_BITMAP_RANGE"};
    fprintf(out, "typedef tile_dimension<%s, %u, %s> %s_TYPE;\n", bitmaps[layout->bitmap[j]],
            layout->bitmap_offset[j], unsigned_type(code_bytes), name);
}
