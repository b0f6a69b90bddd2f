/* check.c: reads conditions of CHECK (check.h), and binds them (check_internal.h). */
#include "loader/check/check_internal.h"

#include "engine/plan/value_text.h"
#include "engine/sql/aggregates/aggregate_names.h"
#include "engine/sql/sql_error.h"
#include "engine/sql/tree/tree.h"
#include "storage/base/clock.h"
#include "storage/base/decimal.h"
#include "storage/base/double_key.h"
#include "storage/base/words/word.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_SHOWN 200u

/* ---- Binding ---- */

static struct sql_input input_of(const void *context, uint32_t index)
{
    const struct check_bound *const bound = context;
    return bound->columns[index].input;
}

static void range_of(const void *context, uint32_t index, int64_t *low, int64_t *high)
{
    const struct check_bound *const bound = context;
    *low = bound->columns[index].low;
    *high = bound->columns[index].high;
}

void check_bound_free(struct check_bound *bound)
{
    expression_program_free(bound->program);
    sql_scalars_free(bound->scalars);
    bound->program = NULL;
    bound->scalars = NULL;
}

enum status check_bind(struct check_bound *bound, struct error *error)
{
    check_bound_free(bound);
    bound->options = (struct sql_scalar_options){
        .now = clock_moment(), .input = input_of, .range = range_of, .threads = 1, .context = bound};
    RETURN_IF_ERROR(sql_scalars_new(&bound->options, &bound->scalars, error));
    RETURN_IF_ERROR(sql_scalar_condition_node(bound->scalars, bound->check->condition, &bound->list,
                                              &bound->root, error));
    return expression_program_create(bound->list, &bound->root, 1, &bound->program, error);
}

/* ---- Names ---- */

struct resolving {
    const struct check_source *source;
    struct check *check;
    struct error *error;
};

static enum status refuse(const struct resolving *resolving, const struct sql_expression *node,
                          const char *what)
{
    return sql_placed(
        resolving->error, node->position,
        error_set(resolving->error, STATUS_BAD_INPUT, "%s%s", what, node->name ? node->name : ""));
}

/* The range of what a column's type holds. */
static void type_range(const struct column_schema *schema, int64_t *low, int64_t *high)
{
    switch (schema->type) {
    case TYPE_INT32:
    case TYPE_DATE:
        *low = INT32_MIN;
        *high = INT32_MAX;
        return;
    case TYPE_INT64:
    case TYPE_TIMESTAMP:
        *low = INT64_MIN;
        *high = INT64_MAX;
        return;
    case TYPE_DECIMAL:
        *high = power_of_ten(schema->precision) - 1;
        *low = -*high;
        return;
    case TYPE_DOUBLE:
        *low = double_key_of(-INFINITY);
        *high = double_key_of(INFINITY);
        return;
    case TYPE_BOOL:
    case TYPE_STRING: /* a dictionary's, once there is one */
        *low = 0;
        *high = schema->type == TYPE_BOOL;
        return;
    }
}

/* The input that a column is. */
static enum status add_column(const struct resolving *resolving, uint32_t column, uint32_t *input)
{
    struct check *const check = resolving->check;
    const struct column_schema *const schema = &resolving->source->columns[column];
    struct check_column made = {.column = column, .input = {schema_value_type(schema), .nullable = true}};
    for (*input = 0; *input < check->column_count; ++*input)
        if (check->columns[*input].column == column)
            return STATUS_OK;
    type_range(schema, &made.low, &made.high);
    return sql_tree_append(check->tree, &check->columns, &check->column_count, sizeof made, &made,
                           resolving->error);
}

static enum status resolve(void *context, const struct sql_expression *node, struct sql_expression **out)
{
    const struct resolving *const resolving = context;
    const struct check_source *const source = resolving->source;
    uint32_t c = 0;
    if (node->query)
        return refuse(resolving, node, "a CHECK has no subqueries");
    if (node->operation == SQL_PARAMETER)
        return refuse(resolving, node, "a CHECK has no parameters");
    if (node->window || sql_is_aggregate(node))
        return refuse(resolving, node, "a CHECK is about one row, and has no aggregate or window function ");
    if (node->operation != SQL_COLUMN)
        return STATUS_OK;
    const bool own = !node->qualifier || word_compare(node->qualifier, source->table) == 0;
    while (own && c < source->column_count && word_compare(source->columns[c].name, node->name) != 0)
        c++;
    if (!own || c == source->column_count)
        return refuse(resolving, node, "the table has no column ");
    RETURN_IF_ERROR(sql_tree_node(resolving->check->tree, SQL_INPUT, node->position, out, resolving->error));
    return add_column(resolving, c, &(*out)->index);
}

/* ---- Reading ---- */

/* Whether the condition can be bound over what its columns' types hold; else, whether it can be over single values. */
static enum status try_bind(struct check *check, struct error *error)
{
    static const uint64_t starts[] = {0, 0};
    static const struct dictionary empty = {.count = 1, .starts = starts, .bytes = ""};
    struct check_bound bound = {.check = check,
                                .columns = malloc((check->column_count + (size_t)1) * sizeof *bound.columns)};
    struct error first, second;
    if (!bound.columns)
        return error_out_of_memory(error, check->column_count * sizeof *bound.columns, "a condition");
    for (uint32_t i = 0; i < check->column_count; i++) {
        bound.columns[i] = check->columns[i];
        if (bound.columns[i].input.type.kind == VALUE_STRING)
            bound.columns[i].input.type.dictionary = &empty;
    }
    enum status status = check_bind(&bound, &first);
    if (status == STATUS_BAD_INPUT) {
        check->rows = CHECK_ROWS / 2;
        for (uint32_t i = 0; i < check->column_count; i++)
            bound.columns[i].low = bound.columns[i].high = 0;
        const enum status again = check_bind(&bound, &second);
        if (again != STATUS_BAD_INPUT) {
            status = again;
            first = second;
        }
    }
    if (status != STATUS_OK && error)
        *error = first;
    check_bound_free(&bound);
    free(bound.columns);
    return status;
}

static enum status read(const struct check_source *source, struct check *check, struct error *error)
{
    const struct sql_position place = {source->line, source->column};
    const struct resolving resolving = {source, check, error};
    struct sql_expression *condition;
    check->text = strndup(source->text, source->length < TEXT_SHOWN ? source->length : TEXT_SHOWN);
    if (!check->text)
        return error_out_of_memory(error, source->length, "a condition");
    RETURN_IF_ERROR(sql_parse_condition(source->text, source->length, place, &check->tree, error));
    RETURN_IF_ERROR(sql_tree_rewrite(check->tree, sql_tree_select(check->tree)->where, resolve,
                                     (void *)&resolving, &condition, error));
    check->condition = condition;
    check->rows = CHECK_ROWS;
    return try_bind(check, error);
}

enum status check_parse(const struct check_source *source, struct check **out, struct error *error)
{
    struct check *const check = calloc(1, sizeof *check);
    *out = NULL;
    if (!check)
        return error_out_of_memory(error, sizeof *check, "a condition");
    const enum status status = read(source, check, error);
    if (status == STATUS_OK)
        *out = check;
    else
        check_free(check);
    return status;
}

void check_free(struct check *check)
{
    if (!check)
        return;
    sql_tree_free(check->tree);
    free(check->text);
    free(check);
}

bool check_uses(const struct check *check, uint32_t column)
{
    for (uint32_t i = 0; i < check->column_count; i++)
        if (check->columns[i].column == column)
            return true;
    return false;
}

void check_says(struct check *const *checks, int32_t failed, char text[CHECK_SAYS_BYTES])
{
    snprintf(text, CHECK_SAYS_BYTES,
             failed > 0 ? "fails CHECK (%s)" : "has values that are too large for CHECK (%s)",
             checks[abs(failed) - 1]->text);
}
