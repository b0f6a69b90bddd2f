/*
 * bind_double_sum.c: binds sums and averages of doubles (bind_internal.h) as sums of whole numbers, which are the same in
 * every order of rows: a limb for each 22 to 62 bits that a value can have.
 */
#include "engine/sql/bind_internal.h"

#define LIMB_BITS_MOST 62u

/* The width of limbs whose sums need the fewest words: 64 bits each as long as the rows are few, else 128. */
static unsigned limb_width(uint64_t rows, unsigned bits)
{
    unsigned row_bits = 1;
    while (row_bits < 40 && rows >> row_bits)
        row_bits++;
    const unsigned narrow = LIMB_BITS_MOST - row_bits, limbs = (bits + narrow - 1) / narrow,
                   wide_limbs = (bits + LIMB_BITS_MOST - 1) / LIMB_BITS_MOST;
    return limbs <= 2 * wide_limbs ? narrow : LIMB_BITS_MOST;
}

static enum status add_limb(struct binder *binder, uint32_t argument, int first, unsigned width,
                            uint32_t *index)
{
    struct expression limb = {.operation = EXPRESSION_LIMB,
                              .children = 1,
                              .child = {argument},
                              .constant = first,
                              .field = (uint8_t)width};
    struct plan_aggregate aggregate = {.type = {.kind = VALUE_INTEGER}, .limb = true};
    struct expression unused = {0};
    RETURN_IF_ERROR(expression_add(binder->list, &limb, &aggregate.argument, binder->error));
    aggregate.low = bind_node(binder, aggregate.argument)->low;
    aggregate.high = bind_node(binder, aggregate.argument)->high;
    bind_sum_range(binder, &aggregate, &unused);
    return bind_aggregate_add(
        binder, aggregate,
        "a sum of doubles counts as one for each 22 to 62 bits between its least and greatest value", index);
}

/* Finds the sum, or adds its limbs. */
static enum status find_sum(struct binder *binder, uint32_t argument, uint32_t *index)
{
    struct plan *plan = binder->plan;
    const struct expression value = *bind_node(binder, argument);
    const int finest = double_bits_finest(value.bits), top = double_bits_top(value.bits);
    const unsigned bits = top > finest ? (unsigned)(top - finest) : 1;
    struct plan_double_sum sum = {.argument = argument,
                                  .first = finest,
                                  .width = limb_width(table_whole_rows(plan->fact), bits),
                                  .infinite =
                                      !double_key_finite(value.low) || !double_key_finite(value.high)};
    for (*index = 0; *index < plan->aggregate_count; ++*index)
        if (plan->aggregates[*index].doubles.limbs && plan->aggregates[*index].doubles.argument == argument)
            return STATUS_OK;
    sum.limbs = (bits + sum.width - 1) / sum.width;
    for (uint32_t l = 0; l < sum.limbs; l++) {
        uint32_t limb = 0;
        RETURN_IF_ERROR(add_limb(binder, argument, finest + (int)(l * sum.width), sum.width, &limb));
        *index = l ? *index : limb;
    }
    if (sum.infinite) {
        RETURN_IF_ERROR(bind_extreme_of(binder, argument, false, &sum.least));
        RETURN_IF_ERROR(bind_extreme_of(binder, argument, true, &sum.greatest));
    }
    plan->aggregates[*index].doubles = sum;
    return STATUS_OK;
}

enum status bind_double_sum(struct binder *binder, uint32_t argument, bool average, uint32_t *node)
{
    const struct expression value = *bind_node(binder, argument);
    struct expression leaf = {.operation = EXPRESSION_AGGREGATE,
                              .type = {.kind = VALUE_DOUBLE},
                              .nullable = true,
                              .low = DOUBLE_KEY_MINUS_INFINITY,
                              .high = DOUBLE_KEY_NAN};
    RETURN_IF_ERROR(find_sum(binder, argument, &leaf.index));
    if (value.nullable || average) {
        uint32_t counted;
        RETURN_IF_ERROR(bind_count_of(binder, argument, &counted));
        binder->plan->aggregates[leaf.index].count = value.nullable ? counted : leaf.index;
        leaf.table = average ? counted + 1 : 0;
    }
    return expression_add(binder->list, &leaf, node, binder->error);
}
