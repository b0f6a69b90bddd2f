/* formats.c: values as text (functions.h). */
#include "engine/sql/functions/functions.h"

#include "engine/plan/value_text.h"
#include "engine/plan/value_write.h"
#include "storage/base/words/utf8.h"

/* The type is in numbers[0]: the kind, the scale from bit 8 on, and `zoned` in bit 16. The context is the zone. */
static void text_of(const struct string_call *call, const struct string_value *none,
                    struct string_result *result)
{
    const struct value_type type = {.kind = (enum value_kind)(call->numbers[0] & 255),
                                    .scale = (uint8_t)(call->numbers[0] >> 8),
                                    .zoned = call->numbers[0] >> 16};
    char text[VALUE_WRITE_BYTES];
    (void)none;
    string_put(result->text, text,
               (uint64_t)(write_value(text, type, call->context, call->numbers[2]) - text));
}

enum status bind_text(struct binder *binder, struct sql_position position, uint32_t *node)
{
    const struct value_type type = bind_node(binder, *node)->type;
    const struct text_call call = {
        .call = {.body = text_of,
                 .type = {.kind = VALUE_STRING},
                 .numbers = {type.kind | (int64_t)type.scale << 8 | (int64_t)type.zoned << 16},
                 .context = type.zoned ? (void *)binder->zone : NULL,
                 .release = type.zoned ? bind_keep_zone : NULL,
                 .total = true},
        .number_count = 1,
        .first_number = 2,
        .arguments = {*node}};
    char text[VALUE_WRITE_BYTES];
    if (type.kind == VALUE_STRING)
        return STATUS_OK;
    if (bind_is_null(binder, *node) || (type.kind == VALUE_DOUBLE && bind_may_be_constant(binder, *node)))
        return bind_null_string(binder, node);
    if (type.kind == VALUE_DOUBLE && expression_is_constant(binder->list, *node)) {
        const char *const end = write_double(text, bind_node(binder, *node)->constant);
        return expression_string_constant(binder->list, text, (uint32_t)(end - text), node, binder->error);
    }
    return bind_placed(binder, position, expression_text_call(binder->list, &call, node, binder->error));
}

static void character_of(const struct string_call *call, const struct string_value *none,
                         struct string_result *result)
{
    const int64_t code = call->numbers[2];
    char text[4];
    (void)none;
    result->null = code < 1 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000);
    if (!result->null)
        string_put(result->text, text, (uint64_t)utf8_write((uint32_t)code, text));
}

/* chr(n): the character of that code; NULL if there is none. */
enum status bind_chr(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    const struct text_call made = {.call = {.body = character_of, .type = {.kind = VALUE_STRING}},
                                   .number_count = 1,
                                   .first_number = 2,
                                   .arguments = {call->values[0]}};
    const struct expression code = *bind_node(binder, call->values[0]);
    if (bind_is_null(binder, call->values[0]))
        return bind_null_string(binder, node);
    if (code.type.kind != VALUE_INTEGER || code.type.scale)
        return bind_refuse(binder, call->ast->position, "%s takes a whole number, not %s", call->ast->name,
                           bind_kind_name(code.type.kind));
    if (code.low > code.high)
        return bind_null_string(binder, node);
    return bind_placed(binder, call->ast->position,
                       expression_text_call(binder->list, &made, node, binder->error));
}
