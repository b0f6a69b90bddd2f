/*
 * columnar_bounds.h: what the parts of columnar files say of their columns' values, as values that a table stores: for who reads
 * only those parts that may have rows for a condition (engine/library/files/file_parts.h).
 *
 * Parts are numbered through all files, in their order, as load_options.parts numbers them.
 */
#ifndef TESSERA_LOADER_COLUMNAR_COLUMNAR_BOUNDS_H
#define TESSERA_LOADER_COLUMNAR_COLUMNAR_BOUNDS_H

#include "loader/columnar/columnar_file.h"
#include "storage/database/database.h"

/* Of a column in a part. */
struct columnar_bounds {
    bool nulls;  /* some value may be NULL */
    bool values; /* some value may be another one */
    bool known;  /* the latter are from `low` to `high`; of doubles there may be NaN, too */
    int64_t low, high;
    struct text_field low_text, high_text; /* instead of them, of strings; their memory is the file's */
};

struct columnar_parts; /* the files, whose footers are read */

/* Opens the files, whose paths must outlive the result. *out is NULL if they are no columnar files of one format that says such
 * things. Free with columnar_parts_free; NULL is legal. */
NODISCARD enum status columnar_parts_open(const char *const *paths, uint32_t count,
                                          struct columnar_parts **out, struct error *error);
void columnar_parts_free(struct columnar_parts *parts);

uint64_t columnar_parts_count(const struct columnar_parts *parts);
uint64_t columnar_parts_rows(const struct columnar_parts *parts, uint64_t part);
const char *columnar_parts_name(const struct columnar_parts *parts); /* "row group" */

/* What the part says of the column of this name, if its values are stored as `want` is. A file that says nothing, or what
 * cannot be, makes no bounds: anything may be in it. */
NODISCARD enum status columnar_parts_bounds(struct columnar_parts *parts, uint64_t part,
                                            const struct column_schema *want, struct columnar_bounds *bounds,
                                            struct error *error);

#endif
