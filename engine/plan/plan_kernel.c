/* plan_kernel.c: lets a hand-written kernel answer a plan (plan.h: plan_use_kernel). Resolves the kernel's
 * names, and checks by the kernel's trace that it does what the plan says. Called once for a statement. */
#include "engine/plan/plan.h"

#include "engine/plan/expression_vector.h"
#include "storage/base/number/number_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct resolver {
    struct plan *plan;
    struct plan_kernel *to;
    const struct kernel_names *names;
    struct kernel_trace trace;
    struct error *error;
};

static enum status refuse(const struct resolver *resolver, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static enum status refuse(const struct resolver *resolver, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    number_print_list(text, sizeof text, format, arguments);
    va_end(arguments);
    return error_set(resolver->error, STATUS_BAD_INPUT,
                     "the hand-written kernel of query %s cannot answer it: %s", resolver->to->kernel->name,
                     text);
}

/* ---- Names ---- */

static uint32_t names_count(const char *const *names)
{
    uint32_t count = 0;
    while (names[count])
        count++;
    return count;
}

/* Finds the plan's column for a name that the kernel uses. */
static enum status resolve_column(struct resolver *resolver, uint32_t place)
{
    const struct plan *plan = resolver->plan;
    const char *const name = resolver->names->columns[place];
    if (resolver->to->columns[place] >= 0)
        return STATUS_OK;
    for (uint32_t c = 0; c < plan->column_count; c++) {
        const struct column *column = plan->columns[c].column;
        if (strcmp(column->schema.name, name) != 0)
            continue;
        resolver->to->columns[place] = (int32_t)c;
        return column->value_bytes == 4
                   ? STATUS_OK
                   : refuse(
                         resolver,
                         "column %s.%s holds 64-bit values, and it reads 32 bits; load it as a 32-bit type",
                         plan->fact->name, name);
    }
    return refuse(resolver, "it reads %s, which the statement does not", name);
}

static enum status resolve_dimension(struct resolver *resolver, uint32_t place)
{
    const struct plan *plan = resolver->plan;
    const char *const name = resolver->names->dimensions[place];
    for (uint32_t j = 0; j < plan->join_count; j++)
        if (strcmp(plan->joins[j].name, name) == 0) {
            resolver->to->joins[place] = (int32_t)j;
            return STATUS_OK;
        }
    return refuse(resolver, "it joins %s, which the statement does not", name);
}

static enum status resolve_names(struct resolver *resolver)
{
    const struct kernel_trace *trace = &resolver->trace;
    uint32_t columns = trace->read | trace->fetched, dimensions = trace->coded;
    for (uint32_t s = 0; s < trace->step_count; s++) {
        columns |= 1u << trace->steps[s].column;
        if (trace->steps[s].dimension >= 0)
            dimensions |= 1u << trace->steps[s].dimension;
    }
    for (; columns; columns &= columns - 1)
        RETURN_IF_ERROR(resolve_column(resolver, (uint32_t)__builtin_ctz(columns)));
    for (; dimensions; dimensions &= dimensions - 1)
        RETURN_IF_ERROR(resolve_dimension(resolver, (uint32_t)__builtin_ctz(dimensions)));
    if (trace->read & ~trace->fetched)
        return refuse(resolver, "it reads %s without tile_fetch",
                      resolver->names->columns[__builtin_ctz(trace->read & ~trace->fetched)]);
    return STATUS_OK;
}

/* ---- Filters and semi-joins ---- */

/* True if the plan's step is the kernel's step `s`. */
static bool same_step(const struct resolver *resolver, const struct plan_step *step, uint32_t s)
{
    const uint32_t column = resolver->trace.steps[s].column;
    const int32_t dimension = resolver->trace.steps[s].dimension, of_plan = resolver->to->columns[column];
    if (dimension < 0)
        return step->kind == STEP_RANGE && step->column == (uint32_t)of_plan;
    return step->kind == STEP_SEMI_JOIN && step->join == (uint32_t)resolver->to->joins[dimension] &&
           resolver->plan->joins[step->join].column == (uint32_t)of_plan;
}

/* True for a semi-join that keeps every row: with a dimension without a predicate, by a key that is never
 * NULL. */
static bool keeps_all(const struct resolver *resolver, uint32_t s)
{
    const int32_t dimension = resolver->trace.steps[s].dimension;
    if (dimension < 0)
        return false;
    const struct plan_join *join = &resolver->plan->joins[resolver->to->joins[dimension]];
    return join->match == EXPRESSION_NONE && !resolver->plan->columns[join->column].nullable &&
           join->column == (uint32_t)resolver->to->columns[resolver->trace.steps[s].column];
}

static enum status order_steps(struct resolver *resolver)
{
    struct plan *plan = resolver->plan;
    struct plan_step ordered[KERNEL_STEPS_MAX];
    bool used[KERNEL_STEPS_MAX] = {false};
    uint32_t count = 0;
    if (resolver->trace.step_count > KERNEL_STEPS_MAX || plan->step_count > KERNEL_STEPS_MAX)
        return refuse(resolver, "it or the statement has more than %u filters and semi-joins",
                      KERNEL_STEPS_MAX);
    for (uint32_t s = 0; s < resolver->trace.step_count; s++) {
        uint32_t p = 0;
        while (p < plan->step_count && (used[p] || !same_step(resolver, &plan->steps[p], s)))
            p++;
        if (p < plan->step_count) {
            used[p] = true;
            ordered[count++] = plan->steps[p];
        } else if (!keeps_all(resolver, s)) {
            return refuse(resolver, "it filters by %s, which the statement does not, or not so",
                          resolver->names->columns[resolver->trace.steps[s].column]);
        }
    }
    if (count != plan->step_count)
        return refuse(resolver, "it leaves out %u of the statement's %u conditions", plan->step_count - count,
                      plan->step_count);
    memcpy(plan->steps, ordered, count * sizeof *ordered);
    return STATUS_OK;
}

/* ---- Groups ---- */

/* tile_code does not test whether a value is in the group's range. If the plan did not read all rows to
 * narrow the group, the range comes from the catalogue, which may be damaged; then all rows are checked
 * here. */
static enum status check_codes(struct resolver *resolver, const struct plan_array *array,
                               const struct plan_group *group)
{
    const int64_t last = group->low + (int64_t)(group->domain - group->nullable) - 1;
    struct plan_array elements = *array;
    elements.shift = 0;
    for (uint64_t first = 0; first < array->rows; first += VECTOR_ROWS) {
        const uint32_t rows =
            array->rows - first < VECTOR_ROWS ? (uint32_t)(array->rows - first) : VECTOR_ROWS;
        int64_t values[VECTOR_ROWS];
        plan_array_read(&elements, first, rows, values, NULL);
        for (uint32_t row = 0; row < rows; row++)
            if (values[row] < group->low || values[row] > last)
                return refuse(resolver,
                              "column %s.%s has values that its statistics do not tell; load it again",
                              array->column->table->name, array->column->schema.name);
    }
    return STATUS_OK;
}

/* Sets what tile_code does with a position: it looks the code up, takes bits of the position, or gives 0 if all rows
 * that pass have one value. */
static enum status resolve_code(struct resolver *resolver, const struct plan_group *group, uint32_t dimension,
                                uint32_t a)
{
    const struct plan *plan = resolver->plan;
    struct plan_kernel *to = resolver->to;
    const struct plan_array *array = &plan->arrays[a];
    const struct expression *code = &plan->expressions.nodes[group->expression];
    if (group->expression != group->written) {
        const struct plan_source bits =
            code->operation == EXPRESSION_COLUMN ? plan->sources[code->index] : (struct plan_source){0};
        to->code_shift[dimension] = bits.shift;
        to->code_mask[dimension] = (1u << bits.bits) - 1;
        return STATUS_OK;
    }
    if (array->valid || array->value_bytes > 4)
        return refuse(resolver, "column %s.%s may be NULL or holds 64-bit values", array->column->table->name,
                      array->column->schema.name);
    to->codes[dimension] = (int32_t)a;
    to->code_base[dimension] = (uint32_t)(group->low - group->nullable);
    to->code_shift[dimension] = array->shift;
    to->code_mask[dimension] = UINT32_MAX;
    const struct plan_join *join = &plan->joins[to->joins[dimension]];
    return join->match == EXPRESSION_NONE ? check_codes(resolver, array, group) : STATUS_OK;
}

static enum status resolve_group(struct resolver *resolver, uint32_t g)
{
    const struct plan *plan = resolver->plan;
    struct plan_kernel *to = resolver->to;
    const struct plan_group *group = &plan->groups[g];
    const struct expression *leaf = &plan->expressions.nodes[group->written];
    const uint32_t dimension = resolver->trace.groups[g];
    const int32_t j = dimension < to->dimension_count ? to->joins[dimension] : -1;
    if (j < 0 || leaf->operation != EXPRESSION_COLUMN || plan->sources[leaf->index].join != j)
        return refuse(resolver, "group %u is not a column of the dimension whose codes it uses", g + 1);
    const struct plan_join *join = &plan->joins[j];
    if (!join->inner)
        return refuse(resolver, "%s may have no row for a fact row", join->name);
    for (uint32_t place = 0; place < to->column_count; place++)
        if (to->columns[place] == (int32_t)join->column &&
            resolver->trace.positions[dimension] != resolver->trace.values[place])
            return refuse(resolver, "it looks codes of %s up by another column than its key", join->name);
    for (uint32_t before = 0; before < g; before++)
        if (resolver->trace.groups[before] == dimension)
            return refuse(resolver, "it groups by two columns of %s", join->name);
    to->domain[g] = (uint32_t)group->domain;
    return resolve_code(resolver, group, dimension, plan->sources[leaf->index].column);
}

static enum status resolve_groups(struct resolver *resolver)
{
    const struct plan *plan = resolver->plan;
    if (plan->shape != PLAN_TOTAL && plan->shape != PLAN_DENSE)
        return refuse(resolver, "the statement's groups are too many for dense slots, or it has none");
    if (resolver->trace.group_count != plan->group_count)
        return refuse(resolver, "it groups by %u columns, the statement by %u", resolver->trace.group_count,
                      plan->group_count);
    for (uint32_t g = 0; g < plan->group_count; g++)
        RETURN_IF_ERROR(resolve_group(resolver, g));
    return STATUS_OK;
}

/* ---- The sum ---- */

/* Gives the row's value in a column of the plan, as in the trace. */
static enum status traced_value(const struct resolver *resolver, const struct expression *leaf,
                                int64_t *value)
{
    const struct plan_source *source = &resolver->plan->sources[leaf->index];
    for (uint32_t place = 0; source->join < 0 && place < resolver->to->column_count; place++)
        if (resolver->to->columns[place] == (int32_t)source->column) {
            *value = resolver->trace.values[place];
            return STATUS_OK;
        }
    return refuse(resolver, "it does not read every column of the sum");
}

/* Computes the value that the plan adds to the sum for this row. */
static enum status planned_value(const struct resolver *resolver, struct expression_program *program,
                                 uint32_t node, int64_t *value)
{
    const uint32_t *leaves;
    const uint32_t count = expression_program_leaves(program, &leaves);
    for (uint32_t l = 0; l < count; l++) {
        const struct vector leaf = expression_program_vector(program, leaves[l]);
        if (leaf.nulls)
            leaf.nulls[0] = 0;
        RETURN_IF_ERROR(
            traced_value(resolver, &resolver->plan->expressions.nodes[leaves[l]], &leaf.values[0]));
    }
    expression_program_run(program, 1);
    *value = expression_program_vector(program, node).values[0];
    return STATUS_OK;
}

static enum status check_sum(struct resolver *resolver)
{
    const struct plan *plan = resolver->plan;
    const struct plan_aggregate *aggregate = &plan->aggregates[0];
    if (plan->aggregate_count == 1 && aggregate_of(aggregate->kind)->words > 1)
        return refuse(resolver,
                      "the sum over %llu rows of %s may leave 64 bits, going by the columns' least and "
                      "greatest values",
                      (unsigned long long)plan->fact->rows, plan->fact->name);
    if (plan->aggregate_count != 1 || !aggregate_of(aggregate->kind)->by_hand ||
        resolver->trace.sum_count != 1)
        return refuse(resolver,
                      "it makes one sum of values that are never NULL, and the statement asks for more");
    struct expression_program *program;
    int64_t value;
    RETURN_IF_ERROR(
        expression_program_create(&plan->expressions, &aggregate->argument, 1, &program, resolver->error));
    const enum status status = planned_value(resolver, program, aggregate->argument, &value);
    expression_program_free(program);
    RETURN_IF_ERROR(status);
    return value == resolver->trace.sum ? STATUS_OK
                                        : refuse(resolver, "it sums another value than the statement");
}

enum status plan_use_kernel(struct plan *plan, const struct hand_kernel *kernel, struct error *error)
{
    struct plan_kernel resolved = {.kernel = kernel,
                                   .column_count = names_count(kernel->names->columns),
                                   .dimension_count = names_count(kernel->names->dimensions),
                                   .domain = {1, 1, 1}};
    struct resolver resolver = {.plan = plan, .to = &resolved, .names = kernel->names, .error = error};
    if (plan->nothing || plan->index.term_count)
        return STATUS_OK;
    for (uint32_t place = 0; place < KERNEL_NAMES_MAX; place++) {
        resolved.columns[place] = resolved.joins[place] = resolved.codes[place] = -1;
        resolver.trace.values[place] = (int32_t)(1009 * (place + 1) + place * place);
    }
    kernel->trace(&resolver.trace);
    RETURN_IF_ERROR(resolve_names(&resolver));
    RETURN_IF_ERROR(resolve_groups(&resolver));
    RETURN_IF_ERROR(check_sum(&resolver));
    RETURN_IF_ERROR(order_steps(&resolver));
    plan->kernel = resolved;
    return STATUS_OK;
}
