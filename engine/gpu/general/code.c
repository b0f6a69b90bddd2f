/* code.c: see code.h. Registers get their slots by a linear scan, as all instructions of a body follow each other. */
#include "engine/gpu/general/code.h"

#include "engine/gpu/general/program.h"
#include "engine/plan/functions/row_call.h"
#include "operators/general/calls.h"
#include "operators/general/groups.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define NO_REGISTER UINT32_MAX
#define TO_THE_END  UINT32_MAX

struct code_operands {
    uint32_t to, from[3];
};

static uint32_t register_count(const struct general_codes *codes)
{
    return codes->plan->expressions.count + codes->plan->join_count;
}

enum status general_codes_open(struct general_codes *codes, const struct plan *plan,
                               const struct kernel *kernel, const uint8_t *numbers, char *why,
                               struct error *error)
{
    *codes = (struct general_codes){.plan = plan, .kernel = kernel, .numbers = numbers, .why = why};
    const size_t count = register_count(codes) + 1;
    RETURN_IF_ERROR(memory_zeros(&codes->last_use, count * sizeof *codes->last_use, "a program", error));
    RETURN_IF_ERROR(memory_zeros(&codes->slots, count, "a program", error));
    RETURN_IF_ERROR(memory_zeros(&codes->written, count * sizeof *codes->written, "a program", error));
    return memory_zeros(&codes->needed, count, "a program", error);
}

void general_codes_free(struct general_codes *codes)
{
    free(codes->list);
    free(codes->operands);
    free(codes->last_use);
    free(codes->slots);
    free(codes->written);
    free(codes->needed);
}

static void refuse(struct general_codes *codes, const char *what)
{
    if (!codes->why[0])
        snprintf(codes->why, KERNEL_WHY_BYTES, "%s", what);
}

void general_body_begin(struct general_codes *codes, bool of_dimension)
{
    const size_t count = register_count(codes);
    codes->first = codes->count;
    codes->of_dimension = of_dimension;
    codes->staged = 0;
    memset(codes->last_use, 0, count * sizeof *codes->last_use);
    memset(codes->written, 0, count * sizeof *codes->written);
    memset(codes->needed, 0, count);
}

/* ---- Instructions ---- */

static enum status add(struct general_codes *codes, const struct general_code *code,
                       const struct code_operands *operands, struct error *error)
{
    if (codes->count == codes->capacity) {
        const uint32_t capacity = codes->capacity ? 2 * codes->capacity : 64;
        RETURN_IF_ERROR(memory_grow(&codes->list, capacity * sizeof *codes->list, "a program", error));
        RETURN_IF_ERROR(
            memory_grow(&codes->operands, capacity * sizeof *codes->operands, "a program", error));
        codes->capacity = capacity;
    }
    for (uint32_t f = 0; f < 3; f++)
        if (operands->from[f] != NO_REGISTER && codes->last_use[operands->from[f]] != TO_THE_END)
            codes->last_use[operands->from[f]] = codes->count;
    codes->list[codes->count] = *code;
    codes->operands[codes->count++] = *operands;
    return STATUS_OK;
}

enum status general_body_add(struct general_codes *codes, const struct general_code *code, uint32_t node,
                             struct error *error)
{
    return add(codes, code,
               &(struct code_operands){
                   .to = NO_REGISTER,
                   .from = {node == EXPRESSION_NONE ? NO_REGISTER : node, NO_REGISTER, NO_REGISTER}},
               error);
}

static uint32_t place_of(const uint32_t *list, uint32_t count, uint32_t wanted)
{
    uint32_t place = 0;
    while (place < count && list[place] != wanted)
        place++;
    return place;
}

/* Reads a fact column, as a value or as the key of a join. */
static enum status add_column(struct general_codes *codes, struct general_code *code, uint32_t column,
                              uint32_t to, struct error *error)
{
    const uint32_t place = place_of(codes->kernel->columns, codes->kernel->shape.column_count, column);
    code->index = (uint16_t)place;
    if (codes->numbers[place])
        codes->staged |= UINT64_C(1) << (codes->numbers[place] - 1);
    return add(codes, code, &(struct code_operands){to, {NO_REGISTER, NO_REGISTER, NO_REGISTER}}, error);
}

/* Writes the position of a join's match, once. */
static enum status add_position(struct general_codes *codes, uint32_t j, struct error *error)
{
    const struct plan_join *join = &codes->plan->joins[j];
    const uint32_t at = codes->plan->expressions.count + j;
    struct general_code code = {.operation = GENERAL_KEY};
    if (codes->written[at])
        return STATUS_OK;
    codes->written[at] = true;
    if (!join->inner && join->match != EXPRESSION_NONE) {
        const uint32_t place = place_of(codes->kernel->joins, codes->kernel->shape.join_count, j);
        code.c = (uint8_t)place;
        code.flags =
            codes->kernel->layout.bitmap[place] == BITMAP_RANGE ? GENERAL_PROBE_RANGE : GENERAL_PROBE_BITMAP;
    }
    return add_column(codes, &code, join->column, at, error);
}

static enum status add_source(struct general_codes *codes, uint32_t node, struct error *error)
{
    const struct plan_source *source = &codes->plan->sources[codes->plan->expressions.nodes[node].index];
    struct general_code code = {.operation = GENERAL_COLUMN};
    struct code_operands operands = {node, {NO_REGISTER, NO_REGISTER, NO_REGISTER}};
    if (!codes->of_dimension && source->join < 0)
        return add_column(codes, &code, source->column, node, error);
    if (!codes->of_dimension) {
        RETURN_IF_ERROR(add_position(codes, (uint32_t)source->join, error));
        operands.from[0] = codes->plan->expressions.count + (uint32_t)source->join;
    }
    if (source->bits) {
        code.operation = GENERAL_BITS;
        code.number = (int64_t)(((UINT64_C(1) << source->bits) - 1) << 32 | source->shift);
    } else {
        const struct plan_array *array = &codes->plan->arrays[source->column];
        code.operation = GENERAL_ARRAY;
        code.index = (uint16_t)source->column;
        code.number = (int64_t)array->shift | (int64_t)array->value_bytes << 8 |
                      (int64_t)(codes->plan->expressions.nodes[node].nullable && array->valid) << 16;
    }
    return add(codes, &code, &operands, error);
}

/* The value of a term of GROUP BY, in a body that runs on groups. */
static enum status add_term(struct general_codes *codes, uint32_t node, struct error *error)
{
    const uint32_t g = codes->plan->expressions.nodes[node].index;
    const struct plan_group *group = &codes->plan->groups[g];
    if (group->values || group->domain == 0 || group->word > UINT8_MAX)
        refuse(codes, "a term of GROUP BY has values of its own");
    return add(codes,
               &(struct general_code){.operation = GENERAL_TERM,
                                      .c = (uint8_t)group->word,
                                      .flags = group->nullable,
                                      .index = (uint16_t)g},
               &(struct code_operands){node, {NO_REGISTER, NO_REGISTER, NO_REGISTER}}, error);
}

/* The result of an aggregate, likewise. */
static enum status add_aggregate(struct general_codes *codes, uint32_t node, struct error *error)
{
    const struct expression *of = &codes->plan->expressions.nodes[node];
    const struct plan_aggregate *aggregate = &codes->plan->aggregates[of->index];
    const struct aggregate *const kind = plan_aggregate_of(codes->plan, of->index);
    const bool average = of->type.kind == VALUE_DOUBLE && aggregate->type.kind != VALUE_DOUBLE;
    const uint64_t count = kind->counts || aggregate->count == of->index ? 0 : aggregate->count + UINT64_C(1),
                   divisor = average ? of->table : 0, words = kind->words;
    if ((aggregate->doubles.limbs && of->type.kind == VALUE_DOUBLE) || (average && !divisor))
        refuse(codes, "sums of doubles are rounded on the host");
    return add(codes,
               &(struct general_code){.operation = GENERAL_AGGREGATE,
                                      .c = (uint8_t)kind->device.value,
                                      .index = (uint16_t)of->index,
                                      .number = (int64_t)(count | divisor << GROUPS_DIVISOR_SHIFT |
                                                          (uint64_t)of->type.scale << GROUPS_SCALE_SHIFT |
                                                          words << GROUPS_WORDS_SHIFT)},
               &(struct code_operands){node, {NO_REGISTER, NO_REGISTER, NO_REGISTER}}, error);
}

static uint8_t of_doubles(enum expression_operation operation)
{
    return operation == EXPRESSION_ADD        ? GENERAL_ADD_DOUBLE
           : operation == EXPRESSION_SUBTRACT ? GENERAL_SUBTRACT_DOUBLE
           : operation == EXPRESSION_MULTIPLY ? GENERAL_MULTIPLY_DOUBLE
           : operation == EXPRESSION_DIVIDE   ? GENERAL_DIVIDE_DOUBLE
                                              : GENERAL_NEGATE_DOUBLE;
}

static void set_call(struct general_codes *codes, const struct expression *of, struct general_code *code)
{
#define CALL_NAME(name) "call_" #name,
    static const char *const names[] = {GENERAL_CALLS(CALL_NAME)};
    const struct row_description *const function = row_call_function(of);
    uint32_t found = 0;
    while (found < sizeof names / sizeof *names && strcmp(names[found], function->cuda) != 0)
        found++;
    if (found == sizeof names / sizeof *names && !codes->why[0])
        snprintf(codes->why, KERNEL_WHY_BYTES, "it calls %s", function->text);
    code->index = (uint16_t)found;
    code->number = of->index;
}

/* The instruction of an operation that is no leaf. */
static struct general_code operation_of(struct general_codes *codes, const struct expression *of)
{
    static const uint8_t operations[EXPRESSION_OPERATIONS] = {
        [EXPRESSION_ADD] = GENERAL_ADD,
        [EXPRESSION_SUBTRACT] = GENERAL_SUBTRACT,
        [EXPRESSION_MULTIPLY] = GENERAL_MULTIPLY,
        [EXPRESSION_DIVIDE] = GENERAL_DIVIDE,
        [EXPRESSION_REMAINDER] = GENERAL_REMAINDER,
        [EXPRESSION_NEGATE] = GENERAL_NEGATE,
        [EXPRESSION_EQUAL] = GENERAL_EQUAL,
        [EXPRESSION_LESS] = GENERAL_LESS,
        [EXPRESSION_LESS_EQUAL] = GENERAL_LESS_EQUAL,
        [EXPRESSION_AND] = GENERAL_AND,
        [EXPRESSION_OR] = GENERAL_OR,
        [EXPRESSION_NOT] = GENERAL_NOT,
        [EXPRESSION_IS_NULL] = GENERAL_IS_NULL,
        [EXPRESSION_CHOOSE] = GENERAL_CHOOSE,
        [EXPRESSION_IN_SET] = GENERAL_IN_SET,
        [EXPRESSION_LOOKUP] = GENERAL_LOOKUP,
        [EXPRESSION_EXTRACT] = GENERAL_DATE_FIELD,
        [EXPRESSION_ADD_MONTHS] = GENERAL_ADD_MONTHS,
        [EXPRESSION_TO_DATE] = GENERAL_TO_DATE,
        [EXPRESSION_TO_DOUBLE] = GENERAL_TO_DOUBLE,
        [EXPRESSION_CALL] = GENERAL_CALL,
        [EXPRESSION_LIMB] = GENERAL_LIMB,
    };
    const struct expression *const child = &codes->plan->expressions.nodes[of->child[0]];
    struct general_code code = {
        .operation = operations[of->operation], .flags = of->checked, .index = (uint16_t)of->table};
    if (of->table > UINT16_MAX)
        refuse(codes, "it has too many lists of values");
    if (of->type.kind == VALUE_DOUBLE && of->operation >= EXPRESSION_ADD &&
        of->operation <= EXPRESSION_NEGATE)
        code.operation = of_doubles(of->operation);
    if (of->operation == EXPRESSION_EXTRACT) {
        code.index = of->field;
        if (child->type.kind == VALUE_TIMESTAMP)
            code.operation = GENERAL_TIME_FIELD;
    } else if (of->operation == EXPRESSION_TO_DOUBLE) {
        const double power = (double)power_of_ten(child->type.scale);
        memcpy(&code.number, &power, sizeof power);
    } else if (of->operation == EXPRESSION_LIMB) {
        code.index = of->field;
        code.number = of->constant;
    } else if (of->operation == EXPRESSION_CALL) {
        set_call(codes, of, &code);
    }
    if (!code.operation)
        refuse(codes, "it has an operation that only kernels of statements have");
    return code;
}

static enum status write_node(struct general_codes *codes, uint32_t node, struct error *error)
{
    const struct expression *of = &codes->plan->expressions.nodes[node];
    struct code_operands operands = {node, {NO_REGISTER, NO_REGISTER, NO_REGISTER}};
    if (of->operation == EXPRESSION_CONSTANT)
        return add(codes,
                   &(struct general_code){.operation = GENERAL_CONSTANT,
                                          .flags = of->is_null,
                                          .number = of->is_null ? 0 : of->constant},
                   &operands, error);
    if (of->operation == EXPRESSION_COLUMN)
        return add_source(codes, node, error);
    if (of->operation == EXPRESSION_GROUP)
        return add_term(codes, node, error);
    if (of->operation == EXPRESSION_AGGREGATE)
        return add_aggregate(codes, node, error);
    const struct general_code code = operation_of(codes, of);
    for (uint32_t c = 0; c < of->children; c++)
        operands.from[c] = of->child[c];
    return add(codes, &code, &operands, error);
}

enum status general_body_write(struct general_codes *codes, uint32_t node, struct error *error)
{
    expression_mark(&codes->plan->expressions, node, codes->needed);
    for (uint32_t n = 0; n <= node; n++)
        if (codes->needed[n] && !codes->written[n]) {
            codes->written[n] = true;
            RETURN_IF_ERROR(write_node(codes, n, error));
        }
    return STATUS_OK;
}

/* ---- Slots ---- */

void general_body_keep(struct general_codes *codes, uint32_t node)
{
    codes->last_use[node] = TO_THE_END;
}

uint32_t general_body_slot(const struct general_codes *codes, uint32_t node)
{
    return codes->slots[node];
}

void general_body_end(struct general_codes *codes)
{
    /* The position of a dimension's row is in slot 0; the last slot is no operand's. */
    uint64_t used = (codes->of_dimension ? 1 : 0) | UINT64_C(1) << GENERAL_NO_OPERAND;
    for (uint32_t i = codes->first; i < codes->count; i++) {
        const struct code_operands *const of = &codes->operands[i];
        struct general_code *const code = &codes->list[i];
        uint8_t slots[3];
        for (uint32_t f = 0; f < 3; f++) {
            const uint32_t from = of->from[f];
            slots[f] = from == NO_REGISTER ? GENERAL_NO_OPERAND : codes->slots[from];
            if (from != NO_REGISTER && codes->last_use[from] == i)
                used &= ~(UINT64_C(1) << slots[f]);
        }
        code->a = slots[0];
        code->b = slots[1];
        if (code->operation != GENERAL_STATE && code->operation != GENERAL_KEY &&
            code->operation != GENERAL_TERM && code->operation != GENERAL_AGGREGATE)
            code->c = slots[2];
        if (codes->of_dimension && (code->operation == GENERAL_ARRAY || code->operation == GENERAL_BITS))
            code->a = 0;
        if (of->to == NO_REGISTER)
            continue;
        if (used == UINT64_MAX) {
            refuse(codes, "its expressions have too many values at a time");
            return;
        }
        const uint32_t slot = (uint32_t)__builtin_ctzll(~used);
        code->to = codes->slots[of->to] = (uint8_t)slot;
        if (!codes->of_dimension && slot >= codes->slot_count)
            codes->slot_count = slot + 1;
        if (codes->last_use[of->to]) /* else nobody reads it */
            used |= UINT64_C(1) << slot;
    }
}
