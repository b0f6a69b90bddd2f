/*
 * file_parts.h: which parts of columnar files (row groups) a statement must read, going by what the files say of the least and
 * greatest values of their columns.
 *
 * WHERE, and ON of joins, restrict a scan of files where no operator between the two needs the rows that they drop. Each such
 * condition on columns of the files alone is bound once for every part, over leaves that have the part's ranges
 * (engine/sql/scalar.h): a part in which one cannot be true (engine/plan/tiles/truths.h) has no row for the scan. So all that
 * expressions know of ranges counts: comparisons, IN, OR, IS NULL, arithmetic, EXTRACT, times of a zone. Of strings
 * comparisons with constants do.
 */
#ifndef TESSERA_ENGINE_LIBRARY_FILES_FILE_PARTS_H
#define TESSERA_ENGINE_LIBRARY_FILES_FILE_PARTS_H

#include "engine/library/files/file_table.h"
#include "engine/logical/logical.h"

struct file_parts {
    uint64_t count, kept, rows; /* of the files; that may have rows; rows of these */
    uint64_t *bits;             /* of each part whether it is kept; NULL: no part can be left out */
    const char *what;           /* "row group" */
    bool of_values;             /* values of parameters decided it */
};

/* Finds the parts that any scan of the table in the tree needs. No column is read. Free the result's bits. */
NODISCARD enum status file_parts_find(const struct file_table *table, struct logical_tree *tree,
                                      const struct logical_options *options, struct file_parts *parts,
                                      struct error *error);

#endif
