/* stars.c: which stored tables of a region one plan answers, and that plan (region.h). */
#include "engine/relational/region.h"

#include "engine/sql/tree/scope.h"

#include <string.h>

/* ---- Units ---- */

static bool is_stored(const struct source *source)
{
    return source->node->kind == LOGICAL_SCAN &&
           (source->join == LOGICAL_INNER || source->join == LOGICAL_LEFT);
}

static bool is_inner(const struct source *source)
{
    return source->node->kind == LOGICAL_SCAN && source->join == LOGICAL_INNER;
}

/* The source and the stored column of an expression that is one. */
static const struct column *column_of(const struct region *region, const struct sql_expression *tree,
                                      uint32_t *source)
{
    if (tree->operation != SQL_INPUT || !region_maker(region, tree->index))
        return NULL;
    *source = region_maker(region, tree->index) - 1;
    const struct source *const of = &region->sources[*source];
    return of->node->kind == LOGICAL_SCAN
               ? &of->node->scan.table->columns[region->run->uses[tree->index].stored]
               : NULL;
}

/* True if the condition is an equality along a reference: from source *child to source *parent. */
static bool is_reference(const struct region *region, const struct sql_expression *tree, uint32_t *child,
                         uint32_t *parent)
{
    uint32_t s[2] = {0};
    if (tree->operation != SQL_EQUAL)
        return false;
    const struct column *const columns[2] = {column_of(region, tree->children[0], &s[0]),
                                             column_of(region, tree->children[1], &s[1])};
    for (int turned = 0; turned < 2; turned++)
        if (columns[0] && columns[1] && s[0] != s[1] && columns[turned]->references == columns[!turned]) {
            *child = s[turned];
            *parent = s[!turned];
            return true;
        }
    return false;
}

/* True if the conditions compare columns a of source `child` and b of source `parent`. */
static bool has_pair(const struct region *region, const struct conjuncts *conjuncts, uint32_t child,
                     const struct column *a, uint32_t parent, const struct column *b)
{
    for (uint32_t i = 0; i < conjuncts->count; i++) {
        const struct sql_expression *const tree = conjuncts->list[i].tree;
        uint32_t s[2] = {0};
        if (tree->operation != SQL_EQUAL)
            continue;
        const struct column *const columns[2] = {column_of(region, tree->children[0], &s[0]),
                                                 column_of(region, tree->children[1], &s[1])};
        for (int turned = 0; turned < 2; turned++)
            if (columns[turned] == a && columns[!turned] == b && s[turned] == child && s[!turned] == parent)
                return true;
    }
    return false;
}

/* True if the conditions compare all columns of a reference of several columns. */
static bool is_reference_of_several(const struct region *region, const struct conjuncts *conjuncts,
                                    uint32_t child, uint32_t parent)
{
    const struct source *const from = &region->sources[child], *const to = &region->sources[parent];
    const struct table *const table = from->node->scan.table, *const other = to->node->scan.table;
    for (uint32_t c = table_visible_columns(table); c < table->column_count; c++) {
        const struct key_columns *const of = &table->columns[c].schema.of, *const key =
                                                                               &table->columns[c].schema.key;
        bool all = table->columns[c].references && table->columns[c].references->table == other;
        for (uint32_t k = 0; all && k < key->count; k++)
            all = has_pair(region, conjuncts, child, &table->columns[of->columns[k]], parent,
                           &other->columns[key->columns[k]]);
        if (all)
            return true;
    }
    return false;
}

/* ---- Tables that are no dimensions ---- */

/* Of a table of a star each column that is read becomes an array of all of its rows, 2 ns each. A table of so many rows
 * that has so many times the rows of those which lead to it is joined instead: few of its rows would be looked up.
 * TPC-DS 50 at SF 1, where sales have 10 times the rows of returns: 196 ms as a star, 58 joined. */
#define ARRAY_ROWS_MIN    (UINT64_C(1) << 18)
#define ARRAY_ROWS_FACTOR 2

/* True if source `child` references source `parent`, by a condition of WHERE or of the parent's ON. */
static bool references(const struct region *region, uint32_t child, uint32_t parent)
{
    const struct conjuncts *const asked[] = {&region->conjuncts, &region->sources[parent].on};
    uint32_t from, to;
    if (!is_stored(&region->sources[child]) || !is_stored(&region->sources[parent]) || child == parent)
        return false;
    for (int of = 0; of < 2; of++) {
        for (uint32_t i = 0; i < asked[of]->count; i++)
            if (is_reference(region, asked[of]->list[i].tree, &from, &to) && from == child && to == parent)
                return true;
        if (is_reference_of_several(region, asked[of], child, parent))
            return true;
    }
    return false;
}

/* The most rows of a table from which references lead to source `parent`; 0: none does. */
static uint64_t referencing_rows(const struct region *region, uint32_t parent)
{
    bool leads[REGION_SOURCES_MAX] = {false};
    uint32_t found[REGION_SOURCES_MAX] = {parent};
    uint64_t most = 0;
    leads[parent] = true;
    for (uint32_t done = 0, count = 1; done < count; done++)
        for (uint32_t child = 0; child < region->source_count; child++) {
            if (leads[child] || !references(region, child, found[done]))
                continue;
            const uint64_t rows = region->sources[child].node->scan.table->rows;
            leads[child] = true;
            found[count++] = child;
            most = rows > most ? rows : most;
        }
    return most;
}

static bool is_too_large(const struct region *region, uint32_t s)
{
    if (!is_stored(&region->sources[s]) || region->sources[s].node->scan.table->rows < ARRAY_ROWS_MIN)
        return false;
    const uint64_t most = referencing_rows(region, s);
    return most && region->sources[s].node->scan.table->rows / ARRAY_ROWS_FACTOR > most;
}

bool region_is_stored(const struct region *region)
{
    bool inner = false;
    for (uint32_t s = 0; s < region->source_count; s++) {
        if (!is_stored(&region->sources[s]) || is_too_large(region, s))
            return false;
        inner |= is_inner(&region->sources[s]);
    }
    return inner && region->source_count <= SQL_SOURCES_MAX && !region->full;
}

/* ---- Uniting ---- */

static void unite(struct region *region, uint32_t child, uint32_t parent)
{
    const uint32_t from = region->sources[parent].unit, into = region->sources[child].unit;
    for (uint32_t s = 0; s < region->source_count; s++)
        if (region->sources[s].unit == from)
            region->sources[s].unit = into;
}

uint64_t region_unit(const struct region *region, uint32_t unit)
{
    uint64_t sources = 0;
    for (uint32_t s = 0; s < region->source_count; s++)
        sources |= (uint64_t)(region->sources[s].unit == unit) << s;
    return sources;
}

/* An inner table is joined to one that references it, unless another one has done so. */
static void unite_inner(struct region *region)
{
    bool bound[REGION_SOURCES_MAX];
    uint32_t child, parent;
    for (uint32_t s = 0; s < region->source_count; s++)
        bound[s] = is_too_large(region, s);
    for (uint32_t i = 0; i < region->conjuncts.count; i++) {
        if (!is_reference(region, region->conjuncts.list[i].tree, &child, &parent) || bound[parent] ||
            !is_inner(&region->sources[child]) || !is_inner(&region->sources[parent]) ||
            region->sources[child].unit == region->sources[parent].unit)
            continue;
        bound[parent] = true;
        unite(region, child, parent);
    }
    for (parent = 0; parent < region->source_count; parent++)
        for (child = 0; child < region->source_count && !bound[parent]; child++)
            if (is_inner(&region->sources[child]) && is_inner(&region->sources[parent]) &&
                region->sources[child].unit != region->sources[parent].unit &&
                is_reference_of_several(region, &region->conjuncts, child, parent)) {
                bound[parent] = true;
                unite(region, child, parent);
            }
}

/* A table of a LEFT JOIN is joined to one that references it, of the unit of an inner one, if ON reads nothing outside that. */
static void unite_left(struct region *region, uint32_t s)
{
    const struct conjuncts *const on = &region->sources[s].on;
    uint64_t reads = 0;
    uint32_t child = s, from, to;
    for (uint32_t i = 0; i < on->count; i++) {
        reads |= on->list[i].sources;
        if (is_reference(region, on->list[i].tree, &from, &to) && to == s &&
            is_stored(&region->sources[from]))
            child = from;
    }
    for (uint32_t other = 0; other < s && child == s; other++)
        if (is_stored(&region->sources[other]) && is_reference_of_several(region, on, other, s))
            child = other;
    if (child != s && is_inner(&region->sources[region->sources[child].unit]) &&
        !(reads & ~(region_unit(region, region->sources[child].unit) | UINT64_C(1) << s)))
        unite(region, child, s);
}

void region_find_units(struct region *region)
{
    for (uint32_t s = 0; s < region->source_count; s++)
        region->sources[s].unit = s;
    unite_inner(region);
    for (uint32_t s = 0; s < region->source_count; s++)
        if (is_stored(&region->sources[s]) && region->sources[s].join == LOGICAL_LEFT &&
            !is_too_large(region, s))
            unite_left(region, s);
}

/* ---- The plan ---- */

/* The sources of a plan: which table of it each is. */
struct star {
    const struct region *region;
    uint32_t places[REGION_SOURCES_MAX];
    struct sql_star_table tables[REGION_SOURCES_MAX];
    struct sql_star of; /* these */
};

static const struct column *find_column(const void *context, uint32_t number, uint32_t *table)
{
    const struct star *const star = context;
    const struct sql_expression input = {.operation = SQL_INPUT, .index = number};
    const struct column *const column = column_of(star->region, &input, table);
    if (column)
        *table = star->places[*table];
    return column;
}

/* A single source stands for itself, also the right one of a LEFT JOIN. */
static bool is_left(const struct source *source, uint64_t sources)
{
    return source->join == LOGICAL_LEFT && (sources & (sources - 1));
}

/* What is asked of INNER sources becomes a condition of WHERE. */
static enum status ask_filters(const struct region *region, uint64_t sources, struct sql_select *select)
{
    for (uint32_t s = 0; s < region->source_count; s++)
        if ((sources >> s & 1) && !is_left(&region->sources[s], sources) && region->sources[s].filter)
            RETURN_IF_ERROR(relational_and(region->run, &select->where, region->sources[s].filter));
    return STATUS_OK;
}

static enum status add_source(struct star *star, const struct source *source, bool left)
{
    struct relational *const run = star->region->run;
    const struct logical_node *const scan = source->node;
    struct sql_star_table *const table = &star->tables[star->of.table_count++];
    *table = (struct sql_star_table){.table = scan->scan.table,
                                     .name = scan->scan.name ? scan->scan.name : scan->scan.table->name,
                                     .position = source->position,
                                     .left = left};
    for (uint32_t i = 0; table->left && i < source->on.count; i++)
        RETURN_IF_ERROR(relational_and(run, &table->on, source->on.list[i].tree));
    return STATUS_OK;
}

/* ---- EXPLAIN ---- */

/* The columns that an expression waits for: all others are those of stored tables. */
static enum status find_unknown(struct region *region, const struct sql_expression *tree, const char **after)
{
    uint32_t source;
    if (tree && tree->operation == SQL_INPUT && !column_of(region, tree, &source))
        RETURN_IF_ERROR(region_after(region, after, tree->index));
    for (uint32_t c = 0; tree && c < tree->child_count; c++)
        RETURN_IF_ERROR(find_unknown(region, tree->children[c], after));
    return STATUS_OK;
}

/* Leaves conditions out that wait for something. */
static enum status leave_unknown(struct region *region, struct sql_expression **where,
                                 struct sql_expression **waiting, double *share, const char **after)
{
    struct conjuncts conjuncts = {0};
    struct relational *const run = region->run;
    RETURN_IF_ERROR(region_split(region, *where, &conjuncts));
    *where = NULL;
    for (uint32_t i = 0; i < conjuncts.count; i++) {
        const char *waits = NULL;
        RETURN_IF_ERROR(find_unknown(region, conjuncts.list[i].tree, &waits));
        if (!waits) {
            RETURN_IF_ERROR(relational_and(run, where, conjuncts.list[i].tree));
            continue;
        }
        RETURN_IF_ERROR(find_unknown(region, conjuncts.list[i].tree, after));
        RETURN_IF_ERROR(relational_and(run, waiting, conjuncts.list[i].tree));
        *share *= estimate_share(run, conjuncts.list[i].tree);
    }
    return STATUS_OK;
}

/* Explains a plan that is not run: with the conditions that are known. What is grouped or computed by values that are not
 * is no plan yet. */
static enum status explain_unit(struct region *region, uint64_t sources, const struct star *star,
                                struct sql_select *select, const uint32_t *numbers, struct result *result)
{
    struct relational *const run = region->run;
    const char *after = NULL, *above = NULL;
    struct sql_expression *waiting = NULL;
    struct operator operator;
    double share = 1, rows = 1;
    for (uint32_t s = 0; s < region->source_count; s++)
        if (sources >> s & 1) {
            const double most = (double)region->sources[s].node->scan.table->rows;
            rows = most > rows ? most : rows;
            share *= region->sources[s].reduced;
            after = region->sources[s].after ? region->sources[s].after : after;
        }
    RETURN_IF_ERROR(leave_unknown(region, &select->where, &waiting, &share, &after));
    for (uint32_t i = 0; i < select->item_count; i++)
        RETURN_IF_ERROR(find_unknown(region, select->items[i].expression, &above));
    for (uint32_t g = 0; g < select->group_count; g++)
        RETURN_IF_ERROR(find_unknown(region, select->groups[g], &above));
    for (uint32_t o = 0; o < select->order_count; o++)
        RETURN_IF_ERROR(find_unknown(region, select->orders[o].expression, &above));
    RETURN_IF_ERROR(find_unknown(region, select->having, &above));
    if (above) {
        operator.node = explain_new(run->explained, "scan of tables");
        operator_dry(&operator, share * estimate_select(run, select, rows), result);
    } else {
        RETURN_IF_ERROR(relational_plan(run, &star->of, select, numbers, result));
        operator.node = result->explained;
        if (!estimate_is_aggregated(select))
            operator_dry(&operator, share *(double) result->rows, result);
    }
    if (after || above)
        explain_words(operator.node, "after", "%s%s%s", after ? after : "", after && above ? ", " : "",
                      above ? above : "");
    operator_words(run, waiting ? explain_part(operator_scan(result), "waiting") : NULL, "condition",
                   &waiting, 1);
    return STATUS_OK;
}

static enum status make_star(struct region *region, uint64_t sources, struct star **star)
{
    RETURN_IF_ERROR(relational_memory(region->run, sizeof **star, star));
    **star = (struct star){.region = region,
                           .of = {.database = region->run->task->database,
                                  .tables = (*star)->tables,
                                  .column = find_column,
                                  .context = *star}};
    for (uint32_t s = 0; s < region->source_count; s++) {
        (*star)->places[s] = (*star)->of.table_count;
        if (sources >> s & 1)
            RETURN_IF_ERROR(add_source(*star, &region->sources[s], is_left(&region->sources[s], sources)));
    }
    return STATUS_OK;
}

static enum status plan_select(struct region *region, uint64_t sources, struct sql_select *select,
                               const uint32_t *numbers, struct result *result)
{
    struct relational *const run = region->run;
    struct star *star;
    *result = (struct result){0};
    RETURN_IF_ERROR(make_star(region, sources, &star));
    return run->dry ? explain_unit(region, sources, star, select, numbers, result)
                    : relational_plan(run, &star->of, select, numbers, result);
}

enum status region_plan(struct region *region, uint64_t sources, struct sql_select *select,
                        const uint32_t *numbers, struct result *result)
{
    struct relational *const run = region->run;
    struct sql_select *first;
    uint32_t *first_numbers;
    struct result rows;
    RETURN_IF_ERROR(ask_filters(region, sources, select));
    RETURN_IF_ERROR(relational_copy_select(run, select, &first));
    const enum status status = plan_select(region, sources, first, numbers, result);
    if (status != STATUS_BAD_INPUT || !sql_cuts_select(run->cut) || run->kept)
        return status;
    *run->error = (struct error){0};
    RETURN_IF_ERROR(relational_cut(run, run->cut, select, &first, &first_numbers));
    RETURN_IF_ERROR(plan_select(region, sources, first, first_numbers, &rows));
    return relational_second(run, &rows, select, numbers, result);
}

/* ---- Counting ---- */

enum status region_count(struct region *region, uint64_t sources)
{
    struct relational *const run = region->run;
    const struct source *const first = &region->sources[__builtin_ctzll(sources)];
    double *const counted = first->node->scan.counted, share = 1, rows = 0;
    const char *after = NULL;
    struct sql_expression *item, *all, *waiting = NULL;
    struct sql_select *select;
    struct star *star;
    if (*counted > 0)
        return STATUS_OK;
    RETURN_IF_ERROR(relational_memory(run, sizeof *select, &select));
    RETURN_IF_ERROR(relational_literal(run, first->position, SQL_FUNCTION, NULL, &item));
    item->name = "count";
    RETURN_IF_ERROR(sql_tree_node(run->arena, SQL_STAR, first->position, &all, run->error));
    RETURN_IF_ERROR(sql_tree_child(run->arena, item, all, run->error));
    RETURN_IF_ERROR(relational_item(run, select, item, run->next_column++));
    RETURN_IF_ERROR(ask_filters(region, sources, select));
    RETURN_IF_ERROR(make_star(region, sources, &star));
    RETURN_IF_ERROR(leave_unknown(region, &select->where, &waiting, &share, &after));
    const struct error before = *run->error;
    const enum status status = estimate_count(run, &star->of, select, &rows);
    if (status == STATUS_BAD_INPUT) { /* what is refused is refused when it is answered */
        *run->error = before;
        return STATUS_OK;
    }
    *counted = share * rows > 0.5 ? share * rows : 0.5;
    return status;
}
