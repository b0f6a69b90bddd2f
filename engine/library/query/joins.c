/*
 * joins.c: answers a level that asks answers (query_internal.h).
 *
 * The sources of FROM are units: an answer, or stored tables that their references join, which become one answer of the
 * columns that the level names, by a plan of its own with the conditions on them alone. Units are joined one after
 * the other, by hashing on the equalities of WHERE and ON. Then each source is a table in memory, all with the same
 * rows, and the level is bound to these tables like any SELECT, with the conditions that are left.
 */
#include "engine/library/query/joining.h"
#include "storage/base/memory.h"
#include "storage/database/database_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS_MAX 32u /* equalities of one join */

/* ---- Tables in memory ---- */

static struct memory_column memory_column(const char *name, const struct rowset_column *from)
{
    static const enum column_type types[] = {
        [VALUE_INTEGER] = TYPE_INT64, [VALUE_DATE] = TYPE_DATE,     [VALUE_TIMESTAMP] = TYPE_TIMESTAMP,
        [VALUE_BOOLEAN] = TYPE_BOOL,  [VALUE_STRING] = TYPE_STRING, [VALUE_DOUBLE] = TYPE_INT64};
    const bool decimal = from->type.kind == VALUE_INTEGER && from->type.scale;
    return (struct memory_column){.name = name,
                                  .type = decimal ? TYPE_DECIMAL : types[from->type.kind],
                                  .scale = from->type.scale,
                                  .is_double = from->type.kind == VALUE_DOUBLE,
                                  .dictionary = from->type.dictionary,
                                  .values = from->values,
                                  .nulls = from->nulls};
}

/* The columns that are gathered for tables in memory, which are freed when these are made. */
struct gathered {
    struct rowset_column *columns;
    uint32_t count;
};

static enum status memory_table(struct joining *joining, uint32_t s, struct gathered *gathered,
                                struct memory_table *table)
{
    struct query *const query = joining->query;
    const struct query_source *const source = &joining->sources->list[s];
    const struct unit *const unit = &joining->units[source->unit];
    struct memory_column *columns;
    RETURN_IF_ERROR(query_memory(query, (source->column_count + 1) * sizeof *columns, &columns));
    *table = (struct memory_table){.name = source->name, .columns = columns};
    for (uint32_t c = 0; c < source->column_count; c++) {
        if (!source->used[c])
            continue;
        const struct rowset_column *from = &unit->rows->columns[source->unit_column[c]];
        if (unit->joined && unit->places) {
            struct rowset_column *const made = &gathered->columns[gathered->count];
            RETURN_IF_ERROR(relation_gather(from, unit->places, joining->rows, made, query->error));
            gathered->count++;
            from = made;
        }
        columns[table->column_count++] = memory_column(source->columns[c], from);
    }
    return STATUS_OK;
}

/* Makes tables of these sources: of one unit alone that is not joined, or of joined ones. The select's sources become
 * these tables. */
static enum status make_database(struct joining *joining, uint64_t mask, uint64_t rows,
                                 struct sql_select *select, struct database **database)
{
    struct query *const query = joining->query;
    struct memory_table tables[QUERY_SOURCES_MAX];
    struct gathered gathered = {0};
    uint32_t count = 0, columns = 0;
    char name[16];
    enum status status = STATUS_OK;
    select->sources = NULL;
    select->source_count = 0;
    for (uint32_t s = 0; s < joining->sources->count; s++)
        columns += joining->sources->list[s].column_count;
    RETURN_IF_ERROR(
        memory_zeros(&gathered.columns, (columns + 1) * sizeof *gathered.columns, "an answer", query->error));
    for (uint32_t s = 0; status == STATUS_OK && s < joining->sources->count; s++) {
        if (!(mask >> s & 1))
            continue;
        status = memory_table(joining, s, &gathered, &tables[count]);
        snprintf(name, sizeof name, "#%u", s);
        tables[count].name = query_text(query, name);
        const struct sql_source from = {.table = tables[count].name,
                                        .alias = joining->sources->list[s].name,
                                        .position = joining->sources->list[s].from->position};
        if (status == STATUS_OK)
            status = from.table ? sql_tree_append(query->tree, &select->sources, &select->source_count,
                                                  sizeof from, &from, query->error)
                                : error_out_of_memory(query->error, sizeof name, "a statement");
        count++;
    }
    if (status == STATUS_OK)
        status = database_of_memory(tables, count, rows, database, query->error);
    for (uint32_t c = 0; c < gathered.count; c++)
        relation_column_free(&gathered.columns[c]);
    free(gathered.columns);
    return status;
}

/* Computes an expression over rows of these sources. */
static enum status compute(struct joining *joining, uint64_t mask, uint64_t rows, struct sql_expression *tree,
                           struct rowset *made)
{
    struct query *const query = joining->query;
    struct sql_select *select;
    struct database *database;
    RETURN_IF_ERROR(query_memory(query, sizeof *select, &select));
    RETURN_IF_ERROR(query_item(query, select, tree, "key"));
    RETURN_IF_ERROR(make_database(joining, mask, rows, select, &database));
    const enum status status = query_plan(query, database, select, false, made);
    database_close(database);
    return status;
}

/* ---- Joins ---- */

/* The keys of a join: equal expressions, over units that are joined and over the next one. */
struct keys {
    uint32_t count;
    const struct sql_expression *left[KEYS_MAX], *right[KEYS_MAX];
    uint32_t left_unit[KEYS_MAX];
    struct conjunct *from[KEYS_MAX];
};

#define SEVERAL_UNITS UINT32_MAX /* of a key's left side, which reads joined units */

static bool single_joined_unit(const struct joining *joining, uint64_t sources, uint32_t *unit)
{
    for (*unit = 0; *unit < joining->unit_count; (*unit)++)
        if (joining->units[*unit].joined && sources && !(sources & ~joining->units[*unit].sources))
            return true;
    return false;
}

static void find_keys(struct joining *joining, uint32_t next, struct conjunct *list, uint32_t count,
                      struct keys *keys)
{
    keys->count = 0;
    for (uint32_t i = 0; i < count && keys->count < KEYS_MAX; i++) {
        const struct sql_expression *const tree = list[i].tree;
        if (list[i].done || tree->operation != SQL_EQUAL)
            continue;
        for (int turned = 0; turned < 2; turned++) {
            const struct sql_expression *const left = tree->children[turned], *const right =
                                                                                  tree->children[!turned];
            const uint64_t right_sources = joining_reads(joining, right),
                           left_sources = joining_reads(joining, left);
            uint32_t *const unit = &keys->left_unit[keys->count];
            if (!right_sources || (right_sources & ~joining->units[next].sources) || !left_sources ||
                (left_sources & ~joining->joined))
                continue;
            if (!single_joined_unit(joining, left_sources, unit))
                *unit = SEVERAL_UNITS;
            keys->left[keys->count] = left;
            keys->right[keys->count] = right;
            keys->from[keys->count++] = &list[i];
            break;
        }
    }
}

static bool is_outer(const struct joining *joining, const struct unit *unit)
{
    bool outer = false;
    for (uint64_t row = 0; unit->joined && unit->places && row < joining->rows && !outer; row++)
        outer = unit->places[row] == RELATION_NO_ROW;
    return outer;
}

/* A key's values for the joined rows, or for those of a unit that is not joined yet. Where an outer join left the unit
 * without a row, an expression is computed of NULLs. */
static enum status key_column(struct joining *joining, uint32_t u, const struct sql_expression *tree,
                              struct rowset_column *column)
{
    struct query *const query = joining->query;
    struct unit *const unit = &joining->units[u];
    const struct rowset_column *from = NULL;
    struct rowset computed = {0};
    bool gathers = unit->joined;
    uint32_t s, c;
    if (tree->operation == SQL_COLUMN && query_column_of(joining->sources, tree, &s, &c)) {
        from = &unit->rows->columns[joining->sources->list[s].unit_column[c]];
    } else {
        const bool joined = unit->joined;
        gathers = joined && !is_outer(joining, unit); /* its own rows, each computed once */
        unit->joined = joined && !gathers;
        const enum status status =
            compute(joining, unit->sources, unit->joined ? joining->rows : unit->rows->rows,
                    (struct sql_expression *)tree, &computed);
        unit->joined = joined;
        RETURN_IF_ERROR(status);
        from = &computed.columns[0];
    }
    const uint64_t rows = unit->joined ? joining->rows : unit->rows->rows;
    const enum status status =
        relation_gather(from, gathers ? unit->places : NULL, rows, column, query->error);
    rowset_free(&computed);
    return status;
}

static enum status keep_dictionary(struct query *query, struct dictionary *made)
{
    struct rowset holder = {.column_count = 1, .dictionaries = &made};
    return made ? query_keep_dictionaries(query, &holder) : STATUS_OK;
}

/* A key's values for the joined rows, of several units: ON coalesce(a.k, b.k) = c.k. */
static enum status joined_key(struct joining *joining, const struct sql_expression *tree,
                              struct rowset_column *column)
{
    struct rowset computed = {0};
    RETURN_IF_ERROR(compute(joining, joining_reads(joining, tree), joining->rows,
                            (struct sql_expression *)tree, &computed));
    const enum status status =
        relation_gather(&computed.columns[0], NULL, joining->rows, column, joining->query->error);
    rowset_free(&computed);
    return status;
}

static enum status make_keys(struct joining *joining, uint32_t next, const struct keys *keys,
                             struct rowset_column *left, struct rowset_column *right)
{
    struct query *const query = joining->query;
    for (uint32_t k = 0; k < keys->count; k++) {
        struct dictionary *made;
        RETURN_IF_ERROR(keys->left_unit[k] == SEVERAL_UNITS
                            ? joined_key(joining, keys->left[k], &left[k])
                            : key_column(joining, keys->left_unit[k], keys->left[k], &left[k]));
        RETURN_IF_ERROR(key_column(joining, next, keys->right[k], &right[k]));
        RETURN_IF_ERROR(query_placed(query, keys->from[k]->tree->position,
                                     relation_alike(&left[k], joining->rows, &right[k],
                                                    joining->units[next].rows->rows, &made, query->error)));
        RETURN_IF_ERROR(keep_dictionary(query, made));
    }
    return STATUS_OK;
}

/* The pairs become the joined rows; takes `rights` over. */
static enum status take_pairs(struct joining *joining, uint32_t next, const uint64_t *lefts, uint64_t *rights,
                              uint64_t pairs)
{
    joining->units[next].places = rights;
    joining->units[next].joined = true;
    joining->joined |= joining->units[next].sources;
    for (uint32_t u = 0; u < joining->unit_count; u++) {
        struct unit *const unit = &joining->units[u];
        uint64_t *places;
        if (!unit->joined || u == next)
            continue;
        RETURN_IF_ERROR(memory_take(&places, (pairs + 1) * sizeof *places, "a join", joining->query->error));
        for (uint64_t i = 0; i < pairs; i++)
            places[i] = unit->places && lefts[i] != RELATION_NO_ROW ? unit->places[lefts[i]] : lefts[i];
        free(unit->places);
        unit->places = places;
    }
    joining->rows = pairs;
    return STATUS_OK;
}

/* Keeps the pairs whose other conditions are true and, if `outer`, adds the left rows without any. */
static enum status keep_pairs(struct joining *joining, uint64_t left_rows, const struct rowset *test,
                              bool outer, uint64_t **lefts, uint64_t **rights, uint64_t *pairs)
{
    struct error *const error = joining->query->error;
    uint64_t *kept_lefts, *kept_rights, count = 0, at = 0;
    RETURN_IF_ERROR(memory_take(&kept_lefts, (*pairs + left_rows + 1) * sizeof *kept_lefts, "a join", error));
    enum status status =
        memory_take(&kept_rights, (*pairs + left_rows + 1) * sizeof *kept_rights, "a join", error);
    if (status != STATUS_OK) {
        free(kept_lefts);
        return status;
    }
    for (uint64_t row = 0; row < left_rows; row++) {
        const uint64_t before = count;
        for (; at < *pairs && (*lefts)[at] == row; at++)
            if (test->columns[0].values[at]) {
                kept_lefts[count] = row;
                kept_rights[count++] = (*rights)[at];
            }
        if (count == before && outer) {
            kept_lefts[count] = row;
            kept_rights[count++] = RELATION_NO_ROW;
        }
    }
    free(*lefts);
    free(*rights);
    *lefts = kept_lefts;
    *rights = kept_rights;
    *pairs = count;
    return STATUS_OK;
}

/* CASE WHEN condition THEN 1 ELSE 0 END */
static enum status test_node(struct query *query, struct sql_expression *condition,
                             struct sql_expression **test)
{
    static const char *const texts[] = {"1", "0"};
    RETURN_IF_ERROR(query_node(query, SQL_CASE, condition->position, test));
    RETURN_IF_ERROR(query_child(query, *test, condition));
    for (int i = 0; i < 2; i++) {
        struct sql_expression *number;
        RETURN_IF_ERROR(query_node(query, SQL_NUMBER, condition->position, &number));
        number->text = texts[i];
        RETURN_IF_ERROR(query_child(query, *test, number));
    }
    (*test)->has_else = true;
    return STATUS_OK;
}

/* Tests the conditions of a left join that are no keys, over the pairs: these are the joined rows for a while. */
static enum status test_pairs(struct joining *joining, uint32_t next, struct sql_expression *condition,
                              bool outer, uint64_t **lefts, uint64_t **rights, uint64_t *pairs)
{
    struct joining tried = *joining;
    struct sql_expression *test;
    struct rowset made = {0};
    const uint64_t left_rows = joining->rows;
    for (uint32_t u = 0; u < tried.unit_count; u++) { /* copies, which take_pairs replaces */
        struct unit *const unit = &tried.units[u];
        uint64_t *copy = NULL;
        if (!unit->joined || !unit->places)
            continue;
        if (memory_take(&copy, (left_rows + 1) * sizeof *copy, "a join", joining->query->error) != STATUS_OK)
            return STATUS_MACHINE;
        memcpy(copy, unit->places, left_rows * sizeof *copy);
        unit->places = copy;
    }
    uint64_t *own_rights;
    RETURN_IF_ERROR(
        memory_take(&own_rights, (*pairs + 1) * sizeof *own_rights, "a join", joining->query->error));
    if (*pairs)
        memcpy(own_rights, *rights, *pairs * sizeof *own_rights);
    enum status status = take_pairs(&tried, next, *lefts, own_rights, *pairs);
    if (status == STATUS_OK)
        status = test_node(joining->query, condition, &test);
    if (status == STATUS_OK)
        status = compute(&tried, tried.joined, tried.rows, test, &made);
    for (uint32_t u = 0; u < tried.unit_count; u++)
        if (tried.units[u].joined)
            free(tried.units[u].places);
    if (status == STATUS_OK)
        status = keep_pairs(joining, left_rows, &made, outer, lefts, rights, pairs);
    rowset_free(&made);
    return status;
}

static enum status join_pairs(struct joining *joining, uint32_t next, const struct keys *keys, bool outer,
                              struct sql_expression *other, uint64_t **lefts, uint64_t **rights,
                              uint64_t *pairs)
{
    struct rowset_column left[KEYS_MAX] = {{0}}, right[KEYS_MAX] = {{0}};
    enum status status = make_keys(joining, next, keys, left, right);
    if (status == STATUS_OK)
        status = relation_join(left, joining->rows, right, joining->units[next].rows->rows, keys->count,
                               outer && !other, lefts, rights, pairs, joining->query->error);
    for (uint32_t k = 0; k < keys->count; k++) {
        relation_column_free(&left[k]);
        relation_column_free(&right[k]);
    }
    return status == STATUS_OK && other ? test_pairs(joining, next, other, outer, lefts, rights, pairs)
                                        : status;
}

/* Adds the right rows that are in no pair. */
static enum status add_rights(struct joining *joining, uint64_t right_rows, uint64_t **lefts,
                              uint64_t **rights, uint64_t *pairs)
{
    struct error *const error = joining->query->error;
    uint8_t *met;
    RETURN_IF_ERROR(memory_zeros(&met, right_rows + 1, "a join", error));
    for (uint64_t i = 0; i < *pairs; i++)
        if ((*rights)[i] != RELATION_NO_ROW)
            met[(*rights)[i]] = 1;
    enum status status = memory_grow(lefts, (*pairs + right_rows + 1) * sizeof **lefts, "a join", error);
    if (status == STATUS_OK)
        status = memory_grow(rights, (*pairs + right_rows + 1) * sizeof **rights, "a join", error);
    for (uint64_t row = 0; status == STATUS_OK && row < right_rows; row++) {
        if (met[row])
            continue;
        (*lefts)[*pairs] = RELATION_NO_ROW;
        (*rights)[(*pairs)++] = row;
    }
    free(met);
    return status;
}

/* Joins a unit to those that are joined. `own`: by its ON alone, whose conditions are `list`. */
static enum status join_unit(struct joining *joining, uint32_t next, enum sql_join join, bool own,
                             struct conjunct *list, uint32_t count)
{
    const bool outer = join == SQL_JOIN_LEFT || join == SQL_JOIN_FULL;
    static const char *const names[] = {"inner", "inner", "left", "right", "full"};
    struct query *const query = joining->query;
    struct unit *const unit = &joining->units[next];
    struct sql_expression *other = NULL;
    uint64_t *lefts = NULL, *rights = NULL, pairs = 0;
    struct keys keys;
    find_keys(joining, next, list, count, &keys);
    for (uint32_t k = 0; k < keys.count; k++)
        keys.from[k]->done = true;
    for (uint32_t i = 0; own && i < count; i++)
        if (!list[i].done)
            RETURN_IF_ERROR(query_and(query, &other, (struct sql_expression *)list[i].tree));
    enum status status = join_pairs(joining, next, &keys, outer, other, &lefts, &rights, &pairs);
    if (status == STATUS_OK && (join == SQL_JOIN_RIGHT || join == SQL_JOIN_FULL))
        status = add_rights(joining, unit->rows->rows, &lefts, &rights, &pairs);
    if (status == STATUS_OK)
        status = take_pairs(joining, next, lefts, rights, pairs);
    else
        free(rights);
    free(lefts);
    RETURN_IF_ERROR(status);
    return query_explain_line(query, "%s join by %u keys: %llu rows with %llu give %llu", names[join],
                              keys.count, (unsigned long long)joining->rows,
                              (unsigned long long)unit->rows->rows, (unsigned long long)pairs);
}

/* More pairs of rows than this are made only if some condition is on both sides: who forgets one should be told. */
#define PAIRS_WITHOUT_CONDITION_MAX (UINT64_C(1) << 24)

static enum status check_forgotten(const struct joining *joining, uint32_t s)
{
    const struct query_source *const source = &joining->sources->list[s];
    const struct unit *const unit = &joining->units[source->unit];
    if (joining->rows == 0 || unit->rows->rows <= PAIRS_WITHOUT_CONDITION_MAX / joining->rows)
        return STATUS_OK;
    for (uint32_t i = 0; i < joining->conjunct_count; i++) {
        const uint64_t reads = joining->conjuncts[i].sources;
        if ((reads & unit->sources) && (reads & joining->joined))
            return STATUS_OK;
    }
    return query_refuse(
        joining->query, source->from->position,
        "nothing joins %s to the tables before it, and each of %llu rows would be paired with each of %llu; "
        "add the condition that joins them",
        source->name, (unsigned long long)joining->rows, (unsigned long long)unit->rows->rows);
}

/* The unit of a source. One of a left join is answered with its conditions. */
static enum status join_source(struct joining *joining, uint32_t s)
{
    const struct query_source *const source = &joining->sources->list[s];
    struct unit *const unit = &joining->units[source->unit];
    struct conjunct *on = NULL;
    uint32_t on_count = 0;
    const enum sql_join join = source->from->join;
    const bool own = join >= SQL_JOIN_LEFT || joining->sources->any_strict;
    if (join >= SQL_JOIN_LEFT && !source->from->on)
        return query_refuse(joining->query, source->from->position,
                            "an outer JOIN of %s needs ON with its conditions", source->name);
    if (own)
        RETURN_IF_ERROR(joining_split(joining, source->from->on, &on, &on_count));
    if (!unit->rows) /* a right row that fails ON stays in RIGHT and FULL joins */
        RETURN_IF_ERROR(joining_answer_unit(joining, unit, on, join >= SQL_JOIN_RIGHT ? 0 : on_count, own));
    if (joining->joined && !own)
        RETURN_IF_ERROR(check_forgotten(joining, s));
    if (joining->joined)
        return join_unit(joining, source->unit, join, own, own ? on : joining->conjuncts,
                         own ? on_count : joining->conjunct_count);
    unit->joined = true;
    joining->joined = unit->sources;
    joining->rows = unit->rows->rows;
    return STATUS_OK;
}

/* The next source: in order, but one that an equality joins before one that would be paired with every row. */
static uint32_t next_source(struct joining *joining, bool any_left)
{
    const struct query_sources *const sources = joining->sources;
    uint32_t first = sources->count;
    for (uint32_t s = 0; s < sources->count; s++) {
        struct keys keys;
        if (joining->joined >> s & 1)
            continue;
        first = s < first ? s : first;
        if (any_left || !joining->joined)
            break;
        find_keys(joining, sources->list[s].unit, joining->conjuncts, joining->conjunct_count, &keys);
        if (keys.count)
            return s;
    }
    return first;
}

static enum status join_all(struct joining *joining)
{
    const struct query_sources *const sources = joining->sources;
    bool any_left = false;
    for (uint32_t s = 0; s < sources->count; s++) {
        any_left |= is_left(joining, s) || sources->any_strict;
        if (!is_left(joining, s) && !sources->any_strict)
            RETURN_IF_ERROR(joining_split(joining, sources->list[s].from->on, &joining->conjuncts,
                                          &joining->conjunct_count));
    }
    RETURN_IF_ERROR(
        joining_split(joining, joining->select->where, &joining->conjuncts, &joining->conjunct_count));
    joining_find_units(joining);
    for (uint32_t s = next_source(joining, any_left); s < sources->count; s = next_source(joining, any_left))
        RETURN_IF_ERROR(join_source(joining, s));
    return STATUS_OK;
}

/* ---- The level ---- */

static enum status ask(struct joining *joining, bool last, struct rowset *rows)
{
    struct query *const query = joining->query;
    struct sql_select *const select = joining->select;
    struct database *database;
    select->where = NULL; /* joining->conjuncts has its conditions */
    for (uint32_t i = 0; i < joining->conjunct_count; i++)
        if (!joining->conjuncts[i].done)
            RETURN_IF_ERROR(
                query_and(query, &select->where, (struct sql_expression *)joining->conjuncts[i].tree));
    RETURN_IF_ERROR(
        query_explain_line(query, "level over %u answer%s, %llu rows in memory:", joining->unit_count,
                           joining->unit_count == 1 ? "" : "s", (unsigned long long)joining->rows));
    RETURN_IF_ERROR(make_database(joining, joining->joined, joining->rows, select, &database));
    const enum status status = query_plan(query, database, select, last, rows);
    database_close(database);
    return status;
}

enum status query_join(struct query *query, const struct sql_select *select, struct query_sources *sources,
                       bool last, struct rowset *rows)
{
    struct sql_select *copy;
    struct joining *joining;
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
        status = join_all(joining);
    if (status == STATUS_OK)
        status = ask(joining, last, rows);
    for (uint32_t u = 0; u < joining->unit_count; u++) {
        rowset_free(&joining->units[u].own);
        free(joining->units[u].places);
    }
    return status;
}
