/* dimension_match.c: see dimension_match.h. Called once for each run and join. */
#include "engine/plan/dimensions/dimension_match.h"

#include "storage/base/isa.h"

#define RANGES_MAX (sizeof((struct dimension_predicate *)0)->low / sizeof(int32_t))

/* The values of a column for which a condition is true. For NULL it is NULL, or false if false_for_null says so: then its
 * negation is true there, which no range is. */
struct ranges {
    uint32_t leaf, count;
    bool false_for_null;
    int64_t low[RANGES_MAX], high[RANGES_MAX];
};

static bool range_add(struct ranges *ranges, int64_t low, int64_t high)
{
    if (low > high)
        return true;
    if (ranges->count == RANGES_MAX)
        return false;
    ranges->low[ranges->count] = low;
    ranges->high[ranges->count++] = high;
    return true;
}

/* Makes ranges from the sorted values of a set; consecutive values make one range. */
static bool set(const struct expression_list *list, const struct expression *node, struct ranges *ranges)
{
    const struct value_table *table = &list->tables[node->table];
    ranges->leaf = node->child[0];
    if (list->nodes[node->child[0]].operation != EXPRESSION_COLUMN || table->size > table->count)
        return false;
    for (uint64_t i = 0; i < table->count; i++) {
        if (ranges->count && ranges->high[ranges->count - 1] == table->values[i] - 1)
            ranges->high[ranges->count - 1] = table->values[i];
        else if (!range_add(ranges, table->values[i], table->values[i]))
            return false;
    }
    return true;
}

/* The most nodes of a condition that is tried. A node that occurs several times counts each time. */
#define CONDITION_NODES_MAX 64u

static bool ranges_of(const struct expression_list *list, uint32_t index, uint32_t *nodes,
                      struct ranges *ranges)
{
    const struct expression *node = &list->nodes[index];
    struct ranges a, b;
    int64_t low, high;
    *ranges = (struct ranges){0};
    if (++*nodes > CONDITION_NODES_MAX)
        return false;
    switch (node->operation) {
    case EXPRESSION_IN_SET:
        return set(list, node, ranges);
    case EXPRESSION_NOT:
        if (list->nodes[node->child[0]].operation == EXPRESSION_IS_NULL) {
            ranges->leaf = list->nodes[node->child[0]].child[0];
            ranges->false_for_null = true;
            return list->nodes[ranges->leaf].operation == EXPRESSION_COLUMN &&
                   range_add(ranges, INT64_MIN, INT64_MAX);
        }
        if (!ranges_of(list, node->child[0], nodes, &a) || a.count > 1 || a.false_for_null)
            return false;
        ranges->leaf = a.leaf;
        if (a.count == 0)
            return range_add(ranges, INT64_MIN, INT64_MAX);
        return (a.low[0] == INT64_MIN || range_add(ranges, INT64_MIN, a.low[0] - 1)) &&
               (a.high[0] == INT64_MAX || range_add(ranges, a.high[0] + 1, INT64_MAX));
    case EXPRESSION_AND:
    case EXPRESSION_OR:
        if (!ranges_of(list, node->child[0], nodes, &a) || !ranges_of(list, node->child[1], nodes, &b) ||
            a.leaf != b.leaf)
            return false;
        if (node->operation == EXPRESSION_OR) {
            *ranges = a;
            ranges->false_for_null = a.false_for_null && b.false_for_null;
            for (uint32_t i = 0; i < b.count; i++)
                if (!range_add(ranges, b.low[i], b.high[i]))
                    return false;
            return true;
        }
        ranges->leaf = a.leaf;
        ranges->false_for_null = a.false_for_null || b.false_for_null;
        if (a.count > 1 || b.count > 1)
            return false;
        return a.count == 0 || b.count == 0 ||
               range_add(ranges, a.low[0] > b.low[0] ? a.low[0] : b.low[0],
                         a.high[0] < b.high[0] ? a.high[0] : b.high[0]);
    default:
        return expression_range(list, node, &ranges->leaf, &low, &high) && range_add(ranges, low, high);
    }
}

static bool predicate_add(const struct plan *plan, const struct ranges *ranges, struct dimension_match *match)
{
    const struct expression *leaf = &plan->expressions.nodes[ranges->leaf];
    const struct plan_array *array = &plan->arrays[plan->sources[leaf->index].column];
    if (match->count == DIMENSION_MATCH_PREDICATES || array->value_bytes == 8 || array->shift)
        return false;
    struct dimension_predicate *predicate = &match->predicates[match->count];
    *predicate = (struct dimension_predicate){.values = array->values, .value_bytes = array->value_bytes};
    for (uint32_t i = 0; i < ranges->count; i++) {
        if (ranges->high[i] < INT32_MIN || ranges->low[i] > INT32_MAX)
            continue;
        predicate->low[predicate->ranges] =
            (int32_t)(ranges->low[i] < INT32_MIN ? INT32_MIN : ranges->low[i]);
        predicate->high[predicate->ranges++] =
            (int32_t)(ranges->high[i] > INT32_MAX ? INT32_MAX : ranges->high[i]);
    }
    match->valid[match->count++] = array->valid;
    return true;
}

uint32_t dimension_match_split(const struct plan *plan, uint32_t condition, struct dimension_match *match,
                               uint32_t rest[DIMENSION_MATCH_REST])
{
    uint32_t open[CONDITION_NODES_MAX] = {condition}, open_count = 1, rest_count = 0;
    match->count = 0;
    while (open_count) {
        const uint32_t index = open[--open_count];
        const struct expression *const node = &plan->expressions.nodes[index];
        struct ranges ranges;
        uint32_t nodes = 0;
        if (ranges_of(&plan->expressions, index, &nodes, &ranges) && predicate_add(plan, &ranges, match))
            continue;
        /* each that is open may have to be kept apart */
        if (node->operation == EXPRESSION_AND && rest_count + open_count + 2 <= DIMENSION_MATCH_REST) {
            open[open_count++] = node->child[1];
            open[open_count++] = node->child[0];
        } else {
            rest[rest_count++] = index;
        }
    }
    return rest_count;
}

void dimension_match_run(const struct dimension_match *match, uint64_t first, uint64_t count,
                         uint32_t *bitmap)
{
    dimension_filter *const filter = ISA_CHOICE(dimension_filter);
    filter(match->predicates, match->count, first, count, bitmap);
    for (uint32_t p = 0; p < match->count; p++)
        for (uint64_t word = first / 32; match->valid[p] && word < (first + count + 31) / 32; word++)
            bitmap[word] &= match->valid[p][word];
}
