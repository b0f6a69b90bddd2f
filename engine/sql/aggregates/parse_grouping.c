/*
 * parse_grouping.c: parses what follows GROUP BY: terms, ALL, and GROUPING SETS, ROLLUP and CUBE, which become sets of terms.
 * Several of them are multiplied: GROUP BY a, ROLLUP (b) has the sets (a, b) and (a).
 */
#include "engine/plan/grouping/grouping.h"
#include "engine/sql/aggregates/aggregate_names.h"
#include "engine/sql/parse_internal.h"

#include <stdio.h>
#include <string.h>

/* Sets of terms; bit g is the select's group g. */
struct sets {
    uint32_t count;
    uint64_t *sets;
};

static enum status set_add(struct parser *parser, struct sets *sets, uint64_t set)
{
    if (sets->count == PLAN_SETS_MAX)
        return parse_refuse(parser, "GROUP BY makes more than %u grouping sets; ask for fewer of them",
                            PLAN_SETS_MAX);
    return parse_append(parser, &sets->sets, &sets->count, sizeof set, &set);
}

static enum status group_append(struct parser *parser, struct sql_expression *group, uint64_t *set)
{
    struct sql_select *const select = parser->select;
    *set = select->group_count < SQL_SET_TERMS_MAX ? UINT64_C(1) << select->group_count : 0;
    return parse_append(parser, &select->groups, &select->group_count, sizeof group, &group);
}

static enum status parse_term(struct parser *parser, uint64_t *set)
{
    struct sql_expression *group;
    RETURN_IF_ERROR(parse_expression(parser, &group));
    return group_append(parser, group, set);
}

/* A term, or terms in parentheses, or (). A term may begin with parentheses, too: (a + b) / 2. */
static enum status parse_terms(struct parser *parser, uint64_t *set)
{
    const struct parser before = *parser;
    const uint32_t parameters = parser->tree->select.parameter_count, groups = parser->select->group_count;
    bool open, closed, more = true;
    RETURN_IF_ERROR(parse_take(parser, "(", &open));
    if (!open)
        return parse_term(parser, set);
    *set = 0;
    RETURN_IF_ERROR(parse_take(parser, ")", &closed));
    if (closed)
        return STATUS_OK;
    while (more) {
        uint64_t term;
        RETURN_IF_ERROR(parse_term(parser, &term));
        *set |= term;
        RETURN_IF_ERROR(parse_take(parser, ",", &more));
    }
    RETURN_IF_ERROR(parse_expect(parser, ")", "behind the terms of a grouping set"));
    if (parse_is(parser, ",") || parse_is(parser, ")"))
        return STATUS_OK;
    *parser = before;
    parser->tree->select.parameter_count = parameters;
    parser->select->group_count = groups;
    return parse_term(parser, set);
}

/* ROLLUP (a, b): the sets (a, b), (a) and (); CUBE (a, b): these and (b). */
static enum status parse_rollup(struct parser *parser, bool cube, struct sets *sets)
{
    uint64_t terms[SQL_SET_TERMS_MAX];
    uint32_t count = 0;
    bool more = true;
    RETURN_IF_ERROR(parse_advance(parser));
    RETURN_IF_ERROR(parse_expect(parser, "(", cube ? "behind CUBE" : "behind ROLLUP"));
    while (more) {
        if (count == SQL_SET_TERMS_MAX)
            return parse_refuse(parser, "ROLLUP and CUBE take at most %u terms", SQL_SET_TERMS_MAX);
        RETURN_IF_ERROR(parse_terms(parser, &terms[count++]));
        RETURN_IF_ERROR(parse_take(parser, ",", &more));
    }
    RETURN_IF_ERROR(parse_expect(parser, ")", "behind the terms"));
    const uint64_t all = cube ? UINT64_C(1) << (count < 32 ? count : 32) : count + 1;
    for (uint64_t s = 0; s < all; s++) {
        uint64_t set = 0;
        for (uint32_t t = 0; t < count; t++) /* the first term is in the first half of the sets */
            if (cube ? !(s >> (count - 1 - t) & 1) : t + s < count)
                set |= terms[t];
        RETURN_IF_ERROR(set_add(parser, sets, set));
    }
    return STATUS_OK;
}

static enum status parse_sets(struct parser *parser, struct sets *sets, bool *plain);

static enum status parse_grouping_sets(struct parser *parser, struct sets *sets)
{
    bool more = true, plain;
    RETURN_IF_ERROR(parse_advance(parser));
    RETURN_IF_ERROR(parse_expect(parser, "SETS", "behind GROUPING"));
    RETURN_IF_ERROR(parse_expect(parser, "(", "behind GROUPING SETS"));
    while (more) {
        RETURN_IF_ERROR(parse_sets(parser, sets, &plain));
        RETURN_IF_ERROR(parse_take(parser, ",", &more));
    }
    return parse_expect(parser, ")", "behind the grouping sets");
}

/* Adds the sets of an item of GROUPING SETS. `plain`: it is one set. */
static enum status parse_sets(struct parser *parser, struct sets *sets, bool *plain)
{
    uint64_t set;
    *plain = false;
    if (parse_is(parser, "ROLLUP") || parse_is(parser, "CUBE"))
        return parse_rollup(parser, parse_is(parser, "CUBE"), sets);
    *plain = true;
    RETURN_IF_ERROR(parse_terms(parser, &set));
    return set_add(parser, sets, set);
}

/* Adds the sets of an item of GROUP BY, where parentheses around a term mean nothing. */
static enum status parse_item(struct parser *parser, struct sets *sets, bool *plain)
{
    const struct parser before = *parser;
    const uint32_t parameters = parser->tree->select.parameter_count;
    uint64_t set = 0;
    bool empty;
    *plain = false;
    if (parse_is(parser, "GROUPING"))
        return parse_grouping_sets(parser, sets);
    if (parse_is(parser, "ROLLUP") || parse_is(parser, "CUBE"))
        return parse_sets(parser, sets, plain);
    RETURN_IF_ERROR(parse_take(parser, "(", &empty));
    if (empty) {
        RETURN_IF_ERROR(parse_take(parser, ")", &empty));
        if (empty)
            return set_add(parser, sets, 0);
        *parser = before;
        parser->tree->select.parameter_count = parameters;
    }
    *plain = true;
    RETURN_IF_ERROR(parse_term(parser, &set));
    return set_add(parser, sets, set);
}

/* GROUP BY ALL: the items of the select list without aggregates and windows. */
static enum status group_by_all(struct parser *parser)
{
    struct sql_select *const select = parser->select;
    const struct sql_position position = parse_position(parser);
    uint64_t set;
    select->group_all = true;
    RETURN_IF_ERROR(parse_advance(parser));
    for (uint32_t i = 0; i < select->item_count; i++) {
        struct sql_expression *number = parse_memory(parser, sizeof *number);
        char *text = parse_memory(parser, 16);
        if (!number || !text)
            return error_out_of_memory(parser->error, sizeof *number, "a statement");
        if (sql_is_computed_above(select->items[i].expression))
            continue;
        snprintf(text, 16, "%u", i + 1);
        *number =
            (struct sql_expression){.operation = SQL_NUMBER, .position = position, .depth = 1, .text = text};
        RETURN_IF_ERROR(group_append(parser, number, &set));
    }
    return STATUS_OK;
}

enum status parse_grouping(struct parser *parser)
{
    struct sql_select *const select = parser->select;
    struct sets all = {0};
    bool more = true, any = false, plain;
    if (parse_is(parser, "ALL"))
        return group_by_all(parser);
    RETURN_IF_ERROR(set_add(parser, &all, 0));
    while (more) {
        struct sets item = {0}, product = {0};
        RETURN_IF_ERROR(parse_item(parser, &item, &plain));
        any |= !plain;
        for (uint32_t a = 0; a < all.count; a++)
            for (uint32_t i = 0; i < item.count; i++)
                RETURN_IF_ERROR(set_add(parser, &product, all.sets[a] | item.sets[i]));
        all = product;
        RETURN_IF_ERROR(parse_take(parser, ",", &more));
    }
    if (!any)
        return STATUS_OK;
    if (select->group_count > SQL_SET_TERMS_MAX)
        return parse_refuse(parser, "grouping sets name more than %u terms; name each once",
                            SQL_SET_TERMS_MAX);
    select->sets = all.sets;
    select->set_count = all.count;
    return STATUS_OK;
}
