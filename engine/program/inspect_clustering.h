/* inspect_clustering.h: what `tessera inspect` says of how a table's rows are clustered (storage/database/clustering/). */
#ifndef TESSERA_ENGINE_PROGRAM_INSPECT_CLUSTERING_H
#define TESSERA_ENGINE_PROGRAM_INSPECT_CLUSTERING_H

#include "storage/column/column.h"

#include <jansson.h>

/* A term of a clustered table, as it is shown. */
struct shown_term {
    const char *level; /* the last of the levels that it looks at; NULL: it looks at bits of values */
    double left; /* the share of the tiles that a condition on one value of that level leaves; 0 for bits */
};

/* Reads what a table's clustering does: the least and greatest values of all tiles. The levels of tables that it references are
 * read. */
NODISCARD enum status inspect_clustering_read(const char *directory, const struct table *table,
                                              struct shown_term shown[CLUSTER_TERMS_MAX],
                                              struct error *error);

void inspect_clustering_print(const struct table *table, const struct shown_term *shown);
json_t *inspect_clustering_json(const struct table *table, const struct shown_term *shown);

#endif
