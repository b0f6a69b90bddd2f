/* hashes.c: hash(a, b, ...) (functions.h). docs/sql.md says how it can be computed elsewhere; it is not changed. */
#include "engine/sql/functions/functions.h"

#include <xxhash.h>

static void hash_string(const struct string_call *call, const struct string_value *s,
                        struct string_result *result)
{
    (void)call;
    result->number = (int64_t)(XXH64(s[0].text, s[0].length, 0) >> 1);
}

static enum status hash_of(struct binder *binder, struct sql_position position, uint32_t value,
                           uint32_t *node)
{
    const struct value_type type = bind_node(binder, value)->type;
    const struct string_call call = {
        .body = hash_string, .type = {.kind = VALUE_INTEGER}, .count = 1, .total = true, .wide = true};
    switch (type.kind) {
    case VALUE_STRING:
        return bind_placed(binder, position,
                           expression_string_call(binder->list, &call, &value, node, binder->error));
    case VALUE_DOUBLE:
        return bind_row_call(binder, position, ROW_HASH_DOUBLE, 0, value, EXPRESSION_NONE, EXPRESSION_NONE,
                             node);
    case VALUE_INTEGER:
    case VALUE_DATE:
    case VALUE_TIMESTAMP:
    case VALUE_BOOLEAN:
        break;
    }
    return bind_row_call(binder, position, ROW_HASH, type.scale, value, EXPRESSION_NONE, EXPRESSION_NONE,
                         node);
}

/* NULL has the hash 0. Several values: each hash is the seed of the next. */
enum status bind_hash(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    const struct sql_position position = call->ast->position;
    for (uint32_t v = 0; v < call->count; v++) {
        uint32_t hash, zero, missing;
        RETURN_IF_ERROR(bind_integer(binder, 0, 0, &zero));
        if (bind_is_null(binder, call->values[v])) {
            hash = zero;
        } else {
            RETURN_IF_ERROR(hash_of(binder, position, call->values[v], &hash));
            if (bind_node(binder, hash)->nullable) {
                RETURN_IF_ERROR(bind_missing(binder, call->values[v], &missing));
                RETURN_IF_ERROR(bind_choice(binder, position, missing, zero, hash, &hash));
            }
        }
        if (v == 0)
            *node = hash;
        else
            RETURN_IF_ERROR(
                bind_row_call(binder, position, ROW_HASH_PAIR, 0, *node, hash, EXPRESSION_NONE, node));
    }
    return STATUS_OK;
}
