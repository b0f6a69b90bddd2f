/*
 * fuzz_reached.h: what random statements are made of: which operations, functions, aggregates, window functions and nodes of
 * the tree of operators there were, of all that there are. The names come from the engine's own tables, so that what is added
 * there is missing here until a generator has it.
 *
 * reached_add takes a statement, and reached_print says what was in none. TESSERA_REACHED=FILE adds what several fuzzers
 * reach: each reads the file first, and writes it anew. Which rules of the grammar were used: tests/fuzz/reached.py.
 */
#ifndef TESSERA_TESTS_FUZZ_FUZZ_REACHED_H
#define TESSERA_TESTS_FUZZ_FUZZ_REACHED_H

#include "engine/aggregate/names.h"
#include "engine/function/function.h"
#include "engine/logical/logical.h"

#include <stdlib.h>

/* ---- Names ---- */

static const char *const reached_operations[] = {
    "null",   "number",     "string",   "date",          "timestamp", "interval", "true",
    "false",  "parameter",  "column",   "star",          "input",     "negate",   "not",
    "add",    "subtract",   "multiply", "divide",        "remainder", "equal",    "not equal",
    "less",   "less equal", "greater",  "greater equal", "and",       "or",       "between",
    "in",     "lookup",     "like",     "matches",       "is null",   "is truth", "is distinct",
    "concat", "case",       "function", "extract",       "cast",      "subquery", "exists"};
_Static_assert(sizeof reached_operations / sizeof *reached_operations == SQL_EXISTS + 1,
               "each operation of ast.h has a name");

/* Joins stand after the kinds of nodes, and sets after these. */
static const char *const reached_nodes[] = {
    "scan",      "values",    "filter",     "project",   "join",         "aggregate",   "window",
    "sort",      "limit",     "set",        "shared",    "recursive",    "working",     "inner join",
    "left join", "full join", "semi join",  "anti join", "mark join",    "single join", "union",
    "union all", "except",    "except all", "intersect", "intersect all"};
#define REACHED_JOINS (LOGICAL_WORKING + 1u)
#define REACHED_SETS  (REACHED_JOINS + LOGICAL_SINGLE + 1u)
_Static_assert(sizeof reached_nodes / sizeof *reached_nodes == REACHED_SETS + 2 * (SQL_SET_INTERSECT + 1),
               "each node, join and set has a name");

static const char *reached_operation(size_t index)
{
    return index > SQL_EXISTS ? NULL : reached_operations[index];
}

static const char *reached_node(size_t index)
{
    return index < sizeof reached_nodes / sizeof *reached_nodes ? reached_nodes[index] : NULL;
}

#define REACHED_MAX        300u /* names of a kind */
#define REACHED_PARAMETERS 400u

static struct reached {
    const char *what;
    const char *(*name)(size_t index); /* NULL at the end */
    bool in[REACHED_MAX];
} reached[] = {{.what = "operations", .name = reached_operation},
               {.what = "functions", .name = function_name},
               {.what = "aggregates", .name = aggregate_name},
               {.what = "window functions", .name = logical_window_name},
               {.what = "nodes", .name = reached_node}};
enum {
    REACHED_OPERATIONS,
    REACHED_FUNCTIONS,
    REACHED_AGGREGATES,
    REACHED_WINDOWS,
    REACHED_NODES,
    REACHED_KINDS
};

static void reached_name(struct reached *of, const char *name)
{
    for (size_t i = 0; i < REACHED_MAX && of->name(i); i++)
        of->in[i] |= strcmp(of->name(i), name) == 0;
}

/* Words before a parenthesis: names of functions, also of those that the parser makes something else of, as if(). */
static void reached_calls(const char *sql)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    char name[64];
    for (const char *at = sql; *at;) {
        const size_t length = strspn(at, letters);
        if (length && length < sizeof name && at[length] == '(') {
            for (size_t i = 0; i < length; i++)
                name[i] = (char)(at[i] + (at[i] >= 'A' && at[i] <= 'Z' ? 'a' - 'A' : 0));
            name[length] = '\0';
            for (size_t k = REACHED_FUNCTIONS; k <= REACHED_WINDOWS; k++)
                reached_name(&reached[k], name);
        }
        at += length ? length : 1;
    }
}

/* ---- Syntax trees ---- */

static void reached_select(const struct sql_select *select);

static void reached_orders(const struct sql_order *orders, uint32_t count);

static void reached_expression(const struct sql_expression *at)
{
    if (!at)
        return;
    reached[REACHED_OPERATIONS].in[at->operation] = true;
    for (uint32_t c = 0; c < at->child_count; c++)
        reached_expression(at->children[c]);
    if (at->query)
        reached_select(at->query);
    for (uint32_t p = 0; at->window && p < at->window->partition_count; p++)
        reached_expression(at->window->partitions[p]);
    if (at->window)
        reached_orders(at->window->orders, at->window->order_count);
}

static void reached_orders(const struct sql_order *orders, uint32_t count)
{
    for (uint32_t o = 0; o < count; o++)
        reached_expression(orders[o].expression);
}

static void reached_select(const struct sql_select *select)
{
    const struct sql_expression *const single[] = {select->where, select->having, select->qualify,
                                                   select->limit, select->offset};
    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        reached_expression(single[i]);
    for (uint32_t i = 0; i < select->item_count; i++)
        reached_expression(select->items[i].expression);
    for (uint32_t g = 0; g < select->group_count; g++)
        reached_expression(select->groups[g]);
    reached_orders(select->orders, select->order_count);
    for (uint32_t w = 0; w < select->with_count; w++)
        reached_select(select->withs[w].query);
    for (uint32_t p = 0; p < select->part_count; p++)
        reached_select(select->parts[p].select);
    for (uint32_t s = 0; s < select->source_count; s++) {
        reached_expression(select->sources[s].on);
        if (select->sources[s].query)
            reached_select(select->sources[s].query);
    }
}

/* ---- Trees of operators ---- */

static void reached_tree(const struct logical_node *node)
{
    bool *const in = reached[REACHED_NODES].in;
    in[node->kind] = true;
    if (node->kind == LOGICAL_JOIN)
        in[REACHED_JOINS + node->join.join] = true;
    if (node->kind == LOGICAL_SET)
        in[REACHED_SETS + 2 * node->set.set + node->set.all] = true;
    for (uint32_t i = 0; i < node->input_count; i++)
        reached_tree(node->inputs[i]);
}

static void reached_trees(const struct logical_tree *tree)
{
    reached_tree(tree->root);
    for (uint32_t s = 0; s < tree->shared_count; s++)
        reached_tree(tree->shared[s].root);
}

/* Adds a statement that is answered. */
static void reached_add(struct database *database, const char *sql)
{
    static struct sql_parameter nulls[REACHED_PARAMETERS];
    struct sql_statement_tree *arena = NULL;
    struct logical_tree tree = {.arena = NULL};
    size_t used;
    if (sql_parse(sql, strlen(sql), &arena, &used, NULL) != STATUS_OK || !arena)
        return;
    const struct sql_select *const select = sql_tree_select(arena);
    const struct logical_options options = {.parameters = nulls, .parameter_count = select->parameter_count};
    for (uint32_t p = 0; p < REACHED_PARAMETERS; p++)
        nulls[p] = (struct sql_parameter){.is_null = true, .type = VALUE_UNTYPED};
    reached_select(select);
    reached_calls(sql);
    if (select->parameter_count <= REACHED_PARAMETERS &&
        logical_bind(database, select, &options, arena, &tree, NULL) == STATUS_OK) {
        reached_trees(&tree);
        if (logical_rewrite(&options, &tree, NULL) == STATUS_OK) /* which makes semi joins and anti joins */
            reached_trees(&tree);
    }
    sql_tree_free(arena);
}

/* ---- Words for people ---- */

/* Lines of the file: KIND:NAME */
static void reached_read(const char *path)
{
    char line[128];
    FILE *const file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        for (size_t k = 0; k < REACHED_KINDS; k++) {
            const size_t length = strlen(reached[k].what);
            if (strncmp(line, reached[k].what, length) == 0 && line[length] == ':')
                reached_name(&reached[k], line + length + 1);
        }
    }
    if (file)
        fclose(file);
}

static void reached_write(const char *path)
{
    FILE *const file = fopen(path, "w");
    for (size_t k = 0; file && k < REACHED_KINDS; k++)
        for (size_t i = 0; reached[k].name(i); i++)
            if (reached[k].in[i])
                fprintf(file, "%s:%s\n", reached[k].what, reached[k].name(i));
    if (file)
        fclose(file);
}

static void reached_print(void)
{
    const char *const path = getenv("TESSERA_REACHED");
    if (path) {
        reached_read(path);
        reached_write(path);
    }
    /* no syntax has these two, and total() is refused: the name is SQLite's own */
    reached[REACHED_OPERATIONS].in[SQL_INPUT] = reached[REACHED_OPERATIONS].in[SQL_LOOKUP] = true;
    reached_name(&reached[REACHED_AGGREGATES], "total");
    for (size_t k = 0; k < REACHED_KINDS; k++) {
        uint32_t all = 0, count = 0;
        for (; reached[k].name(all); all++)
            count += reached[k].in[all];
        printf("%s: reached %u of %u%s", reached[k].what, count, all, count < all ? "; not:" : "");
        for (uint32_t i = 0, missed = 0; i < all; i++)
            if (!reached[k].in[i])
                printf("%s %s", missed++ ? "," : "", reached[k].name(i));
        printf("\n");
    }
    fflush(stdout);
}

#endif
