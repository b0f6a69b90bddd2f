/*
 * kernel_types.c: writes the types of a kernel's columns and dimensions, which follow from their codecs and
 * from the layout (kernel_layout.h).
 */
#include "engine/gpu/kernel_layout.h"

#include "engine/gpu/kernel_decoder.h"
#include "engine/gpu/kernel_levels.h"

#include <stdio.h>

static const char *unsigned_type(uint32_t bytes)
{
    return bytes == 1 ? "unsigned char" : bytes == 2 ? "unsigned short" : "unsigned int";
}

static const char *word_of(bool is)
{
    return is ? "true" : "false";
}

void kernel_head_write(FILE *out, const struct kernel_shape *shape, const struct kernel_layout *layout)
{
    bool copies = false;
    for (uint32_t c = 0; c < shape->column_count; c++)
        copies |= layout->copied[c] > 0;
    fprintf(out,
            "#define TILE_CUDA 1\n#define TILE_THREADS %u\n#define TILE_BLOCKS %u\n#define TILE_AHEAD %d\n"
            "#define TILE_TEST_FIRST %d\n#define TILE_WAIT_FIRST %d\n#define TILE_COPIES %d\n",
            layout->threads, layout->blocks_per_multiprocessor, layout->ahead, layout->test_first,
            layout->wait_first, copies);
    if (shape->many)
        fputs("#define TILE_MANY 1\n", out);
    fputs("#include <stdint.h>\n#include \"operators/dialect/tile.h\"\n", out);
}

void kernel_column_write(FILE *out, const struct kernel_shape *shape, const struct kernel_layout *layout,
                         uint32_t c, const char *name)
{
    const struct kernel_column *column = &shape->columns[c];
    const uint32_t end = c + 1 < shape->column_count ? layout->staging[c + 1] : layout->staging_bytes;
    kernel_decoder_include(out, column->data->codec);
    if (column->planes) {
        kernel_level_column_write(out, shape, layout, c);
    } else if (column->value_bytes == 8) {
        fputs("typedef tile_wide_column<", out);
        kernel_decoder_write(out, column);
        fprintf(out, ", %u", layout->copied[c]);
    } else {
        fputs("typedef tile_column<", out);
        kernel_decoder_write(out, column);
        fprintf(out, ", %s, %s, %u", word_of(layout->preload[c]), word_of(column->fetched),
                layout->copied[c]);
    }
    fprintf(out, ", %s%s> %s_TYPE;\n", word_of(column->nullable), column->whole ? ", true" : "", name);
    fprintf(out, "static_assert(%s_TYPE::STAGING_BYTES == %u, \"staging\");\n", name,
            end - layout->staging[c]);
}

void kernel_join_write(FILE *out, const struct kernel_shape *shape, const struct kernel_layout *layout,
                       uint32_t j, uint32_t code_bytes, const char *name)
{
    static const char *const bitmaps[] = {"TILE_BITMAP_NONE", "TILE_BITMAP_SHARED", "TILE_BITMAP_GLOBAL",
                                          "TILE_BITMAP_RANGE"};
    fputs("typedef ", out);
    kernel_level_join_begin(out, shape, j);
    fprintf(out, "tile_dimension<%s, %u, %s>", bitmaps[layout->bitmap[j]], layout->bitmap_offset[j],
            unsigned_type(code_bytes));
    kernel_level_join_end(out, shape, j);
    fprintf(out, " %s_TYPE;\n", name);
}
