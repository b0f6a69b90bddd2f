/* side_file.h: opens and checks a column's side file, which has what does not depend on the encoding
 * (column_file.h). */
#ifndef TESSERA_STORAGE_COLUMN_SIDE_FILE_H
#define TESSERA_STORAGE_COLUMN_SIDE_FILE_H

#include "storage/column/column.h"
#include "storage/column/column_file.h"

/* Opens the column's side file. A dictionary in it is read by dictionary/stored_dictionary.h. */
NODISCARD enum status side_file_open(const char *directory, const struct column *column,
                                     struct column_file **file, struct error *error);

#endif
