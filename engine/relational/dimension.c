/*
 * dimension.c: answers with a unique key that become dimensions of the scan they are joined with (region.h): the scan looks
 * their columns up by the key, instead of giving its rows to a join.
 *
 *     select sum(f.x * a.n) from f join (select k, count(*) as n from g group by k) as a on f.k = a.k
 *     select sum(f.x * n[f.k - low]) from f where f.k in (keys)
 *
 * By LEFT JOIN the columns of a key that the answer does not have are NULL, and there is no condition. Other joins are left
 * to operators: where something else restricts the scan, its keys may be few, and the answer is then one for them
 * (reduce.c).
 */
#include "engine/relational/region.h"

#include "storage/base/execution/spillable.h"
#include "storage/base/number/number_set.h"

#include <string.h>

#define SPAN_FEW  UINT64_C(65536)     /* keys that are so close are dense enough, */
#define SPAN_KEYS 8u                  /* and others with so many places for each; */
#define SPAN_MOST (UINT64_C(1) << 24) /* but no more: 128 MiB a column */

/* ---- Which sides ---- */

/* A side whose column `unique` is compared with `key`, a column of a stored table. */
struct side_key {
    struct sql_expression *key;
    uint32_t unique;
};

/* True if no two rows have the same value of the column, except NULL. */
static bool is_unique(const struct relational *run, const struct logical_node *node, uint32_t column)
{
    uint32_t c = 0;
    while (c < node->column_count && node->columns[c] != column)
        c++;
    if (c == node->column_count)
        return false;
    switch (node->kind) {
    case LOGICAL_AGGREGATE:
        return node->aggregate.group_count == 1 && !node->aggregate.set_count && c == 0;
    case LOGICAL_FILTER:
    case LOGICAL_SORT:
    case LOGICAL_LIMIT:
        return is_unique(run, node->inputs[0], column);
    case LOGICAL_PROJECT:
        return node->project.expressions[c]->operation == SQL_INPUT &&
               is_unique(run, node->inputs[0], node->project.expressions[c]->index);
    case LOGICAL_SHARED: {
        const struct logical_node *const root = run->tree->shared[node->shared.shared].root;
        return is_unique(run, root, root->columns[c]);
    }
    case LOGICAL_SCAN:
    case LOGICAL_VALUES:
    case LOGICAL_JOIN:
    case LOGICAL_WINDOW:
    case LOGICAL_SET:
    case LOGICAL_RECURSIVE:
    case LOGICAL_WORKING:
        break;
    }
    return false;
}

/* A place is key - low: the difference of any value of the column and any key of the answer must fit. */
static bool is_near_zero(const struct column_statistics *of)
{
    return of->min >= -(INT64_C(1) << 61) && of->max <= INT64_C(1) << 61;
}

static const struct column *stored_column(const struct region *region, const struct sql_expression *tree)
{
    const uint32_t maker = tree->operation == SQL_INPUT ? region_maker(region, tree->index) : 0;
    const struct logical_node *const node = maker ? region->sources[maker - 1].node : NULL;
    return node && node->kind == LOGICAL_SCAN
               ? &node->scan.table->columns[region->run->uses[tree->index].stored]
               : NULL;
}

/* True if the condition compares a unique column of source s with a stored column of its type. */
static bool is_key(const struct region *region, const struct sql_expression *tree, uint32_t s,
                   struct side_key *key)
{
    const struct logical_column *const columns = region->run->tree->columns;
    if (tree->operation != SQL_EQUAL)
        return false;
    for (int turned = 0; turned < 2; turned++) {
        const struct sql_expression *const unique = tree->children[turned];
        struct sql_expression *const other = tree->children[!turned];
        const struct column *const stored = stored_column(region, other);
        if (!stored || unique->operation != SQL_INPUT || region_maker(region, unique->index) != s + 1)
            continue;
        const struct value_type type = columns[unique->index].type, of = columns[other->index].type;
        *key = (struct side_key){other, unique->index};
        if ((type.kind == VALUE_INTEGER || type.kind == VALUE_DATE) && type.kind == of.kind &&
            type.scale == of.scale && is_near_zero(&stored->statistics) &&
            is_unique(region->run, region->sources[s].node, unique->index))
            return true;
    }
    return false;
}

static bool has_strings(const struct relational *run, const struct logical_node *node)
{
    bool any = false;
    for (uint32_t c = 0; c < node->column_count; c++)
        any |= run->tree->columns[node->columns[c]].type.kind == VALUE_STRING ||
               run->tree->columns[node->columns[c]].type.untyped;
    return any;
}

/* True if the source may become a dimension. */
static bool is_candidate(const struct region *region, uint32_t s, struct side_key *key)
{
    const struct source *const source = &region->sources[s];
    const struct conjuncts *const conjuncts =
        source->join == LOGICAL_INNER ? &region->conjuncts : &source->on;
    if (source->node->kind == LOGICAL_SCAN || source_is_answered(source) ||
        (source->join != LOGICAL_INNER && (source->join != LOGICAL_LEFT || source->on.count != 1)) ||
        region_find_folded(region, source->node) || has_strings(region->run, source->node))
        return false;
    for (uint32_t i = 0; i < conjuncts->count; i++)
        if (is_key(region, conjuncts->list[i].tree, s, key))
            return true;
    return false;
}

/* True if the other sources are stored tables that one plan answers. */
static bool is_star(struct region *region, uint64_t candidates)
{
    uint64_t others = 0;
    bool inner = false;
    for (uint32_t s = 0; s < region->source_count; s++) {
        const struct source *const source = &region->sources[s];
        if (candidates >> s & 1)
            continue;
        if (source->node->kind != LOGICAL_SCAN ||
            (source->join != LOGICAL_INNER && source->join != LOGICAL_LEFT))
            return false;
        others |= UINT64_C(1) << s;
        inner |= source->join == LOGICAL_INNER;
    }
    if (!inner)
        return false;
    region_find_units(region);
    return region_unit(region, region->sources[__builtin_ctzll(others)].unit) == others;
}

/* True if a condition that reads none of the candidates restricts the others: it is no join. */
static bool is_restricted(const struct region *region, uint64_t candidates)
{
    for (uint32_t i = 0; i < region->conjuncts.count; i++) {
        const struct sql_expression *const tree = region->conjuncts.list[i].tree;
        if (!(region->conjuncts.list[i].sources & candidates) &&
            !(tree->operation == SQL_EQUAL && stored_column(region, tree->children[0]) &&
              stored_column(region, tree->children[1])))
            return true;
    }
    return false;
}

/* ---- Answers ---- */

/* An answer that becomes a dimension. */
struct dimension {
    struct region *region;
    const struct logical_node *node;
    const struct result *rows;
    uint32_t unique;
    int64_t low;
    uint64_t span;
};

/* The place of each row's key; `span`: it has none. */
static uint64_t place_of(const struct dimension *of, const struct rowset_column *keys, const uint64_t *places,
                         uint64_t row, uint64_t *at)
{
    *at = places ? places[row] : row;
    return *at == RELATION_NO_ROW || (keys->nulls && keys->nulls[*at])
               ? of->span
               : (uint64_t)keys->values[*at] - (uint64_t)of->low;
}

/* The values of a column by the places of the keys. *fit is false if one of them would mean NULL. */
static enum status look_up(const struct dimension *of, uint32_t number, struct sql_keys **values, bool *fit)
{
    struct relational *const run = of->region->run;
    const uint64_t *key_places, *places;
    const struct rowset_column *const keys = result_column(of->rows, of->unique, &key_places),
                                      *const column = result_column(of->rows, number, &places);
    RETURN_IF_ERROR(relational_memory(run, sizeof **values, values));
    **values = (struct sql_keys){.type = column->type, .low = of->low, .count = of->span + 1};
    (*values)->type.literal = false;
    RETURN_IF_ERROR(relational_memory(run, (of->span + 1) * sizeof *(*values)->values, &(*values)->values));
    for (uint64_t p = 0; p <= of->span; p++)
        (*values)->values[p] = INT64_MIN;
    for (uint64_t row = 0; row < of->rows->rows; row++) {
        uint64_t at;
        const uint64_t place = place_of(of, keys, key_places, row, &at);
        at = places ? places[row] : row;
        if (place == of->span || at == RELATION_NO_ROW || (column->nulls && column->nulls[at]))
            continue;
        (*values)->values[place] = column->values[at];
        *fit &= column->values[at] != INT64_MIN;
    }
    return STATUS_OK;
}

/* The range of the keys, which are sorted; false: they are not unique, or too far apart. */
static bool measure(struct dimension *of, const struct sql_keys *keys, uint64_t different)
{
    if (different < keys->count)
        return false;
    of->low = keys->count ? keys->values[0] : 0;
    of->span = keys->count ? (uint64_t)keys->values[keys->count - 1] - (uint64_t)of->low + 1 : 0;
    return of->low >= -(INT64_C(1) << 61) && of->low <= INT64_C(1) << 61 && of->span <= SPAN_MOST &&
           (of->span <= SPAN_FEW || of->span / SPAN_KEYS <= keys->count);
}

/* Whether the account has memory for the columns: in the tree, twice in the binder, and in the plan. */
static bool fits_memory(const struct dimension *of)
{
    const struct memory_account *const account = execution_memory();
    return memory_charge_try(&of->region->run->lists,
                             4 * of->node->column_count * (of->span + 1) * sizeof(int64_t),
                             account ? account->limit / 2 : 0);
}

static enum status define(struct dimension *of, const struct side_key *key, bool left, struct folded *folded)
{
    struct relational *const run = of->region->run;
    struct sql_expression **definitions;
    bool fit = true;
    RETURN_IF_ERROR(relational_memory(run, (of->node->column_count + 1) * sizeof *definitions, &definitions));
    for (uint32_t c = 0; c < of->node->column_count && fit; c++) {
        const uint32_t number = of->node->columns[c];
        struct sql_keys *values;
        if (number == key->unique && !left) {
            definitions[c] = key->key;
            continue;
        }
        if (run->dry)
            continue;
        RETURN_IF_ERROR(look_up(of, number, &values, &fit));
        RETURN_IF_ERROR(
            sql_tree_node(run->arena, SQL_LOOKUP, of->node->position, &definitions[c], run->error));
        RETURN_IF_ERROR(sql_tree_child(run->arena, definitions[c], key->key, run->error));
        definitions[c]->keys = values;
    }
    folded->definitions = fit ? definitions : NULL;
    return STATUS_OK;
}

static enum status use_keys(struct dimension *of, const struct side_key *key, bool left,
                            struct sql_keys *keys, struct folded *folded)
{
    struct relational *const run = of->region->run;
    const uint64_t count = number_set_sort(keys->values, keys->count);
    if (!measure(of, keys, count) || !fits_memory(of) ||
        (!left && !relational_list_fits(run, key->key, keys)))
        return STATUS_OK;
    keys->null = false;
    if (!left)
        RETURN_IF_ERROR(relational_in(run, key->key, keys, &folded->in));
    return define(of, key, left, folded);
}

/* key IN (keys that nobody knows yet) */
static enum status use_unknown(struct dimension *of, const struct side_key *key, bool left,
                               struct folded *folded)
{
    struct relational *const run = of->region->run;
    if (!left) {
        RETURN_IF_ERROR(sql_tree_node(run->arena, SQL_IN, of->node->position, &folded->in, run->error));
        RETURN_IF_ERROR(sql_tree_child(run->arena, folded->in, key->key, run->error));
        RETURN_IF_ERROR(region_add_unknown(of->region, key->unique, of->rows->rows, folded->in));
    }
    return define(of, key, left, folded);
}

/* The side with the conditions on it alone, unless it is joined by LEFT. */
static enum status side_of(const struct region *region, uint32_t s, const struct logical_node **side)
{
    const struct source *const source = &region->sources[s];
    struct sql_expression *condition = NULL;
    struct logical_node *filter;
    *side = source->node;
    for (uint32_t i = 0; source->join == LOGICAL_INNER && i < region->conjuncts.count; i++)
        if (region->conjuncts.list[i].sources == UINT64_C(1) << s)
            RETURN_IF_ERROR(relational_and(region->run, &condition, region->conjuncts.list[i].tree));
    if (!condition)
        return STATUS_OK;
    RETURN_IF_ERROR(relational_memory(region->run, sizeof *filter, &filter));
    *filter = (struct logical_node){.kind = LOGICAL_FILTER,
                                    .position = source->node->position,
                                    .input_count = 1,
                                    .inputs = {(struct logical_node *)source->node},
                                    .column_count = source->node->column_count,
                                    .columns = source->node->columns,
                                    .filter = {condition}};
    *side = filter;
    return STATUS_OK;
}

static enum status answer(struct region *region, uint32_t s, const struct side_key *key)
{
    struct relational *const run = region->run;
    const struct source *const source = &region->sources[s];
    const bool left = source->join == LOGICAL_LEFT;
    const struct logical_node *side;
    struct folded *folded;
    struct sql_keys keys;
    RETURN_IF_ERROR(side_of(region, s, &side));
    RETURN_IF_ERROR(region_answer(region, source->node, side, "dimension", &folded));
    struct dimension of = {
        .region = region, .node = source->node, .rows = &folded->result, .unique = key->unique};
    if (run->dry)
        return use_unknown(&of, key, left, folded);
    enum status status = relational_keys(run, &folded->result, key->unique, &keys);
    if (status == STATUS_OK)
        status = use_keys(&of, key, left, &keys, folded);
    spillable_free(keys.values);
    return status;
}

enum status region_find_dimensions(struct region *region, bool *any)
{
    struct side_key keys[REGION_SOURCES_MAX];
    uint64_t candidates = 0;
    *any = false;
    for (uint32_t s = 0; s < region->source_count && !region->full; s++)
        candidates |= (uint64_t)is_candidate(region, s, &keys[s]) << s;
    if (!candidates || !is_star(region, candidates) || is_restricted(region, candidates))
        return STATUS_OK;
    for (uint32_t s = 0; s < region->source_count; s++)
        if (candidates >> s & 1)
            RETURN_IF_ERROR(answer(region, s, &keys[s]));
    *any = true;
    return STATUS_OK;
}

/* ---- The region with dimensions ---- */

enum status region_take_dimension(struct region *region, const struct logical_node *side, bool *taken,
                                  struct result *answered)
{
    struct folded *const folded = region_find_folded(region, side);
    *taken = folded && folded->definitions;
    if (!folded)
        return STATUS_OK;
    if (!*taken)
        return result_renamed(region->run, &folded->result, side->column_count, side->columns, side->columns,
                              answered);
    region->has_dimensions = true;
    for (uint32_t c = 0; c < side->column_count; c++)
        RETURN_IF_ERROR(folded->definitions[c]
                            ? region_define(region, side->columns[c], folded->definitions[c])
                            : region_make_unknown(region, side->columns[c]));
    const struct conjunct in = {.tree = folded->in};
    return folded->in ? sql_tree_append(region->run->arena, &region->keys.list, &region->keys.count,
                                        sizeof in, &in, region->run->error)
                      : STATUS_OK;
}

/* key = key, which the condition on the key tells, too */
static bool is_told(const struct region *region, const struct sql_expression *tree)
{
    bool told = false;
    for (uint32_t k = 0; k < region->keys.count && tree->operation == SQL_EQUAL && !told; k++) {
        const struct sql_expression *const in = region->keys.list[k].tree;
        told = in->operation == SQL_IN && sql_same_expression(tree->children[0], in->children[0]) &&
               sql_same_expression(tree->children[1], in->children[0]);
    }
    return told;
}

enum status region_ask_dimensions(struct region *region)
{
    if (!region->has_dimensions)
        return STATUS_OK;
    for (uint32_t i = 0; i < region->conjuncts.count; i++) {
        struct conjunct *const conjunct = &region->conjuncts.list[i];
        conjunct->sources = region_reads(region, conjunct->tree); /* a table may come after its dimension */
        conjunct->done |= is_told(region, conjunct->tree);
    }
    for (uint32_t k = 0; k < region->keys.count; k++)
        RETURN_IF_ERROR(region_split(region, region->keys.list[k].tree, &region->conjuncts));
    return STATUS_OK;
}
