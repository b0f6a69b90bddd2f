/*
 * columnar_convert.h: numbers, dates and times of columnar files as the stored values of a column: which types fit, how
 * a value is converted, and how it is shown in a complaint. Most numbers need a comparison and a multiplication only,
 * for which there is a struct columnar_range.
 */
#ifndef TESSERA_LOADER_COLUMNAR_COLUMNAR_CONVERT_H
#define TESSERA_LOADER_COLUMNAR_COLUMNAR_CONVERT_H

#include "loader/columnar/columnar_file.h"
#include "loader/text/text_rows.h"
#include "storage/database/database.h"

/* Whether values of the file's type can be converted to the column's type. `round`: floating-point numbers become whole
 * numbers and decimals, too. */
bool columnar_type_fits(const struct columnar_type *type, enum column_type want, bool round);

/* How whole numbers become stored values: those from low to high, multiplied. */
struct columnar_range {
    int64_t low, high, factor;
};

/* Finds the range for the numbers of a column. False: they have to be converted one by one. */
bool columnar_range_plan(const struct columnar_type *type, const struct columnar_values *values,
                         const struct column_schema *want, struct columnar_range *range);

/* Converts number `at`, with reading->round and reading->cut_nanoseconds. Returns NULL, or the complaint. */
const char *columnar_convert_number(const struct columnar_type *type, const struct columnar_values *values,
                                    uint32_t at, const struct column_schema *want,
                                    const struct columnar_range *range, const struct text_reading *reading,
                                    int64_t *value);

/* Writes number `at` as a person knows it: with its point, or as a date or time. */
void columnar_show_number(const struct columnar_type *type, const struct columnar_values *values, uint32_t at,
                          char shown[TEXT_SHOWN_BYTES]);

#endif
