/* printing_text.c: makes the text of rows, heads and separators (printing.h). */
#include "engine/answer/print/printing.h"
#include "engine/answer/text_width.h"

#include <stdlib.h>
#include <string.h>

/* The widest column, in columns of a terminal. A wider cell sticks out of its column, so that not every row becomes as
 * long. */
#define WIDTH_MAX 1000u

static bool is_number(const struct rowset_column *column)
{
    return column->type.kind == VALUE_INTEGER || column->type.kind == VALUE_DOUBLE;
}

bool printing_is_table(const struct printing *printing)
{
    return printing->format == ROWSET_TABLE || printing->format == ROWSET_MARKDOWN;
}

static enum status put(struct text_space *text, const char *bytes, size_t count, struct error *error)
{
    RETURN_IF_ERROR(text_space_reserve(text, count, error));
    memcpy(text->bytes + text->used, bytes, count);
    text->used += count;
    return STATUS_OK;
}

static enum status put_string(struct text_space *text, const struct rowset_style *style, const char *string,
                              struct error *error)
{
    const size_t length = strlen(string);
    RETURN_IF_ERROR(text_space_reserve(text, cell_string_bound(style->format, length), error));
    char *const at = text->bytes + text->used;
    text->used += (size_t)(cell_string(style, string, length, at) - at);
    return STATUS_OK;
}

/* Most pieces are shorter than the padding and need one copy, whose size the compiler knows. */
static char *put_piece(char *at, struct piece piece)
{
    memcpy(at, piece.text, PIECE_PADDING);
    if (piece.bytes > PIECE_PADDING)
        memcpy(at + PIECE_PADDING, piece.text + PIECE_PADDING, piece.bytes - PIECE_PADDING);
    return at + piece.bytes;
}

/* ---- Rows ---- */

enum status printing_cells_make(const struct printing *printing, struct printing_thread *own, uint64_t first,
                                uint32_t count, struct error *error)
{
    for (uint32_t c = 0; c < printing->rows->column_count; c++)
        RETURN_IF_ERROR(cells_make(&printing->columns[c], first, count, &own->spaces[c],
                                   own->cells + (size_t)c * printing->block_rows, error));
    return STATUS_OK;
}

static size_t cell_bytes(const struct printing *printing, const struct printing_thread *own, uint32_t count)
{
    size_t bytes = 0;
    for (uint32_t c = 0; c < printing->rows->column_count; c++)
        for (uint32_t i = 0; i < count; i++)
            bytes += own->cells[(size_t)c * printing->block_rows + i].bytes;
    return bytes;
}

/* Appends rows of CSV or JSON: for each cell the text before it and the cell, and then the end of the row. */
static enum status put_cells(const struct printing *printing, struct printing_thread *own, uint32_t count,
                             struct error *error)
{
    const uint32_t columns = printing->rows->column_count;
    const char end[PIECE_PADDING] = {
        [0] = printing->format == ROWSET_CSV ? '\n' : '}', [1] = printing->style->lines ? '\n' : ','};
    const size_t end_bytes = printing->format == ROWSET_CSV ? 1 : 2;
    RETURN_IF_ERROR(text_space_reserve(
        &own->text, cell_bytes(printing, own, count) + count * (printing->heads.used + end_bytes), error));
    char *at = own->text.bytes + own->text.used;
    for (uint32_t i = 0; i < count; i++) {
        const struct piece *cell = own->cells + i;
        for (uint32_t c = 0; c < columns; c++, cell += printing->block_rows) {
            at = put_piece(at, printing->before[c]);
            at = put_piece(at, *cell);
        }
        at = put_piece(at, (struct piece){end, end_bytes});
    }
    own->text.used = (size_t)(at - own->text.bytes);
    return STATUS_OK;
}

static char *put_padded(char *at, struct piece piece, size_t width, bool right)
{
    const size_t own = text_width(piece.text, piece.bytes), blanks = width > own ? width - own : 0;
    if (right) {
        memset(at, ' ', blanks);
        return put_piece(at + blanks, piece);
    }
    at = put_piece(at, piece);
    memset(at, ' ', blanks);
    return at + blanks;
}

/* Writes a line of a table. The last column is not padded with blanks. */
static char *put_line(const struct printing *printing, const struct piece *cell, char *at)
{
    const uint32_t columns = printing->rows->column_count;
    const bool markdown = printing->format == ROWSET_MARKDOWN;
    for (uint32_t c = 0; c < columns; c++, cell += printing->block_rows) {
        const bool number = is_number(&printing->rows->columns[c]);
        at = put_piece(at, printing->before[c]);
        at =
            put_padded(at, *cell, c + 1 == columns && !markdown && !number ? 0 : printing->widths[c], number);
    }
    if (markdown) {
        memcpy(at, " |", 2);
        at += 2;
    }
    *at = '\n';
    return at + 1;
}

static size_t line_bytes(const struct printing *printing)
{
    size_t bytes = printing->heads.used + 3;
    for (uint32_t c = 0; c < printing->rows->column_count; c++)
        bytes += printing->widths[c];
    return bytes;
}

static enum status put_lines(const struct printing *printing, struct printing_thread *own, uint32_t count,
                             struct error *error)
{
    RETURN_IF_ERROR(text_space_reserve(
        &own->text, cell_bytes(printing, own, count) + count * line_bytes(printing), error));
    char *at = own->text.bytes + own->text.used;
    for (uint32_t i = 0; i < count; i++)
        at = put_line(printing, own->cells + i, at);
    own->text.used = (size_t)(at - own->text.bytes);
    return STATUS_OK;
}

enum status printing_rows_put(const struct printing *printing, struct printing_thread *own, uint32_t count,
                              struct error *error)
{
    return printing_is_table(printing) ? put_lines(printing, own, count, error)
                                       : put_cells(printing, own, count, error);
}

void printing_rows_measure(const struct printing *printing, struct printing_thread *own, uint32_t count)
{
    for (uint32_t c = 0; c < printing->rows->column_count; c++) {
        size_t most = own->widths[c];
        for (uint32_t i = 0; i < count; i++) {
            const struct piece *const cell = &own->cells[(size_t)c * printing->block_rows + i];
            const size_t width = text_width(cell->text, cell->bytes);
            most = width > most ? width : most;
        }
        own->widths[c] = most < WIDTH_MAX ? most : WIDTH_MAX;
    }
}

/* ---- Heads ---- */

static enum status put_keys(struct text_space *heads, const struct rowset *rows,
                            const struct rowset_style *style, size_t *ends, struct error *error)
{
    const char *const first = style->lines ? "{" : "\n {", *const other = style->lines ? "," : ", ",
                      *const colon = style->lines ? ":" : ": ";
    char **const keys = calloc(rows->column_count + 1, sizeof *keys);
    enum status status = keys ? STATUS_OK : error_out_of_memory(error, sizeof *keys, "an answer's names");
    for (uint32_t c = 0; status == STATUS_OK && c < rows->column_count; c++) {
        keys[c] = rowset_unique_name(rows, c, keys);
        status = keys[c] ? put(heads, c ? other : first, strlen(c ? other : first), error)
                         : error_out_of_memory(error, 1, "an answer's names");
        if (status == STATUS_OK)
            status = put_string(heads, style, keys[c], error);
        if (status == STATUS_OK)
            status = put(heads, colon, strlen(colon), error);
        ends[c] = heads->used;
    }
    for (uint32_t c = 0; keys && c < rows->column_count; c++)
        free(keys[c]);
    free(keys);
    return status;
}

enum status printing_heads_make(struct printing *printing, struct error *error)
{
    static const struct {
        const char *first, *other;
    } separators[] = {[ROWSET_TABLE] = {"", "  "},
                      [ROWSET_CSV] = {"", ","},
                      [ROWSET_JSON] = {"", ""}, /* put_keys makes them */
                      [ROWSET_MARKDOWN] = {"| ", " | "}};
    const uint32_t columns = printing->rows->column_count;
    size_t *const ends = printing->widths; /* not used before tables are measured */
    if (printing->format == ROWSET_JSON)
        RETURN_IF_ERROR(put_keys(&printing->heads, printing->rows, printing->style, ends, error));
    for (uint32_t c = 0; printing->format != ROWSET_JSON && c < columns; c++) {
        const char own[] = {printing->style->delimiter, '\0'};
        const char *const separator = c == 0                       ? separators[printing->format].first
                                      : printing->style->delimiter ? own
                                                                   : separators[printing->format].other;
        RETURN_IF_ERROR(put(&printing->heads, separator, strlen(separator), error));
        ends[c] = printing->heads.used;
    }
    RETURN_IF_ERROR(text_space_reserve(&printing->heads, 0, error));
    for (uint32_t c = 0; c < columns; c++) {
        const size_t begin = c ? ends[c - 1] : 0;
        printing->before[c] = (struct piece){printing->heads.bytes + begin, ends[c] - begin};
    }
    return STATUS_OK;
}

/* Writes the line below the names of a table. */
static char *put_rule(const struct printing *printing, char *at)
{
    const bool markdown = printing->format == ROWSET_MARKDOWN;
    for (uint32_t c = 0; c < printing->rows->column_count; c++) {
        const char *const separator = markdown ? "|" : c ? "  " : "";
        memcpy(at, separator, strlen(separator));
        at += strlen(separator);
        memset(at, '-', printing->widths[c] + 2); /* may write into the padding */
        at += printing->widths[c] + (markdown ? 2 : 0);
        if (markdown && is_number(&printing->rows->columns[c]))
            at[-1] = ':';
    }
    if (markdown)
        *at++ = '|';
    *at = '\n';
    return at + 1;
}

enum status printing_names_make(const struct printing *printing, struct printing_thread *own,
                                struct error *error)
{
    for (uint32_t c = 0; c < printing->rows->column_count; c++) {
        struct text_space *const space = &own->spaces[c];
        space->used = 0;
        RETURN_IF_ERROR(put_string(space, printing->style, printing->rows->columns[c].name, error));
        own->cells[(size_t)c * printing->block_rows] = (struct piece){space->bytes, space->used};
    }
    return STATUS_OK;
}

enum status printing_begin_put(const struct printing *printing, struct printing_thread *own,
                               struct error *error)
{
    if (printing->style->lines || printing->style->headless)
        return STATUS_OK;
    if (printing->format == ROWSET_JSON)
        return put(&own->text, "[", 1, error);
    RETURN_IF_ERROR(printing_names_make(printing, own, error));
    RETURN_IF_ERROR(printing_rows_put(printing, own, 1, error));
    if (!printing_is_table(printing))
        return STATUS_OK;
    RETURN_IF_ERROR(text_space_reserve(&own->text, line_bytes(printing) + 2, error));
    own->text.used = (size_t)(put_rule(printing, own->text.bytes + own->text.used) - own->text.bytes);
    return STATUS_OK;
}

enum status printing_end_put(const struct printing *printing, struct printing_thread *own,
                             struct error *error)
{
    if (printing->format != ROWSET_JSON || printing->style->lines)
        return STATUS_OK;
    return printing->rows->rows ? put(&own->text, "\n]\n", 3, error) : put(&own->text, "]\n", 2, error);
}
