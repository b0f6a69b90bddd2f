/*
 * infer.h: proposes a schema for files, as SQL that a person corrects: `tessera load --infer`.
 *
 * Every row is read once, on threads that take a column each. A column gets the narrowest type that all its values have;
 * what it was seen by stands beside it as a comment. A table's key is a column without duplicates whose name or place says
 * so, and a reference is a column whose values are all keys of another table and whose name says so. Distinct values are
 * known by their 64-bit hashes, of up to 16 million values a column.
 */
#ifndef TESSERA_LOADER_INFER_INFER_H
#define TESSERA_LOADER_INFER_INFER_H

#include "loader/table/table_loader.h"

#include <stdio.h>

/* Writes the proposal for the files of options->inputs to `out`. Of the other options those count that say how files are
 * read, and by how many threads in how much memory. */
NODISCARD enum status schema_infer(const struct load_options *options, struct progress *progress, FILE *out,
                                   struct error *error);

#endif
