/* subquery.c: answers subqueries that are values, and puts the values into the level around them (query_internal.h). */
#include "engine/library/query/query_internal.h"

#include "storage/base/words/word.h"

#include <stdio.h>
#include <string.h>

/* ---- Correlation ---- */

struct correlation {
    struct query *query;
    const struct sql_select *select; /* the subquery, or one in it */
    const struct query_scope *scope;
    const struct correlation *outer; /* levels within the subquery */
    enum status status;
};

static const struct query_named *named_answer(const struct query_scope *scope, const char *name)
{
    for (; scope; scope = scope->outer)
        if (word_compare(scope->named->name, name) == 0)
            return scope->named;
    return NULL;
}

/* Whether a source of FROM has the column. */
static enum query_has source_has(const struct query *query, const struct sql_source *source,
                                 const struct query_scope *scope, const struct sql_expression *name)
{
    const char *const own = source->alias ? source->alias : source->table;
    if (name->qualifier)
        return own && word_compare(own, name->qualifier) == 0 ? HAS : HAS_NOT;
    const struct query_named *const named = source->table ? named_answer(scope, source->table) : NULL;
    if (source->query || (named && !named->done))
        return HAS_PERHAPS;
    for (uint32_t c = 0; named && c < named->rows.column_count; c++)
        if (word_compare(named->rows.columns[c].name, name->name) == 0)
            return HAS;
    const struct table *const table = named ? NULL : query_stored_table(query, source->table);
    for (uint32_t c = 0; table && c < table_visible_columns(table); c++)
        if (word_compare(table->columns[c].schema.name, name->name) == 0)
            return HAS;
    return HAS_NOT;
}

enum query_has query_select_has(const struct query *query, const struct sql_select *select,
                                const struct query_scope *scope, const struct sql_expression *name)
{
    enum query_has has = HAS_NOT;
    for (uint32_t s = 0; has != HAS && s < select->source_count; s++) {
        const enum query_has here = source_has(query, &select->sources[s], scope, name);
        has = here == HAS_NOT ? has : here;
    }
    for (uint32_t i = 0; has == HAS_NOT && !name->qualifier && i < select->item_count; i++)
        if (select->items[i].alias && word_compare(select->items[i].alias, name->name) == 0)
            has = HAS;
    return has;
}

static void check_select(const struct correlation *correlation);

static void check_query(struct query *query, const struct sql_select *select, const struct query_scope *scope,
                        const struct correlation *outer, enum status *status)
{
    struct correlation inner = {.query = query, .select = select, .scope = scope, .outer = outer};
    if (*status != STATUS_OK)
        return;
    check_select(&inner);
    for (uint32_t p = 0; p < select->part_count; p++)
        check_query(query, select->parts[p].select, scope, outer, &inner.status);
    for (uint32_t s = 0; s < select->source_count; s++)
        if (select->sources[s].query)
            check_query(query, select->sources[s].query, scope, outer, &inner.status);
    *status = inner.status;
}

static void check_name(void *context, const struct sql_expression *node)
{
    struct correlation *const correlation = context;
    struct query *const query = correlation->query;
    if (node->query)
        check_query(query, node->query, correlation->scope, correlation, &correlation->status);
    if (node->operation != SQL_COLUMN || correlation->status != STATUS_OK)
        return;
    for (const struct correlation *at = correlation; at; at = at->outer)
        if (query_select_has(query, at->select, at->scope, node) != HAS_NOT)
            return;
    for (const struct query_around *around = query->around; around; around = around->outer)
        if (query_select_has(query, around->select, around->scope, node) == HAS) {
            correlation->status =
                query_refuse(query, node->position,
                             "the subquery names %s%s%s of the statement around it: correlated subqueries "
                             "are not supported; "
                             "write IN (SELECT key ...) instead of EXISTS, and instead of a value join an "
                             "answer: JOIN (SELECT "
                             "key, aggregate ... GROUP BY key) s ON s.key = ...",
                             node->qualifier ? node->qualifier : "", node->qualifier ? "." : "", node->name);
            return;
        }
}

static void check_select(const struct correlation *correlation)
{
    query_visit_all(correlation->select, check_name, (void *)correlation);
}

enum status query_check_correlation(struct query *query, const struct sql_select *select,
                                    const struct query_scope *scope)
{
    enum status status = STATUS_OK;
    if (select->with_count == 0) /* whose names are not known yet */
        check_query(query, select, scope, NULL, &status);
    return status;
}

/* ---- Values ---- */

/* A subquery that has been replaced. Another one that is written alike has the same value: so it may stand in GROUP BY. */
struct replaced {
    const struct sql_expression *node;
    struct sql_expression *by;
    struct replaced *next;
};

#define NO_JOIN UINT32_MAX

struct values {
    struct query *query;
    struct sql_select *select; /* of the level around the subqueries */
    struct query_scope *scope;
    struct query_around around; /* that level, for the subqueries */
    uint32_t join;              /* the source in whose ON they stand, or NO_JOIN */
    struct replaced *replaced;
};

static enum status run_subquery(const struct values *values, const struct sql_expression *node,
                                const struct sql_select *select, const char *what, struct rowset *rows)
{
    struct query *const query = values->query;
    RETURN_IF_ERROR(query_check_correlation(query, select, values->scope));
    RETURN_IF_ERROR(query_explain_line(query, "%s at line %u, column %u:", what, node->position.line,
                                       node->position.column));
    query->level++;
    const enum status status = query_run(query, select, values->scope, false, rows);
    query->level--;
    return status;
}

/* Makes an answer one that the level, and the subqueries in it, may name. */
static enum status name_rows(struct values *values, struct rowset *rows)
{
    RETURN_IF_ERROR(query_name(values->query, rows, values->scope, &values->scope));
    values->around.scope = values->scope;
    return STATUS_OK;
}

static enum status one_column(const struct values *values, const struct sql_expression *node,
                              const struct rowset *rows)
{
    return rows->column_count == 1
               ? STATUS_OK
               : query_refuse(values->query, node->position,
                              "the subquery has %u columns where it should have one", rows->column_count);
}

static enum status scalar(const struct values *values, const struct sql_expression *node,
                          const struct rowset *rows, struct sql_expression **out)
{
    struct query *const query = values->query;
    RETURN_IF_ERROR(one_column(values, node, rows));
    if (rows->rows > 1)
        return query_refuse(query, node->position,
                            "the subquery has %llu rows where one value should stand; aggregate it, or add "
                            "ORDER BY and LIMIT 1",
                            (unsigned long long)rows->rows);
    return query_value_node(query, node->position, &rows->columns[0], rows->rows ? 0 : RELATION_NO_ROW, out);
}

/* x IN (no rows) is false even for NULL. One NULL stands for all. */
static enum status in_list(struct values *values, const struct sql_expression *node,
                           const struct rowset *rows, struct sql_expression *value,
                           struct sql_expression **out)
{
    struct query *const query = values->query;
    bool null = false;
    RETURN_IF_ERROR(one_column(values, node, rows));
    if (rows->rows == 0)
        return query_node(query, node->negated ? SQL_TRUE : SQL_FALSE, node->position, out);
    RETURN_IF_ERROR(query_node(query, SQL_IN, node->position, out));
    (*out)->negated = node->negated;
    RETURN_IF_ERROR(query_child(query, *out, value));
    for (uint64_t row = 0; row < rows->rows; row++) {
        struct sql_expression *item;
        const bool is_null = rows->columns[0].nulls && rows->columns[0].nulls[row];
        if (is_null && null)
            continue;
        null |= is_null;
        RETURN_IF_ERROR(query_value_node(query, node->position, &rows->columns[0], row, &item));
        RETURN_IF_ERROR(query_child(query, *out, item));
    }
    return STATUS_OK;
}

/* IN needs each value once: of a list of rows of stored tables, a scan finds them faster than the list is made. */
static enum status each_once(struct query *query, const struct sql_select *select,
                             const struct sql_select **once)
{
    struct sql_select *copy;
    *once = select;
    if (select->distinct || select->group_count || select->set_count || select->having || select->qualify ||
        select->first_count || select->limit || select->offset || select->part_count ||
        select->item_count != 1 || select->items[0].expression->operation != SQL_COLUMN)
        return STATUS_OK;
    RETURN_IF_ERROR(query_memory(query, sizeof *copy, &copy));
    *copy = *select;
    copy->distinct = true;
    copy->order_count = 0;
    *once = copy;
    return STATUS_OK;
}

/* EXISTS needs one row. */
static enum status first_row(struct query *query, const struct sql_select *select,
                             const struct sql_select **one)
{
    struct sql_select *copy;
    *one = select;
    if (select->limit || select->part_count || select->offset)
        return STATUS_OK;
    RETURN_IF_ERROR(query_memory(query, sizeof *copy, &copy));
    *copy = *select;
    copy->order_count = 0;
    RETURN_IF_ERROR(query_node(query, SQL_NUMBER, select->position, &copy->limit));
    copy->limit->text = "1";
    *one = copy;
    return STATUS_OK;
}

/* CASE WHEN key IN (keys) THEN TRUE ELSE FALSE END */
static enum status exists_by_key(struct values *values, const struct sql_expression *node,
                                 const struct query_key *key, struct sql_expression **out)
{
    struct query *const query = values->query;
    struct rowset rows;
    struct sql_expression *test, *truth[2];
    RETURN_IF_ERROR(run_subquery(values, node, key->select, "exists by key", &rows));
    enum status status = in_list(values, node, &rows, key->outer, &test);
    rowset_free(&rows);
    RETURN_IF_ERROR(status);
    RETURN_IF_ERROR(query_node(query, SQL_CASE, node->position, out));
    (*out)->has_else = true;
    RETURN_IF_ERROR(query_child(query, *out, test));
    for (int i = 0; i < 2; i++) {
        RETURN_IF_ERROR(query_node(query, i ? SQL_FALSE : SQL_TRUE, node->position, &truth[i]));
        RETURN_IF_ERROR(query_child(query, *out, truth[i]));
    }
    return STATUS_OK;
}

/* True if ON decides more than which rows remain: the value must be known where the join is made. */
static bool is_asked_at_join(const struct values *values)
{
    const struct sql_select *const select = values->select;
    const uint32_t join = values->join;
    bool strict = join != NO_JOIN && select->sources[join].join >= SQL_JOIN_LEFT;
    uint32_t first = join == NO_JOIN ? select->source_count : join;
    while (first > 0 && first < select->source_count && select->sources[first].join != SQL_JOIN_NONE)
        first--;
    for (uint32_t s = first; s < select->source_count; s++) {
        if (s > first && select->sources[s].join == SQL_JOIN_NONE)
            break;
        strict |= select->sources[s].join >= SQL_JOIN_RIGHT;
    }
    return strict;
}

/* The columns that a subquery in ON depends on, with their tables: as ON sees them, also if the value is joined to all of
 * FROM, which has more. */
static enum status resolve_key(const struct values *values, const struct query_key *key,
                               struct sql_expression **outer)
{
    struct query *const query = values->query;
    struct query_sources *sources;
    *outer = key->outer;
    if (values->join == NO_JOIN)
        return STATUS_OK;
    RETURN_IF_ERROR(query_memory(query, sizeof *sources, &sources));
    RETURN_IF_ERROR(query_sources_find(query, values->select, values->scope, sources));
    return sql_scope_resolve_on(&sources->scope, query->tree, values->join, key->outer, outer, query->error);
}

/* Whether names are columns of one table, or of others. */
struct named_tables {
    const char *table;
    bool it, others;
};

static void see_table(void *context, const struct sql_expression *node)
{
    struct named_tables *const named = context;
    if (node->operation != SQL_COLUMN)
        return;
    const bool it = node->qualifier && word_compare(node->qualifier, named->table) == 0;
    named->it |= it;
    named->others |= !it;
}

/* A value that ON of an outer join asks and that depends on the joined table: this becomes an answer with a column more,
 * SELECT all columns, (the subquery) FROM it. */
static enum status value_of_joined(struct values *values, const struct sql_expression *node,
                                   struct sql_expression **out)
{
    struct query *const query = values->query;
    struct sql_source *const joined = &((struct sql_source *)values->select->sources)[values->join];
    const char *const alias = sql_source_name(joined);
    const struct sql_source from = {.table = joined->table, .alias = alias, .position = joined->position};
    struct query_sources *sources;
    struct sql_select *made;
    struct sql_expression *column;
    struct rowset rows;
    char name[24];
    RETURN_IF_ERROR(query_memory(query, sizeof *made, &made));
    made->position = node->position;
    RETURN_IF_ERROR(
        sql_tree_append(query->tree, &made->sources, &made->source_count, sizeof from, &from, query->error));
    RETURN_IF_ERROR(query_memory(query, sizeof *sources, &sources));
    RETURN_IF_ERROR(query_sources_find(query, made, values->scope, sources));
    for (uint32_t c = 0; c < sources->list[0].column_count; c++) {
        RETURN_IF_ERROR(
            query_column_node(query, node->position, alias, sources->list[0].columns[c], &column));
        RETURN_IF_ERROR(query_item(query, made, column, sources->list[0].labels[c]));
    }
    snprintf(name, sizeof name, QUERY_VALUE_NAME "%u", query->made_names);
    const char *const copy = query_text(query, name);
    if (!copy)
        return error_out_of_memory(query->error, sizeof name, "a statement");
    RETURN_IF_ERROR(query_item(query, made, (struct sql_expression *)node, copy));
    RETURN_IF_ERROR(query_explain_line(query, "%s with a value at line %u, column %u:", alias,
                                       node->position.line, node->position.column));
    query->level++;
    const enum status status = query_select(query, made, values->scope, false, &rows);
    query->level--;
    RETURN_IF_ERROR(status);
    RETURN_IF_ERROR(name_rows(values, &rows));
    joined->table = values->scope->named->name;
    joined->alias = alias;
    return query_column_node(query, node->position, alias, copy, out);
}

/* Adds a source to the level: to all of FROM, or before the join in whose ON the subquery stands. */
static enum status add_source(struct values *values, struct sql_source *source)
{
    struct query *const query = values->query;
    struct sql_select *const select = values->select;
    const bool before = is_asked_at_join(values);
    struct sql_source *sources = NULL;
    uint32_t count = 0;
    source->over_all = !before;
    for (uint32_t s = 0; s < select->source_count; s++) {
        if (before && s == values->join)
            RETURN_IF_ERROR(
                sql_tree_append(query->tree, &sources, &count, sizeof *source, source, query->error));
        RETURN_IF_ERROR(sql_tree_append(query->tree, &sources, &count, sizeof *source, &select->sources[s],
                                        query->error));
    }
    if (!before)
        RETURN_IF_ERROR(sql_tree_append(query->tree, &sources, &count, sizeof *source, source, query->error));
    select->sources = sources;
    select->source_count = count;
    values->join += before;
    return STATUS_OK;
}

/* The level gets a source more, which its stars leave out: LEFT JOIN (SELECT key, value GROUP BY key) ON it equals the
 * outer key. The value is its column. */
static enum status value_by_key(struct values *values, const struct sql_expression *node,
                                const struct query_key *key, struct sql_expression **out)
{
    struct query *const query = values->query;
    struct rowset rows;
    struct sql_expression *outer, *column, *zero;
    struct sql_source source = {.join = SQL_JOIN_LEFT, .position = node->position};
    char name[16];
    RETURN_IF_ERROR(resolve_key(values, key, &outer));
    if (is_asked_at_join(values)) {
        struct named_tables named = {.table = sql_source_name(&values->select->sources[values->join])};
        query_visit(outer, see_table, &named);
        if (named.it && named.others)
            return query_refuse(query, node->position,
                                "the subquery in ON of %s depends on columns of it and of a table before it, "
                                "which is not supported beside outer joins",
                                named.table);
        if (named.it)
            return value_of_joined(values, node, out);
    }
    RETURN_IF_ERROR(run_subquery(values, node, key->select, "value by key", &rows));
    RETURN_IF_ERROR(name_rows(values, &rows));
    source.table = values->scope->named->name;
    snprintf(name, sizeof name, "?%s", source.table + 1);
    source.alias = query_text(query, name);
    if (!source.alias)
        return error_out_of_memory(query->error, sizeof name, "a statement");
    RETURN_IF_ERROR(query_node(query, SQL_EQUAL, node->position, &source.on));
    RETURN_IF_ERROR(query_child(query, source.on, outer));
    RETURN_IF_ERROR(query_column_node(query, node->position, source.alias, QUERY_KEY_NAME, &column));
    RETURN_IF_ERROR(query_child(query, source.on, column));
    RETURN_IF_ERROR(add_source(values, &source));
    RETURN_IF_ERROR(query_column_node(query, node->position, source.alias, QUERY_VALUE_NAME, &column));
    *out = column;
    if (!key->counts)
        return STATUS_OK;
    RETURN_IF_ERROR(query_node(query, SQL_FUNCTION, node->position, out));
    (*out)->name = "coalesce";
    RETURN_IF_ERROR(query_child(query, *out, column));
    RETURN_IF_ERROR(query_node(query, SQL_NUMBER, node->position, &zero));
    zero->text = "0";
    return query_child(query, *out, zero);
}

static enum status replace_subquery(void *context, const struct sql_expression *node,
                                    struct sql_expression **out);

static enum status answer_subquery(struct values *values, const struct sql_expression *node,
                                   struct sql_expression **out)
{
    struct query *const query = values->query;
    const struct sql_select *select = node->query;
    struct sql_expression *value = NULL;
    struct rowset rows = {0};
    struct query_key key;
    if (node->operation == SQL_IN && (node->comparison != SQL_EQUAL || node->child_count != 1))
        return query_refuse(query, node->position, "this comparison with a subquery is not supported here");
    RETURN_IF_ERROR(query_decorrelate(query, select, values->scope, node->operation, &key));
    if (key.outer)
        return node->operation == SQL_EXISTS ? exists_by_key(values, node, &key, out)
                                             : value_by_key(values, node, &key, out);
    if (node->operation == SQL_EXISTS)
        RETURN_IF_ERROR(first_row(query, select, &select));
    if (node->operation == SQL_IN)
        RETURN_IF_ERROR(each_once(query, select, &select));
    if (node->operation == SQL_IN)
        RETURN_IF_ERROR(query_rewrite(query, node->children[0], replace_subquery, values, &value));
    enum status status = run_subquery(values, node, select,
                                      node->operation == SQL_IN       ? "list"
                                      : node->operation == SQL_EXISTS ? "exists"
                                                                      : "value",
                                      &rows);
    if (status == STATUS_OK && node->operation == SQL_IN)
        status = in_list(values, node, &rows, value, out);
    else if (status == STATUS_OK && node->operation == SQL_EXISTS)
        status = query_node(query, rows.rows ? SQL_TRUE : SQL_FALSE, node->position, out);
    else if (status == STATUS_OK)
        status = scalar(values, node, &rows, out);
    rowset_free(&rows);
    return status;
}

/* Names in ON may be other columns than elsewhere, so a subquery there is answered on its own. */
static enum status replace_subquery(void *context, const struct sql_expression *node,
                                    struct sql_expression **out)
{
    struct values *const values = context;
    if (!node->query)
        return STATUS_OK;
    for (const struct replaced *at = values->replaced; at && values->join == NO_JOIN && !*out; at = at->next)
        if (sql_same_expression(at->node, node))
            *out = at->by;
    if (*out)
        return STATUS_OK;
    RETURN_IF_ERROR(answer_subquery(values, node, out));
    if (values->join != NO_JOIN)
        return STATUS_OK;
    struct replaced *made;
    RETURN_IF_ERROR(query_memory(values->query, sizeof *made, &made));
    *made = (struct replaced){node, *out, values->replaced};
    values->replaced = made;
    return STATUS_OK;
}

static enum status replace_list(struct values *values, struct sql_expression **list, uint32_t count,
                                struct sql_expression ***out)
{
    struct query *const query = values->query;
    RETURN_IF_ERROR(query_memory(query, (count + 1) * sizeof **out, out));
    for (uint32_t i = 0; i < count; i++)
        RETURN_IF_ERROR(query_rewrite(query, list[i], replace_subquery, values, &(*out)[i]));
    return STATUS_OK;
}

/* The sources are a copy, see answer_sources; a subquery may put others before the one in whose ON it stands. */
static enum status replace_in_joins(struct values *values)
{
    struct sql_select *const select = values->select;
    struct sql_expression *on;
    for (uint32_t s = 0; s < select->source_count; s++) {
        values->join = s;
        RETURN_IF_ERROR(query_rewrite(values->query, select->sources[s].on, replace_subquery, values, &on));
        s = values->join;
        select->sources[s].on = on;
    }
    values->join = NO_JOIN;
    return STATUS_OK;
}

static enum status replace_all(struct values *values)
{
    struct query *const query = values->query;
    struct sql_select *const select = values->select;
    struct sql_item *items;
    struct sql_order *orders;
    RETURN_IF_ERROR(query_memory(query, (select->item_count + 1) * sizeof *items, &items));
    for (uint32_t i = 0; i < select->item_count; i++) {
        items[i] = select->items[i];
        RETURN_IF_ERROR(
            query_rewrite(query, items[i].expression, replace_subquery, values, &items[i].expression));
        if (select->items[i].expression->query && !items[i].alias)
            items[i].alias = items[i].text; /* it may become a column, which has another name */
    }
    select->items = items;
    RETURN_IF_ERROR(replace_in_joins(values));
    RETURN_IF_ERROR(query_rewrite(query, select->where, replace_subquery, values, &select->where));
    RETURN_IF_ERROR(query_rewrite(query, select->having, replace_subquery, values, &select->having));
    RETURN_IF_ERROR(query_rewrite(query, select->qualify, replace_subquery, values, &select->qualify));
    RETURN_IF_ERROR(replace_list(values, select->groups, select->group_count, &select->groups));
    RETURN_IF_ERROR(query_memory(query, (select->order_count + 1) * sizeof *orders, &orders));
    for (uint32_t o = 0; o < select->order_count; o++) {
        orders[o] = select->orders[o];
        RETURN_IF_ERROR(
            query_rewrite(query, orders[o].expression, replace_subquery, values, &orders[o].expression));
    }
    select->orders = orders;
    return STATUS_OK;
}

enum status query_values(struct query *query, struct sql_select *select, struct query_scope **scope)
{
    struct values values = {.query = query,
                            .select = select,
                            .scope = *scope,
                            .around = {.select = select, .scope = *scope, .outer = query->around},
                            .join = NO_JOIN};
    query->around = &values.around;
    const enum status status = replace_all(&values);
    query->around = values.around.outer;
    *scope = values.scope;
    return status;
}
