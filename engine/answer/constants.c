/* constants.c: see constants.h. */
#include "engine/answer/constants.h"

#include "engine/plan/expression_vector.h"

#include <stdlib.h>

static bool is_true(const struct expression_program *program, uint32_t node)
{
    const struct vector truth = expression_program_vector(program, node);
    return truth.values[0] && !(truth.nulls && truth.nulls[0]);
}

static enum status fill_column(const struct plan *plan, const struct expression_program *program,
                               uint32_t output, struct rowset *rows, struct error *error)
{
    struct rowset_column *const column = &rows->columns[output];
    const struct vector value = expression_program_vector(program, plan->outputs[output].expression);
    column->values[0] = value.values[0];
    if (value.nulls && value.nulls[0] && !(column->nulls = calloc(1, 1)))
        return error_out_of_memory(error, 1, "an answer");
    if (column->nulls)
        column->nulls[0] = 1;
    return column->type.kind == VALUE_STRING ? rowset_own_dictionary(rows, output, error) : STATUS_OK;
}

static enum status fill(const struct plan *plan, struct expression_program *program, struct rowset *rows,
                        struct error *error)
{
    const char *names[PLAN_OUTPUTS_MAX];
    struct value_type types[PLAN_OUTPUTS_MAX];
    for (uint32_t o = 0; o < plan->output_count; o++) {
        names[o] = plan->outputs[o].name;
        types[o] = plan->expressions.nodes[plan->outputs[o].expression].type;
    }
    expression_program_run(program, 1);
    RETURN_IF_ERROR(expression_check(&plan->expressions, error));
    RETURN_IF_ERROR(rowset_create(rows, plan->output_count, names, types, 1, error));
    for (uint32_t o = 0; o < plan->output_count; o++)
        RETURN_IF_ERROR(fill_column(plan, program, o, rows, error));
    rows->rows = plan->offset == 0 && plan->limit > 0 &&
                 (plan->having == EXPRESSION_NONE || is_true(program, plan->having));
    return STATUS_OK;
}

enum status constants_answer(const struct plan *plan, struct rowset *rows, struct error *error)
{
    uint32_t roots[PLAN_OUTPUTS_MAX + 1], count = 0;
    struct expression_program *program = NULL;
    *rows = (struct rowset){0};
    for (uint32_t o = 0; o < plan->output_count; o++)
        roots[count++] = plan->outputs[o].expression;
    if (plan->having != EXPRESSION_NONE)
        roots[count++] = plan->having;
    RETURN_IF_ERROR(expression_program_create(&plan->expressions, roots, count, &program, error));
    const enum status status = fill(plan, program, rows, error);
    expression_program_free(program);
    if (status != STATUS_OK)
        rowset_free(rows);
    return status;
}
