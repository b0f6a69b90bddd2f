/* aggregate_names.h: which expressions of a statement are aggregates (engine/aggregate/names.h). */
#ifndef TESSERA_ENGINE_SQL_AGGREGATES_AGGREGATE_NAMES_H
#define TESSERA_ENGINE_SQL_AGGREGATES_AGGREGATE_NAMES_H

#include "engine/aggregate/names.h"
#include "engine/sql/ast.h"

/* True for an aggregate; min and max of several values are functions. Looks at the node only. */
bool sql_is_aggregate(const struct sql_expression *ast);
/* True if it or an expression below it is an aggregate or a window function: then GROUP BY ALL does not group by it. */
bool sql_is_computed_above(const struct sql_expression *ast);
/* Looks at the expressions below it, too. */
bool sql_has_aggregate(const struct sql_expression *ast);

#endif
