/*
 * kernel_expression.c: writes expressions as CUDA text (kernel.h), with one statement for each node, children
 * first. Values that fit 32 bits are computed in 32 bits. Numbers wrap like unsigned ones: this happens only
 * in NULLs, whose values are not used, because nodes that may wrap elsewhere are by_row. Operations are defined
 * by expression_loops.c, and tests compare the two.
 */
#include "engine/gpu/kernel.h"

#include "engine/plan/functions/row_call.h"

#include <inttypes.h>
#include <stdlib.h>

enum { NODE_NEEDED = 1, NODE_WRITTEN = 2 };

enum status kernel_body_begin(struct kernel_body *body, FILE *out, const struct plan *plan,
                              struct kernel *kernel, bool of_dimension, struct error *error)
{
    *body = (struct kernel_body){
        .out = out, .plan = plan, .kernel = kernel, .of_dimension = of_dimension, .error = error};
    body->nodes = calloc(plan->expressions.count + 1, 1);
    return body->nodes ? STATUS_OK : error_out_of_memory(error, plan->expressions.count, "a kernel's source");
}

enum status kernel_body_end(struct kernel_body *body)
{
    free(body->nodes);
    body->nodes = NULL;
    return body->status;
}

static const struct expression *at(const struct kernel_body *body, uint32_t node)
{
    return &body->plan->expressions.nodes[node];
}

bool kernel_node_wide(const struct plan *plan, uint32_t node)
{
    const struct expression *of = &plan->expressions.nodes[node];
    return of->type.kind == VALUE_DOUBLE ||
           (of->low <= of->high && (of->low < INT32_MIN || of->high > INT32_MAX));
}

const char *kernel_body_null(const struct kernel_body *body, uint32_t node, char *text)
{
    if (!at(body, node)->nullable)
        return "false";
    snprintf(text, KERNEL_NAME_BYTES, "n%u", node);
    return text;
}

static const char *type_of(const struct kernel_body *body, uint32_t node)
{
    return kernel_node_wide(body->plan, node) ? "int64_t" : "int32_t";
}

/* Writes "const int32_t v7 = (int32_t)("; the caller writes the closing ");". */
static void begin_value(const struct kernel_body *body, uint32_t node)
{
    fprintf(body->out, "    const %s v%u = (%s)(", type_of(body, node), node, type_of(body, node));
}

/* ---- Leaves ---- */

static void write_constant(struct kernel_body *body, uint32_t node)
{
    struct kernel *kernel = body->kernel;
    const int64_t value = at(body, node)->is_null ? 0 : at(body, node)->constant;
    uint32_t place = 0;
    while (place < kernel->constant_count && kernel->constants[place] != value)
        place++;
    begin_value(body, node);
    if (place < ARGUMENT_CONSTANTS_MAX) {
        kernel->constants[place] = value;
        kernel->constant_count += place == kernel->constant_count;
        fprintf(body->out, "arguments.constants[%u]);\n", place);
    } else {
        fprintf(body->out, "0x%" PRIx64 "ull);\n", (uint64_t)value);
    }
    if (at(body, node)->nullable)
        fprintf(body->out, "    const bool n%u = %s;\n", node, at(body, node)->is_null ? "true" : "false");
}

/* Writes m2, which is true if the row has no match in join 2, and p2, the position of the match or 0. */
static void write_position(struct kernel_body *body, uint32_t j)
{
    const struct plan_join *join = &body->plan->joins[j];
    const bool nullable = body->plan->columns[join->column].nullable,
               probed = !join->inner && join->match != EXPRESSION_NONE;
    if (body->positions[j])
        return;
    body->positions[j] = true;
    fprintf(body->out, "    const uint32_t k%u = (uint32_t)tile_value(t, q->c%u, row);\n", j, join->column);
    fprintf(body->out, "    const bool m%u = ", j);
    if (nullable)
        fprintf(body->out, "tile_is_null(t, q->c%u, row)", join->column);
    if (probed)
        fprintf(body->out, "%s!q->d%u.passes(k%u, 1u)", nullable ? " || " : "", j, j);
    fprintf(body->out, "%s;\n    const uint32_t p%u = m%u ? 0u : k%u;\n", nullable || probed ? "" : "false",
            j, j, j);
}

static void write_array_value(const struct kernel_body *body, uint32_t node, uint32_t array, int32_t join)
{
    static const char *const types[] = {
        [1] = "unsigned char", [2] = "unsigned short", [4] = "int", [8] = "long long"};
    const struct plan_array *of = &body->plan->arrays[array];
    char position[KERNEL_NAME_BYTES] = "row", missing[KERNEL_NAME_BYTES] = "false";
    if (!body->of_dimension) {
        snprintf(position, sizeof position, "p%d", join);
        snprintf(missing, sizeof missing, "m%d", join);
    }
    begin_value(body, node);
    fprintf(body->out, "%s ? 0 : array_value<%s>(%u, %s >> %u));\n", missing, types[of->value_bytes], array,
            position, of->shift);
    if (!at(body, node)->nullable)
        return;
    fprintf(body->out, "    const bool n%u = %s", node, missing);
    if (of->valid)
        fprintf(body->out, " || array_is_null(%u, %s >> %u)", array, position, of->shift);
    fputs(";\n", body->out);
}

/* The bits of the position that are the value; 0 if the row has no match. */
static void write_position_bits(const struct kernel_body *body, uint32_t node,
                                const struct plan_source *source)
{
    begin_value(body, node);
    fprintf(body->out, "p%d >> %u & 0x%xu);\n", source->join, source->shift, (1u << source->bits) - 1);
    if (at(body, node)->nullable)
        fprintf(body->out, "    const bool n%u = m%d;\n", node, source->join);
}

static void write_column(struct kernel_body *body, uint32_t node)
{
    const struct plan_source *source = &body->plan->sources[at(body, node)->index];
    if (body->of_dimension || source->join >= 0) {
        if (!body->of_dimension)
            write_position(body, (uint32_t)source->join);
        if (source->bits)
            write_position_bits(body, node, source);
        else
            write_array_value(body, node, source->column, source->join);
        return;
    }
    begin_value(body, node);
    fprintf(body->out, "tile_value(t, q->c%u, row));\n", source->column);
    if (!at(body, node)->nullable)
        return;
    if (body->plan->columns[source->column].nullable)
        fprintf(body->out, "    const bool n%u = tile_is_null(t, q->c%u, row);\n", node, source->column);
    else
        fprintf(body->out, "    const bool n%u = false;\n", node);
}

/* ---- Operations ---- */

/* Writes n7: the node is NULL if any child is, or if `also` is true. */
static void write_null(const struct kernel_body *body, uint32_t node, const char *also)
{
    const struct expression *of = at(body, node);
    char name[KERNEL_NAME_BYTES];
    if (!of->nullable)
        return;
    fprintf(body->out, "    const bool n%u = %s", node, also);
    for (uint32_t c = 0; c < of->children; c++)
        if (at(body, of->child[c])->nullable)
            fprintf(body->out, " || %s", kernel_body_null(body, of->child[c], name));
    fputs(";\n", body->out);
}

static void write_double(const struct kernel_body *body, uint32_t node)
{
    static const char *const calls[EXPRESSION_OPERATIONS] = {[EXPRESSION_ADD] = "__dadd_rn",
                                                             [EXPRESSION_SUBTRACT] = "__dsub_rn",
                                                             [EXPRESSION_MULTIPLY] = "__dmul_rn",
                                                             [EXPRESSION_DIVIDE] = "__ddiv_rn"};
    const struct expression *of = at(body, node);
    char zero[64] = "false";
    begin_value(body, node);
    if (of->operation == EXPRESSION_NEGATE)
        fprintf(body->out, "double_key(-double_of_key(v%u)));\n", of->child[0]);
    else
        fprintf(body->out, "double_key(%s(double_of_key(v%u), double_of_key(v%u))));\n", calls[of->operation],
                of->child[0], of->child[1]);
    if (of->operation == EXPRESSION_DIVIDE)
        snprintf(zero, sizeof zero, "v%u == 0", of->child[1]);
    write_null(body, node, zero);
}

static void write_arithmetic(const struct kernel_body *body, uint32_t node)
{
    static const char *const signs[EXPRESSION_OPERATIONS] = {
        [EXPRESSION_ADD] = "+", [EXPRESSION_SUBTRACT] = "-", [EXPRESSION_MULTIPLY] = "*"};
    const struct expression *of = at(body, node);
    const char *const wrapped = kernel_node_wide(body->plan, node) ? "(uint64_t)(int64_t)v" : "(uint32_t)v";
    begin_value(body, node);
    if (of->operation == EXPRESSION_NEGATE)
        fprintf(body->out, "0u - %s%u);\n", wrapped, of->child[0]);
    else
        fprintf(body->out, "%s%u %s %s%u);\n", wrapped, of->child[0], signs[of->operation], wrapped,
                of->child[1]);
    write_null(body, node, "false");
}

static void write_division(const struct kernel_body *body, uint32_t node)
{
    const struct expression *of = at(body, node);
    const bool wide = kernel_node_wide(body->plan, node) || kernel_node_wide(body->plan, of->child[0]) ||
                      kernel_node_wide(body->plan, of->child[1]);
    char zero[KERNEL_NAME_BYTES + 8];
    begin_value(body, node);
    fprintf(body->out, "whole_%s<int%u_t>(v%u, v%u));\n",
            of->operation == EXPRESSION_DIVIDE ? "quotient" : "remainder", wide ? 64u : 32u, of->child[0],
            of->child[1]);
    snprintf(zero, sizeof zero, "v%u == 0", of->child[1]);
    write_null(body, node, zero);
}

static void write_comparison(const struct kernel_body *body, uint32_t node)
{
    const struct expression *of = at(body, node);
    const char *const sign = of->operation == EXPRESSION_EQUAL  ? "=="
                             : of->operation == EXPRESSION_LESS ? "<"
                                                                : "<=";
    begin_value(body, node);
    fprintf(body->out, "v%u %s v%u);\n", of->child[0], sign, of->child[1]);
    write_null(body, node, "false");
}

/* AND is false if one child is false, and OR is true if one child is true, even if the other is NULL. */
static void write_logic(const struct kernel_body *body, uint32_t node)
{
    const struct expression *of = at(body, node);
    const bool is_or = of->operation == EXPRESSION_OR;
    const char *const truth = is_or ? "" : "!";
    char left[KERNEL_NAME_BYTES], right[KERNEL_NAME_BYTES];
    const char *const left_null = kernel_body_null(body, of->child[0], left), *const right_null =
                                                                                  kernel_body_null(
                                                                                      body, of->child[1],
                                                                                      right);
    fprintf(body->out, "    const bool s%u = (!%s && %sv%u) || (!%s && %sv%u);\n", node, left_null, truth,
            of->child[0], right_null, truth, of->child[1]);
    begin_value(body, node);
    fprintf(body->out, "%ss%u);\n", truth, node);
    if (of->nullable)
        fprintf(body->out, "    const bool n%u = !s%u && (%s || %s);\n", node, node, left_null, right_null);
}

static void write_choice(const struct kernel_body *body, uint32_t node)
{
    const struct expression *of = at(body, node);
    const char *const type = type_of(body, node);
    char condition[KERNEL_NAME_BYTES], then[KERNEL_NAME_BYTES], other[KERNEL_NAME_BYTES];
    fprintf(body->out, "    const bool s%u = !%s && v%u;\n", node,
            kernel_body_null(body, of->child[0], condition), of->child[0]);
    begin_value(body, node);
    fprintf(body->out, "s%u ? (%s)v%u : (%s)v%u);\n", node, type, of->child[1], type, of->child[2]);
    if (of->nullable)
        fprintf(body->out, "    const bool n%u = s%u ? %s : %s;\n", node, node,
                kernel_body_null(body, of->child[1], then), kernel_body_null(body, of->child[2], other));
}

static void write_lookup(const struct kernel_body *body, uint32_t node)
{
    const struct expression *of = at(body, node);
    char found[32];
    fprintf(body->out, "    const int64_t l%u = lookup_index(%u, v%u);\n", node, of->table, of->child[0]);
    begin_value(body, node);
    fprintf(body->out, "l%u);\n", node);
    snprintf(found, sizeof found, "l%u == INT64_MIN", node);
    write_null(body, node, found);
}

static void write_call(const struct kernel_body *body, uint32_t node)
{
    const struct expression *of = at(body, node);
    const struct value_type type = at(body, of->child[0])->type;
    begin_value(body, node);
    if (of->operation == EXPRESSION_NOT)
        fprintf(body->out, "!v%u", of->child[0]);
    else if (of->operation == EXPRESSION_IN_SET)
        fprintf(body->out, "lookup_contains(%u, v%u)", of->table, of->child[0]);
    else if (of->operation == EXPRESSION_EXTRACT)
        fprintf(body->out, "calendar_%s_field(v%u, %u)", type.kind == VALUE_TIMESTAMP ? "timestamp" : "date",
                of->child[0], of->field);
    else if (of->operation == EXPRESSION_ADD_MONTHS)
        fprintf(body->out, "calendar_add_months(v%u, v%u)", of->child[0], of->child[1]);
    else if (of->operation == EXPRESSION_TO_DATE)
        fprintf(body->out, "calendar_floor(v%u, CALENDAR_DAY_MICROSECONDS)", of->child[0]);
    else if (of->operation == EXPRESSION_LIMB)
        fprintf(body->out, "double_limb(v%u, %d, %u)", of->child[0], (int)of->constant, of->field);
    else if (type.scale == 0) /* EXPRESSION_TO_DOUBLE */
        fprintf(body->out, "double_key((double)v%u)", of->child[0]);
    else /* powers of ten up to 10^22 are exact */
        fprintf(body->out, "double_key(__ddiv_rn((double)v%u, 1e%u))", of->child[0], type.scale);
    fputs(");\n", body->out);
    write_null(body, node, "false");
}

static void write_row_call(const struct kernel_body *body, uint32_t node)
{
    const struct expression *of = at(body, node);
    char missing[KERNEL_NAME_BYTES];
    fprintf(body->out, "    bool f%u = false;\n    const int64_t r%u = %s(", node, node,
            row_call_function(of)->cuda);
    for (uint32_t c = 0; c < 3; c++)
        if (c < of->children)
            fprintf(body->out, "v%u, ", of->child[c]);
        else
            fputs("0, ", body->out);
    fprintf(body->out, "%u, &f%u);\n", of->index, node);
    begin_value(body, node);
    fprintf(body->out, "r%u);\n", node);
    snprintf(missing, sizeof missing, "f%u", node);
    write_null(body, node, missing);
}

static void write_node(struct kernel_body *body, uint32_t node)
{
    const struct expression *of = at(body, node);
    char name[KERNEL_NAME_BYTES];
    switch (of->operation) {
    case EXPRESSION_CONSTANT:
        write_constant(body, node);
        return;
    case EXPRESSION_COLUMN:
        write_column(body, node);
        return;
    case EXPRESSION_ADD:
    case EXPRESSION_SUBTRACT:
    case EXPRESSION_MULTIPLY:
    case EXPRESSION_NEGATE:
        (of->type.kind == VALUE_DOUBLE ? write_double : write_arithmetic)(body, node);
        return;
    case EXPRESSION_DIVIDE:
    case EXPRESSION_REMAINDER:
        (of->type.kind == VALUE_DOUBLE ? write_double : write_division)(body, node);
        return;
    case EXPRESSION_EQUAL:
    case EXPRESSION_LESS:
    case EXPRESSION_LESS_EQUAL:
        write_comparison(body, node);
        return;
    case EXPRESSION_AND:
    case EXPRESSION_OR:
        write_logic(body, node);
        return;
    case EXPRESSION_IS_NULL:
        begin_value(body, node);
        fprintf(body->out, "%s);\n", kernel_body_null(body, of->child[0], name));
        return;
    case EXPRESSION_CHOOSE:
        write_choice(body, node);
        return;
    case EXPRESSION_LOOKUP:
        write_lookup(body, node);
        return;
    case EXPRESSION_CALL:
        write_row_call(body, node);
        return;
    case EXPRESSION_NOT:
    case EXPRESSION_IN_SET:
    case EXPRESSION_EXTRACT:
    case EXPRESSION_ADD_MONTHS:
    case EXPRESSION_TO_DATE:
    case EXPRESSION_TO_DOUBLE:
    case EXPRESSION_LIMB:
        write_call(body, node);
        return;
    case EXPRESSION_GROUP: /* evaluated on the host */
    case EXPRESSION_AGGREGATE:
    case EXPRESSION_MEASURE:
    case EXPRESSION_TEXT: /* in no plan for a GPU */
    case EXPRESSION_OPERATIONS:
        return;
    }
}

void kernel_body_write(struct kernel_body *body, uint32_t node)
{
    expression_mark(&body->plan->expressions, node, body->nodes);
    for (uint32_t n = 0; n <= node; n++) {
        if (body->nodes[n] != NODE_NEEDED)
            continue;
        if (at(body, n)->by_row || at(body, n)->checked)
            body->status =
                error_set(body->error, STATUS_BAD_INPUT,
                          "an expression is computed row by row, which a GPU does not do; use --device cpu");
        write_node(body, n);
        body->nodes[n] |= NODE_WRITTEN;
    }
}
