/* explain_tree.h: draws the branches of EXPLAIN's lines. */
#ifndef TESSERA_ENGINE_EXPLAIN_EXPLAIN_TREE_H
#define TESSERA_ENGINE_EXPLAIN_EXPLAIN_TREE_H

#include "storage/base/status.h"

/* Gives the lines of `text` with branches, which the caller frees:
 *
 *     scan sales: 50000 rows                scan sales: 50000 rows
 *       inner join shops: 10 rows           ├─  inner join shops: 10 rows
 *       range      day between 1 and 2      └─  range      day between 1 and 2
 *                  3 MB in 1 ms                         3 MB in 1 ms
 *
 * A line that is indented by two blanks is a branch of the line before it that is not indented; one that is indented
 * further goes on with the branch. NULL: there is no memory. */
char *explain_tree(const char *text);

#endif
