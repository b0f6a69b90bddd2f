/* pivot_values.h: answers what the parser asks of PIVOT without IN: which values become columns (engine/sql/sql.h). */
#ifndef TESSERA_ENGINE_LIBRARY_PIVOT_VALUES_H
#define TESSERA_ENGINE_LIBRARY_PIVOT_VALUES_H

#include "engine/run/engine.h"
#include "engine/sql/sql.h"

/* The context of pivot_values_ask. */
struct pivot_source {
    struct engine *engine;
    struct database *database;
    const char *codec; /* the argument of sql_prepare */
};

/* Runs the query, which gives different values and their texts, in the order of the columns. *values gets them in SQL, each
 * with the name of its column; free() it. */
NODISCARD enum status pivot_values_ask(void *source, const char *query, char **values, struct error *error);

#endif
