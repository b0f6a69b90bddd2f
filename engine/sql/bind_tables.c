/*
 * bind_tables.c: the joins of a star (bind_internal.h). Conditions that compare a foreign key with the key that it
 * references join two tables. The table that no foreign key of another table references is the fact. All
 * other conditions are bound with WHERE.
 */
#include "engine/sql/bind_internal.h"

#include "storage/base/memory.h"

const struct column *bind_column_of_input(const struct binder *binder,
                                          const struct sql_expression *expression, uint32_t *table)
{
    return expression->operation == SQL_INPUT && binder->star
               ? binder->star->column(binder->star->context, expression->index, table)
               : NULL;
}

/* ---- Deleted rows ---- */

bool bind_holds_by_reference(const struct binder *binder, const struct sql_expression *condition)
{
    uint32_t table;
    const struct column *const column = bind_column_of_input(binder, condition, &table);
    return column && column->schema.live && table != binder->fact;
}

/* ---- Which conditions join ---- */

/* Takes the condition as a join if it compares a foreign key with the key that it references. */
static bool joins_tables(struct binder *binder, const struct sql_expression *condition)
{
    for (int turned = 0; turned < 2 && condition->operation == SQL_EQUAL; turned++) {
        uint32_t child, parent;
        const struct column *const key = bind_column_of_input(binder, condition->children[turned], &child),
                                   *const referenced =
                                       bind_column_of_input(binder, condition->children[!turned], &parent);
        if (!key || !referenced || key->references != referenced || child == parent ||
            binder->tables[parent].bound)
            continue;
        struct bind_table *const joined = &binder->tables[parent];
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

static enum status find_fact(struct binder *binder)
{
    uint32_t roots = 0, first = 0, second = 0;
    for (uint32_t t = 0; t < binder->table_count; t++)
        if (!binder->tables[t].bound) {
            second = roots ? t : second;
            first = roots++ ? first : t;
        }
    if (roots == 0)
        return bind_refuse_star(binder, binder->tables[0].source->position,
                                "the tables of FROM reference each other in a circle");
    if (roots > 1)
        return bind_refuse_star(binder, binder->tables[second].source->position, "nothing joins %s and %s",
                                binder->tables[first].source->name, binder->tables[second].source->name);
    if (binder->tables[first].source->left)
        return bind_refuse_star(binder, binder->tables[first].source->position,
                                "%s holds the foreign keys, so its rows are the ones that LEFT JOIN keeps",
                                binder->tables[first].source->name);
    binder->fact = first;
    binder->plan->fact = binder->tables[first].source->table;
    return STATUS_OK;
}

/* ---- Joins ---- */

static bool reads_others(const struct binder *binder, uint32_t node, int32_t join)
{
    const int32_t read = plan_join_read(binder->plan, node);
    return read != PLAN_READS_NOTHING && read != join;
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
    for (int turned = 0; turned < 2 && condition->operation == SQL_EQUAL; turned++) {
        uint32_t child, own;
        const struct column *const key = bind_column_of_input(binder, condition->children[turned], &child),
                                   *const referenced =
                                       bind_column_of_input(binder, condition->children[!turned], &own);
        if (key == table->key && referenced == table->key->references && child == (uint32_t)table->parent &&
            own == (uint32_t)(table - binder->tables))
            return STATUS_OK;
    }
    if (bind_is_pair(binder, table, condition) || bind_holds_by_reference(binder, condition))
        return STATUS_OK;
    uint32_t node;
    const bool own = !table->rows;
    binder->plan->joins[table->join].conditional |= own;
    RETURN_IF_ERROR(bind_condition(binder, condition, BIND_BELOW, &node));
    if (bind_node(binder, node)->by_row && binder->planner.on_gpu)
        return bind_refuse_star(binder, condition->position,
                                "a condition of ON is computed row by row, which a GPU does not do");
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
    const bool inner = !table->source->left;
    if (t == binder->fact || table->join >= 0)
        return STATUS_OK;
    RETURN_IF_ERROR(reach(binder, (uint32_t)table->parent));
    struct bind_table *parent = &binder->tables[table->parent];
    if ((uint32_t)table->parent == binder->fact) {
        uint32_t join;
        if (planner_joins_full(&binder->planner))
            bind_cut(binder, SQL_CUT_JOINS);
        RETURN_IF_ERROR(planner_join(&binder->planner, table->key, table->source->name, inner, &join));
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
    if (reads_others(binder, found, table->join))
        return bind_refuse_star(
            binder, table->source->position,
            "%s is joined behind a LEFT JOIN whose ON has conditions on other tables, which would drop "
            "rows; join it by LEFT JOIN too",
            table->source->name);
    binder->plan->joins[table->join].inner = true; /* it drops the rows without a match, too */
    return expression_is_constant(binder->list, found)
               ? STATUS_OK
               : planner_match(&binder->planner, (uint32_t)table->join, found);
}

enum status bind_tables(struct binder *binder)
{
    for (; binder->table_count < binder->star->table_count; binder->table_count++)
        binder->tables[binder->table_count] =
            (struct bind_table){.source = &binder->star->tables[binder->table_count],
                                .parent = -1,
                                .join = -1,
                                .kept = EXPRESSION_NONE};
    for (uint32_t t = 0; t < binder->table_count; t++) {
        const struct sql_star_table *const source = binder->tables[t].source;
        if (!source->left ||
            (source->on && (find_left_join(binder, source->on) || bind_join_by_keys(binder, t, source->on))))
            continue;
        return bind_refuse_star(binder, source->position, "no reference in ON joins %s", source->name);
    }
    if (binder->select->where)
        RETURN_IF_ERROR(split(binder, binder->select->where));
    for (uint32_t t = 0; t < binder->table_count; t++)
        if (!binder->tables[t].source->left)
            bind_join_by_keys(binder, t, NULL);
    RETURN_IF_ERROR(find_fact(binder));
    for (uint32_t t = 0; t < binder->table_count; t++)
        RETURN_IF_ERROR(reach(binder, t));
    return STATUS_OK;
}
