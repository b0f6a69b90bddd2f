/*
 * fuzz_tree_short.h: statements in forms that SQLite lacks, and as it has them: QUALIFY, DISTINCT ON, GROUP BY ALL, FROM first,
 * stars with changes, PIVOT, VALUES with names of columns, ASOF JOIN, FETCH FIRST. Sets of groups are in fuzz_tree_logic.h.
 */
#ifndef TESSERA_TESTS_FUZZ_FUZZ_TREE_SHORT_H
#define TESSERA_TESTS_FUZZ_FUZZ_TREE_SHORT_H

#include "tests/fuzz/fuzz_tree.h"

/* A table, and an order in which none of its rows tie. */
struct short_table {
    struct tree_scope scope;
    const char *from, *where, *number;
};

static struct short_table short_table(void)
{
    struct short_table table = {.scope = {.sources = {stored_source()}, .count = 1}};
    table.from = table.scope.sources[0].from;
    table.number = table.scope.sources[0].columns[0].text;
    table.where = likely(40) ? form(" WHERE %s", tree_condition(&table.scope, 0)) : "";
    return table;
}

/* The first rows of each value of a column. */
static const char *short_first(void)
{
    const struct short_table table = short_table();
    const char *const key = column_in(&table.scope, any_type(), 0),
                      *const value = tree_expression(&table.scope, any_type(), 0),
                      *const down = likely(40) ? " DESC" : "";
    const uint32_t most = 1 + choose(3);
    const char *const list = form("%s AS c0, %s AS c1, %s AS c2", key, value, table.number),
                      *const number =
                          form("row_number() OVER (PARTITION BY %s ORDER BY %s%s)", key, table.number, down);
    const char *const theirs =
        form("SELECT c0, c1, c2 FROM (SELECT %s, %s AS w FROM %s%s) AS q WHERE w <= %u", list, number,
             table.from, table.where, most);
    if (most == 1 && likely(50))
        return either(form("SELECT DISTINCT ON (%s) %s FROM %s%s ORDER BY %s, %s%s", key, list, table.from,
                           table.where, key, table.number, down),
                      theirs);
    if (likely(30))
        return either(
            form("SELECT %s, %s AS w FROM %s%s QUALIFY w <= %u", list, number, table.from, table.where, most),
            form("SELECT * FROM (SELECT %s, %s AS w FROM %s%s) AS q WHERE w <= %u", list, number, table.from,
                 table.where, most));
    return either(form("SELECT %s FROM %s%s QUALIFY %s <= %u", list, table.from, table.where, number, most),
                  theirs);
}

static const char *short_groups(void)
{
    const struct short_table table = short_table();
    const enum tree_type type = any_type();
    const char *const key = column_in(&table.scope, any_type(), 0), *const value =
                                                                        aggregate(&table.scope, type, 0);
    return either(form("SELECT %s AS c0, %s AS c1 FROM %s%s GROUP BY ALL ORDER BY ALL", key, value,
                       table.from, table.where),
                  form("SELECT %s AS c0, %s AS c1 FROM %s%s GROUP BY 1 ORDER BY 1, 2", key, value, table.from,
                       table.where));
}

/* FROM t SELECT ...; and all of it. */
static const char *short_from(void)
{
    const struct short_table table = short_table();
    if (likely(30))
        return either(form("FROM %s%s", table.from, table.where),
                      form("SELECT * FROM %s%s", table.from, table.where));
    const char *const list =
        form("%s AS c0, %s AS c1", tree_expression(&table.scope, any_type(), 0), table.number);
    return either(form("FROM %s SELECT %s%s", table.from, list, table.where),
                  form("SELECT %s FROM %s%s", list, table.from, table.where));
}

/* A star without a column, with another value for one, and another name for one. */
static const char *short_star(void)
{
    const struct short_table table = short_table();
    const struct tree_column *const columns = table.scope.sources[0].columns;
    const uint32_t left_out = choose(TREE_COLUMNS + 1), replaced = choose(TREE_COLUMNS + 1),
                   number = choose(3);
    const char *const value = tree_expression(&table.scope, any_type(), 0);
    const char *star = likely(50) ? "*" : form("t%u.*", table.scope.sources[0].number), *list = "",
               *comma = "";
    for (uint32_t c = 0; c < TREE_COLUMNS; c++) {
        if (c == left_out)
            continue;
        list = form("%s%s%s", list, comma, c == replaced ? value : columns[c].text);
        comma = ", ";
    }
    if (left_out < TREE_COLUMNS)
        star = form("%s EXCLUDE (%s)", star, tree_names[left_out]);
    if (replaced < TREE_COLUMNS && replaced != left_out)
        star = form("%s REPLACE (%s AS %s)", star, value, tree_names[replaced]);
    if (number != left_out && number != replaced)
        star = form("%s RENAME (%s AS other)", star, tree_names[number]);
    return either(form("SELECT %s FROM %s%s", star, table.from, table.where),
                  form("SELECT %s FROM %s%s", list, table.from, table.where));
}

/* Its groups are what GROUP BY names, or else all columns that it does not name. */
static const char *short_pivot(void)
{
    static const char *const names[] = {"sum", "count", "max"};
    const char *const name = names[choose(3)], *const table = table_name();
    const bool grouped = likely(60);
    const char *const by = grouped ? "s" : "n, f, x, s", *const cell = form("%s(k) FILTER (WHERE a =", name);
    return either(
        form("PIVOT %s ON a IN (1, 2, 3) USING %s(k)%s", table, name, grouped ? " GROUP BY s" : ""),
        form("SELECT %s, %s 1), %s 2), %s 3) FROM %s GROUP BY %s", by, cell, cell, cell, table, by));
}

/* Rows that the statement has itself, joined to a table; both may be a subquery by parentheses and a name. */
static const char *short_values(void)
{
    const struct short_table table = short_table();
    const char *const rows =
        form("VALUES (%u, 'a'), (%u, NULL), (NULL, 'b'), (%u, 'ab')", choose(5), choose(10), choose(30));
    const char *const from =
        form("%s AS v%s %s %s ON v.c0 = %s",
             either(form("(%s)", rows), form("(SELECT column1 AS c0, column2 AS c1 FROM (%s))", rows)),
             either(" (c0, c1)", ""), likely(50) ? "JOIN" : "LEFT JOIN", table.from,
             column_in(&table.scope, TREE_INTEGER, 0));
    if (likely(30))
        return form("SELECT q.c0, q.c1, q.n FROM (%s%s) AS q", either("", "SELECT * FROM "), from);
    return form("SELECT v.c0, v.c1, %s FROM %s%s", table.number, from, table.where);
}

/* The row whose number is next to one's own. */
static const char *short_nearest(void)
{
    static const char *const signs[] = {">=", ">", "<=", "<"};
    const struct tree_source left = stored_source(), right = stored_source();
    const uint32_t which = choose(4);
    const bool keeps = likely(50), equal = likely(70);
    const char *const value = left.columns[choose(2)].text, *const number = right.columns[0].text,
                      *const pair =
                          equal ? form("%s = %s AND ", left.columns[3].text, right.columns[3].text) : "",
                      *const list = form("SELECT %s AS c0, %s AS c1, %s AS c2", left.columns[0].text, number,
                                         right.columns[5].text),
                      *const inner = form("t%u", tree_next_alias++);
    const char *const best =
        form("%s = (SELECT %s(%s.n) FROM %s AS %s WHERE %s%s %s %s.n)", number, which < 2 ? "max" : "min",
             inner, form("%.*s", (int)strcspn(right.from, " "), right.from), inner,
             equal ? form("%s = %s.a AND ", left.columns[3].text, inner) : "", value, signs[which], inner);
    return either(
        form("%s FROM %s ASOF %sJOIN %s ON %s%s %s %s", list, left.from, keeps ? "LEFT " : "", right.from,
             pair, value, signs[which], number),
        form("%s FROM %s %sJOIN %s ON %s", list, left.from, keeps ? "LEFT " : "", right.from, best));
}

static const char *short_limit(void)
{
    const struct short_table table = short_table();
    const uint32_t most = choose(20), first = choose(10);
    const char *const text = form("SELECT %s AS c0, %s AS c1 FROM %s%s ORDER BY 1, 2", table.number,
                                  tree_expression(&table.scope, any_type(), 0), table.from, table.where);
    switch (choose(4)) {
    case 0:
        return form("%s LIMIT %u, %u", text, first, most);
    case 1:
        return form("%s LIMIT (SELECT count(*) / 2 FROM small)", text);
    case 2:
        return form("%s%s", text, either(" LIMIT ALL", ""));
    default:
        return form("%s%s", text,
                    either(form(" OFFSET %u ROWS FETCH FIRST %u ROWS ONLY", first, most + 1),
                           form(" LIMIT %u OFFSET %u", most + 1, first)));
    }
}

/* As tree_statement. */
static const char *tree_short_statement(uint32_t length)
{
    static const char *(*const makers[])(void) = {short_first, short_groups, short_from,    short_star,
                                                  short_pivot, short_values, short_nearest, short_limit};
    tree_begin(length);
    const char *const text = makers[choose(8)]();
    tape_length = tape_at;
    return text;
}

#endif
