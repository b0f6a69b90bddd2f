/*
 * fuzz_tree_logic.h: pairs of statements that must have the same answer for reasons of logic, so that no other engine need
 * judge them: of the tables, joins and conditions of fuzz_tree.h, as one text with a part for each (fuzz_tape.h).
 *
 * Of a condition, each row makes it true, false or NULL. So the rows of FROM are those WHERE it is, WHERE NOT, and WHERE it is
 * NULL, together: as they are, without those that are alike, and in groups (ternary logic partitioning, Rigger and Su, OOPSLA
 * 2020). And as many rows have it as are counted where it is computed in each row, which no engine does by skipping tiles or
 * by an order of conditions (NoREC, by the same, ESEC/FSE 2020).
 *
 * Any aggregate has, of the rows WHERE a condition is true, the value that it has FILTER (WHERE the condition); of a group, the
 * value that it has in a window of these rows; and of grouping sets those of their groups one after the other.
 */
#ifndef TESSERA_TESTS_FUZZ_FUZZ_TREE_LOGIC_H
#define TESSERA_TESTS_FUZZ_FUZZ_TREE_LOGIC_H

#include "tests/fuzz/fuzz_tree.h"

/* The text for our engine alone: both statements are asked of it. */
static const char *of_ours(const char *text)
{
    char *const ours = tape_text(text, true);
    const char *const kept = form("%s", ours);
    free(ours);
    return kept;
}

/* SELECT of the three parts of FROM's rows, set together by `word`. */
static const char *three_parts(const char *select, const char *condition, const char *after, const char *word)
{
    return form("%s WHERE %s%s %s %s WHERE NOT (%s)%s %s %s WHERE (%s) IS NULL%s", select, condition, after,
                word, select, condition, after, word, select, condition, after);
}

static const char *our_column(const struct tree_scope *scope, enum tree_type type)
{
    return of_ours(column_in(scope, type, 0));
}

/* Counts, sums and extrema by two columns, and those of the parts' groups set together. */
static const char *of_groups(const struct tree_scope *scope, const char *from, const char *condition)
{
    const char *const
        keys = of_ours(form("%s AS c0, %s AS c1", column_in(scope, any_type(), 0),
                            tree_expression(scope, any_type(), 0))),
        *const number = our_column(scope, TREE_INTEGER), *const any = our_column(scope, any_type()),
        *const select =
            form("SELECT %s, count(*) AS c2, count(%s) AS c3, sum(%s) AS c4, min(%s) AS c5, max(%s) AS c6 %s",
                 keys, any, number, any, any, from);
    return either(
        form("%s GROUP BY 1, 2", select),
        form("SELECT c0, c1, sum(c2), sum(c3), sum(c4), min(c5), max(c6) FROM (%s) AS q GROUP BY 1, 2",
             three_parts(select, condition, " GROUP BY 1, 2", "UNION ALL")));
}

/* An aggregate of any kind. */
static const char *any_aggregate(const struct tree_scope *scope)
{
    const enum tree_type type = any_type();
    const char *const form = aggregate_form(scope, type);
    return of_ours(form ? form : aggregate(scope, type, 0));
}

static const char *of_filter(const struct tree_scope *scope, const char *from, const char *condition)
{
    const char *const key = our_column(scope, any_type()), *const value = any_aggregate(scope);
    return either(
        form("SELECT %s AS c0, %s AS c1 %s WHERE %s GROUP BY 1", key, value, from, condition),
        form(
            "SELECT %s AS c0, %s FILTER (WHERE %s) AS c1 %s GROUP BY 1 HAVING count(*) FILTER (WHERE %s) > 0",
            key, value, condition, from, condition));
}

static const char *of_window(const struct tree_scope *scope, const char *from, const char *condition)
{
    const char *const key = our_column(scope, any_type()), *const value = any_aggregate(scope);
    return either(form("SELECT %s AS c0, %s AS c1 %s WHERE %s GROUP BY 1", key, value, from, condition),
                  form("SELECT DISTINCT %s AS c0, %s OVER (PARTITION BY %s) AS c1 %s WHERE %s", key, value,
                       key, from, condition));
}

/* ROLLUP, CUBE or GROUPING SETS of two terms, which must differ, as a column that stands twice is one. */
static const char *of_sets(const struct tree_scope *scope, const char *from, const char *condition)
{
    const uint32_t which = choose(3);
    const char *const a = our_column(scope, type_in(scope)),
                      *const b = form("coalesce(%s, 'none')", our_column(scope, TREE_STRING)),
                      *const value = any_aggregate(scope),
                      *const by = which == 0   ? form("ROLLUP (%s, %s)", a, b)
                                  : which == 1 ? form("CUBE (%s, %s)", a, b)
                                               : form("GROUPING SETS ((%s, %s), (), (%s))", a, b, a);
    const char *const rest = form("%s %s WHERE %s", value, from, condition);
    const char *text = form(
        "SELECT %s AS c0, %s AS c1, 0 AS c2, %s GROUP BY %s, %s UNION ALL SELECT %s, NULL, 1, %s GROUP BY %s "
        "UNION ALL SELECT NULL, NULL, 3, %s",
        a, b, rest, a, b, a, rest, a, rest);
    if (which == 1)
        text = form("%s UNION ALL SELECT NULL, %s, 2, %s GROUP BY %s", text, b, rest, b);
    return either(
        form("SELECT %s AS c0, %s AS c1, grouping(%s, %s) AS c2, %s GROUP BY %s", a, b, a, b, rest, by),
        text);
}

/* As tree_statement. */
static const char *tree_logic_statement(uint32_t length)
{
    struct tree_scope *const scope = calloc(1, sizeof *scope);
    tree_begin(length);
    tree_is_logic = true;
    const uint32_t kind = choose(7), depth = choose(TREE_DEPTH), count = 1 + choose(3);
    const char *const from = of_ours(tree_from(scope, depth)), *const condition =
                                                                   of_ours(tree_condition(scope, depth));
    const char *list = "", *text;
    for (uint32_t c = 0; c < count; c++)
        list = form("%s%s%s AS c%u", list, c ? ", " : "", of_ours(tree_expression(scope, any_type(), 0)), c);
    if (kind == 0)
        text = either(form("SELECT %s %s", list, from),
                      three_parts(form("SELECT %s %s", list, from), condition, "", "UNION ALL"));
    else if (kind == 1)
        text = either(form("SELECT DISTINCT %s %s", list, from),
                      three_parts(form("SELECT %s %s", list, from), condition, "", "UNION"));
    else if (kind == 2)
        text = of_groups(scope, from, condition);
    else if (kind == 4)
        text = of_filter(scope, from, condition);
    else if (kind == 5)
        text = of_window(scope, from, condition);
    else if (kind == 6)
        text = of_sets(scope, from, condition);
    else
        text = either(form("SELECT count(*) %s WHERE %s", from, condition),
                      form("SELECT coalesce(sum(CASE WHEN %s THEN 1 ELSE 0 END), 0) %s", condition, from));
    free(scope);
    tape_length = tape_at;
    return text;
}

#endif
