/* side_file.h: a column's file of what does not depend on its encoding (column_file.h), opened and checked. */
#ifndef TESSERA_STORAGE_COLUMN_SIDE_FILE_H
#define TESSERA_STORAGE_COLUMN_SIDE_FILE_H

#include "storage/column/column.h"
#include "storage/column/column_file.h"

/* Opens the column's side file; checks the dictionary in it, where there is one, and fills *dictionary. */
NODISCARD enum status side_file_open(const char *directory, const struct column *column,
                                     struct column_file **file, struct dictionary *dictionary,
                                     struct error *error);

#endif
