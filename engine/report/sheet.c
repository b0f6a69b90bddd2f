/* sheet.c: makes sheets, and the text of their cells; see sheet.h. */
#include "engine/report/sheet.h"

#include <math.h>
#include <stdlib.h>

/* Numbers from here on, or smaller than this, are printed with an exponent. */
#define NUMBER_LARGE 1e15
#define NUMBER_SMALL 1e-9

enum status sheet_create(const struct sheet_column *columns, uint32_t column_count, struct sheet **sheet,
                         struct error *error)
{
    const size_t bytes = (column_count + 1) * sizeof *columns;
    struct sheet *const made = calloc(1, sizeof *made);
    if (made)
        made->columns = calloc(column_count + 1, sizeof *columns); /* never of 0 bytes */
    if (!made || !made->columns) {
        free(made);
        return error_out_of_memory(error, bytes, "a table of figures");
    }
    made->column_count = column_count;
    for (uint32_t c = 0; c < column_count; c++) {
        struct sheet_column *const column = &made->columns[c];
        *column = columns[c];
        column->key = keep_text(&made->keep, columns[c].key);
        column->name = keep_text(&made->keep, columns[c].name);
        column->unit = keep_text(&made->keep, columns[c].unit);
        column->group = keep_text(&made->keep, columns[c].group);
        column->suffix = keep_text(&made->keep, columns[c].suffix);
    }
    *sheet = made;
    return STATUS_OK;
}

void sheet_destroy(struct sheet *sheet)
{
    if (!sheet)
        return;
    keep_free(&sheet->keep);
    free(sheet->columns);
    free(sheet->cells);
    free(sheet);
}

/* ---- Cells ---- */

static void add(struct sheet *sheet, struct sheet_cell cell)
{
    if (keep_grow(&sheet->keep, (void **)&sheet->cells, sheet->cell_count, sizeof cell))
        sheet->cells[sheet->cell_count++] = cell;
}

void sheet_number(struct sheet *sheet, double number)
{
    if (isfinite(number))
        add(sheet, (struct sheet_cell){.kind = SHEET_NUMBER, .number = number});
    else
        sheet_missing(sheet, NULL);
}

void sheet_text(struct sheet *sheet, const char *text)
{
    if (text)
        add(sheet, (struct sheet_cell){.kind = SHEET_TEXT, .text = keep_text(&sheet->keep, text)});
    else
        sheet_missing(sheet, NULL);
}

void sheet_known(struct sheet *sheet, double number)
{
    sheet_number(sheet, number > 0 ? number : NAN);
}

void sheet_missing(struct sheet *sheet, const char *why)
{
    add(sheet, (struct sheet_cell){.kind = SHEET_MISSING, .text = keep_text(&sheet->keep, why)});
}

uint32_t sheet_rows(const struct sheet *sheet)
{
    return sheet->column_count ? sheet->cell_count / sheet->column_count : 0;
}

/* ---- Text ---- */

/* The digits after the point with which the number has `significant` digits. */
static int digits_of(double number, uint32_t significant)
{
    const int places = number == 0 ? 0 : (int)floor(log10(fabs(number)));
    const int digits = (int)significant - 1 - places;
    return digits > 0 ? digits : 0;
}

const char *sheet_cell_text(const struct sheet_column *column, const struct sheet_cell *cell,
                            char buffer[SHEET_NUMBER_BYTES])
{
    if (cell->kind != SHEET_NUMBER)
        return cell->text ? cell->text : "-";
    const double number = cell->number * (column->scale != 0 ? column->scale : 1), size = fabs(number);
    const char *const suffix = column->suffix ? column->suffix : "";
    const int digits = column->significant ? digits_of(number, column->significant) : (int)column->digits;
    if (size >= NUMBER_LARGE || (column->significant && size > 0 && size < NUMBER_SMALL))
        snprintf(buffer, SHEET_NUMBER_BYTES, "%.*g%s", column->significant ? (int)column->significant : 6,
                 number, suffix);
    else
        snprintf(buffer, SHEET_NUMBER_BYTES, "%.*f%s", digits, number, suffix);
    return buffer;
}
