/* sheet_print.c: sheets as text for people, and as CSV; see sheet.h. */
#include "engine/report/sheet.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COLUMN_GAP     2  /* blanks between columns */
#define GROWING_TEXT   14 /* characters left for a cell that is not known yet: a codec's name */
#define GROWING_NUMBER 8

static enum status check(const struct sheet *sheet, struct error *error)
{
    return sheet->keep.failed ? error_out_of_memory(error, sizeof(struct sheet_cell), "a table of figures")
                              : STATUS_OK;
}

/* ---- Text ---- */

/* The width in characters, not bytes. */
static uint32_t width_of(const char *text)
{
    uint32_t width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

static uint32_t head_width(const struct sheet_column *column)
{
    return width_of(column->name) + (column->unit ? 1 + width_of(column->unit) : 0);
}

static bool same_group(const struct sheet_column *left, const struct sheet_column *right)
{
    return left->group && right->group && strcmp(left->group, right->group) == 0;
}

/* The column after the last one of the group that begins with column `first`; columns without names are not
 * seen. Gives the group's width. */
static uint32_t group_end(const struct sheet *sheet, uint32_t first, const uint32_t *widths, uint32_t *last,
                          uint32_t *width)
{
    uint32_t c = first;
    *last = first;
    *width = widths[first];
    while (++c < sheet->column_count && sheet->columns[first].name) {
        if (!sheet->columns[c].name)
            continue;
        if (!same_group(&sheet->columns[first], &sheet->columns[c]))
            break;
        *width += COLUMN_GAP + widths[c];
        *last = c;
    }
    return c;
}

static uint32_t wider(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static uint32_t growing_width(const struct sheet_column *column)
{
    return column->width ? column->width : column->text ? GROWING_TEXT : GROWING_NUMBER;
}

/* Gives each column's width, by its cells or, if the sheet is growing, without them. A group whose heading is wider than
 * its columns widens the last of them. */
static void measure(const struct sheet *sheet, bool growing, uint32_t *widths)
{
    char buffer[SHEET_NUMBER_BYTES];
    const uint32_t cells = growing ? 0 : sheet_rows(sheet) * sheet->column_count;
    for (uint32_t c = 0; c < sheet->column_count; c++) {
        const struct sheet_column *const column = &sheet->columns[c];
        widths[c] = column->name ? wider(head_width(column), growing ? growing_width(column) : 0) : 0;
        for (uint32_t i = c; column->name && i < cells; i += sheet->column_count)
            widths[c] = wider(widths[c], width_of(sheet_cell_text(column, &sheet->cells[i], buffer)));
    }
    for (uint32_t c = 0, last, width; c < sheet->column_count;) {
        const uint32_t next = group_end(sheet, c, widths, &last, &width);
        if (sheet->columns[c].group && width_of(sheet->columns[c].group) > width)
            widths[last] += width_of(sheet->columns[c].group) - width;
        c = next;
    }
}

/* A line of text whose trailing blanks are left out. */
struct line {
    FILE *file;
    uint32_t blanks; /* that stand before the next text */
};

static void put(struct line *line, const char *text, uint32_t width, bool right)
{
    const uint32_t own = width_of(text), pad = width > own ? width - own : 0;
    if (own)
        fprintf(line->file, "%*s%s", (int)(line->blanks + (right ? pad : 0)), "", text);
    line->blanks = own ? (right ? 0 : pad) : line->blanks + pad;
    line->blanks += COLUMN_GAP;
}

static void end(struct line *line)
{
    fputc('\n', line->file);
    line->blanks = 0;
}

static void print_groups(const struct sheet *sheet, const uint32_t *widths, struct line *line)
{
    bool any = false;
    for (uint32_t c = 0; c < sheet->column_count; c++)
        any = any || sheet->columns[c].group;
    for (uint32_t c = 0, last, width; any && c < sheet->column_count;) {
        const char *const group = sheet->columns[c].group;
        const uint32_t next = group_end(sheet, c, widths, &last, &width);
        if (sheet->columns[c].name)
            put(line, group ? group : "", width, false);
        c = next;
    }
    if (any)
        end(line);
}

static void print_heads(const struct sheet *sheet, const uint32_t *widths, struct line *line)
{
    for (uint32_t c = 0; c < sheet->column_count; c++) {
        const struct sheet_column *const column = &sheet->columns[c];
        if (!column->name)
            continue;
        const uint32_t unit = column->unit ? 1 + width_of(column->unit) : 0;
        const uint32_t blanks = column->text ? 0 : widths[c] - head_width(column);
        line->blanks += blanks;
        put(line, column->name, widths[c] - blanks - unit, false);
        if (column->unit)
            fprintf(line->file, " %s", column->unit);
    }
    end(line);
}

static void print_rows(const struct sheet *sheet, uint32_t first, const uint32_t *widths, struct line *line)
{
    char buffer[SHEET_NUMBER_BYTES];
    for (uint32_t i = first * sheet->column_count; i < sheet_rows(sheet) * sheet->column_count; i++) {
        const uint32_t c = i % sheet->column_count;
        const struct sheet_column *const column = &sheet->columns[c];
        if (column->name)
            put(line, sheet_cell_text(column, &sheet->cells[i], buffer), widths[c], !column->text);
        if (c + 1 == sheet->column_count)
            end(line);
    }
}

/* Prints the head, or the rows from `first` on, or both. */
static enum status print_table(const struct sheet *sheet, bool growing, bool head, uint32_t first, FILE *file,
                               struct error *error)
{
    struct line line = {.file = file};
    RETURN_IF_ERROR(check(sheet, error));
    uint32_t *const widths = calloc(sheet->column_count + 1, sizeof *widths);
    if (!widths)
        return error_out_of_memory(error, (sheet->column_count + 1) * sizeof *widths, "a table of figures");
    measure(sheet, growing, widths);
    if (head) {
        print_groups(sheet, widths, &line);
        print_heads(sheet, widths, &line);
    }
    print_rows(sheet, first, widths, &line);
    free(widths);
    return STATUS_OK;
}

enum status sheet_print_table(const struct sheet *sheet, FILE *file, struct error *error)
{
    return print_table(sheet, false, true, 0, file, error);
}

/* ---- CSV ---- */

static void print_field(FILE *file, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, file);
        return;
    }
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

static void print_cell(FILE *file, const struct sheet_column *column, const struct sheet_cell *cell)
{
    if (cell->kind == SHEET_TEXT)
        print_field(file, cell->text);
    else if (cell->kind == SHEET_NUMBER && column->whole)
        fprintf(file, "%.0f", cell->number);
    else if (cell->kind == SHEET_NUMBER)
        fprintf(file, "%.9g", cell->number);
}

static void print_csv_head(const struct sheet *sheet, FILE *file)
{
    const char *separator = "";
    for (uint32_t c = 0; c < sheet->column_count; c++)
        if (sheet->columns[c].key) {
            fputs(separator, file);
            print_field(file, sheet->columns[c].key);
            separator = ",";
        }
    fputc('\n', file);
}

static void print_csv_rows(const struct sheet *sheet, uint32_t first, FILE *file)
{
    for (uint32_t row = first; row < sheet_rows(sheet); row++) {
        const struct sheet_cell *const cells = sheet->cells + (size_t)row * sheet->column_count;
        const char *separator = "";
        for (uint32_t c = 0; c < sheet->column_count; c++)
            if (sheet->columns[c].key) {
                fputs(separator, file);
                print_cell(file, &sheet->columns[c], &cells[c]);
                separator = ",";
            }
        fputc('\n', file);
    }
}

enum status sheet_print_csv(const struct sheet *sheet, FILE *file, struct error *error)
{
    RETURN_IF_ERROR(check(sheet, error));
    print_csv_head(sheet, file);
    print_csv_rows(sheet, 0, file);
    return STATUS_OK;
}

/* ---- Tables that grow ---- */

enum status sheet_print_head(const struct sheet *sheet, enum sheet_form form, FILE *file, struct error *error)
{
    if (form == SHEET_TABLE)
        return print_table(sheet, true, true, sheet_rows(sheet), file, error);
    RETURN_IF_ERROR(check(sheet, error));
    print_csv_head(sheet, file);
    return STATUS_OK;
}

enum status sheet_print_rows(const struct sheet *sheet, enum sheet_form form, uint32_t first, FILE *file,
                             struct error *error)
{
    if (form == SHEET_TABLE)
        return print_table(sheet, true, false, first, file, error);
    RETURN_IF_ERROR(check(sheet, error));
    print_csv_rows(sheet, first, file);
    return STATUS_OK;
}
