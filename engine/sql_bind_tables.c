/*
 * sql_bind_tables.c: FROM (sql_bind_internal.h). Conditions that set a foreign key equal to the key that it
 * references are what joins tables; the table that no other's foreign key leads to is the fact. What is left
 * of the conditions is for sql_bind_where.c.
 */
#include "engine/sql_bind_internal.h"

#include "engine/fact_data.h"
#include "engine/value_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* ---- Names ---- */

static uint32_t columns_named(const struct table *table, const char *name, const struct column **found)
{
    uint32_t count = 0;
    for (uint32_t c = 0; c < table->column_count; c++) {
        if (strcmp(table->columns[c].schema.name, name) == 0) {
            *found = &table->columns[c];
            return 1;
        }
        if (strcasecmp(table->columns[c].schema.name, name) == 0) {
            *found = &table->columns[c];
            count++;
        }
    }
    return count;
}

static uint32_t find_name(const struct binder *binder, const struct sql_expression *name, uint32_t *table,
                          const struct column **column)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < binder->table_count; t++) {
        const struct bind_table *at = &binder->tables[t];
        const struct column *found = NULL;
        if (name->qualifier && strcasecmp(name->qualifier, at->name) != 0)
            continue;
        const uint32_t here = columns_named(at->table, name->name, &found);
        if (here) {
            *table = t;
            *column = found;
            count += here;
        }
    }
    return count;
}

bool bind_name_exists(const struct binder *binder, const struct sql_expression *name)
{
    uint32_t table;
    const struct column *column;
    return find_name(binder, name, &table, &column) > 0;
}

enum status bind_name(const struct binder *binder, const struct sql_expression *name, uint32_t *table,
                      const struct column **column)
{
    const char *const dot = name->qualifier ? "." : "", *const qualifier =
                                                            name->qualifier ? name->qualifier : "";
    const uint32_t count = find_name(binder, name, table, column);
    if (count == 1)
        return STATUS_OK;
    if (count > 1)
        return bind_refuse(binder, name->position,
                           "%s%s%s could be a column of more than one table; write "
                           "TABLE.%s",
                           qualifier, dot, name->name, name->name);
    if (name->qualifier) {
        bool known = false;
        for (uint32_t t = 0; t < binder->table_count; t++)
            known |= strcasecmp(name->qualifier, binder->tables[t].name) == 0;
        if (!known)
            return bind_refuse(binder, name->position, "there is no table or alias '%s' in FROM",
                               name->qualifier);
    }
    char list[512] = "";
    size_t used = 0;
    for (uint32_t t = 0; t < binder->table_count; t++)
        for (uint32_t c = 0; c < binder->tables[t].table->column_count && used < sizeof list - 100; c++)
            if (!name->qualifier || strcasecmp(name->qualifier, binder->tables[t].name) == 0)
                used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "",
                                         binder->tables[t].table->columns[c].schema.name);
    return bind_refuse(binder, name->position, "there is no column %s%s%s; there are %s%s", qualifier, dot,
                       name->name, list, used >= sizeof list - 100 ? ", ..." : "");
}

/* ---- FROM ---- */

static enum status take_table(struct binder *binder, const struct sql_source *source)
{
    struct bind_table *table = &binder->tables[binder->table_count];
    const struct database *database = binder->plan->database;
    if (binder->table_count == BIND_TABLES_MAX)
        return bind_refuse(binder, source->position, "FROM names more than %u tables", BIND_TABLES_MAX);
    *table = (struct bind_table){.name = source->alias ? source->alias : source->table,
                                 .source = source,
                                 .parent = -1,
                                 .join = -1,
                                 .kept = EXPRESSION_NONE};
    for (uint32_t t = 0; t < database_table_count(database); t++) {
        const struct table *at = database_table_at(database, t);
        if (strcmp(at->name, source->table) == 0 ||
            (!table->table && strcasecmp(at->name, source->table) == 0))
            table->table = at;
    }
    if (!table->table)
        return bind_placed(binder, source->position,
                           database_table(database, source->table, &table->table, binder->error));
    for (uint32_t t = 0; t < binder->table_count; t++)
        if (strcasecmp(binder->tables[t].name, table->name) == 0)
            return bind_refuse(binder, source->position, "FROM has %s twice; give one of them another alias",
                               table->name);
    binder->table_count++;
    return STATUS_OK;
}

/* Takes the condition as a join if it is one: a foreign key equal to what it references. */
static bool joins_tables(struct binder *binder, const struct sql_expression *condition)
{
    if (condition->operation != SQL_EQUAL || condition->children[0]->operation != SQL_COLUMN ||
        condition->children[1]->operation != SQL_COLUMN)
        return false;
    for (int turned = 0; turned < 2; turned++) {
        uint32_t child, parent;
        const struct column *key, *referenced;
        if (find_name(binder, condition->children[turned], &child, &key) != 1 ||
            find_name(binder, condition->children[!turned], &parent, &referenced) != 1)
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
    if (binder->condition_count == sizeof binder->conditions / sizeof *binder->conditions)
        return bind_refuse(binder, condition->position, "there are more than %u conditions",
                           binder->condition_count);
    binder->conditions[binder->condition_count++] = condition;
    return STATUS_OK;
}

/* ON of a left join: one condition joins, the others stay with the table (bind_left_conditions). */
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
        return bind_refuse(binder, binder->tables[0].source->position,
                           "the tables of FROM reference each other in a circle");
    if (roots > 1) {
        const struct bind_table *lone = &binder->tables[second];
        return bind_refuse(binder, lone->source->position,
                           "nothing joins %s and %s; set a foreign key equal to the key that it references "
                           "(REFERENCES, as declared when the tables were loaded)",
                           binder->tables[first].name, lone->name);
    }
    if (binder->tables[first].source->join == SQL_JOIN_LEFT)
        return bind_refuse(
            binder, binder->tables[first].source->position,
            "%s holds the foreign keys, so its rows are the ones that LEFT JOIN keeps: name it "
            "first",
            binder->tables[first].name);
    binder->fact = first;
    binder->plan->fact = binder->tables[first].table;
    return STATUS_OK;
}

/* ---- Joins ---- */

static enum status join_add(struct binder *binder, const struct column *key, const char *name, bool inner,
                            uint32_t *join)
{
    struct star_plan *plan = binder->plan;
    uint32_t column;
    RETURN_IF_ERROR(bind_fact_column(binder, key, &column));
    if (plan->join_count == PLAN_JOINS_MAX)
        return error_set(binder->error, STATUS_BAD_INPUT, "the statement joins more than %u tables",
                         PLAN_JOINS_MAX);
    char *copy = strdup(name);
    if (!copy)
        return error_out_of_memory(binder->error, strlen(name), "a name");
    *join = plan->join_count++;
    plan->joins[*join] = (struct plan_join){.table = key->references->table,
                                            .name = copy,
                                            .column = column,
                                            .inner = inner,
                                            .match = EXPRESSION_NONE,
                                            .passing = key->references->table->rows,
                                            .contiguous = true,
                                            .last = key->references->table->rows - 1};
    return STATUS_OK;
}

static enum status and_match(struct binder *binder, uint32_t join, uint32_t condition)
{
    struct plan_join *at = &binder->plan->joins[join];
    if (at->match == EXPRESSION_NONE) {
        at->match = condition;
        return STATUS_OK;
    }
    return expression_apply(binder->list, EXPRESSION_AND, at->match, condition, EXPRESSION_NONE, &at->match,
                            binder->error);
}

/* A dimension of a dimension: for each row of the join's table its row here. */
static enum status compose_positions(struct binder *binder, struct bind_table *table)
{
    const struct bind_table *parent = &binder->tables[table->parent];
    struct star_plan *plan = binder->plan;
    int32_t *own;
    RETURN_IF_ERROR(plan_positions_read(plan, table->key, binder->threads, &own, binder->error));
    table->positions = own;
    if (!parent->positions)
        return STATUS_OK;
    const uint64_t rows = plan->joins[table->join].table->rows;
    table->positions = malloc((rows + 1) * sizeof *table->positions);
    if (!table->positions) {
        free(own);
        return error_out_of_memory(binder->error, rows * sizeof *own, "a dimension's positions");
    }
    for (uint64_t row = 0; row < rows; row++)
        table->positions[row] = parent->positions[row] < 0 ? -1 : own[parent->positions[row]];
    free(own);
    return STATUS_OK;
}

struct leaf_joins {
    const struct binder *binder;
    int32_t join;
    bool others;
};

static void see_join(void *context, const struct expression *leaf)
{
    struct leaf_joins *seen = context;
    seen->others |= seen->binder->plan->sources[leaf->index].join != seen->join;
}

static bool reads_others(const struct binder *binder, uint32_t node, int32_t join)
{
    struct leaf_joins seen = {.binder = binder, .join = join};
    expression_visit(binder->list, node, see_join, &seen);
    return seen.others;
}

/* What else ON of a left join says: of the joined table alone it decides which rows are joined; of others, or behind
 * another dimension, where the joined columns are NULL. */
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
        if ((left == table->key && right == table->key->references) ||
            (right == table->key && left == table->key->references))
            return STATUS_OK;
    }
    uint32_t node;
    const bool own = !table->positions;
    binder->on_only[table->join] |= own;
    RETURN_IF_ERROR(bind_condition(binder, condition, BIND_BELOW, &node));
    if (own && !reads_others(binder, node, table->join))
        return and_match(binder, (uint32_t)table->join, node);
    if (table->kept != EXPRESSION_NONE)
        RETURN_IF_ERROR(expression_apply(binder->list, EXPRESSION_AND, table->kept, node, EXPRESSION_NONE,
                                         &node, binder->error));
    table->kept = node;
    return STATUS_OK;
}

/* Parents first: a table's join is known when its children's turn comes. */
static enum status reach(struct binder *binder, uint32_t t)
{
    struct bind_table *table = &binder->tables[t];
    const bool inner = table->source->join != SQL_JOIN_LEFT;
    if (t == binder->fact || table->join >= 0)
        return STATUS_OK;
    RETURN_IF_ERROR(reach(binder, (uint32_t)table->parent));
    struct bind_table *parent = &binder->tables[table->parent];
    if ((uint32_t)table->parent == binder->fact) {
        uint32_t join;
        RETURN_IF_ERROR(join_add(binder, table->key, table->name, inner, &join));
        table->join = (int32_t)join;
        return inner ? STATUS_OK : bind_left_conditions(binder, table, table->source->on);
    }
    table->join = parent->join;
    RETURN_IF_ERROR(compose_positions(binder, table));
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
        return bind_refuse(
            binder, table->source->position,
            "%s is joined behind a LEFT JOIN whose ON has conditions on other tables, which would drop "
            "rows; join it by LEFT JOIN too",
            table->name);
    binder->plan->joins[table->join].inner = true; /* an inner join behind a left one drops what that kept */
    return expression_is_constant(binder->list, found) ? STATUS_OK
                                                       : and_match(binder, (uint32_t)table->join, found);
}

enum status bind_tables(struct binder *binder)
{
    const struct sql_select *select = binder->select;
    for (uint32_t s = 0; s < select->source_count; s++)
        RETURN_IF_ERROR(take_table(binder, &select->sources[s]));
    if (select->source_count == 0)
        return error_set(binder->error, STATUS_BAD_INPUT,
                         "the statement has no FROM; Tessera answers queries over tables");
    for (uint32_t t = 0; t < binder->table_count; t++) {
        const struct sql_source *source = binder->tables[t].source;
        if (source->join == SQL_JOIN_LEFT) {
            if (!source->on || !find_left_join(binder, source->on))
                return bind_refuse(
                    binder, source->position,
                    "LEFT JOIN %s needs an ON that sets a foreign key equal to the key that it "
                    "references",
                    source->table);
        } else if (source->on) {
            RETURN_IF_ERROR(split(binder, source->on));
        }
    }
    if (select->where)
        RETURN_IF_ERROR(split(binder, select->where));
    RETURN_IF_ERROR(find_fact(binder));
    for (uint32_t t = 0; t < binder->table_count; t++)
        RETURN_IF_ERROR(reach(binder, t));
    return STATUS_OK;
}

void bind_tables_free(struct binder *binder)
{
    for (uint32_t t = 0; t < binder->table_count; t++)
        free(binder->tables[t].positions);
}

/* ---- Columns ---- */

enum status bind_fact_column(struct binder *binder, const struct column *column, uint32_t *number)
{
    struct star_plan *plan = binder->plan;
    for (uint32_t c = 0; c < plan->column_count; c++)
        if (plan->columns[c].column == column) {
            *number = c;
            return STATUS_OK;
        }
    if (plan->column_count == PLAN_COLUMNS_MAX)
        return error_set(binder->error, STATUS_BAD_INPUT, "the statement reads more than %u columns of %s",
                         PLAN_COLUMNS_MAX, plan->fact->name);
    const char *codec = binder->codec;
    if (binder->wide && column->value_bytes == 8)
        codec = column->own == CODEC_PLAIN ? "plain" : "lane-for";
    struct fact_data opened;
    RETURN_IF_ERROR(fact_data_open(plan->database, column, codec, binder->threads, &opened, binder->error));
    *number = plan->column_count++;
    plan->columns[*number] = (struct plan_column){.column = column,
                                                  .data = opened.data,
                                                  .nullable = opened.nullable,
                                                  .width_low = opened.width_low,
                                                  .width_high = opened.width_high};
    return STATUS_OK;
}

/* A leaf for the column, whose values come from the source; one for each source. */
static enum status leaf_add(struct binder *binder, int32_t join, uint32_t from, const struct column *column,
                            bool nullable, uint32_t *node)
{
    struct star_plan *plan = binder->plan;
    uint32_t source = 0;
    while (source < plan->source_count &&
           (plan->sources[source].join != join || plan->sources[source].column != from))
        source++;
    if (source == plan->source_count) {
        if (source == PLAN_SOURCES_MAX)
            return error_set(binder->error, STATUS_BAD_INPUT, "the statement reads more than %u columns",
                             PLAN_SOURCES_MAX);
        plan->sources[plan->source_count++] = (struct plan_source){.join = join, .column = from};
    }
    const struct column_statistics *statistics = &column->statistics;
    const bool none = statistics->min > statistics->max;
    const struct expression leaf = {.operation = EXPRESSION_COLUMN,
                                    .type = column_value_type(column),
                                    .nullable = nullable || none,
                                    .index = source,
                                    .low = none ? 0 : statistics->min,
                                    .high = none ? 0 : statistics->max};
    return expression_add(binder->list, &leaf, node, binder->error);
}

/* The key that a fact row references: read from the dimension, by a join that drops nothing. */
static enum status key_value(struct binder *binder, const struct column *key, uint32_t *node)
{
    struct star_plan *plan = binder->plan;
    uint32_t join = 0;
    while (join < plan->join_count &&
           (plan->columns[plan->joins[join].column].column != key || binder->on_only[join]))
        join++;
    if (join == plan->join_count)
        RETURN_IF_ERROR(join_add(binder, key, key->references->table->name, false, &join));
    uint32_t array = 0;
    while (array < plan->array_count &&
           (plan->arrays[array].column != key->references ||
            plan->arrays[array].rows != key->references->table->rows || plan->arrays[array].composed))
        array++;
    if (array == plan->array_count)
        RETURN_IF_ERROR(plan_array_open(plan, key->references, NULL, key->references->table->rows,
                                        binder->threads, &array, binder->error));
    return leaf_add(binder, (int32_t)join, array, key->references,
                    plan->columns[plan->joins[join].column].nullable, node);
}

static enum status dimension_value(struct binder *binder, const struct bind_table *table,
                                   const struct column *column, uint32_t *node)
{
    struct star_plan *plan = binder->plan;
    const struct plan_join *join = &plan->joins[table->join];
    const int32_t *positions = table->positions;
    int32_t *composed = NULL;
    if (column->references) { /* the key that a dimension's row references */
        RETURN_IF_ERROR(plan_positions_read(plan, column, binder->threads, &composed, binder->error));
        if (positions) {
            int32_t *chained = malloc((join->table->rows + 1) * sizeof *chained);
            for (uint64_t row = 0; chained && row < join->table->rows; row++)
                chained[row] = positions[row] < 0 ? -1 : composed[positions[row]];
            free(composed);
            if (!chained)
                return error_out_of_memory(binder->error, join->table->rows * 4, "a dimension's positions");
            composed = chained;
        }
        column = column->references;
        positions = composed;
    }
    uint32_t array = 0;
    enum status status = STATUS_OK;
    while (array < plan->array_count &&
           (plan->arrays[array].column != column || positions || plan->arrays[array].composed))
        array++;
    if (array == plan->array_count)
        status = plan_array_open(plan, column, positions, join->table->rows, binder->threads, &array,
                                 binder->error);
    free(composed);
    RETURN_IF_ERROR(status);
    const bool nullable = plan->arrays[array].valid || plan->columns[join->column].nullable ||
                          (!join->inner && binder->on_only[table->join]) || positions;
    return leaf_add(binder, table->join, array, column, nullable, node);
}

static enum status known_column(struct binder *binder, uint32_t table, const struct column *column,
                                uint32_t *node)
{
    for (uint32_t i = 0; i < binder->known_count; i++)
        if (binder->known[i].table == table && binder->known[i].column == column) {
            *node = binder->known[i].node;
            return STATUS_OK;
        }
    if (table != binder->fact) {
        RETURN_IF_ERROR(dimension_value(binder, &binder->tables[table], column, node));
    } else if (column->references) {
        RETURN_IF_ERROR(key_value(binder, column, node));
    } else {
        uint32_t number;
        RETURN_IF_ERROR(bind_fact_column(binder, column, &number));
        RETURN_IF_ERROR(leaf_add(binder, -1, number, column, binder->plan->columns[number].nullable, node));
    }
    if (binder->known_count < PLAN_SOURCES_MAX)
        binder->known[binder->known_count++] = (struct bind_known){table, column, *node};
    return STATUS_OK;
}

enum status bind_column(struct binder *binder, uint32_t table, const struct column *column, uint32_t *node)
{
    if (table != binder->fact && binder->tables[table].join < 0)
        return error_set(
            binder->error, STATUS_BAD_INPUT,
            "ON of a LEFT JOIN has a condition on %s, which is joined later; name %s first, or put the "
            "condition into WHERE",
            binder->tables[table].name, binder->tables[table].name);
    RETURN_IF_ERROR(known_column(binder, table, column, node));
    for (uint32_t t = table; t != binder->fact; t = (uint32_t)binder->tables[t].parent) {
        uint32_t null;
        if (binder->tables[t].kept == EXPRESSION_NONE)
            continue;
        RETURN_IF_ERROR(expression_null(binder->list, binder->list->nodes[*node].type, &null, binder->error));
        RETURN_IF_ERROR(expression_apply(binder->list, EXPRESSION_CHOOSE, binder->tables[t].kept, *node, null,
                                         node, binder->error));
    }
    return STATUS_OK;
}
