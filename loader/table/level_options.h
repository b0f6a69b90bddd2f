/* level_options.h: reads `--levels TABLE=COLUMN,COLUMN...` of a load. */
#ifndef TESSERA_LOADER_TABLE_LEVEL_OPTIONS_H
#define TESSERA_LOADER_TABLE_LEVEL_OPTIONS_H

#include "loader/table/table_loader.h"
#include "storage/database/writer.h"

/* Checks all of options->levels: each names a table that is loaded, once, and columns of it, or `none`. */
NODISCARD enum status level_options_check(const struct schema_script *schema,
                                          const struct load_options *options, struct error *error);

/* Whether the table is laid out by levels: named ones (wish->count > 0), or those that are found. `dimension`: other
 * tables reference it. options->levels were checked. */
bool level_options_find(const struct load_options *options, const struct schema_table *table, bool dimension,
                        struct levels_wish *wish);

#endif
