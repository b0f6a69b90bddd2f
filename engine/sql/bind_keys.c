/* bind_keys.c: joins by references that are no columns of the user's (struct column_schema: of): of several columns, a =
 * x AND b = y, and of a table to itself. The conditions on all columns of such a reference become one join by its
 * positions (bind_internal.h). */
#include "engine/sql/bind_internal.h"

static bool is_column(const struct table *table, uint32_t number, const struct column *column)
{
    return column == &table->columns[number];
}

/* The column of the key whose pair the condition compares; key->count: none. */
static uint32_t pair_of(const struct binder *binder, const struct column *reference, uint32_t child,
                        uint32_t parent, const struct sql_expression *condition)
{
    const struct key_columns *const of = &reference->schema.of, *const key = &reference->schema.key;
    uint32_t tables[2];
    if (condition->operation != SQL_EQUAL)
        return key->count;
    const struct column *const left = bind_column_of_input(binder, condition->children[0], &tables[0]),
                               *const right =
                                   bind_column_of_input(binder, condition->children[1], &tables[1]);
    if (!left || !right)
        return key->count;
    for (uint32_t k = 0; k < key->count; k++) {
        const struct table *const own = binder->tables[child].source->table, *const other =
                                                                                 binder->tables[parent]
                                                                                     .source->table;
        if ((tables[0] == child && tables[1] == parent && is_column(own, of->columns[k], left) &&
             is_column(other, key->columns[k], right)) ||
            (tables[1] == child && tables[0] == parent && is_column(own, of->columns[k], right) &&
             is_column(other, key->columns[k], left)))
            return k;
    }
    return key->count;
}

bool bind_is_pair(const struct binder *binder, const struct bind_table *table,
                  const struct sql_expression *condition)
{
    return table->key->schema.of.count > 0 &&
           pair_of(binder, table->key, (uint32_t)table->parent, (uint32_t)(table - binder->tables),
                   condition) < table->key->schema.of.count;
}

/* The pairs of the reference, a bit each, that a condition and those that it joins by AND compare. */
static uint32_t pairs_of(const struct binder *binder, const struct column *reference, uint32_t child,
                         uint32_t parent, const struct sql_expression *condition)
{
    uint32_t pairs = 0;
    if (condition->operation == SQL_AND) {
        for (uint32_t c = 0; c < condition->child_count; c++)
            pairs |= pairs_of(binder, reference, child, parent, condition->children[c]);
        return pairs;
    }
    const uint32_t k = pair_of(binder, reference, child, parent, condition);
    return k < reference->schema.of.count ? 1u << k : 0;
}

static uint32_t all_pairs(const struct column *reference)
{
    return (1u << reference->schema.of.count) - 1;
}

/* Joins the parent by this reference of the child if the conditions say so: those of `on`, or those of WHERE and of inner
 * joins, which are then done. */
static bool join_by(struct binder *binder, uint32_t child, uint32_t parent, const struct column *reference,
                    const struct sql_expression *on)
{
    struct bind_table *const joined = &binder->tables[parent];
    uint32_t pairs = on ? pairs_of(binder, reference, child, parent, on) : 0, kept = 0;
    for (uint32_t c = 0; !on && c < binder->condition_count; c++)
        pairs |= pairs_of(binder, reference, child, parent, binder->conditions[c]);
    if (pairs != all_pairs(reference))
        return false;
    joined->bound = true;
    joined->parent = (int32_t)child;
    joined->key = reference;
    for (uint32_t c = 0; !on && c < binder->condition_count; c++)
        if (!pairs_of(binder, reference, child, parent, binder->conditions[c]))
            binder->conditions[kept++] = binder->conditions[c];
    binder->condition_count = on ? binder->condition_count : kept;
    return true;
}

bool bind_join_by_keys(struct binder *binder, uint32_t parent, const struct sql_expression *on)
{
    for (uint32_t child = 0; child < binder->table_count && !binder->tables[parent].bound; child++) {
        const struct table *const table = binder->tables[child].source->table;
        for (uint32_t c = table_visible_columns(table); child != parent && c < table->column_count; c++)
            if (table->columns[c].references &&
                table->columns[c].references->table == binder->tables[parent].source->table &&
                join_by(binder, child, parent, &table->columns[c], on))
                return true;
    }
    return false;
}
