/* rowset_print.c: answers as tables, CSV, JSON and Markdown (rowset.h). */
#include "engine/answer/rowset.h"

#include "storage/base/parallel.h"

#include <inttypes.h>
#include <string.h>

/* Rows that a table's widths are measured on: the others may stand out. */
#define MEASURED_ROWS 10000u

bool rowset_format_by_name(const char *name, enum rowset_format *format)
{
    static const char *const names[] = {"table", "csv", "json", "markdown"};
    for (int i = 0; i < 4; i++)
        if (strcmp(names[i], name) == 0) {
            *format = (enum rowset_format)i;
            return true;
        }
    return false;
}

static bool is_number(const struct rowset_column *column)
{
    return column->type.kind == VALUE_INTEGER || column->type.kind == VALUE_DOUBLE;
}

/* ---- Table and Markdown ---- */

/* Characters, not bytes. */
static size_t text_width(const char *text, uint32_t length)
{
    size_t width = 0;
    for (uint32_t i = 0; i < length; i++)
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    return width;
}

/* Line ends and other control characters would break the table. */
static void put_cell(FILE *out, const char *text, uint32_t length, size_t width, bool right, bool markdown)
{
    const size_t own = text_width(text, length);
    if (right)
        fprintf(out, "%*s", (int)(width > own ? width - own : 0), "");
    for (uint32_t i = 0; i < length; i++) {
        if (markdown && text[i] == '|')
            putc('\\', out);
        putc((unsigned char)text[i] < ' ' || text[i] == 127 ? ' ' : text[i], out);
    }
    if (!right)
        fprintf(out, "%*s", (int)(width > own ? width - own : 0), "");
}

static void measure(const struct rowset *rows, size_t *widths)
{
    char buffer[ROWSET_TEXT_BYTES];
    for (uint32_t c = 0; c < rows->column_count; c++) {
        const struct rowset_column *column = &rows->columns[c];
        widths[c] = text_width(column->name, (uint32_t)strlen(column->name));
        for (uint64_t row = 0; row < rows->rows && row < MEASURED_ROWS; row++) {
            uint32_t length;
            const char *text = rowset_text(column, row, buffer, &length);
            const size_t width = text ? text_width(text, length) : 4;
            widths[c] = width > widths[c] ? width : widths[c];
        }
    }
}

static enum status print_table(const struct rowset *rows, bool markdown, FILE *out, struct error *error)
{
    size_t widths[256];
    char buffer[ROWSET_TEXT_BYTES];
    const char *const left = markdown ? "| " : "", *const between = markdown ? " | " : "  ",
                      *const end = markdown ? " |\n" : "\n";
    measure(rows, widths);
    fputs(left, out);
    for (uint32_t c = 0; c < rows->column_count; c++) {
        const bool last = c + 1 == rows->column_count;
        put_cell(out, rows->columns[c].name, (uint32_t)strlen(rows->columns[c].name),
                 last && !markdown && !is_number(&rows->columns[c]) ? 0 : widths[c],
                 is_number(&rows->columns[c]), markdown);
        fputs(last ? end : between, out);
    }
    for (uint32_t c = 0; c < rows->column_count; c++) {
        fputs(c ? markdown ? "|" : "  " : markdown ? "|" : "", out);
        for (size_t i = 0; i < widths[c] + (markdown ? 1 : 0); i++)
            putc('-', out);
        if (markdown)
            putc(is_number(&rows->columns[c]) ? ':' : '-', out);
    }
    fputs(markdown ? "|\n" : "\n", out);
    for (uint64_t row = 0; row < rows->rows; row++) {
        fputs(left, out);
        for (uint32_t c = 0; c < rows->column_count; c++) {
            const bool last = c + 1 == rows->column_count, number = is_number(&rows->columns[c]);
            uint32_t length;
            const char *text = rowset_text(&rows->columns[c], row, buffer, &length);
            put_cell(out, text ? text : "NULL", text ? length : 4,
                     last && !markdown && !number ? 0 : widths[c], number, markdown);
            fputs(last ? end : between, out);
        }
        if (row % 4096 == 0)
            RETURN_IF_ERROR(cancel_check(error));
    }
    return STATUS_OK;
}

/* ---- CSV ---- */

static void put_csv(FILE *out, const char *text, uint32_t length)
{
    bool quote = length == 0; /* an empty string is no NULL */
    for (uint32_t i = 0; i < length && !quote; i++)
        quote = text[i] == ',' || text[i] == '"' || text[i] == '\n' || text[i] == '\r';
    if (!quote) {
        fwrite(text, 1, length, out);
        return;
    }
    putc('"', out);
    for (uint32_t i = 0; i < length; i++) {
        if (text[i] == '"')
            putc('"', out);
        putc(text[i], out);
    }
    putc('"', out);
}

static enum status print_csv(const struct rowset *rows, FILE *out, struct error *error)
{
    char buffer[ROWSET_TEXT_BYTES];
    for (uint32_t c = 0; c < rows->column_count; c++) {
        put_csv(out, rows->columns[c].name, (uint32_t)strlen(rows->columns[c].name));
        putc(c + 1 == rows->column_count ? '\n' : ',', out);
    }
    for (uint64_t row = 0; row < rows->rows; row++) {
        for (uint32_t c = 0; c < rows->column_count; c++) {
            uint32_t length;
            const char *text = rowset_text(&rows->columns[c], row, buffer, &length);
            if (text)
                put_csv(out, text, length);
            putc(c + 1 == rows->column_count ? '\n' : ',', out);
        }
        if (row % 4096 == 0)
            RETURN_IF_ERROR(cancel_check(error));
    }
    return STATUS_OK;
}

/* ---- JSON ---- */

/* Strings are UTF-8, as the loader checked; a row at a time, so no tree of millions of values is built. */
static void put_json(FILE *out, const char *text, uint32_t length)
{
    putc('"', out);
    for (uint32_t i = 0; i < length; i++) {
        if (text[i] == '"' || text[i] == '\\')
            fprintf(out, "\\%c", text[i]);
        else if ((unsigned char)text[i] < ' ')
            fprintf(out, "\\u%04x", (unsigned char)text[i]);
        else
            putc(text[i], out);
    }
    putc('"', out);
}

static enum status print_json(const struct rowset *rows, FILE *out, struct error *error)
{
    char buffer[ROWSET_TEXT_BYTES];
    putc('[', out);
    for (uint64_t row = 0; row < rows->rows; row++) {
        fputs(row ? ",\n {" : "\n {", out);
        for (uint32_t c = 0; c < rows->column_count; c++) {
            const struct rowset_column *column = &rows->columns[c];
            uint32_t length;
            const char *text = rowset_text(column, row, buffer, &length);
            fputs(c ? ", " : "", out);
            put_json(out, column->name, (uint32_t)strlen(column->name));
            fputs(": ", out);
            if (!text || (column->type.kind == VALUE_DOUBLE && strpbrk(text, "in"))) /* inf, nan */
                fputs("null", out);
            else if (is_number(column) || column->type.kind == VALUE_BOOLEAN)
                fwrite(text, 1, length, out);
            else
                put_json(out, text, length);
        }
        putc('}', out);
        if (row % 4096 == 0)
            RETURN_IF_ERROR(cancel_check(error));
    }
    fputs(rows->rows ? "\n]\n" : "]\n", out);
    return STATUS_OK;
}

enum status rowset_print(const struct rowset *rows, enum rowset_format format, FILE *out, struct error *error)
{
    switch (format) {
    case ROWSET_CSV:
        return print_csv(rows, out, error);
    case ROWSET_JSON:
        return print_json(rows, out, error);
    default:
        return print_table(rows, format == ROWSET_MARKDOWN, out, error);
    }
}
