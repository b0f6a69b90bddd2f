/* taken.c: see taken.h. */
#include "engine/relational/device/taken.h"

#include "engine/relational/device/device_table.h"
#include "engine/relational/rows_table.h"

#define TABLE_NAME "answer"

bool taken_is_possible(const struct relational *run)
{
    const struct engine *const engine = run->task->engine;
    return engine_is_cuda(engine) && engine_members(engine) == 1 && !engine_cluster(engine) && !run->dry &&
           !run->kept && run->divisions == 0;
}

uint32_t taken_find(const struct taken *taken, uint32_t number)
{
    for (uint32_t c = 0; c < taken->count; c++)
        if (taken->numbers[c] == number)
            return c;
    return UINT32_MAX;
}

enum status taken_add(struct relational *run, struct taken *taken, uint32_t number)
{
    return sql_tree_append(run->arena, &taken->numbers, &taken->count, sizeof number, &number, run->error);
}

enum status taken_ask(struct relational *run, struct taken *taken, const struct logical_set *needed,
                      struct result *result)
{
    struct taken *const before = run->taken;
    run->taken = taken;
    const enum status status = relational_node(run, taken->node, needed, result);
    run->taken = before;
    if (status != STATUS_OK)
        taken_free(taken);
    return status;
}

void taken_free(struct taken *taken)
{
    device_rows_free(taken->rows);
    taken->rows = NULL;
}

/* ---- To the host ---- */

static const char *name_of(const struct relational *run, uint32_t number)
{
    const struct logical_tree *const tree = run->tree;
    const char *const name = number < tree->column_count ? tree->columns[number].name : NULL;
    return name && *name ? name : "computed";
}

static enum status fetch_column(struct relational *run, const struct device_rows *rows, uint32_t c,
                                struct rowset_column *column)
{
    column->type = rows->columns[c].type;
    if (rows->columns[c].validity)
        RETURN_IF_ERROR(spillable_rows(&column->nulls, rows->rows + 1, "an answer", run->error));
    return engine_fetch(run->task->engine, rows, c, column->values, column->nulls, run->error);
}

enum status taken_fetch(struct relational *run, const struct taken *taken, const uint32_t *numbers,
                        uint32_t count, struct rowset *rows)
{
    const char **names;
    struct value_type *types;
    RETURN_IF_ERROR(relational_memory(run, (count + 1ull) * sizeof *names, &names));
    RETURN_IF_ERROR(relational_memory(run, (count + 1ull) * sizeof *types, &types));
    for (uint32_t i = 0; i < count; i++) {
        names[i] = name_of(run, numbers[i]);
        types[i] = taken->rows->columns[taken_find(taken, numbers[i])].type;
    }
    RETURN_IF_ERROR(rowset_create(rows, count, names, types, taken->rows->rows, run->error));
    rows->rows = taken->rows->rows;
    enum status status = STATUS_OK;
    for (uint32_t i = 0; status == STATUS_OK && i < count; i++)
        status = fetch_column(run, taken->rows, taken_find(taken, numbers[i]), &rows->columns[i]);
    if (status != STATUS_OK)
        rowset_free(rows);
    return status;
}

/* ---- A SELECT over them ---- */

struct taken_star {
    const struct taken *taken;
    struct table *table; /* of all columns */
};

static const struct column *find_column(const void *context, uint32_t number, uint32_t *table)
{
    const struct taken_star *const star = context;
    const uint32_t c = taken_find(star->taken, number);
    *table = 0;
    return c == UINT32_MAX ? NULL : &star->table->columns[c];
}

static enum status make_table(struct relational *run, struct taken_star *star)
{
    const uint32_t count = star->taken->count;
    const char **names;
    uint32_t *columns;
    RETURN_IF_ERROR(relational_memory(run, (count + 1ull) * sizeof *names, &names));
    RETURN_IF_ERROR(relational_memory(run, (count + 1ull) * sizeof *columns, &columns));
    for (uint32_t c = 0; c < count; c++) {
        names[c] = name_of(run, star->taken->numbers[c]);
        columns[c] = c;
    }
    return device_table_make(TABLE_NAME, star->taken->rows, names, columns, count, &star->table, run->error);
}

enum status taken_select(struct relational *run, const struct taken *taken, const struct sql_select *select,
                         const uint32_t *numbers, struct taken *into, struct result *result)
{
    struct taken_star of = {.taken = taken};
    struct taken *const before = run->taken_of_plan;
    *result = (struct result){0};
    RETURN_IF_ERROR(make_table(run, &of));
    const struct sql_star_table table = {.table = of.table, .name = TABLE_NAME, .position = select->position};
    const struct sql_star star = {.table_count = 1, .tables = &table, .column = find_column, .context = &of};
    run->taken_of_plan = into;
    const enum status status = relational_plan(run, &star, select, numbers, result);
    run->taken_of_plan = before;
    rows_table_free(of.table);
    return status;
}
