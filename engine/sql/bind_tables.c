/*
 * bind_tables.c: binds FROM (bind_internal.h). Conditions that compare a foreign key with the key that it
 * references join two tables. The table that no foreign key of another table references is the fact. All
 * other conditions are bound with WHERE.
 */
#include "engine/sql/bind_internal.h"

#include "storage/base/memory.h"
#include "storage/base/words/word.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Names ---- */

static uint32_t columns_named(const struct table *table, const char *name, const struct column **found)
{
    const uint32_t columns = table_visible_columns(table);
    uint32_t count = 0;
    for (uint32_t c = 0; c < columns; c++) {
        if (strcmp(table->columns[c].schema.name, name) == 0) {
            *found = &table->columns[c];
            return 1;
        }
        if (word_compare(table->columns[c].schema.name, name) == 0) {
            *found = &table->columns[c];
            count++;
        }
    }
    return count;
}

static uint32_t scope_find(const void *context, uint32_t source, const char *name, uint32_t *column)
{
    const struct table *const table = ((const struct binder *)context)->tables[source].table;
    const struct column *found;
    const uint32_t count = columns_named(table, name, &found);
    if (count)
        *column = (uint32_t)(found - table->columns);
    return count;
}

static const char *scope_name(const void *context, uint32_t source, uint32_t column)
{
    return ((const struct binder *)context)->tables[source].table->columns[column].schema.name;
}

/* A column that a RIGHT or FULL JOIN merges does not get here: levels join such tables. */
uint32_t bind_find_name(const struct binder *binder, const struct sql_expression *name, uint32_t *table,
                        const struct column **column)
{
    struct sql_scope_column found;
    const uint32_t count = sql_scope_find(&binder->scope, name, &found);
    if (count) {
        *table = found.sources[0];
        *column = &binder->tables[*table].table->columns[found.columns[0]];
    }
    return count;
}

bool bind_name_exists(const struct binder *binder, const struct sql_expression *name)
{
    uint32_t table;
    const struct column *column;
    return bind_find_name(binder, name, &table, &column) > 0;
}

enum status bind_name(const struct binder *binder, const struct sql_expression *name, uint32_t *table,
                      const struct column **column)
{
    const char *const dot = name->qualifier ? "." : "", *const qualifier =
                                                            name->qualifier ? name->qualifier : "";
    const uint32_t count = bind_find_name(binder, name, table, column);
    if (count == 1)
        return STATUS_OK;
    if (count > 1)
        return bind_refuse(binder, name->position,
                           "%s%s%s could be a column of more than one table; write "
                           "TABLE.%s",
                           qualifier, dot, name->name, name->name);
    if (binder->table_count == 0)
        return bind_refuse(binder, name->position,
                           "there is no column %s%s%s, because the statement has no FROM", qualifier, dot,
                           name->name);
    if (name->qualifier) {
        bool known = false;
        for (uint32_t t = 0; t < binder->table_count; t++)
            known |= word_compare(name->qualifier, binder->tables[t].name) == 0;
        if (!known)
            return bind_refuse(binder, name->position, "there is no table or alias '%s' in FROM",
                               name->qualifier);
    }
    return bind_missing_column(binder, name);
}

/* ---- FROM ---- */

static enum status take_table(struct binder *binder, const struct sql_source *source)
{
    struct bind_table *table = &binder->tables[binder->table_count];
    const struct database *database = binder->plan->database;
    *table = (struct bind_table){
        .name = sql_source_name(source), .source = source, .parent = -1, .join = -1, .kept = EXPRESSION_NONE};
    for (uint32_t t = 0; t < database_table_count(database); t++) {
        const struct table *at = database_table_at(database, t);
        if (strcmp(at->name, source->table) == 0 ||
            (!table->table && word_compare(at->name, source->table) == 0))
            table->table = at;
    }
    if (!table->table)
        return bind_placed(binder, source->position,
                           database_table(database, source->table, &table->table, binder->error));
    for (uint32_t t = 0; t < binder->table_count; t++)
        if (word_compare(binder->tables[t].name, table->name) == 0)
            return bind_refuse(binder, source->position, "FROM has %s twice; give one of them another alias",
                               table->name);
    binder->table_count++;
    return STATUS_OK;
}

/* Takes the condition as a join if it compares a foreign key with the key that it references. */
static bool joins_tables(struct binder *binder, const struct sql_expression *condition)
{
    if (condition->operation != SQL_EQUAL || condition->children[0]->operation != SQL_COLUMN ||
        condition->children[1]->operation != SQL_COLUMN)
        return false;
    for (int turned = 0; turned < 2; turned++) {
        uint32_t child, parent;
        const struct column *key, *referenced;
        if (bind_find_name(binder, condition->children[turned], &child, &key) != 1 ||
            bind_find_name(binder, condition->children[!turned], &parent, &referenced) != 1)
            return false;
        struct bind_table *joined = &binder->tables[parent];
        if (key->references != referenced || child == parent || joined->bound)
            continue;
        joined->bound = true;
        joined->parent = (int32_t)child;
        joined->key = key;
        return true;
    }
    return false;
}

static enum status split(struct binder *binder, const struct sql_expression *condition)
{
    if (condition->operation == SQL_AND) {
        for (uint32_t c = 0; c < condition->child_count; c++)
            RETURN_IF_ERROR(split(binder, condition->children[c]));
        return STATUS_OK;
    }
    if (joins_tables(binder, condition))
        return STATUS_OK;
    RETURN_IF_ERROR(memory_grow(&binder->conditions,
                                (binder->condition_count + 1) * sizeof *binder->conditions, "a statement",
                                binder->error));
    binder->conditions[binder->condition_count++] = condition;
    return STATUS_OK;
}

/* Finds the condition that joins in the ON of a left join; bind_left_conditions binds the others. */
static bool find_left_join(struct binder *binder, const struct sql_expression *condition)
{
    if (condition->operation != SQL_AND)
        return joins_tables(binder, condition);
    for (uint32_t c = 0; c < condition->child_count; c++)
        if (find_left_join(binder, condition->children[c]))
            return true;
    return false;
}

/* The tables can be joined, but by operators over their rows (engine/relational). */
static void tell_no_star(const struct binder *binder)
{
    if (binder->no_star)
        *binder->no_star = true;
}

static enum status find_fact(struct binder *binder)
{
    uint32_t roots = 0, first = 0, second = 0;
    if (binder->tables[0].table->aligned) { /* answers, which were joined row by row */
        binder->plan->fact = binder->tables[0].table;
        return STATUS_OK;
    }
    for (uint32_t t = 0; t < binder->table_count; t++)
        if (!binder->tables[t].bound) {
            second = roots ? t : second;
            first = roots++ ? first : t;
        }
    if (roots == 0)
        return bind_refuse(binder, binder->tables[0].source->position,
                           "the tables of FROM reference each other in a circle");
    if (roots > 1) {
        const struct bind_table *lone = &binder->tables[second];
        tell_no_star(binder);
        return bind_refuse(binder, lone->source->position,
                           "nothing joins %s and %s; set a foreign key equal to the key that it references "
                           "(REFERENCES, as declared when the tables were loaded), or join an answer, by any "
                           "condition: (SELECT ... FROM %s) %s",
                           binder->tables[first].name, lone->name, lone->table->name, lone->name);
    }
    if (binder->tables[first].source->join == SQL_JOIN_LEFT) {
        tell_no_star(binder);
        return bind_refuse(
            binder, binder->tables[first].source->position,
            "%s holds the foreign keys, so its rows are the ones that LEFT JOIN keeps: name it "
            "first; to keep the other table's, write %s RIGHT JOIN",
            binder->tables[first].name, binder->tables[first].name);
    }
    binder->fact = first;
    binder->plan->fact = binder->tables[first].table;
    return STATUS_OK;
}

/* ---- Joins ---- */

static bool reads_others(const struct binder *binder, uint32_t node, int32_t join)
{
    const struct plan_reads reads = plan_reads(binder->plan, node);
    return reads.fact || (reads.joins & ~(1u << join));
}

/* Binds the other conditions in the ON of a left join. A condition on the joined table alone decides which of
 * its rows are joined. A condition on other tables, or on a dimension of a dimension, goes to `kept` and
 * decides where the table's columns are NULL. */
static enum status bind_left_conditions(struct binder *binder, struct bind_table *table,
                                        const struct sql_expression *condition)
{
    if (condition->operation == SQL_AND) {
        for (uint32_t c = 0; c < condition->child_count; c++)
            RETURN_IF_ERROR(bind_left_conditions(binder, table, condition->children[c]));
        return STATUS_OK;
    }
    if (condition->operation == SQL_EQUAL && condition->children[0]->operation == SQL_COLUMN &&
        condition->children[1]->operation == SQL_COLUMN) {
        uint32_t a, b;
        const struct column *left, *right;
        RETURN_IF_ERROR(bind_name(binder, condition->children[0], &a, &left));
        RETURN_IF_ERROR(bind_name(binder, condition->children[1], &b, &right));
        const uint32_t own = (uint32_t)(table - binder->tables), parent = (uint32_t)table->parent;
        if ((left == table->key && a == parent && right == table->key->references && b == own) ||
            (right == table->key && b == parent && left == table->key->references && a == own))
            return STATUS_OK;
    }
    if (bind_is_pair(binder, table, condition))
        return STATUS_OK;
    uint32_t node;
    const bool own = !table->rows;
    binder->planner.conditional[table->join] |= own;
    RETURN_IF_ERROR(bind_condition(binder, condition, BIND_BELOW, &node));
    if (own && !reads_others(binder, node, table->join))
        return planner_match(&binder->planner, (uint32_t)table->join, node);
    if (table->kept != EXPRESSION_NONE)
        RETURN_IF_ERROR(expression_apply(binder->list, EXPRESSION_AND, table->kept, node, EXPRESSION_NONE,
                                         &node, binder->error));
    table->kept = node;
    return STATUS_OK;
}

/* Binds the join of a table, after that of its parent. */
static enum status reach(struct binder *binder, uint32_t t)
{
    struct bind_table *table = &binder->tables[t];
    const bool inner = table->source->join != SQL_JOIN_LEFT;
    if (t == binder->fact || table->join >= 0 || table->table->aligned)
        return STATUS_OK;
    RETURN_IF_ERROR(reach(binder, (uint32_t)table->parent));
    struct bind_table *parent = &binder->tables[table->parent];
    if ((uint32_t)table->parent == binder->fact) {
        uint32_t join;
        RETURN_IF_ERROR(planner_join(&binder->planner, table->key, table->name, inner, &join));
        table->join = (int32_t)join;
        return inner ? STATUS_OK : bind_left_conditions(binder, table, table->source->on);
    }
    table->join = parent->join;
    const uint64_t positions = table_positions(binder->plan->joins[table->join].table);
    RETURN_IF_ERROR(planner_rows(&binder->planner, table->key, parent->rows, positions, &table->rows));
    if (!inner)
        return bind_left_conditions(binder, table, table->source->on);
    if (!table->key->statistics.nulls && binder->plan->joins[table->join].inner)
        return STATUS_OK;
    uint32_t key, is_null, found;
    RETURN_IF_ERROR(bind_column(binder, t, table->key->references, &key));
    RETURN_IF_ERROR(expression_apply(binder->list, EXPRESSION_IS_NULL, key, EXPRESSION_NONE, EXPRESSION_NONE,
                                     &is_null, binder->error));
    RETURN_IF_ERROR(expression_apply(binder->list, EXPRESSION_NOT, is_null, EXPRESSION_NONE, EXPRESSION_NONE,
                                     &found, binder->error));
    if (reads_others(binder, found, table->join)) {
        tell_no_star(binder);
        return bind_refuse(
            binder, table->source->position,
            "%s is joined behind a LEFT JOIN whose ON has conditions on other tables, which would drop "
            "rows; join it by LEFT JOIN too",
            table->name);
    }
    binder->plan->joins[table->join].inner = true; /* it drops the rows without a match, too */
    return expression_is_constant(binder->list, found)
               ? STATUS_OK
               : planner_match(&binder->planner, (uint32_t)table->join, found);
}

/* Takes the tables of FROM, and resolves the names in their ON. */
static enum status take_tables(struct binder *binder)
{
    const struct sql_select *const select = binder->select;
    struct sql_source *sources;
    if (select->source_count > SQL_SOURCES_MAX)
        return bind_refuse(binder, select->sources[SQL_SOURCES_MAX].position,
                           "FROM has more than %u tables; ask in several statements", SQL_SOURCES_MAX);
    binder->names = sql_tree_new();
    if (!binder->names)
        return error_out_of_memory(binder->error, 0, "a statement");
    RETURN_IF_ERROR(
        sql_tree_take(binder->names, select->source_count * sizeof *sources, &sources, binder->error));
    memcpy(sources, select->sources, select->source_count * sizeof *sources);
    for (uint32_t s = 0; s < select->source_count; s++)
        RETURN_IF_ERROR(take_table(binder, &sources[s]));
    binder->scope = (struct sql_scope){.count = binder->table_count,
                                       .sources = sources,
                                       .find = scope_find,
                                       .name = scope_name,
                                       .context = binder};
    return sql_scope_resolve(&binder->scope, binder->names, sources, binder->error);
}

enum status bind_tables(struct binder *binder)
{
    const struct sql_select *select = binder->select;
    RETURN_IF_ERROR(take_tables(binder));
    for (uint32_t t = 0; t < binder->table_count; t++) {
        const struct sql_source *source = binder->tables[t].source;
        if (source->join == SQL_JOIN_LEFT) {
            if (!source->on ||
                (!find_left_join(binder, source->on) && !bind_join_by_keys(binder, t, source->on))) {
                tell_no_star(binder);
                return bind_refuse(
                    binder, source->position,
                    "LEFT JOIN %s needs an ON that sets a foreign key equal to the key that it "
                    "references",
                    source->table);
            }
        } else if (source->on) {
            RETURN_IF_ERROR(split(binder, source->on));
        }
    }
    if (select->where)
        RETURN_IF_ERROR(split(binder, select->where));
    for (uint32_t t = 0; t < binder->table_count; t++)
        if (binder->tables[t].source->join != SQL_JOIN_LEFT)
            bind_join_by_keys(binder, t, NULL);
    RETURN_IF_ERROR(find_fact(binder));
    for (uint32_t t = 0; t < binder->table_count; t++)
        RETURN_IF_ERROR(reach(binder, t));
    return STATUS_OK;
}

void bind_tables_free(struct binder *binder)
{
    for (uint32_t t = 0; t < binder->table_count; t++)
        free(binder->tables[t].rows);
    free(binder->conditions);
    sql_tree_free(binder->names);
}
