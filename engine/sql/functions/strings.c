/* strings.c: functions of strings (functions.h): their values become strings and constants, and the function
 * a table over dictionaries (engine/plan/functions/string_call.h). */
#include "engine/sql/functions/functions.h"

/* By the numbers of function_strings: how the values of a call become the body's. */
static const struct string_shape {
    string_call_body *body;
    enum value_kind kind;
    uint32_t strings; /* the first values, or their places in `order`; the others are numbers */
    uint8_t order[3];
    const char *filler; /* a string that the call may lack */
    int64_t number;     /* put into numbers[1] or, if there are no others, numbers[0] */
} string_functions[] = {
    [STRINGS_LEFT] = {string_left, VALUE_STRING, 1, {0, 1, 2}, NULL, 0},
    [STRINGS_RIGHT] = {string_right, VALUE_STRING, 1, {0, 1, 2}, NULL, 0},
    [STRINGS_SUBSTR] = {string_substr, VALUE_STRING, 1, {0, 1, 2}, NULL, INT32_MAX},
    [STRINGS_REPLACE] = {string_replace, VALUE_STRING, 3, {0, 1, 2}, NULL, 0},
    [STRINGS_POSITION] = {string_position, VALUE_INTEGER, 2, {0, 1, 2}, NULL, 0},
    [STRINGS_SPLIT_PART] = {string_split_part, VALUE_STRING, 2, {0, 1, 2}, NULL, 0},
    [STRINGS_STARTS_WITH] = {string_starts_with, VALUE_BOOLEAN, 2, {0, 1, 2}, NULL, 0},
    [STRINGS_ENDS_WITH] = {string_ends_with, VALUE_BOOLEAN, 2, {0, 1, 2}, NULL, 0},
    [STRINGS_CONTAINS] = {string_contains, VALUE_BOOLEAN, 2, {0, 1, 2}, NULL, 0},
    [STRINGS_LPAD] = {string_pad, VALUE_STRING, 2, {0, 2, 1}, " ", 0},
    [STRINGS_RPAD] = {string_pad, VALUE_STRING, 2, {0, 2, 1}, " ", 1},
    [STRINGS_TRIM] = {string_trim, VALUE_STRING, 2, {0, 1, 2}, " ", 3},
    [STRINGS_LTRIM] = {string_trim, VALUE_STRING, 2, {0, 1, 2}, " ", 1},
    [STRINGS_RTRIM] = {string_trim, VALUE_STRING, 2, {0, 1, 2}, " ", 2},
    [STRINGS_REPEAT] = {string_repeat, VALUE_STRING, 1, {0, 1, 2}, NULL, 0},
    [STRINGS_REVERSE] = {string_reverse, VALUE_STRING, 1, {0, 1, 2}, NULL, 0},
    [STRINGS_BYTES] = {string_bytes, VALUE_INTEGER, 1, {0, 1, 2}, NULL, 0},
};

/* Takes a constant number, which must be small because strings are repeated and padded by it. */
static enum status constant_number(struct binder *binder, const struct bound_call *call, uint32_t value,
                                   int64_t *number)
{
    const struct expression *node = bind_node(binder, call->values[value]);
    if (node->type.kind != VALUE_INTEGER || node->type.scale || node->constant > 1000000 ||
        node->constant < -1000000)
        return bind_refuse(binder, call->ast->children[value]->position,
                           "%s takes a whole number here, of at most 1,000,000", call->ast->name);
    *number = node->constant;
    return STATUS_OK;
}

/* Numbers that are not constants must be whole and small, too, by their ranges. */
static enum status varied_number(struct binder *binder, const struct bound_call *call, uint32_t value)
{
    const struct expression *node = bind_node(binder, call->values[value]);
    if (node->type.kind != VALUE_INTEGER || node->type.scale || node->high > 1000000 || node->low < -1000000)
        return bind_refuse(binder, call->ast->children[value]->position,
                           "%s takes a whole number here, of at most 1,000,000", call->ast->name);
    return STATUS_OK;
}

static enum status null_of(struct binder *binder, enum value_kind kind, uint32_t *node)
{
    return expression_null(binder->list, (struct value_type){.kind = kind}, node, binder->error);
}

/* A NULL needs a dictionary when it is compared with strings, so it is that of an empty string. */
enum status bind_null_string(struct binder *binder, uint32_t *node)
{
    RETURN_IF_ERROR(expression_string_constant(binder->list, "", 0, node, binder->error));
    return expression_null(binder->list, bind_node(binder, *node)->type, node, binder->error);
}

/* Functions of strings and constant numbers; call->argument is an enum strings_function. */
enum status bind_string_call(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    const struct string_shape *function = &string_functions[call->argument];
    struct string_call made = {
        .body = function->body, .type = {.kind = function->kind}, .count = function->strings};
    uint32_t strings[3], numbers = 0;
    for (uint32_t v = 0; v < call->count; v++)
        if (bind_is_null(binder, call->values[v]))
            return function->kind == VALUE_STRING ? bind_null_string(binder, node)
                                                  : null_of(binder, function->kind, node);
    for (uint32_t s = 0; s < function->strings; s++) {
        const uint32_t from = function->order[s];
        if (from >= call->count) {
            RETURN_IF_ERROR(expression_string_constant(binder->list, function->filler,
                                                       (uint32_t)strlen(function->filler), &strings[s],
                                                       binder->error));
            continue;
        }
        strings[s] = call->values[from];
        RETURN_IF_ERROR(bind_text(binder, call->ast->children[from]->position, &strings[s]));
    }
    uint32_t nodes[3];
    bool varied = false;
    for (uint32_t v = 0; v < call->count; v++) {
        bool is_string = false;
        for (uint32_t s = 0; s < function->strings; s++)
            is_string |= function->order[s] == v;
        if (is_string)
            continue;
        nodes[numbers] = call->values[v];
        if (expression_is_constant(binder->list, call->values[v])) {
            RETURN_IF_ERROR(constant_number(binder, call, v, &made.numbers[numbers]));
        } else {
            RETURN_IF_ERROR(varied_number(binder, call, v));
            varied = true;
        }
        numbers++;
    }
    made.numbers[numbers] = function->number;
    return bind_placed(binder, call->ast->position,
                       varied ? expression_string_call_varied(binder->list, &made, strings, nodes, numbers,
                                                              node, binder->error)
                              : expression_string_call(binder->list, &made, strings, node, binder->error));
}

/* position(what IN s) has its values the other way round. */
enum status bind_position(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    struct sql_expression ast = *call->ast;
    struct sql_expression *const children[] = {call->ast->children[1], call->ast->children[0]};
    const struct bound_call turned = {
        .ast = &ast, .count = 2, .values = {call->values[1], call->values[0]}, .argument = STRINGS_POSITION};
    ast.children = (struct sql_expression **)children;
    return bind_string_call(binder, &turned, node);
}

/* ---- Concatenation ---- */

static enum status concat(struct binder *binder, struct sql_position position, const uint32_t *strings,
                          uint32_t count, uint32_t *node)
{
    const struct string_call made = {.body = string_concat, .type = {.kind = VALUE_STRING}, .count = count};
    return bind_placed(binder, position,
                       expression_string_call(binder->list, &made, strings, node, binder->error));
}

/* concat(a, b, ...): NULLs are empty. */
enum status bind_concat(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    uint32_t strings[FUNCTION_VALUES_MAX];
    for (uint32_t v = 0; v < call->count; v++) {
        uint32_t empty, missing;
        RETURN_IF_ERROR(expression_string_constant(binder->list, "", 0, &empty, binder->error));
        strings[v] = bind_is_null(binder, call->values[v]) ? empty : call->values[v];
        RETURN_IF_ERROR(bind_text(binder, call->ast->children[v]->position, &strings[v]));
        if (!bind_node(binder, strings[v])->nullable)
            continue;
        RETURN_IF_ERROR(bind_missing(binder, strings[v], &missing));
        RETURN_IF_ERROR(bind_choice(binder, call->ast->position, missing, empty, strings[v], &strings[v]));
    }
    return concat(binder, call->ast->position, strings, call->count, node);
}

/* a || b || ...: NULL if one is. A chain is one function, so that each string is made once. */
enum status bind_concat_operator(struct binder *binder, const struct sql_expression *ast,
                                 enum bind_level level, uint32_t *node)
{
    const struct sql_expression *operands[FUNCTION_VALUES_MAX], *left = ast;
    uint32_t strings[FUNCTION_VALUES_MAX], first = FUNCTION_VALUES_MAX;
    while (left->operation == SQL_CONCAT && first > 1) { /* the last operand is found first */
        operands[--first] = left->children[1];
        left = left->children[0];
    }
    operands[--first] = left;
    const uint32_t count = FUNCTION_VALUES_MAX - first;
    bool null = false;
    for (uint32_t o = 0; o < count; o++) {
        RETURN_IF_ERROR(bind_expression(binder, operands[first + o], level, &strings[o]));
        null |= bind_is_null(binder, strings[o]);
        RETURN_IF_ERROR(bind_text(binder, operands[first + o]->position, &strings[o]));
    }
    if (null)
        return bind_null_string(binder, node);
    bind_allow_late(binder, ast, level);
    return concat(binder, ast->position, strings, count, node);
}
