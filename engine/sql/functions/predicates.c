/* predicates.c: IS TRUE, IS DISTINCT FROM, LIKE, ILIKE and regular expressions (functions.h). */
#include "engine/sql/functions/functions.h"

#include "engine/sql/functions/regular.h"

/* x IS [NOT] TRUE, FALSE or UNKNOWN: `text` is the word. */
static enum status is_truth(struct binder *binder, const struct sql_expression *ast, enum bind_level level,
                            uint32_t *node)
{
    const struct sql_position position = ast->position;
    const struct value_type truth = {.kind = VALUE_BOOLEAN};
    uint32_t condition, yes, no;
    RETURN_IF_ERROR(bind_condition(binder, ast->children[0], level, &condition));
    if (ast->text[0] == 'u') {
        RETURN_IF_ERROR(bind_missing(binder, condition, node));
        return bind_negate(binder, position, ast->negated, node);
    }
    RETURN_IF_ERROR(bind_negate(binder, position, ast->text[0] == 'f', &condition));
    RETURN_IF_ERROR(expression_constant(binder->list, truth, !ast->negated, &yes, binder->error));
    RETURN_IF_ERROR(expression_constant(binder->list, truth, ast->negated, &no, binder->error));
    return bind_apply(binder, position, EXPRESSION_CHOOSE, condition, yes, no, node);
}

/* a IS [NOT] DISTINCT FROM b: NULL is a value as any other. Equal: both missing, or neither and a = b. */
static enum status is_distinct(struct binder *binder, const struct sql_expression *ast, enum bind_level level,
                               uint32_t *node)
{
    const struct sql_position position = ast->position;
    uint32_t a, b, equal, missing[2], both, yes, no;
    const struct value_type truth = {.kind = VALUE_BOOLEAN};
    RETURN_IF_ERROR(bind_expression(binder, ast->children[0], level, &a));
    RETURN_IF_ERROR(bind_expression(binder, ast->children[1], level, &b));
    RETURN_IF_ERROR(bind_missing(binder, a, &missing[0]));
    RETURN_IF_ERROR(bind_missing(binder, b, &missing[1]));
    RETURN_IF_ERROR(
        bind_apply(binder, position, EXPRESSION_AND, missing[0], missing[1], EXPRESSION_NONE, &both));
    if (bind_is_untyped(binder, a) || bind_is_untyped(binder, b)) {
        *node = both;
        return bind_negate(binder, position, !ast->negated, node);
    }
    RETURN_IF_ERROR(bind_compare(binder, position, EXPRESSION_EQUAL, a, b, &equal));
    RETURN_IF_ERROR(expression_constant(binder->list, truth, true, &yes, binder->error));
    RETURN_IF_ERROR(expression_constant(binder->list, truth, false, &no, binder->error));
    RETURN_IF_ERROR(bind_apply(binder, position, EXPRESSION_CHOOSE, equal, yes, no, node));
    RETURN_IF_ERROR(bind_apply(binder, position, EXPRESSION_OR, *node, both, EXPRESSION_NONE, node));
    return bind_negate(binder, position, !ast->negated, node);
}

enum status bind_is(struct binder *binder, const struct sql_expression *ast, enum bind_level level,
                    uint32_t *node)
{
    return (ast->operation == SQL_IS_TRUTH ? is_truth : is_distinct)(binder, ast, level, node);
}

/* ---- LIKE ---- */

static enum status unknown(struct binder *binder, uint32_t *node)
{
    return expression_null(binder->list, (struct value_type){.kind = VALUE_BOOLEAN}, node, binder->error);
}

/* LIKE with a pattern, or an ESCAPE, that is no constant. */
static enum status like_computed(struct binder *binder, const struct sql_expression *ast,
                                 enum like_case letters, uint32_t *strings, uint32_t *node)
{
    const struct string_call call = {.body = string_like_computed,
                                     .type = {.kind = VALUE_BOOLEAN},
                                     .numbers = {letters},
                                     .count = ast->child_count,
                                     .total = true};
    for (uint32_t s = 1; s < call.count; s++)
        RETURN_IF_ERROR(bind_text(binder, ast->children[s]->position, &strings[s]));
    RETURN_IF_ERROR(bind_placed(binder, ast->position,
                                expression_string_call(binder->list, &call, strings, node, binder->error)));
    return bind_negate(binder, ast->position, ast->negated, node);
}

enum status bind_like(struct binder *binder, const struct sql_expression *ast, enum bind_level level,
                      uint32_t *node)
{
    const char *const word = ast->has_operand ? "ILIKE" : "LIKE", *escape = NULL;
    uint32_t strings[3], escape_length = 0;
    struct like_pattern like = {.letters = ast->has_operand            ? LIKE_IGNORES_CASE
                                           : binder->like_ignores_case ? LIKE_IGNORES_ASCII
                                                                       : LIKE_CASE_MATTERS};
    for (uint32_t s = 0; s < ast->child_count; s++)
        RETURN_IF_ERROR(bind_expression(binder, ast->children[s], level, &strings[s]));
    for (uint32_t s = 0; s < ast->child_count; s++)
        if (bind_is_untyped(binder, strings[s]) || (s > 0 && bind_is_null(binder, strings[s])))
            return unknown(binder, node);
    if (bind_kind(binder, strings[0]) != VALUE_STRING)
        return bind_refuse(binder, ast->position, "%s needs a string on its left, not %s; CAST it to VARCHAR",
                           word, bind_kind_name(bind_kind(binder, strings[0])));
    like.text = bind_string_of(binder, strings[1], &like.length);
    if (ast->child_count > 2)
        escape = bind_string_of(binder, strings[2], &escape_length);
    if (!like.text || (ast->child_count > 2 && !escape))
        return like_computed(binder, ast, like.letters, strings, node);
    if (escape && escape_length > 1)
        return bind_refuse(binder, ast->children[2]->position, "ESCAPE takes one character of ASCII");
    like.escape = escape_length ? *escape : 0;
    RETURN_IF_ERROR(bind_placed(
        binder, ast->position, expression_string_like(binder->list, strings[0], &like, node, binder->error)));
    return bind_negate(binder, ast->position, ast->negated, node);
}

/* ---- Regular expressions ---- */

/* The expression of a call, whose last string it is if it is no constant. */
static struct regular *regular_of(const struct string_call *call, const struct string_value *strings,
                                  struct string_result *result)
{
    struct regular *regular = NULL;
    result->status = regular_patterns_take(call->context, strings[call->count - 1], &regular, result->error);
    return regular;
}

static void matches(const struct string_call *call, const struct string_value *strings,
                    struct string_result *result)
{
    struct regular *const regular = regular_of(call, strings, result);
    bool found = false;
    if (!regular)
        return;
    result->status = regular_matches(regular, strings[0], &found, result->error);
    result->number = found;
    regular_patterns_give(call->context, regular);
}

static void extract(const struct string_call *call, const struct string_value *strings,
                    struct string_result *result)
{
    struct regular *const regular = regular_of(call, strings, result);
    struct string_value part = {"", 0};
    if (!regular)
        return;
    result->status = regular_extract(regular, strings[0], (uint32_t)call->numbers[0], &part, result->error);
    string_put(result->text, part.text, part.length);
    regular_patterns_give(call->context, regular);
}

static void replace(const struct string_call *call, const struct string_value *strings,
                    struct string_result *result)
{
    struct regular *const regular = regular_of(call, strings, result);
    if (!regular)
        return;
    result->status =
        regular_replace(regular, strings[0], strings[1], call->numbers[0], result->text, result->error);
    regular_patterns_give(call->context, regular);
}

static void free_patterns(void *patterns)
{
    regular_patterns_free(patterns);
}

/* Adds a function of the strings of nodes, with the expression that `pattern` is; there is room for it among the nodes. */
static enum status apply_regular(struct binder *binder, struct sql_position position, uint32_t pattern,
                                 bool ignore_case, struct string_call call, uint32_t *nodes, uint32_t *node)
{
    struct regular_patterns *patterns;
    struct string_value constant;
    constant.text = bind_string_of(binder, pattern, &constant.length);
    if (!constant.text) {
        nodes[call.count] = pattern;
        RETURN_IF_ERROR(bind_text(binder, position, &nodes[call.count++]));
    }
    RETURN_IF_ERROR(bind_placed(
        binder, position,
        regular_patterns_create(constant.text ? &constant : NULL, ignore_case, &patterns, binder->error)));
    call.context = patterns;
    call.fails = !constant.text;
    call.release = free_patterns;
    return bind_placed(binder, position,
                       expression_string_call(binder->list, &call, nodes, node, binder->error));
}

/* x ~ 'pattern', x REGEXP 'pattern'; `has_operand`: the case of letters is ignored. */
enum status bind_matches(struct binder *binder, const struct sql_expression *ast, enum bind_level level,
                         uint32_t *node)
{
    const struct string_call call = {.body = matches, .type = {.kind = VALUE_BOOLEAN}, .count = 1};
    uint32_t strings[2], pattern;
    RETURN_IF_ERROR(bind_expression(binder, ast->children[0], level, &strings[0]));
    RETURN_IF_ERROR(bind_expression(binder, ast->children[1], level, &pattern));
    if (bind_is_null(binder, strings[0]) || bind_is_null(binder, pattern))
        return unknown(binder, node);
    RETURN_IF_ERROR(bind_text(binder, ast->position, &strings[0]));
    RETURN_IF_ERROR(apply_regular(binder, ast->position, pattern, ast->has_operand, call, strings, node));
    return bind_negate(binder, ast->position, ast->negated, node);
}

/* Takes the letters of the options, the last value: 'i' and 'g'. */
static enum status options_of(struct binder *binder, const struct bound_call *call, uint32_t value,
                              bool *ignore_case, int64_t *all)
{
    uint32_t length;
    *ignore_case = false;
    *all = 0;
    if (value >= call->count)
        return STATUS_OK;
    const char *const text = bind_string_of(binder, call->values[value], &length);
    for (uint32_t i = 0; text && i < length; i++) {
        *ignore_case |= text[i] == 'i';
        *all |= text[i] == 'g';
        if (!strchr("igc", text[i]))
            return bind_refuse(binder, call->ast->position, "the options of %s are 'i' and 'g', not '%c'",
                               call->ast->name, text[i]);
    }
    return text ? STATUS_OK
                : bind_refuse(binder, call->ast->position, "the options of %s are a constant string",
                              call->ast->name);
}

/* regexp_matches(s, p[, options]), regexp_extract(s, p[, group]), regexp_replace(s, p, by[, options]):
 * call->function->argument is 0, 1 or 2. */
enum status bind_regular(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    struct string_call made = {.body = call->function->argument == 0   ? matches
                                       : call->function->argument == 1 ? extract
                                                                       : replace,
                               .type = {.kind = call->function->argument == 0 ? VALUE_BOOLEAN : VALUE_STRING},
                               .count = call->function->argument == 2 ? 2 : 1};
    uint32_t strings[3] = {call->values[0], call->function->argument == 2 ? call->values[2] : 0};
    bool ignore_case = false;
    for (uint32_t v = 0; v < call->count; v++)
        if (bind_is_null(binder, call->values[v]))
            return call->function->argument == 0 ? unknown(binder, node) : bind_null_string(binder, node);
    for (uint32_t s = 0; s < made.count; s++)
        RETURN_IF_ERROR(bind_text(binder, call->ast->position, &strings[s]));
    if (call->function->argument == 1) {
        const struct expression *group = call->count > 2 ? bind_node(binder, call->values[2]) : NULL;
        if (group && (!expression_is_constant(binder->list, call->values[2]) ||
                      group->type.kind != VALUE_INTEGER || group->constant < 0 || group->constant > 99))
            return bind_refuse(binder, call->ast->position,
                               "regexp_extract takes the number of a group, from 0");
        made.numbers[0] = group ? group->constant : 0;
    } else {
        RETURN_IF_ERROR(
            options_of(binder, call, 2 + (call->function->argument == 2), &ignore_case, &made.numbers[0]));
    }
    return apply_regular(binder, call->ast->position, call->values[1], ignore_case, made, strings, node);
}
