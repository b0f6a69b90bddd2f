/* sheet_json.c: sheets as JSON; see sheet.h. */
#include "engine/report/sheet.h"

#include <jansson.h>

static json_t *cell_json(const struct sheet_column *column, const struct sheet_cell *cell)
{
    switch (cell->kind) {
    case SHEET_NUMBER:
        return column->whole ? json_integer((json_int_t)cell->number) : json_real(cell->number);
    case SHEET_TEXT:
        return json_string(cell->text);
    default:
        return json_null();
    }
}

static json_t *row_json(const struct sheet *sheet, uint32_t row)
{
    const struct sheet_cell *const cells = sheet->cells + (size_t)row * sheet->column_count;
    json_t *const object = json_object();
    bool good = object != NULL;
    for (uint32_t c = 0; good && c < sheet->column_count; c++)
        if (sheet->columns[c].key) /* a missing value fails the call, and so does a missing object */
            good = json_object_set_new(object, sheet->columns[c].key,
                                       cell_json(&sheet->columns[c], &cells[c])) == 0;
    if (good)
        return object;
    json_decref(object);
    return NULL;
}

json_t *sheet_json(const struct sheet *sheet)
{
    json_t *const array = json_array();
    bool good = array && !sheet->keep.failed;
    for (uint32_t row = 0; good && row < sheet_rows(sheet); row++)
        good = json_array_append_new(array, row_json(sheet, row)) == 0;
    if (good)
        return array;
    json_decref(array);
    return NULL;
}
