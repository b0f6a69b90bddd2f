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
static bool tree_is_logic;   /* both statements are ours: what SQLite has not may be there, too */

/* ---- Choices of them ---- */

static enum tree_type any_type(void)
{
    const uint32_t kind = choose(10);
    return kind < 6 ? TREE_INTEGER : kind < 8 ? TREE_STRING : TREE_DOUBLE;
}

static const char *literal(enum tree_type type)
{
    static const char *const strings[] = {"'a'", "'b'", "'B'", "''", "'ab'", "'zz'"};
    if (type == TREE_STRING)
        return strings[choose(6)];
    if (type == TREE_DOUBLE)
        return form("%s%u.%u", likely(20) ? "-" : "", choose(20), choose(4) * 25);
    return form("%u", likely(15) ? choose(5000) : choose(10));
}

/* A column of this scope, or of one around it; NULL: there is none. */
static const char *column_or_none(const struct tree_scope *scope, enum tree_type type, uint32_t percent_outer)
{
    const char *found[TREE_SOURCES_MAX * TREE_COLUMNS];
    uint32_t count = 0;
    while (scope->outer && likely(percent_outer))
        scope = scope->outer;
    for (uint32_t s = 0; s < scope->count; s++)
        for (uint32_t c = 0; c < scope->sources[s].column_count; c++)
            if (scope->sources[s].columns[c].type == type)
                found[count++] = scope->sources[s].columns[c].text;
    return count ? found[choose(count)] : NULL;
}

/* A type that the scope has columns of: SQLite 3.40 takes a constant in ON before RIGHT JOIN for a condition of WHERE. */
static enum tree_type type_in(const struct tree_scope *scope)
{
    const enum tree_type type = any_type();
    return column_or_none(scope, type, 0) ? type : TREE_INTEGER;
}

static const char *column_in(const struct tree_scope *scope, enum tree_type type, uint32_t percent_outer)
{
    const char *const column = column_or_none(scope, type, percent_outer);
    return column ? column : literal(type);
}

#endif
