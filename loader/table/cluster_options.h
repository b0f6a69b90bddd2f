/* cluster_options.h: reads `--cluster-by auto|none|COLUMN[:N],...` of a load. */
#ifndef TESSERA_LOADER_TABLE_CLUSTER_OPTIONS_H
#define TESSERA_LOADER_TABLE_CLUSTER_OPTIONS_H

#include "loader/table/table_loader.h"
#include "storage/database/writer.h"

/* Checks options->cluster_by: each name is a column of a table that is loaded and that no table of the script references. */
NODISCARD enum status cluster_options_check(const struct schema_script *schema,
                                            const struct load_options *options, struct error *error);

/* Whether the option says how this table is clustered: by its columns among those that are named, by those that are chosen
 * (wish->count 0), or, to end it, not (`*none`). The option was checked. */
bool cluster_options_find(const struct load_options *options, const struct schema_table *table,
                          struct clustering *wish, bool *none);

#endif
