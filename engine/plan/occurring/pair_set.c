/* pair_set.c: see pair_set.h. */
#include "engine/plan/occurring/pair_set.h"

#include "storage/base/hash.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

static uint64_t *slot_of(const struct pair_set *set, uint64_t number)
{
    uint64_t at = hash_mix(number) & (set->capacity - 1);
    while (set->slots[at] != UINT64_MAX && set->slots[at] != number)
        at = (at + 1) & (set->capacity - 1);
    return &set->slots[at];
}

static enum status grow(struct pair_set *set, struct error *error)
{
    struct pair_set grown = *set;
    grown.capacity = set->capacity ? 2 * set->capacity : 1024;
    RETURN_IF_ERROR(
        memory_take(&grown.slots, grown.capacity * sizeof *grown.slots, "combinations of strings", error));
    memset(grown.slots, 0xff, grown.capacity * sizeof *grown.slots);
    for (uint64_t s = 0; s < set->capacity; s++)
        if (set->slots[s] != UINT64_MAX)
            *slot_of(&grown, set->slots[s]) = set->slots[s];
    free(set->slots);
    *set = grown;
    return STATUS_OK;
}

enum status pair_set_add(struct pair_set *set, uint64_t number, struct error *error)
{
    if (set->domain <= PAIR_SET_BITS) {
        if (!set->bits)
            RETURN_IF_ERROR(memory_zeros(&set->bits, (set->domain / 64 + 1) * sizeof *set->bits,
                                         "combinations of strings", error));
        set->bits[number / 64] |= UINT64_C(1) << number % 64;
        return STATUS_OK;
    }
    if (set->count && number == set->last)
        return STATUS_OK;
    set->last = number;
    if (2 * set->count >= set->capacity)
        RETURN_IF_ERROR(grow(set, error));
    uint64_t *const slot = slot_of(set, number);
    set->count += *slot == UINT64_MAX;
    *slot = number;
    return STATUS_OK;
}

void pair_set_free(struct pair_set *set)
{
    free(set->slots);
    free(set->bits);
    *set = (struct pair_set){.domain = set->domain};
}

/* Sorts by a byte at a time, the least first; `other` has the same room. Returns which of both has the result. */
static uint64_t *sort_numbers(uint64_t *numbers, uint64_t *other, uint64_t count, uint64_t most)
{
    for (unsigned shift = 0; shift < 64 && most >> shift; shift += 8) {
        uint64_t places[257] = {0};
        uint64_t *const sorted = other;
        for (uint64_t i = 0; i < count; i++)
            places[(numbers[i] >> shift & 255) + 1]++;
        for (unsigned b = 1; b < 256; b++)
            places[b] += places[b - 1];
        for (uint64_t i = 0; i < count; i++)
            sorted[places[numbers[i] >> shift & 255]++] = numbers[i];
        other = numbers;
        numbers = sorted;
    }
    return numbers;
}

static enum status join_bits(const struct pair_set *const *sets, uint32_t set_count, uint64_t **numbers,
                             uint64_t *count, struct error *error)
{
    const uint64_t words = sets[0]->domain / 64 + 1;
    uint64_t *all;
    RETURN_IF_ERROR(memory_zeros(&all, words * sizeof *all, "combinations of strings", error));
    *count = 0;
    for (uint64_t w = 0; w < words; w++) {
        for (uint32_t s = 0; s < set_count; s++)
            all[w] |= sets[s]->bits ? sets[s]->bits[w] : 0;
        *count += (uint64_t)__builtin_popcountll(all[w]);
    }
    const enum status status =
        memory_take(numbers, (*count + 1) * sizeof **numbers, "combinations of strings", error);
    uint64_t at = 0;
    for (uint64_t w = 0; status == STATUS_OK && w < words; w++)
        for (uint64_t left = all[w]; left; left &= left - 1)
            (*numbers)[at++] = w * 64 + (uint64_t)__builtin_ctzll(left);
    free(all);
    return status;
}

enum status pair_sets_join(const struct pair_set *const *sets, uint32_t set_count, uint64_t **numbers,
                           uint64_t *count, struct error *error)
{
    uint64_t all = 0, most = 0, *taken;
    if (sets[0]->domain <= PAIR_SET_BITS)
        return join_bits(sets, set_count, numbers, count, error);
    for (uint32_t s = 0; s < set_count; s++)
        all += sets[s]->count;
    RETURN_IF_ERROR(memory_take(&taken, (2 * all + 1) * sizeof *taken, "combinations of strings", error));
    uint64_t at = 0;
    for (uint32_t s = 0; s < set_count; s++)
        for (uint64_t slot = 0; slot < sets[s]->capacity; slot++)
            if (sets[s]->slots[slot] != UINT64_MAX) {
                taken[at] = sets[s]->slots[slot];
                most = taken[at] > most ? taken[at] : most;
                at++;
            }
    const uint64_t *const sorted = sort_numbers(taken, taken + all, all, most);
    *count = 0;
    for (uint64_t i = 0; i < all; i++) { /* `taken` is not read ahead of what is written to it */
        const uint64_t number = sorted[i];
        if (*count == 0 || taken[*count - 1] != number)
            taken[(*count)++] = number;
    }
    *numbers = taken;
    return STATUS_OK;
}
