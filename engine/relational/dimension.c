/*
 * dimension.c: answers with a unique key that become dimensions of the scan they are joined with (region.h): the scan looks
 * their columns up by the key, instead of giving its rows to a join.
 *
 *     select sum(f.x * a.n) from f join (select k, count(*) as n from g group by k) as a on f.k = a.k
 *     select sum(f.x * n[f.k - low]) from f where f.k in (keys)
 *
 * By LEFT JOIN the columns of a key that the answer does not have are NULL, and there is no condition. A stored table that
 * no reference joins is answered, too, if its key seems to have no value twice, and it has no more rows than the scan is
 * expected to keep. Other joins are left to operators: where something else restricts the scan, its keys may be few, and
 * the answer is then one for them (reduce.c).
 */
#include "engine/relational/region.h"

#include "engine/sql/tree/tree.h"
#include "storage/base/execution/spillable.h"
#include "storage/base/huge_pages.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdatomic.h>
#include <string.h>

#define SPAN_FEW  UINT64_C(65536) /* keys of groups that are so close are dense enough, */
#define SPAN_KEYS 8u /* others with so many places for each, or no more than the scan has rows; */
#define SPAN_MOST (UINT64_C(1) << 24) /* but no more: 128 MiB a column */

#define SLICE_ROWS UINT64_C(65536) /* of an answer, or places of an array, for a thread at a time */

#define LOOK_UP_NODES 2u /* of an expression: the look-up and its key */

#define UNIQUE_SHARE \
    0.9 /* different values in a row, which are an estimate: the keys show whether any comes twice */
#define SCAN_TIMES 2u /* a table whose columns are looked up is smaller than the scanned one by this factor */

/* ---- Which sides ---- */

/* A side whose column `unique` is compared with `key`, a column of a stored table. */
struct side_key {
    struct sql_expression *key;
    uint32_t unique;
};

/* True if the statistics of a stored column, or its being a key, say that it has hardly a value twice. */
static bool seems_unique(const struct table *table, const struct column *column)
{
    return column->schema.primary_key || (double)column->statistics.distinct >=
                                             UNIQUE_SHARE * (double)(table->rows - column->statistics.nulls);
}

/* True if no two rows have the same value of the column, except NULL; of a stored table it is only likely. */
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
        return seems_unique(node->scan.table, &node->scan.table->columns[node->scan.stored[c]]);
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

/* The column that has the values of a stored one: of a reference the key. */
static const struct column *values_column(const struct column *column)
{
    while (column->references)
        column = column->references;
    return column;
}

/* A place is key - low: the difference of any value of the column and any key of the answer must fit. */
static bool is_near_zero(const struct column *column)
{
    const struct column_statistics *const of = &values_column(column)->statistics;
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

static uint64_t stored_rows(const struct source *source)
{
    return source->node->kind == LOGICAL_SCAN ? source->node->scan.table->rows : 0;
}

/* True if the condition compares a unique column of source s with a column of its type of a stored table among `scanned`. */
static bool is_key(const struct region *region, const struct sql_expression *tree, uint32_t s,
                   uint64_t scanned, struct side_key *key)
{
    const struct logical_column *const columns = region->run->tree->columns;
    if (tree->operation != SQL_EQUAL)
        return false;
    for (int turned = 0; turned < 2; turned++) {
        const struct sql_expression *const unique = tree->children[turned];
        struct sql_expression *const other = tree->children[!turned];
        const struct column *const stored = stored_column(region, other);
        if (!stored || unique->operation != SQL_INPUT || region_maker(region, unique->index) != s + 1 ||
            !(region_reads(region, other) & scanned) ||
            SCAN_TIMES * stored_rows(&region->sources[s]) > stored->table->rows)
            continue;
        const struct value_type type = columns[unique->index].type, of = columns[other->index].type;
        *key = (struct side_key){other, unique->index};
        if ((type.kind == VALUE_INTEGER || type.kind == VALUE_DATE) && type.kind == of.kind &&
            type.scale == of.scale && is_near_zero(stored) &&
            is_unique(region->run, region->sources[s].node, unique->index))
            return true;
    }
    return false;
}

/* Strings of stored tables are codes of dictionaries that stay. */
static bool has_made_strings(const struct relational *run, const struct logical_node *node)
{
    bool any = false;
    for (uint32_t c = 0; node->kind != LOGICAL_SCAN && c < node->column_count; c++)
        any |= run->tree->columns[node->columns[c]].type.kind == VALUE_STRING ||
               run->tree->columns[node->columns[c]].type.untyped;
    return any;
}

/* True if the source may become a dimension of those that are `scanned`, or of their dimensions. */
static bool is_candidate(const struct region *region, uint32_t s, uint64_t scanned, struct side_key *key)
{
    const struct source *const source = &region->sources[s];
    const struct conjuncts *const conjuncts =
        source->join == LOGICAL_INNER ? &region->conjuncts : &source->on;
    const uint64_t own = UINT64_C(1) << s;
    bool found = false;
    if (source_is_answered(source) || (source->join != LOGICAL_INNER && source->join != LOGICAL_LEFT) ||
        region_unit(region, source->unit) != own || region_find_folded(region, source->node) ||
        has_made_strings(region->run, source->node))
        return false;
    for (uint32_t i = 0; i < conjuncts->count; i++) {
        if (!found && is_key(region, conjuncts->list[i].tree, s, scanned, key))
            found = true;
        else if (source->join == LOGICAL_LEFT && conjuncts->list[i].sources != own)
            return false;
    }
    return found;
}

/* True if a condition restricts one of the sources: it is no join. */
static bool restricts(const struct region *region, const struct conjunct *conjunct, uint64_t sources)
{
    const struct sql_expression *const tree = conjunct->tree;
    return !(conjunct->sources & ~sources) &&
           !(tree->operation == SQL_EQUAL && stored_column(region, tree->children[0]) &&
             stored_column(region, tree->children[1]));
}

/* The rows that the scan is expected to keep. */
static double expected_rows(const struct region *region, uint64_t scanned, uint64_t rows, bool *restricted)
{
    double expected = (double)rows;
    *restricted = false;
    for (uint32_t i = 0; i < region->conjuncts.count; i++)
        if (restricts(region, &region->conjuncts.list[i], scanned)) {
            *restricted = true;
            expected *= estimate_share(region->run, region->conjuncts.list[i].tree);
        }
    return expected;
}

/* The sources of the plan whose scan looks the others up: those of the largest stored table; 0: there is none. */
static uint64_t find_scanned(struct region *region, uint64_t *rows)
{
    uint64_t scanned = 0;
    *rows = 0;
    region_find_units(region);
    for (uint32_t s = 0; s < region->source_count; s++) {
        const struct source *const source = &region->sources[s];
        if (source->join != LOGICAL_INNER || source_is_answered(source) || stored_rows(source) <= *rows)
            continue;
        *rows = stored_rows(source);
        scanned = region_unit(region, source->unit);
    }
    return scanned;
}

/* The sources that become dimensions: all that are not scanned; or 0. */
static uint64_t find_candidates(struct region *region, struct side_key *keys, double *scan_rows)
{
    const uint64_t all = region->source_count == 64 ? UINT64_MAX : (UINT64_C(1) << region->source_count) - 1;
    uint64_t rows, found = 0, before;
    const uint64_t scanned = find_scanned(region, &rows);
    bool restricted;
    *scan_rows = expected_rows(region, scanned, rows, &restricted);
    do {
        before = found;
        for (uint32_t s = 0; s < region->source_count; s++) {
            const struct source *const source = &region->sources[s];
            const bool is_table = source->node->kind == LOGICAL_SCAN;
            if (!((scanned | found) >> s & 1) &&
                (is_table ? (double)stored_rows(source) <= *scan_rows : !restricted))
                found |= (uint64_t)is_candidate(region, s, scanned | found, &keys[s]) << s;
        }
    } while (found != before);
    return (scanned | found) == all ? found : 0;
}

/* ---- Answers ---- */

/* An answer that becomes a dimension. */
struct dimension {
    struct region *region;
    const struct logical_node *node;
    const struct result *rows;
    const struct sql_expression *key; /* that the scan has */
    double scan_rows;                 /* that it is expected to keep */
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

/* The stored column that has the strings of a column of the node; NULL: they are no strings. */
static const struct column *strings_of(const struct logical_node *node, uint32_t number,
                                       const struct rowset_column *column)
{
    for (uint32_t c = 0; column->type.kind == VALUE_STRING && c < node->column_count; c++)
        if (node->columns[c] == number)
            return values_column(&node->scan.table->columns[node->scan.stored[c]]);
    return NULL;
}

/* A column that is written by the places of the keys, which are different: so threads never write to the same place. */
struct placing {
    const struct dimension *of;
    const struct rowset_column *keys, *column;
    const uint64_t *key_places, *places;
    int64_t *values;
    atomic_bool unfit; /* a value would mean NULL */
};

static enum status clear_slice(void *context, uint64_t slice, unsigned thread, struct error *error)
{
    const struct placing *const placing = context;
    const uint64_t count = placing->of->span + 1, begin = slice * SLICE_ROWS,
                   end = begin + SLICE_ROWS < count ? begin + SLICE_ROWS : count;
    (void)thread;
    for (uint64_t place = begin; place < end; place++)
        placing->values[place] = INT64_MIN;
    return cancel_check(error);
}

static enum status place_slice(void *context, uint64_t slice, unsigned thread, struct error *error)
{
    struct placing *const placing = context;
    const struct dimension *const of = placing->of;
    const struct rowset_column *const column = placing->column;
    const uint64_t begin = slice * SLICE_ROWS,
                   end = begin + SLICE_ROWS < of->rows->rows ? begin + SLICE_ROWS : of->rows->rows;
    bool fit = true;
    (void)thread;
    for (uint64_t row = begin; row < end; row++) {
        uint64_t at;
        const uint64_t place = place_of(of, placing->keys, placing->key_places, row, &at);
        at = placing->places ? placing->places[row] : row;
        if (place == of->span || at == RELATION_NO_ROW || (column->nulls && column->nulls[at]))
            continue;
        placing->values[place] = column->values[at];
        fit &= column->values[at] != INT64_MIN;
    }
    if (!fit)
        atomic_store(&placing->unfit, true);
    return cancel_check(error);
}

static uint64_t slices_of(uint64_t count)
{
    return (count + SLICE_ROWS - 1) / SLICE_ROWS;
}

/* The values of a column by the places of the keys. *fit is false if one of them would mean NULL. */
static enum status look_up(const struct dimension *of, uint32_t number, struct sql_keys **values, bool *fit)
{
    struct relational *const run = of->region->run;
    const unsigned threads = engine_threads(run->task->engine);
    const uint64_t count = of->span + 1;
    struct placing placing = {.of = of};
    placing.keys = result_column(of->rows, of->unique, &placing.key_places);
    placing.column = result_column(of->rows, number, &placing.places);
    RETURN_IF_ERROR(relational_memory(run, sizeof **values, values));
    **values = (struct sql_keys){.type = placing.column->type,
                                 .strings = strings_of(of->node, number, placing.column),
                                 .low = of->low,
                                 .count = count};
    (*values)->type.literal = false;
    RETURN_IF_ERROR(
        memory_take(&placing.values, count * sizeof *placing.values, "the values of an answer", run->error));
    RETURN_IF_ERROR(relational_own(run, placing.values)); /* the arena would clear it first */
    (*values)->values = placing.values;
    huge_pages_prefer(placing.values, count * sizeof *placing.values);
    RETURN_IF_ERROR(parallel_for(threads, slices_of(count), clear_slice, &placing, run->error));
    RETURN_IF_ERROR(parallel_for(threads, slices_of(of->rows->rows), place_slice, &placing, run->error));
    *fit &= !placing.unfit;
    return STATUS_OK;
}

/* True if the arrays have no more places than the scan keeps rows, of those with one of the keys. To make a place costs about
 * as much as to join a row. */
static bool is_cheap(const struct dimension *of, uint64_t keys)
{
    const double values = estimate_values(of->region->run, of->key, of->scan_rows),
                 kept = of->scan_rows * ((double)keys < values ? (double)keys / values : 1);
    const uint32_t arrays = of->node->column_count > 1 ? of->node->column_count - 1 : 1;
    return (double)of->span * arrays <= kept;
}

/* The different keys of the answer; `count`: all but NULLs. Those of a column without NULLs that is in the order of the rows
 * become a bitmap without being copied. Free keys->values, after a failure, too. */
static enum status find_keys(const struct dimension *of, struct sql_keys *keys, uint64_t *count)
{
    struct relational *const run = of->region->run;
    const uint64_t *places;
    const struct rowset_column *const column = result_column(of->rows, of->unique, &places);
    bool made = false;
    *keys = (struct sql_keys){.type = column->type, .count = of->rows->rows};
    *count = keys->count;
    if (!places && (!column->nulls || !memchr(column->nulls, true, of->rows->rows)))
        RETURN_IF_ERROR(relational_bits_of_keys(run, of->key, column->values, keys, &made));
    if (made)
        return STATUS_OK;
    RETURN_IF_ERROR(relational_keys(run, of->rows, of->unique, keys));
    *count = keys->count;
    return relational_each_key_once(run, of->key, keys);
}

/* The range of the keys, which are in order; false: they are not unique, or too far apart. */
static bool measure(struct dimension *of, const struct sql_keys *keys, uint64_t count)
{
    const uint64_t last = keys->count - 1;
    if (keys->count < count)
        return false;
    of->low = keys->count == 0 ? 0 : keys->bits ? keys->low : keys->values[0];
    of->span = keys->count == 0
                   ? 0
                   : (uint64_t)(keys->bits ? keys->high : keys->values[last]) - (uint64_t)of->low + 1;
    return of->low >= -(INT64_C(1) << 61) && of->low <= INT64_C(1) << 61 && of->span <= SPAN_MOST &&
           (is_cheap(of, keys->count) || (of->node->kind != LOGICAL_SCAN &&
                                          (of->span <= SPAN_FEW || of->span / SPAN_KEYS <= keys->count)));
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
                            struct sql_keys *keys, uint64_t count, struct folded *folded)
{
    struct relational *const run = of->region->run;
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

/* The side with the conditions on it alone, and those that its own dimensions put on their keys. */
static enum status side_of(const struct region *region, uint32_t s, const struct side_key *keys,
                           uint64_t answered, const struct logical_node **side)
{
    struct relational *const run = region->run;
    const struct source *const source = &region->sources[s];
    const struct conjuncts *const conjuncts =
        source->join == LOGICAL_INNER ? &region->conjuncts : &source->on;
    const uint64_t own = UINT64_C(1) << s;
    struct sql_expression *condition = NULL;
    struct logical_node *filter;
    *side = source->node;
    for (uint32_t i = 0; i < conjuncts->count; i++)
        if (conjuncts->list[i].sources == own)
            RETURN_IF_ERROR(relational_and(run, &condition, conjuncts->list[i].tree));
    for (uint32_t d = 0; d < region->source_count; d++) {
        struct folded *const folded =
            answered >> d & 1 ? region_find_folded(region, region->sources[d].node) : NULL;
        if (!folded || !folded->in || region_reads(region, keys[d].key) != own)
            continue;
        RETURN_IF_ERROR(relational_and(run, &condition, folded->in));
        folded->in = NULL;
    }
    if (!condition)
        return STATUS_OK;
    RETURN_IF_ERROR(relational_filter(run, source->node, condition, &filter));
    *side = filter;
    return STATUS_OK;
}

/* The conditions that side_of puts on an inner side. */
static enum status note_asked(const struct region *region, uint32_t s, struct conjuncts *asked)
{
    const struct conjuncts *const conjuncts = &region->conjuncts;
    for (uint32_t i = 0; i < conjuncts->count; i++)
        if (conjuncts->list[i].sources == UINT64_C(1) << s)
            RETURN_IF_ERROR(sql_tree_append(region->run->arena, &asked->list, &asked->count,
                                            sizeof *asked->list, &conjuncts->list[i], region->run->error));
    return STATUS_OK;
}

static enum status answer(struct region *region, uint32_t s, const struct side_key *key, double scan_rows,
                          const struct logical_node *side)
{
    struct relational *const run = region->run;
    const struct source *const source = &region->sources[s];
    const bool left = source->join == LOGICAL_LEFT;
    struct folded *folded;
    struct sql_keys keys = {0};
    uint64_t count;
    RETURN_IF_ERROR(region_answer(region, source->node, side, "dimension", &folded));
    folded->left = left;
    if (!left)
        RETURN_IF_ERROR(note_asked(region, s, &folded->asked));
    struct dimension of = {.region = region,
                           .node = source->node,
                           .rows = &folded->result,
                           .key = key->key,
                           .scan_rows = scan_rows,
                           .unique = key->unique};
    if (run->dry)
        return use_unknown(&of, key, left, folded);
    enum status status = find_keys(&of, &keys, &count);
    if (status == STATUS_OK)
        status = use_keys(&of, key, left, &keys, count, folded);
    spillable_free(keys.values);
    return status;
}

/* The smallest of these sources: its dimensions are smaller. */
static uint32_t smallest(const struct region *region, uint64_t sources)
{
    uint32_t least = (uint32_t)__builtin_ctzll(sources);
    for (uint32_t s = least + 1; s < region->source_count; s++)
        if ((sources >> s & 1) && stored_rows(&region->sources[s]) < stored_rows(&region->sources[least]))
            least = s;
    return least;
}

/* A column of a dimension, as a look-up, whose key may be a column of another one. */
static enum status replace_column(void *context, const struct sql_expression *node,
                                  struct sql_expression **out)
{
    const struct region *const region = context;
    struct relational *const run = region->run;
    for (const struct folded *at = *region->folded; node->operation == SQL_INPUT && at && !*out;
         at = at->next)
        for (uint32_t c = 0; at->definitions && c < at->node->column_count; c++)
            if (at->node->columns[c] == node->index)
                *out = at->definitions[c];
    return sql_tree_rewrite(run->arena, *out, replace_column, context, out, run->error);
}

/* Puts look-ups where dimensions of dimensions have columns as keys. */
static enum status settle(struct region *region)
{
    struct relational *const run = region->run;
    for (struct folded *at = *region->folded; at; at = at->next) {
        if (!at->definitions)
            continue;
        for (uint32_t c = 0; c < at->node->column_count; c++)
            RETURN_IF_ERROR(sql_tree_rewrite(run->arena, at->definitions[c], replace_column, region,
                                             &at->definitions[c], run->error));
        for (uint32_t i = 0; i < at->asked.count; i++)
            RETURN_IF_ERROR(sql_tree_rewrite(run->arena, at->asked.list[i].tree, replace_column, region,
                                             &at->asked.list[i].tree, run->error));
        RETURN_IF_ERROR(sql_tree_rewrite(run->arena, at->in, replace_column, region, &at->in, run->error));
    }
    return STATUS_OK;
}

enum status region_find_dimensions(struct region *region, bool *any)
{
    struct side_key keys[REGION_SOURCES_MAX];
    const struct logical_node *side;
    double scan_rows;
    uint64_t left = region->full ? 0 : find_candidates(region, keys, &scan_rows), answered = 0;
    *any = left != 0;
    while (left) {
        const uint32_t s = smallest(region, left);
        left &= ~(UINT64_C(1) << s);
        RETURN_IF_ERROR(side_of(region, s, keys, answered, &side));
        RETURN_IF_ERROR(answer(region, s, &keys[s], scan_rows, side));
        answered |= UINT64_C(1) << s;
    }
    return *any ? settle(region) : STATUS_OK;
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
    for (uint32_t c = 0; c < side->column_count; c++) {
        struct column_use *use; /* its definition names sources that may come later: it is put as it is */
        RETURN_IF_ERROR(region_use(region, side->columns[c], &use));
        *use = (struct column_use){.definition = folded->definitions[c], .size = LOOK_UP_NODES};
    }
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

/* A condition that a dimension's answer has asked. */
static bool is_asked(const struct region *region, const struct sql_expression *tree)
{
    bool asked = false;
    for (const struct folded *at = *region->folded; at && !asked; at = at->next)
        for (uint32_t i = 0; at->definitions && i < at->asked.count && !asked; i++)
            asked = sql_same_expression(tree, at->asked.list[i].tree);
    return asked;
}

enum status region_ask_dimensions(struct region *region)
{
    if (!region->has_dimensions)
        return STATUS_OK;
    for (uint32_t i = 0; i < region->conjuncts.count; i++) {
        struct conjunct *const conjunct = &region->conjuncts.list[i];
        conjunct->sources = region_reads(region, conjunct->tree); /* a table may come after its dimension */
        conjunct->done |= is_told(region, conjunct->tree) || is_asked(region, conjunct->tree);
    }
    for (uint32_t k = 0; k < region->keys.count; k++)
        RETURN_IF_ERROR(region_split(region, region->keys.list[k].tree, &region->conjuncts));
    return STATUS_OK;
}
