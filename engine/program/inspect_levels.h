/* inspect_levels.h: what `tessera inspect` says of a table's levels (storage/column/levels.h). */
#ifndef TESSERA_ENGINE_PROGRAM_INSPECT_LEVELS_H
#define TESSERA_ENGINE_PROGRAM_INSPECT_LEVELS_H

#include "storage/column/column.h"

#include <jansson.h>

/* Prints two lines, of a table with levels: their bits, and how full positions are. */
void inspect_levels_print(const struct table *table);

/* Prints which levels decide a column of a table with levels; nothing if only the row does. */
void inspect_depth_print(const struct column *column);

/* The same as objects, or NULL without memory. */
json_t *inspect_levels_json(const struct table *table);

#endif
