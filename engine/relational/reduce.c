/*
 * reduce.c: rows that no join will want are not answered (region.h). When one side of a join is answered and has few rows,
 * its keys are a condition on the other side: key IN (them). A plan of a stored table reads the other columns of rows
 * that pass alone, and an aggregate of keys that nobody asks for is not computed.
 *
 *     part: 200 rows after its conditions       lineitem: where l_partkey in (200 values)
 */
#include "engine/relational/region.h"

#include "storage/base/memory.h"
#include "storage/base/number/number_set.h"

#include <math.h>

#define SIDE_ROWS_MAX  (UINT64_C(1) << 18) /* of which a list is made, if its keys are far apart */
#define DENSE_ROWS_MAX (UINT64_C(1) << 24) /* of which a bitmap is made */
#define KEYS_MAX       (UINT64_C(1) << 17) /* of a list */
#define MOST_VALUES    0.8 /* of the other side's different values: a list of more drops too few of its rows */
#define UNKNOWN_VALUES 1e18
#define ROWS_A_KEY \
    8u /* of the other side, for which the list is worth its making, or the search for few keys */

/* True if conditions on the source are asked where its rows are made. */
static bool takes_conditions(const struct logical_node *node)
{
    while (node->kind == LOGICAL_FILTER || node->kind == LOGICAL_PROJECT)
        node = node->inputs[0];
    return node->kind == LOGICAL_SCAN || node->kind == LOGICAL_AGGREGATE ||
           (node->kind == LOGICAL_JOIN && node->join.join != LOGICAL_FULL);
}

static bool is_number(enum value_kind kind)
{
    return kind == VALUE_INTEGER || kind == VALUE_DOUBLE || kind == VALUE_BOOLEAN;
}

/* The expression that makes a column of the node, or NULL: it is one of a stored table, or another operator's. */
static const struct sql_expression *maker_of(const struct logical_node *node, uint32_t column)
{
    for (; node->kind == LOGICAL_FILTER || node->kind == LOGICAL_PROJECT || node->kind == LOGICAL_AGGREGATE;
         node = node->inputs[0]) {
        struct sql_expression *const *const makers =
            node->kind == LOGICAL_PROJECT ? node->project.expressions : node->aggregate.groups;
        const uint32_t count = node->kind == LOGICAL_FILTER      ? 0
                               : node->kind == LOGICAL_AGGREGATE ? node->aggregate.group_count
                                                                 : node->column_count;
        for (uint32_t i = 0; i < count; i++) {
            if (node->columns[i] != column)
                continue;
            if (makers[i]->operation != SQL_INPUT)
                return makers[i];
            column = makers[i]->index;
            break;
        }
    }
    return NULL;
}

/* The rows of the stored table that a source reads; 0: it is not one table's. */
static uint64_t rows_below(const struct logical_node *node)
{
    while (node->kind == LOGICAL_FILTER || node->kind == LOGICAL_PROJECT || node->kind == LOGICAL_AGGREGATE)
        node = node->inputs[0];
    return node->kind == LOGICAL_SCAN ? node->scan.table->rows : 0;
}

/* A list pays where it drops rows before they cost much. Testing a value that must be computed first costs as much as the
 * group it makes, and a list with most values of its range hardly drops any: days of a calendar. EXPLAIN does not know the
 * values: NULL. */
static bool is_worth(struct relational *run, const struct logical_node *node,
                     const struct sql_expression *key, const struct sql_keys *keys)
{
    const uint64_t count = keys->count;
    if ((count > KEYS_MAX && !keys->bits) ||
        (double)count > MOST_VALUES * estimate_values(run, key, UNKNOWN_VALUES))
        return false;
    if (node->kind == LOGICAL_SCAN)
        return node->scan.table->rows >= ROWS_A_KEY * count;
    if (count < 2 || (!keys->values && !keys->bits) || !maker_of(node, key->index))
        return true;
    const int64_t low = keys->bits ? keys->low : keys->values[0],
                  high = keys->bits ? keys->high : keys->values[count - 1];
    return (uint64_t)high - (uint64_t)low >= 2 * count;
}

/* Notes the share of the source's rows that have one of these keys. */
static void expect_keys(struct region *region, double keys, const struct sql_expression *other,
                        struct source *source)
{
    const double values = estimate_values(region->run, other, UNKNOWN_VALUES);
    source->reduced *= fmin(1, values < UNKNOWN_VALUES ? keys / values : 0.5);
}

/* The keys of a side, each once: of one with many rows if they are few, or dense. */
static enum status find_keys(struct relational *run, const struct result *side, uint32_t number,
                             const struct sql_expression *other, struct sql_keys *keys, bool *found)
{
    const bool many = side->rows > SIDE_ROWS_MAX;
    *found = false;
    if (many)
        RETURN_IF_ERROR(relational_few_keys(run, side, number, keys, found));
    if (*found || side->rows > DENSE_ROWS_MAX)
        return STATUS_OK;
    *found = true;
    RETURN_IF_ERROR(relational_keys(run, side, number, keys));
    keys->null = false;
    if (many) {
        struct number_range range;
        RETURN_IF_ERROR(number_range_find(keys->values, keys->count, engine_threads(run->task->engine),
                                          &range, run->error));
        *found = number_range_is_near(&range, keys->count, RELATIONAL_KEYS_APART);
    }
    return *found ? relational_each_key_once(run, other, keys) : STATUS_OK;
}

/* `key` of the side equals `other` of the source. */
static enum status reduce_by(struct region *region, const struct result *side,
                             const struct sql_expression *key, struct sql_expression *other,
                             struct source *source)
{
    struct relational *const run = region->run;
    const struct logical_column *const columns = run->tree->columns;
    const uint64_t *places;
    struct sql_expression *list;
    struct sql_keys keys = {0};
    if (key->operation != SQL_INPUT || other->operation != SQL_INPUT)
        return STATUS_OK;
    const struct rowset_column *const column = result_column(side, key->index, &places);
    if (!run->dry && (!column || column->type.untyped))
        return STATUS_OK;
    const struct value_type type = run->dry ? columns[key->index].type : column->type;
    const enum value_kind kind = type.kind, wanted = columns[other->index].type.kind;
    if (type.zoned != columns[other->index].type.zoned)
        return STATUS_OK;
    if (kind != wanted && !(is_number(kind) && is_number(wanted)))
        return STATUS_OK;
    if (run->dry) { /* there are no keys yet */
        const double expected = estimate_values(run, key, (double)side->rows);
        keys = (struct sql_keys){.count = (uint64_t)expected};
        if (!is_worth(run, source->node, other, &keys))
            return STATUS_OK;
        expect_keys(region, expected, other, source);
        return region_after(region, &source->after, key->index);
    }
    bool found;
    enum status status = find_keys(run, side, key->index, other, &keys, &found);
    const bool pays = status == STATUS_OK && found && is_worth(run, source->node, other, &keys) &&
                      relational_list_fits(run, other, &keys);
    if (pays)
        expect_keys(region, (double)keys.count, other, source);
    if (pays)
        status = relational_in(run, other, &keys, &list);
    spillable_free(keys.values);
    return status == STATUS_OK && pays ? relational_and(run, &source->filter, list) : status;
}

enum status region_reduce(struct region *region, const struct conjuncts *conjuncts, const struct result *side,
                          uint64_t sources, uint32_t s)
{
    struct source *const source = &region->sources[s];
    const bool many = side->rows > SIDE_ROWS_MAX;
    if (source_is_answered(source) || !takes_conditions(source->node) ||
        (many && rows_below(source->node) / ROWS_A_KEY < side->rows))
        return STATUS_OK;
    for (uint32_t i = 0; i < conjuncts->count; i++) {
        const struct sql_expression *const tree = conjuncts->list[i].tree;
        if (conjuncts->list[i].done || tree->operation != SQL_EQUAL)
            continue;
        for (int turned = 0; turned < 2; turned++) {
            const uint64_t of_key = region_reads(region, tree->children[turned]);
            if (of_key && !(of_key & ~sources) &&
                region_reads(region, tree->children[!turned]) == UINT64_C(1) << s)
                RETURN_IF_ERROR(
                    reduce_by(region, side, tree->children[turned], tree->children[!turned], source));
        }
    }
    return STATUS_OK;
}
