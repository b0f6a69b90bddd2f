/*
 * recursive.c: answers WITH RECURSIVE (execute.h). The first part's rows are the working rows. The step is answered over
 * these alone; the rows that it finds, of UNION those that were not found before, are the next working rows, until there
 * are none. All rows that were found, in the order of the steps, are the answer.
 *
 * A step is planned each time, which takes some 0.1 to 1 ms, because the values of the working rows decide the plan. What
 * its trees and its results need is freed after it; what is found stays: 8 bytes a value, and of UNION, in the table of
 * rows that were found, 9 more and the bytes of strings.
 */
#include "engine/relational/relational.h"
#include "storage/base/hash_table.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* A recursive query is expected to give so many times the rows that it begins with. */
#define STEPS_EXPECTED 10

/* ---- The rows that were found ---- */

/* Rows as bytes one after the other, where they begin, and a table of them. All are spillable. */
struct found {
    char *bytes;
    uint64_t *starts; /* of the rows, and of the next one */
    size_t used, room;
    uint64_t start_room;
    struct hash_table rows;
};

struct recursion {
    struct relational *run;
    const struct logical_node *node;
    uint32_t columns;
    struct rowset_builder *rows; /* all */
    uint64_t row_count;
    struct rowset_cell *cells; /* of a row */
    struct found found;
};

static void cells_of(const struct rowset *rows, uint64_t row, struct rowset_cell *cells)
{
    for (uint32_t c = 0; c < rows->column_count; c++) {
        const struct rowset_column *const column = &rows->columns[c];
        cells[c] = (struct rowset_cell){.null = column->nulls && column->nulls[row]};
        if (cells[c].null)
            continue;
        cells[c].number = column->values[row];
        if (column->type.kind == VALUE_STRING)
            cells[c].string = dictionary_string(column->type.dictionary, cells[c].number, &cells[c].length);
    }
}

/* Writes a row after the others, for which there is room then: equal rows have equal bytes. */
static enum status write_row(struct recursion *recursion)
{
    struct found *const found = &recursion->found;
    const uint64_t rows = found->rows.count;
    size_t bytes = 0;
    for (uint32_t c = 0; c < recursion->columns; c++)
        bytes += 9 + recursion->cells[c].length;
    if (found->used + bytes > found->room || !found->bytes) {
        found->room = 2 * (found->used + bytes) + 1;
        RETURN_IF_ERROR(
            spillable_grow(&found->bytes, found->room, "a recursive query", recursion->run->error));
    }
    if (rows + 2 > found->start_room) {
        found->start_room = 2 * rows + 1024;
        RETURN_IF_ERROR(spillable_grow(&found->starts, found->start_room * sizeof *found->starts,
                                       "a recursive query", recursion->run->error));
    }
    char *at = found->bytes + found->used;
    for (uint32_t c = 0; c < recursion->columns; c++) {
        const struct rowset_cell *const cell = &recursion->cells[c];
        const int64_t number = cell->null ? 0 : cell->string ? cell->length : cell->number;
        *at++ = (char)cell->null;
        memcpy(at, &number, sizeof number);
        at += sizeof number;
        if (cell->length)
            memcpy(at, cell->string, cell->length);
        at += cell->length;
    }
    found->starts[rows] = found->used;
    found->starts[rows + 1] = (uint64_t)(at - found->bytes);
    return hash_table_reserve(&found->rows, 1, "a recursive query", recursion->run->error);
}

/* True if a row is the one that is written last. */
static bool is_last(const void *context, uint32_t row)
{
    const struct found *const found = context;
    const uint64_t *const start = &found->starts[row], *const last = &found->starts[found->rows.count];
    return start[1] - start[0] == last[1] - last[0] &&
           memcmp(found->bytes + start[0], found->bytes + last[0], last[1] - last[0]) == 0;
}

/* *is_new: the row in `cells` was not found before; now it is. */
static enum status find_row(struct recursion *recursion, bool *is_new)
{
    struct found *const found = &recursion->found;
    RETURN_IF_ERROR(write_row(recursion));
    const uint64_t row = found->rows.count, end = found->starts[row + 1];
    const uint64_t hash = XXH3_64bits(found->bytes + found->used, end - found->used);
    *is_new = hash_table_put(&found->rows, hash, (uint32_t)row, is_last, found) == HASH_TABLE_NONE;
    if (*is_new)
        found->used = end;
    return STATUS_OK;
}

/* ---- Steps ---- */

static enum status add_row(struct recursion *recursion)
{
    const struct logical_node *const node = recursion->node;
    struct relational *const run = recursion->run;
    if (recursion->row_count++ == RELATION_ROWS_MAX)
        return relational_refuse(
            run, node->position, "the recursive query %s has more than %llu rows; does it end?",
            run->tree->shared[node->recursive.step].name, (unsigned long long)RELATION_ROWS_MAX);
    return rowset_builder_add(recursion->rows, recursion->cells, run->error);
}

/* Keeps the rows that are new, and makes them the working rows; *result, of the part's columns, is used up. */
static enum status keep_rows(struct recursion *recursion, uint32_t part, struct result *result)
{
    struct relational *const run = recursion->run;
    const struct logical_node *const node = recursion->node;
    struct result *const working = &run->shared[node->recursive.step].result;
    const struct logical_node *const root = run->tree->shared[part].root;
    struct rowset rows;
    uint64_t *places, kept = 0;
    RETURN_IF_ERROR(result_rows(run, result, root->columns, root->column_count, &rows));
    enum status status =
        spillable_rows(&places, (rows.rows + 1) * sizeof *places, "a recursive query", run->error);
    for (uint64_t row = 0; status == STATUS_OK && row < rows.rows; row++) {
        bool is_new = true;
        if (recursion->row_count == node->recursive.most)
            break;
        cells_of(&rows, row, recursion->cells);
        if (!node->recursive.all)
            status = find_row(recursion, &is_new);
        if (status == STATUS_OK && is_new) {
            places[kept++] = row;
            status = add_row(recursion);
        }
    }
    if (status == STATUS_OK)
        status = result_of_rows(run, &rows, node->columns, working);
    else
        rowset_free(&rows);
    if (status == STATUS_OK && kept < working->rows)
        status = result_select(run, working, places, kept);
    spillable_free(places);
    return status;
}

/* Answers one of the two parts. */
static enum status answer_part(struct recursion *recursion, uint32_t part, struct result *result)
{
    struct relational *const run = recursion->run;
    const struct logical_node *const root = run->tree->shared[part].root;
    struct logical_set needed;
    RETURN_IF_ERROR(relational_set(run, &needed));
    for (uint32_t c = 0; c < root->column_count; c++)
        logical_put(&needed, root->columns[c]);
    return relational_node(run, root, &needed, result);
}

/* True if the subtree, with the shared queries that it names, has the rows that the step found last. */
static bool has_working(const struct logical_tree *tree, const struct logical_node *node, uint32_t step)
{
    bool any =
        (node->kind == LOGICAL_WORKING && node->working.step == step) ||
        (node->kind == LOGICAL_SHARED && has_working(tree, tree->shared[node->shared.shared].root, step)) ||
        (node->kind == LOGICAL_RECURSIVE &&
         (has_working(tree, tree->shared[node->recursive.first].root, step) ||
          has_working(tree, tree->shared[node->recursive.step].root, step)));
    for (uint32_t i = 0; i < node->input_count && !any; i++)
        any = has_working(tree, node->inputs[i], step);
    return any;
}

/* Shared queries over the working rows are other ones in the next step. */
static void forget_shared(struct recursion *recursion)
{
    struct relational *const run = recursion->run;
    const uint32_t step = recursion->node->recursive.step;
    for (uint32_t s = 0; s < run->tree->shared_count; s++)
        if (run->shared[s].done && has_working(run->tree, run->tree->shared[s].root, step)) {
            result_free(&run->shared[s].result);
            run->shared[s].done = false;
        }
}

/* Answers the step over the working rows. Trees that are made for it are freed after it. */
static enum status answer_step(struct recursion *recursion, struct result *result)
{
    struct relational *const run = recursion->run;
    struct sql_statement_tree *const arena = run->arena;
    struct sql_parameter *const parameters = run->parameters;
    const struct memory_charge lists = run->lists;
    const uint32_t count = run->parameter_count;
    enum status status = STATUS_OK;
    run->lists = (struct memory_charge){0};
    run->arena = sql_tree_new();
    run->parameters = NULL;
    run->parameter_count = 0;
    if (!run->arena)
        status = error_out_of_memory(run->error, 0, "a recursive query");
    for (uint32_t p = 0; status == STATUS_OK && p < count; p++)
        status = sql_tree_append(run->arena, &run->parameters, &run->parameter_count, sizeof *parameters,
                                 &parameters[p], run->error);
    run->repeats++;
    if (status == STATUS_OK)
        status = answer_part(recursion, recursion->node->recursive.step, result);
    run->repeats--;
    forget_shared(recursion);
    memory_charge_drop(&run->lists);
    sql_tree_free(run->arena);
    run->lists = lists;
    run->arena = arena;
    run->parameters = parameters;
    run->parameter_count = count;
    return status;
}

/* Repeats the step; the first one is explained. */
static enum status repeat(struct recursion *recursion, struct operator* operator)
{
    struct relational *const run = recursion->run;
    const struct logical_node *const node = recursion->node;
    struct explain_tree *const explained = run->explained;
    struct result *const working = &run->shared[node->recursive.step].result;
    struct result result;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && working->rows && recursion->row_count < node->recursive.most) {
        status = cancel_check(run->error);
        if (status == STATUS_OK)
            status = answer_step(recursion, &result);
        if (status != STATUS_OK)
            break;
        if (run->explained)
            explain_under(operator->node, result.explained);
        run->explained = NULL;
        result_free(working);
        status = keep_rows(recursion, node->recursive.step, &result);
    }
    run->explained = explained;
    result_free(working);
    return status;
}

/* EXPLAIN: the step is told once. */
static enum status explain_step(struct recursion *recursion, struct operator* operator,
                                struct result * result)
{
    struct result *const working = &recursion->run->shared[recursion->node->recursive.step].result;
    struct result step;
    *working = (struct result){.rows = result->rows};
    RETURN_IF_ERROR(answer_step(recursion, &step));
    explain_under(operator->node, step.explained);
    operator_dry(operator, STEPS_EXPECTED *(double) working->rows, result);
    *working = (struct result){0};
    return STATUS_OK;
}

/* ---- The whole ---- */

static enum status create(struct recursion *recursion)
{
    struct relational *const run = recursion->run;
    const struct logical_node *const node = recursion->node;
    const char **names;
    struct value_type *types;
    RETURN_IF_ERROR(relational_memory(run, (node->column_count + 1) * sizeof *names, &names));
    RETURN_IF_ERROR(relational_memory(run, (node->column_count + 1) * sizeof *types, &types));
    RETURN_IF_ERROR(
        relational_memory(run, (node->column_count + 1) * sizeof *recursion->cells, &recursion->cells));
    for (uint32_t c = 0; c < node->column_count; c++) {
        names[c] = run->tree->columns[node->columns[c]].name;
        types[c] = run->tree->columns[node->columns[c]].type;
    }
    return rowset_builder_create(node->column_count, names, types, &recursion->rows, run->error);
}

static enum status answer(struct recursion *recursion, struct operator* operator, struct result * result)
{
    struct relational *const run = recursion->run;
    const struct logical_node *const node = recursion->node;
    struct rowset rows;
    RETURN_IF_ERROR(answer_part(recursion, node->recursive.first, result));
    const double expected = STEPS_EXPECTED * (double)result->rows;
    operator_begin(run, "recursive", result, NULL, operator);
    explain_words(operator->node, "name", "%s", run->tree->shared[node->recursive.step].name);
    if (node->recursive.all)
        explain_words(operator->node, "all", "all");
    if (run->dry)
        return explain_step(recursion, operator, result);
    RETURN_IF_ERROR(keep_rows(recursion, node->recursive.first, result));
    RETURN_IF_ERROR(repeat(recursion, operator));
    rowset_builder_finish(recursion->rows, &rows);
    RETURN_IF_ERROR(result_of_rows(run, &rows, node->columns, result));
    operator_end(run, operator, expected, result);
    return STATUS_OK;
}

enum status relational_recursive(struct relational *run, const struct logical_node *node,
                                 struct result *result)
{
    struct recursion recursion = {.run = run, .node = node, .columns = node->column_count};
    struct operator operator;
    recursion.found.rows.memory = HASH_TABLE_ROWS;
    enum status status = create(&recursion);
    if (status == STATUS_OK)
        status = answer(&recursion, &operator, result);
    rowset_builder_free(recursion.rows);
    spillable_free(recursion.found.bytes);
    spillable_free(recursion.found.starts);
    hash_table_free(&recursion.found.rows);
    return status;
}

enum status relational_working(struct relational *run, const struct logical_node *node, struct result *result)
{
    const struct result *const working = &run->shared[node->working.step].result;
    uint32_t *numbers;
    struct operator operator;
    RETURN_IF_ERROR(relational_memory(run, (node->column_count + 1) * sizeof *numbers, &numbers));
    for (uint32_t c = 0; c < working->column_count; c++)
        numbers[c] = working->columns[c].number;
    operator_begin(run, "shared", NULL, NULL, &operator);
    explain_words(operator.node, "name", "%s", run->tree->shared[node->working.step].name);
    RETURN_IF_ERROR(result_renamed(run, working, node->column_count, numbers, node->columns, result));
    operator_end(run, &operator,(double) working->rows, result);
    return STATUS_OK;
}
