/*
 * correlation.c: subqueries that name columns of the level around them in one equality (query_internal.h):
 *
 *     EXISTS (SELECT ... FROM s WHERE s.k = o.k AND c)      o.k IN (SELECT DISTINCT s.k FROM s WHERE c)
 *     (SELECT max(x) FROM s WHERE s.k = o.k AND c)          LEFT JOIN (SELECT s.k, max(x) FROM s WHERE c GROUP BY s.k)
 */
#include "engine/library/query/query_internal.h"

#include "engine/sql/bind_internal.h"

struct decorrelation {
    struct query *query;
    const struct sql_select *select;
    const struct query_scope *scope;
    bool inner, outer; /* the expression names columns of the subquery; of the level around it */
    bool other;        /* it has a subquery */
};

static void see_name(void *context, const struct sql_expression *node)
{
    struct decorrelation *const seen = context;
    const struct query_around *const around = seen->query->around;
    seen->other |= node->query != NULL;
    if (node->operation != SQL_COLUMN)
        return;
    if (query_select_has(seen->query, seen->select, seen->scope, node) != HAS_NOT)
        seen->inner = true;
    else if (around && query_select_has(seen->query, around->select, around->scope, node) == HAS)
        seen->outer = true;
    else
        seen->inner = true; /* an unknown name, which is refused when the subquery is bound */
}

static struct decorrelation see(const struct decorrelation *empty, const struct sql_expression *tree)
{
    struct decorrelation seen = *empty;
    query_visit(tree, see_name, &seen);
    return seen;
}

/* The outer and the inner side of an equality between the levels. */
static bool sides(const struct decorrelation *empty, const struct sql_expression *tree,
                  struct sql_expression **outer, struct sql_expression **inner)
{
    if (tree->operation != SQL_EQUAL)
        return false;
    for (int turned = 0; turned < 2; turned++) {
        const struct decorrelation a = see(empty, tree->children[turned]),
                                   b = see(empty, tree->children[!turned]);
        if (!a.outer || a.inner || a.other || b.outer || b.other || !b.inner)
            continue;
        *outer = tree->children[turned];
        *inner = tree->children[!turned];
        return true;
    }
    return false;
}

/* Divides WHERE into the one equality and the rest. *outer stays NULL if this is not possible. */
static enum status divide(const struct decorrelation *empty, const struct sql_expression *tree,
                          struct sql_expression **outer, struct sql_expression **inner,
                          struct sql_expression **rest, bool *fails)
{
    if (tree->operation == SQL_AND) {
        for (uint32_t c = 0; c < tree->child_count; c++)
            RETURN_IF_ERROR(divide(empty, tree->children[c], outer, inner, rest, fails));
        return STATUS_OK;
    }
    if (!see(empty, tree).outer)
        return query_and(empty->query, rest, (struct sql_expression *)tree);
    *fails |= *outer || !sides(empty, tree, outer, inner);
    return STATUS_OK;
}

static bool names_outer(const struct decorrelation *empty, const struct sql_select *select)
{
    bool found = false;
    for (uint32_t i = 0; i < select->item_count; i++)
        found |= see(empty, select->items[i].expression).outer;
    for (uint32_t s = 0; s < select->source_count; s++)
        found |= select->sources[s].on && see(empty, select->sources[s].on).outer;
    return found;
}

static bool is_plain(const struct sql_select *select)
{
    return select->where && !select->with_count && !select->part_count && !select->group_count &&
           !select->set_count && !select->having && !select->limit && !select->offset && !select->qualify &&
           !query_has_windows(select);
}

/* SELECT DISTINCT key ... WHERE rest AND key IS NOT NULL */
static enum status keys_of(struct query *query, struct sql_select *made, struct sql_expression *inner)
{
    struct sql_expression *known;
    RETURN_IF_ERROR(query_item(query, made, inner, QUERY_KEY_NAME));
    RETURN_IF_ERROR(query_node(query, SQL_IS_NULL, inner->position, &known));
    RETURN_IF_ERROR(query_child(query, known, inner));
    known->negated = true;
    made->distinct = true;
    return query_and(query, &made->where, known);
}

/* SELECT key, value ... WHERE rest GROUP BY key */
static enum status values_of(struct query *query, struct sql_select *made, struct sql_expression *inner,
                             struct sql_expression *value)
{
    RETURN_IF_ERROR(query_item(query, made, inner, QUERY_KEY_NAME));
    RETURN_IF_ERROR(query_item(query, made, value, QUERY_VALUE_NAME));
    return sql_tree_append(query->tree, &made->groups, &made->group_count, sizeof inner, &inner,
                           query->error);
}

enum status query_decorrelate(struct query *query, const struct sql_select *select,
                              const struct query_scope *scope, enum sql_operation operation,
                              struct query_key *key)
{
    const struct decorrelation empty = {.query = query, .select = select, .scope = scope};
    struct sql_expression *outer = NULL, *inner = NULL, *rest = NULL;
    struct sql_expression *const value = select->item_count ? select->items[0].expression : NULL;
    bool fails = false, aggregated = false;
    *key = (struct query_key){0};
    if (!is_plain(select) || operation == SQL_IN || names_outer(&empty, select))
        return STATUS_OK;
    for (uint32_t i = 0; i < select->item_count; i++)
        aggregated |= bind_has_aggregate(select->items[i].expression);
    if (operation == SQL_EXISTS ? aggregated : select->item_count != 1 || !bind_is_aggregate(value))
        return STATUS_OK;
    RETURN_IF_ERROR(divide(&empty, select->where, &outer, &inner, &rest, &fails));
    if (!outer || fails)
        return STATUS_OK;
    struct sql_select *made;
    RETURN_IF_ERROR(query_memory(query, sizeof *made, &made));
    *made = (struct sql_select){.position = select->position,
                                .source_count = select->source_count,
                                .sources = select->sources,
                                .where = rest};
    key->outer = outer;
    key->select = made;
    key->counts = operation != SQL_EXISTS && aggregate_name_find(value->name)->counts;
    return operation == SQL_EXISTS ? keys_of(query, made, inner) : values_of(query, made, inner, value);
}
