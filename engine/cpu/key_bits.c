/* key_bits.c: see key_bits.h. */
#include "engine/cpu/key_bits.h"

#include <stdlib.h>

/* A bitmap of more codes a row takes longer to clear and to read than groups do. */
#define CODES_A_ROW 8u

/* The codes of the term; 0: the plan's groups are no set of one term's values, or too wide. */
static uint64_t codes_of(const struct plan *plan)
{
    if (!plan->set || plan->group_count != 1 || plan->key_words != 1 || plan->aggregate_count ||
        plan->having != EXPRESSION_NONE)
        return 0;
    const struct plan_group *const group = &plan->groups[0];
    const struct expression *const value =
        &plan->expressions.nodes[plan->outputs[plan->set_output].expression];
    const bool is_term = value->operation == EXPRESSION_GROUP && value->index == 0 && !group->values &&
                         group->stride == 1 && group->low > INT64_MIN;
    return is_term && group->domain / CODES_A_ROW <= plan->fact->rows ? group->domain : 0;
}

void key_bits_begin(const struct plan *plan, struct key_bits *bits)
{
    const uint64_t codes = codes_of(plan);
    key_bits_free(bits);
    bits->word_count = codes / 64 + 1;
    atomic_store(&bits->count, 0);
    if (codes == 0 || !memory_charge_try(&bits->charge, bits->word_count * sizeof *bits->words, UINT64_MAX))
        return;
    bits->words = calloc(bits->word_count, sizeof *bits->words);
    if (!bits->words)
        memory_charge_drop(&bits->charge);
}

void key_bits_add(struct key_bits *bits, const uint64_t *numbers, uint32_t count)
{
    uint64_t added = 0;
    for (uint32_t i = 0; i < count; i++) {
        atomic_uint_least64_t *const word = &bits->words[numbers[i] / 64];
        const uint64_t bit = UINT64_C(1) << numbers[i] % 64;
        if (!(atomic_load_explicit(word, memory_order_relaxed) & bit))
            added += !(atomic_fetch_or_explicit(word, bit, memory_order_relaxed) & bit);
    }
    if (added)
        atomic_fetch_add_explicit(&bits->count, added, memory_order_relaxed);
}

void key_bits_give(const struct plan *plan, struct key_bits *bits, struct partial *partial)
{
    const struct plan_group *const group = &plan->groups[0];
    uint64_t *const words = (uint64_t *)bits->words; /* the threads have ended */
    partial->is_set = true;
    partial->set_null = group->nullable && (words[0] & 1);
    words[0] &= group->nullable ? ~UINT64_C(1) : UINT64_MAX; /* code 0 is that of NULL */
    partial->set = (struct number_bits){.low = group->low - group->nullable,
                                        .count = atomic_load(&bits->count) - partial->set_null,
                                        .words = words};
    number_bits_trim(&partial->set, bits->word_count);
    bits->words = NULL;
    memory_charge_drop(&bits->charge);
}

void key_bits_free(struct key_bits *bits)
{
    free(bits->words);
    bits->words = NULL;
    memory_charge_drop(&bits->charge);
}
