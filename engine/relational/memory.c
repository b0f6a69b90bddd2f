/* memory.c: rows of operators as a table that a SELECT is planned over (relational.h, rows_table.h). */
#include "engine/relational/rows_table.h"
#include "engine/relational/spill/spill.h"

#include "engine/sql/aggregates/aggregate_names.h"

#include <stdlib.h>
#include <string.h>

#define TABLE_NAME "answer"

/* The columns of a result that a SELECT names. */
struct naming {
    struct relational *run;
    const struct result *from;
    uint32_t count;
    uint32_t *numbers;
    struct table *table; /* of them */
};

static enum status note_name(struct naming *naming, uint32_t number)
{
    for (uint32_t i = 0; i < naming->count; i++)
        if (naming->numbers[i] == number)
            return STATUS_OK;
    return sql_tree_append(naming->run->arena, &naming->numbers, &naming->count, sizeof number, &number,
                           naming->run->error);
}

static enum status note_names(struct naming *naming, const struct sql_expression *tree)
{
    if (tree && tree->operation == SQL_INPUT)
        return note_name(naming, tree->index);
    for (uint32_t c = 0; tree && c < tree->child_count; c++)
        RETURN_IF_ERROR(note_names(naming, tree->children[c]));
    return STATUS_OK;
}

static enum status note_all(struct naming *naming, const struct sql_select *select)
{
    for (uint32_t i = 0; i < select->item_count; i++)
        RETURN_IF_ERROR(note_names(naming, select->items[i].expression));
    for (uint32_t g = 0; g < select->group_count; g++)
        RETURN_IF_ERROR(note_names(naming, select->groups[g]));
    for (uint32_t o = 0; o < select->order_count; o++)
        RETURN_IF_ERROR(note_names(naming, select->orders[o].expression));
    RETURN_IF_ERROR(note_names(naming, select->where));
    return note_names(naming, select->having);
}

static const struct column *find_column(const void *context, uint32_t number, uint32_t *table)
{
    const struct naming *const naming = context;
    *table = 0;
    for (uint32_t i = 0; i < naming->count; i++)
        if (naming->numbers[i] == number)
            return &naming->table->columns[i];
    return NULL;
}

/* The column's name in EXPLAIN. */
static const char *name_of(const struct naming *naming, uint32_t number)
{
    const struct logical_tree *const tree = naming->run->tree;
    const char *const name = number < tree->column_count ? tree->columns[number].name : NULL;
    return name && *name ? name : "computed";
}

/* Makes the table; columns whose rows are in another order are copied first. */
static enum status fill_table(struct naming *naming, struct rows_table_column *columns,
                              struct rowset_column *copies)
{
    struct relational *const run = naming->run;
    for (uint32_t i = 0; i < naming->count; i++) {
        const uint64_t *places;
        const struct rowset_column *from = result_column(naming->from, naming->numbers[i], &places);
        if (!from)
            return error_set(run->error, STATUS_BAD_INPUT, "column %u of the tree is not answered",
                             naming->numbers[i]);
        if (places) {
            RETURN_IF_ERROR(relation_gather(from, places, naming->from->rows,
                                            engine_threads(run->task->engine), &copies[i], run->error));
            from = &copies[i];
        }
        columns[i] = (struct rows_table_column){name_of(naming, naming->numbers[i]), from};
    }
    return rows_table_make(TABLE_NAME, columns, naming->count, naming->from->rows,
                           engine_threads(run->task->engine), &naming->table, run->error);
}

static enum status open_table(struct naming *naming)
{
    struct relational *const run = naming->run;
    struct rows_table_column *columns;
    struct rowset_column *copies = NULL;
    RETURN_IF_ERROR(relational_memory(run, (naming->count + 1) * sizeof *columns, &columns));
    RETURN_IF_ERROR(relational_memory(run, (naming->count + 1) * sizeof *copies, &copies));
    const enum status status = fill_table(naming, columns, copies);
    for (uint32_t i = 0; i < naming->count; i++)
        rowset_column_free(&copies[i]);
    return status;
}

/* EXPLAIN, which has no rows to plan over, tells what will be asked of them. */
static enum status explain_select(struct relational *run, const struct result *from,
                                  const struct sql_select *select, struct result *result)
{
    struct operator operator;
    struct sql_expression *item;
    operator_begin(run, "select", from, NULL, &operator);
    operator_words(run, operator.node, "groups", select->groups, select->group_count);
    operator_words(run, operator.node, "condition", &select->where, select->where != NULL);
    operator_words(run, operator.node, "having", &select->having, select->having != NULL);
    for (uint32_t i = 0; i < select->item_count; i++) {
        item = select->items[i].expression;
        if (sql_has_aggregate(item))
            operator_words(run, explain_part(operator.node, "item"), "expression", &item, 1);
    }
    operator_dry(&operator, estimate_select(run, select, (double)from->rows), result);
    return STATUS_OK;
}

static enum status plan_select(struct relational *run, const struct result *from, struct sql_select *select,
                               const uint32_t *numbers, struct result *result)
{
    struct naming naming = {.run = run, .from = from};
    *result = (struct result){0};
    if (run->dry)
        return explain_select(run, from, select, result);
    RETURN_IF_ERROR(note_all(&naming, select));
    RETURN_IF_ERROR(open_table(&naming));
    const struct sql_star_table table = {
        .table = naming.table, .name = TABLE_NAME, .position = select->position};
    const struct sql_star star = {
        .table_count = 1, .tables = &table, .column = find_column, .context = &naming};
    const enum status status = relational_plan(run, &star, select, numbers, result);
    rows_table_free(naming.table);
    explain_under(operator_scan(result), from->explained);
    return status;
}

enum status relational_select(struct relational *run, const struct result *from, struct sql_select *select,
                              const uint32_t *numbers, struct result *result)
{
    const struct spill_mark mark = spill_mark();
    struct sql_select *first;
    uint32_t *first_numbers;
    struct result rows;
    RETURN_IF_ERROR(relational_copy_select(run, select, &first));
    enum status status = plan_select(run, from, first, numbers, result);
    if (select->group_count && spill_wanted(run, &mark, status))
        return spill_groups(run, from, select, numbers, result);
    if (status != STATUS_BAD_INPUT || !sql_cuts_select(run->cut))
        return status;
    *run->error = (struct error){0};
    RETURN_IF_ERROR(relational_cut(run, run->cut, select, &first, &first_numbers));
    RETURN_IF_ERROR(plan_select(run, from, first, first_numbers, &rows));
    return relational_second(run, &rows, select, numbers, result);
}

enum status relational_second(struct relational *run, struct result *rows, struct sql_select *select,
                              const uint32_t *numbers, struct result *result)
{
    RETURN_IF_ERROR(result_code(run, rows));
    const enum status status = relational_select(run, rows, select, numbers, result);
    result_free(rows);
    return status;
}

enum status relational_compute(struct relational *run, const struct result *from,
                               struct sql_expression *expression, struct rowset_column *column)
{
    struct explain_tree *const explained = run->explained;
    struct sql_select *select;
    struct result result;
    RETURN_IF_ERROR(relational_memory(run, sizeof *select, &select));
    select->position = expression->position;
    RETURN_IF_ERROR(relational_item(run, select, expression, run->next_column));
    run->explained = NULL; /* a part of an operator */
    enum status status = relational_select(run, from, select, &run->next_column, &result);
    run->explained = explained;
    RETURN_IF_ERROR(status);
    RETURN_IF_ERROR(result_code(run, &result));
    status = result_gather(run, &result, result.columns[0].number, column);
    result_free(&result);
    return status;
}
