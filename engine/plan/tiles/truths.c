/* truths.c: see truths.h. */
#include "engine/plan/tiles/truths.h"

static unsigned truths_of_range(const struct expression *node)
{
    return (node->high > 0 ? TRUTHS_TRUE : 0u) | (node->low <= 0 ? TRUTHS_FALSE : 0u) |
           (node->nullable ? TRUTHS_NULL : 0u);
}

static unsigned truths_if(bool is_true, bool is_false, bool is_null)
{
    return (is_true ? TRUTHS_TRUE : 0u) | (is_false ? TRUTHS_FALSE : 0u) | (is_null ? TRUTHS_NULL : 0u);
}

static unsigned truths_of_comparison(const struct expression *node, const struct expression *a,
                                     const struct expression *b)
{
    switch (node->operation) {
    case EXPRESSION_EQUAL:
        return truths_if(a->low <= b->high && b->low <= a->high,
                         a->low != b->high || a->high != b->low || a->low != a->high, node->nullable);
    case EXPRESSION_LESS:
        return truths_if(a->low < b->high, a->high >= b->low, node->nullable);
    default:
        return truths_if(a->low <= b->high, a->high > b->low, node->nullable);
    }
}

/* Of a large set the bitmap alone says which values it has; then anything between its ends may be one. */
static unsigned truths_of_set(const struct expression_list *list, const struct expression *node)
{
    const struct value_table *const set = &list->tables[node->table];
    const struct expression *const value = &list->nodes[node->child[0]];
    const bool listed = set->size <= set->count;
    bool meets = !listed && value->low <= set->values[set->count - 1] && value->high >= set->values[0];
    for (uint64_t v = 0; listed && v < set->count && !meets; v++)
        meets = set->values[v] >= value->low && set->values[v] <= value->high;
    return truths_if(meets, true, node->nullable);
}

unsigned truths_of(const struct expression_list *list, uint32_t index)
{
    const struct expression *const node = &list->nodes[index];
    const struct expression *const a = &list->nodes[node->child[0]], *const b = &list->nodes[node->child[1]];
    unsigned first, second;
    switch (node->operation) {
    case EXPRESSION_CONSTANT:
        return node->is_null ? TRUTHS_NULL : node->constant ? TRUTHS_TRUE : TRUTHS_FALSE;
    case EXPRESSION_EQUAL:
    case EXPRESSION_LESS:
    case EXPRESSION_LESS_EQUAL:
        return truths_of_comparison(node, a, b);
    case EXPRESSION_AND:
    case EXPRESSION_OR:
        first = truths_of(list, node->child[0]);
        second = truths_of(list, node->child[1]);
        return node->operation == EXPRESSION_AND
                   ? (first & second & TRUTHS_TRUE) | ((first | second) & (TRUTHS_FALSE | TRUTHS_NULL))
                   : (first & second & TRUTHS_FALSE) | ((first | second) & (TRUTHS_TRUE | TRUTHS_NULL));
    case EXPRESSION_NOT:
        first = truths_of(list, node->child[0]);
        return truths_if(first & TRUTHS_FALSE, first & TRUTHS_TRUE, first & TRUTHS_NULL);
    case EXPRESSION_IS_NULL:
        return truths_if(a->nullable, a->operation != EXPRESSION_CONSTANT || !a->is_null, false);
    case EXPRESSION_IN_SET:
        return truths_of_set(list, node);
    default:
        return truths_of_range(node);
    }
}
