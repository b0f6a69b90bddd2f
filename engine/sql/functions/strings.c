/* strings.c: functions of strings (functions.h): their values become strings and numbers, and the function
 * a table over dictionaries, or one of rows (engine/plan/functions/string_call.h). */
#include "engine/sql/functions/functions.h"

/* Checks a number, which must be whole, and small by its range where strings are repeated by it. */
static enum status check_number(struct binder *binder, const struct bound_call *call, uint32_t value)
{
    const struct expression *node = bind_node(binder, call->values[value]);
    string_call_body *const body = call->function->text.body;
    const bool large = node->high > 1000000 || node->low < -1000000;
    if (node->type.kind != VALUE_INTEGER || node->type.scale ||
        (large && (!node->by_row || body == string_repeat || body == string_pad)))
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

/* The strings of a function of strings, by its letters; one that is left out is the filler. */
static enum status strings_of(struct binder *binder, const struct bound_call *call, struct text_call *made)
{
    const struct function *const function = call->function;
    for (uint32_t v = 0; v < function->most; v++) {
        if (function->takes[v] == 'n')
            continue;
        if (function->takes[v] == 't' && bind_kind(binder, call->values[v]) != VALUE_STRING)
            return bind_refuse(binder, call->ast->position, "%s takes a string; CAST it to VARCHAR",
                               call->ast->name);
        uint32_t *const string = &made->arguments[made->call.count++];
        if (v < call->count) {
            *string = call->values[v];
            RETURN_IF_ERROR(bind_text(binder, call->ast->children[v]->position, string));
        } else {
            const char *const filler = function->text.filler;
            RETURN_IF_ERROR(expression_string_constant(binder->list, filler, (uint32_t)strlen(filler), string,
                                                       binder->error));
        }
    }
    return STATUS_OK;
}

/* Its numbers, and the function's own after them. */
static enum status numbers_of(struct binder *binder, const struct bound_call *call, struct text_call *made)
{
    for (uint32_t v = 0; v < call->count; v++)
        if (call->function->takes[v] == 'n') {
            RETURN_IF_ERROR(check_number(binder, call, v));
            made->arguments[made->call.count + made->number_count++] = call->values[v];
        }
    made->call.numbers[made->number_count] = call->function->text.number;
    return STATUS_OK;
}

enum status bind_text_function(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    const enum value_kind kind = call->function->text.kind;
    struct text_call made = {.call = {.body = call->function->text.body, .type = {.kind = kind}}};
    for (uint32_t v = 0; v < call->count; v++)
        if (bind_is_untyped(binder, call->values[v]) ||
            (bind_is_null(binder, call->values[v]) && call->function->takes[v] != 't'))
            return kind == VALUE_STRING ? bind_null_string(binder, node) : null_of(binder, kind, node);
    RETURN_IF_ERROR(strings_of(binder, call, &made));
    RETURN_IF_ERROR(numbers_of(binder, call, &made));
    return bind_placed(binder, call->ast->position,
                       expression_text_call(binder->list, &made, node, binder->error));
}

/* position(what IN s) is strpos(s, what). */
enum status bind_position(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    size_t place;
    struct sql_expression ast = *call->ast;
    struct sql_expression *const children[] = {call->ast->children[1], call->ast->children[0]};
    const struct bound_call turned = {.ast = &ast,
                                      .function = function_find("strpos", &place),
                                      .level = call->level,
                                      .count = 2,
                                      .values = {call->values[1], call->values[0]}};
    ast.children = (struct sql_expression **)children;
    return bind_text_function(binder, &turned, node);
}

/* ---- Concatenation ---- */

static enum status concat(struct binder *binder, struct sql_position position, const uint32_t *strings,
                          uint32_t count, uint32_t *node)
{
    const struct string_call made = {
        .body = string_concat, .type = {.kind = VALUE_STRING}, .count = count, .total = true};
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

/* One more value of concat_ws: CASE WHEN v IS NULL THEN all WHEN all IS NULL THEN v ELSE all || separator || v END. */
static enum status append_with(struct binder *binder, struct sql_position position, uint32_t separator,
                               uint32_t value, uint32_t *all)
{
    const uint32_t strings[3] = {*all, separator, value};
    const bool all_may_lack = bind_node(binder, *all)->nullable,
               value_may_lack = bind_node(binder, value)->nullable;
    const uint32_t before = *all;
    uint32_t missing;
    RETURN_IF_ERROR(concat(binder, position, strings, 3, all));
    if (all_may_lack) {
        RETURN_IF_ERROR(bind_missing(binder, before, &missing));
        RETURN_IF_ERROR(bind_choice(binder, position, missing, value, *all, all));
    }
    if (!value_may_lack)
        return STATUS_OK;
    RETURN_IF_ERROR(bind_missing(binder, value, &missing));
    return bind_choice(binder, position, missing, before, *all, all);
}

/* concat_ws(separator, a, b, ...): the values that are not NULL; NULL if the separator is. */
enum status bind_concat_ws(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    const struct sql_position position = call->ast->position;
    uint32_t separator = call->values[0], empty, missing, null;
    if (bind_is_null(binder, separator))
        return bind_null_string(binder, node);
    RETURN_IF_ERROR(bind_text(binder, position, &separator));
    RETURN_IF_ERROR(expression_string_constant(binder->list, "", 0, &empty, binder->error));
    *node = EXPRESSION_NONE;
    for (uint32_t v = 1; v < call->count; v++) {
        uint32_t value = call->values[v];
        if (bind_is_null(binder, value))
            continue;
        RETURN_IF_ERROR(bind_text(binder, call->ast->children[v]->position, &value));
        if (*node == EXPRESSION_NONE)
            *node = value;
        else
            RETURN_IF_ERROR(append_with(binder, position, separator, value, node));
    }
    if (*node == EXPRESSION_NONE)
        *node = empty;
    if (bind_node(binder, *node)->nullable) {
        RETURN_IF_ERROR(bind_missing(binder, *node, &missing));
        RETURN_IF_ERROR(bind_choice(binder, position, missing, empty, *node, node));
    }
    if (!bind_node(binder, separator)->nullable)
        return STATUS_OK;
    RETURN_IF_ERROR(bind_missing(binder, separator, &missing));
    RETURN_IF_ERROR(bind_null_string(binder, &null));
    return bind_choice(binder, position, missing, null, *node, node);
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
    return concat(binder, ast->position, strings, count, node);
}
