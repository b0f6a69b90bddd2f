/*
 * joins.c: answers a level that asks answers (query_internal.h).
 *
 * The sources of FROM are units: an answer, or stored tables that their references join, which become one answer of the
 * columns that the level names, by a plan of its own with the conditions on them alone. Units are joined to sides:
 *
 *     FROM a, b RIGHT JOIN c ON b.k = c.k, d JOIN e ON d.k = e.k WHERE a.x = b.x        {a} {b c} {d} {e}
 *
 * An item of FROM with an outer join is one side, joined in order; of others each unit is one. Then the sides are joined,
 * by the conditions of WHERE and of inner joins, one with an equality before one without. Then each source is a table in
 * memory, all with the same rows, and the level is bound to these tables like any SELECT, with the conditions that are
 * left.
 */
#include "engine/library/query/joining.h"

#include <stdlib.h>
#include <string.h>

/* ---- Sides ---- */

static void unite(struct joining *joining, uint32_t a, uint32_t b)
{
    const uint32_t from = joining->group[a], into = joining->group[b];
    for (uint32_t s = 0; s < joining->sources->count; s++)
        if (joining->group[s] == from)
            joining->group[s] = into;
}

/* Finds the items of FROM, and which of them have which outer joins. */
static void find_items(struct joining *joining)
{
    const struct query_sources *const sources = joining->sources;
    bool outer[SQL_SOURCES_MAX] = {false}, strict[SQL_SOURCES_MAX] = {false};
    uint32_t *const item = joining->item;
    for (uint32_t s = 0; s < sources->count; s++) {
        const struct sql_source *const from = sources->list[s].from;
        joining->group[s] = s;
        item[s] = s == 0 || from->join == SQL_JOIN_NONE || from->over_all ? s : item[s - 1];
        outer[item[s]] |= from->join >= SQL_JOIN_LEFT;
        strict[item[s]] |= from->join >= SQL_JOIN_RIGHT;
    }
    for (uint32_t s = 0; s < sources->count; s++) {
        const struct sql_source *const from = sources->list[s].from;
        const bool left = from->join == SQL_JOIN_LEFT && !from->over_all;
        const uint64_t reads = left ? joining_columns(joining, from->on) : 0;
        joining->strict[s] = strict[item[s]];
        for (uint32_t other = 0; other < s; other++)
            if (reads >> other & 1) /* it may be before a comma */
                unite(joining, s, other);
        if (outer[item[s]])
            unite(joining, s, item[s]);
    }
}

/* More pairs of rows than this are made only if some condition is on both sides: who forgets one should be told. */
#define PAIRS_WITHOUT_CONDITION_MAX (UINT64_C(1) << 24)

static enum status check_forgotten(const struct joining *joining, const struct side *left,
                                   const struct side *right, uint32_t s)
{
    const struct query_source *const source = &joining->sources->list[s];
    if (left->rows == 0 || right->rows <= PAIRS_WITHOUT_CONDITION_MAX / left->rows)
        return STATUS_OK;
    for (uint32_t i = 0; i < joining->conjunct_count; i++) {
        const uint64_t reads = joining->conjuncts[i].sources;
        if ((reads & left->sources) && (reads & right->sources))
            return STATUS_OK;
    }
    return query_refuse(
        joining->query, source->from->position,
        "nothing joins %s to the tables before it, and each of %llu rows would be paired with each of %llu; "
        "add the condition that joins them",
        source->name, (unsigned long long)left->rows, (unsigned long long)right->rows);
}

/* Joins two sides by the conditions of WHERE and of inner joins; the right one begins with source s. */
static enum status join_freely(struct joining *joining, struct side *left, const struct side *right,
                               uint32_t s)
{
    RETURN_IF_ERROR(check_forgotten(joining, left, right, s));
    return joining_join(joining, left, right,
                        &(struct join_by){.join = SQL_JOIN_INNER,
                                          .list = joining->conjuncts,
                                          .count = joining->conjunct_count});
}

/* Adds a source to the side that it is joined in. One of an outer join is answered with the conditions of its ON. */
static enum status join_source(struct joining *joining, struct side *side, uint32_t s)
{
    const struct query_source *const source = &joining->sources->list[s];
    const struct sql_source *const from = source->from;
    struct unit *const unit = &joining->units[source->unit];
    struct join_by by = {.join = from->join, .whole = is_left(joining, s) || joining->strict[s]};
    if (is_left(joining, s) && !from->on)
        return query_refuse(joining->query, from->position,
                            "an outer JOIN of %s needs ON with its conditions", source->name);
    if (by.whole)
        RETURN_IF_ERROR(joining_split(joining, from->on, &by.list, &by.count));
    if (!unit->rows) /* a right row that fails ON stays in RIGHT and FULL joins */
        RETURN_IF_ERROR(
            joining_answer_unit(joining, unit, by.list, by.join >= SQL_JOIN_RIGHT ? 0 : by.count, by.whole));
    const struct side alone = {unit->sources, unit->rows->rows};
    if (side->sources == 0) {
        *side = alone;
        return STATUS_OK;
    }
    return by.whole ? joining_join(joining, side, &alone, &by) : join_freely(joining, side, &alone, s);
}

/* Joins the tables of an item in order. */
static enum status join_item(struct joining *joining, uint32_t item, struct side *side)
{
    *side = (struct side){0};
    for (uint32_t s = item; s < joining->sources->count && joining->item[s] == item; s++)
        RETURN_IF_ERROR(join_source(joining, side, s));
    return STATUS_OK;
}

/* Joins the sources of a group in order. An item with RIGHT or FULL JOIN is joined before it meets others. */
static enum status make_side(struct joining *joining, uint32_t group, struct side *side)
{
    *side = (struct side){0};
    for (uint32_t s = 0; s < joining->sources->count; s++) {
        struct side item;
        if (joining->group[s] != group || (side->sources >> s & 1))
            continue;
        if (!joining->strict[s]) {
            RETURN_IF_ERROR(join_source(joining, side, s));
            continue;
        }
        RETURN_IF_ERROR(join_item(joining, s, &item));
        if (side->sources)
            RETURN_IF_ERROR(join_freely(joining, side, &item, s));
        else
            *side = item;
    }
    return STATUS_OK;
}

/* The first source of the next side: in order, but one that an equality joins before one that would be paired with every
 * row. The number of sources: there is none left but those that are joined to all. */
static uint32_t next_side(const struct joining *joining, const struct side *all)
{
    const struct query_sources *const sources = joining->sources;
    uint32_t first = sources->count;
    for (uint32_t s = 0; s < sources->count; s++) {
        struct side side = {0};
        if ((all->sources >> s & 1) || sources->list[s].from->over_all)
            continue;
        for (uint32_t other = 0; other < sources->count; other++)
            side.sources |= (uint64_t)(joining->group[other] == joining->group[s]) << other;
        first = s < first ? s : first;
        if (all->sources == 0)
            break;
        if (joining_has_keys(joining, all, &side))
            return s;
    }
    return first;
}

static enum status join_all(struct joining *joining, struct side *all)
{
    const struct query_sources *const sources = joining->sources;
    struct side side;
    find_items(joining);
    for (uint32_t s = 0; s < sources->count; s++)
        if (!is_left(joining, s) && !joining->strict[s])
            RETURN_IF_ERROR(joining_split(joining, sources->list[s].from->on, &joining->conjuncts,
                                          &joining->conjunct_count));
    RETURN_IF_ERROR(
        joining_split(joining, joining->select->where, &joining->conjuncts, &joining->conjunct_count));
    joining_find_units(joining);
    for (uint32_t s = 0; s < sources->count; s++)
        for (uint32_t other = 0; other < s; other++)
            if (sources->list[s].unit == sources->list[other].unit)
                unite(joining, s, other);
    *all = (struct side){0};
    for (uint32_t s = next_side(joining, all); s < sources->count; s = next_side(joining, all)) {
        RETURN_IF_ERROR(make_side(joining, joining->group[s], &side));
        if (all->sources)
            RETURN_IF_ERROR(join_freely(joining, all, &side, s));
        else
            *all = side;
    }
    for (uint32_t s = 0; s < sources->count; s++)
        if (sources->list[s].from->over_all)
            RETURN_IF_ERROR(join_source(joining, all, s));
    return STATUS_OK;
}

/* ---- The level ---- */

static enum status ask(struct joining *joining, const struct side *all, bool last, struct rowset *rows)
{
    struct query *const query = joining->query;
    struct sql_select *const select = joining->select;
    struct database *database;
    select->where = NULL; /* joining->conjuncts has its conditions */
    for (uint32_t i = 0; i < joining->conjunct_count; i++)
        if (!joining->conjuncts[i].done)
            RETURN_IF_ERROR(
                query_and(query, &select->where, (struct sql_expression *)joining->conjuncts[i].tree));
    RETURN_IF_ERROR(query_explain_line(query,
                                       "level over %u answer%s, %llu rows in memory:", joining->unit_count,
                                       joining->unit_count == 1 ? "" : "s", (unsigned long long)all->rows));
    RETURN_IF_ERROR(joining_database(joining, all->sources, all->rows, select, &database));
    const enum status status = query_plan(query, database, select, last, rows);
    database_close(database);
    return status;
}

enum status query_join(struct query *query, const struct sql_select *select, struct query_sources *sources,
                       bool last, struct rowset *rows)
{
    struct sql_select *copy;
    struct joining *joining;
    struct side all;
    RETURN_IF_ERROR(query_memory(query, sizeof *copy, &copy));
    RETURN_IF_ERROR(query_memory(query, sizeof *joining, &joining));
    *copy = *select;
    joining->query = query;
    joining->select = copy;
    joining->sources = sources;
    enum status status = query_expand_stars(query, sources, copy);
    if (status == STATUS_OK)
        status = joining_rename(joining);
    if (status == STATUS_OK)
        status = join_all(joining, &all);
    if (status == STATUS_OK)
        status = ask(joining, &all, last, rows);
    for (uint32_t u = 0; u < joining->unit_count; u++) {
        rowset_free(&joining->units[u].own);
        free(joining->units[u].places);
    }
    return status;
}
