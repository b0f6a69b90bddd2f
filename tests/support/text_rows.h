/*
 * text_rows.h: a file for a text source, and the rows of one with columns a, b and c, as one text. Include it after
 * cmocka.h and one_directory.h.
 */
#ifndef TESSERA_TESTS_SUPPORT_TEXT_ROWS_H
#define TESSERA_TESTS_SUPPORT_TEXT_ROWS_H

#include "loader/text/text_source_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"a", "b", "c"};

/* Writes a file into the test's directory. The path that it gives is good until four more were written. */
static inline const char *file_write(const char *name, const char *bytes, size_t size)
{
    static char full[4][PATH_BYTES + 64];
    static int turn;
    char *to = full[turn++ % 4];
    snprintf(to, PATH_BYTES + 64, "%.*s/%s", (int)(strlen(path) - 3), path, name);
    FILE *file = fopen(to, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    return to;
}

static inline void block_print(const struct text_block *block, uint32_t columns, bool lines, FILE *out)
{
    for (uint32_t row = 0, fault = 0; row < block->rows; row++) {
        if (fault < block->fault_count && block->faults[fault].row == row) {
            const char *const complaint = block->faults[fault++].complaint;
            fprintf(out, "!%.*s@%llu;", (int)strcspn(complaint, ":"), complaint,
                    (unsigned long long)block->row_line[row]);
            continue;
        }
        for (uint32_t c = 0; c < columns; c++) {
            const struct text_field *field = &block->fields[row * columns + c];
            fwrite(field->length == TEXT_NULL ? "~" : field->text, 1,
                   field->length == TEXT_NULL ? 1 : field->length, out);
            putc(c + 1 == columns ? ';' : '/', out);
        }
        if (lines)
            fprintf(out, "@%llu", (unsigned long long)block->row_line[row]);
    }
}

/* All rows as "a/b/c;" with ~ for NULL, and a fault as "!complaint@line;", the complaint up to its colon. */
static inline char *read_all_sized(const char *const *paths, uint32_t count,
                                   const struct text_options *options, size_t block_bytes,
                                   struct error *error)
{
    struct text_source *source;
    struct text_block block = {0};
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    if (text_source_open_sized(paths, count, names, 3, options, block_bytes, &source, error) != STATUS_OK) {
        fclose(out);
        free(text);
        return NULL;
    }
    for (;;) {
        if (text_source_next(source, &block, error) != STATUS_OK) {
            fprintf(out, "ERROR");
            break;
        }
        if (block.rows == 0)
            break;
        block_print(&block, 3, false, out);
    }
    text_block_free(&block);
    text_source_close(source);
    fclose(out);
    return text;
}

static inline char *read_all(const char *const *paths, uint32_t count, const struct text_options *options,
                             struct error *error)
{
    return read_all_sized(paths, count, options, TEXT_BLOCK_BYTES, error);
}

#endif
