/* reading_check.h: whether options that say how single columns are written fit the tables that are loaded. */
#ifndef TESSERA_LOADER_TABLE_READING_CHECK_H
#define TESSERA_LOADER_TABLE_READING_CHECK_H

#include "loader/table/table_loader.h"

/* STATUS_BAD_INPUT for a column that no table has, or that is of another type than the option is for, and for characters
 * that would have two meanings. */
NODISCARD enum status readings_check(const struct schema_script *schema, const struct load_options *options,
                                     struct error *error);

#endif
