/* fuzz_tree_names.h: what fuzz_tree.h's statements are made of: tables, columns and their types, and what a place in a
 * statement may name. */
#ifndef TESSERA_TESTS_FUZZ_FUZZ_TREE_NAMES_H
#define TESSERA_TESTS_FUZZ_FUZZ_TREE_NAMES_H

#include "tests/fuzz/fuzz_tape.h"

#define TREE_TABLES      6u
#define TREE_COLUMNS     6u /* of a table: n, k, f, a, x, s */
#define TREE_SOURCES_MAX 5u
#define TREE_CTES_MAX    3u
#define TREE_DEPTH       3u

/* ---- Names ---- */

enum tree_type { TREE_INTEGER, TREE_DOUBLE, TREE_STRING, TREE_TYPES };

struct tree_column {
    const char *text;
    enum tree_type type;
};

struct tree_source {
    const char *from; /* in FROM, with its alias */
    uint32_t number, column_count;
    struct tree_column columns[TREE_COLUMNS];
    const char
        *unique; /* distinct in its rows; "": it has one row for each of the others; NULL: there is none */
    bool stored; /* it has the columns of a table */
};

struct tree_scope {
    struct tree_source sources[TREE_SOURCES_MAX];
    uint32_t count;
    const struct tree_scope *outer;
};

struct tree_cte {
    const char *name;
    uint32_t column_count;
    enum tree_type types[TREE_COLUMNS];
};

static const char *const tree_tables[TREE_TABLES] = {"small", "none", "one", "low", "high", "large"};
static const char *const tree_names[TREE_COLUMNS] = {"n", "k", "f", "a", "x", "s"};
static const enum tree_type tree_types[TREE_COLUMNS] = {TREE_INTEGER, TREE_INTEGER, TREE_INTEGER,
                                                        TREE_INTEGER, TREE_DOUBLE,  TREE_STRING};
static struct tree_cte tree_ctes[TREE_CTES_MAX];
static uint32_t tree_cte_count, tree_next_alias;
static bool tree_is_crossed; /* nothing joins the next tables: they are small */

#endif
