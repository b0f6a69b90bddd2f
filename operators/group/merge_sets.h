/*
 * merge_sets.h: adds the distinct values that another GPU has seen to those of this one: what one thread does with a word
 * of the other's bits, or with a place of its table of keys (operators/group/states_cuda.h: DISTINCT_BITS, DISTINCT_KEYS).
 * A value that is new here is counted for its group, and the group's count is changed by nothing else: the groups must have
 * been merged before, without these counts. DISTINCT_PAIRS name places of one GPU, and cannot be merged so. This header is
 * C and CUDA.
 */
#ifndef TESSERA_OPERATORS_GROUP_MERGE_SETS_H
#define TESSERA_OPERATORS_GROUP_MERGE_SETS_H

#include "operators/group/merge_hash.h"

/* Two tables of a bit for each slot and value. */
struct bound_bits {
    uint64_t own, other; /* the tables */
    uint64_t words;      /* of 32 bits */
    uint64_t domain;     /* bits of a slot */
    uint64_t counts;     /* this GPU's counts, 64 bits a slot */
};

/* Two hash tables of group number * domain + value. */
struct bound_keys {
    struct bound_absorb table; /* of numbers of one word, without states */
    uint64_t domain;
    uint64_t counts;                  /* as above */
    uint64_t group_keys, group_slots; /* this GPU's group table; 0 slots: a group's number is its slot */
};

/* Counts that a thread has not added yet: most values in a row are of one group. */
struct merge_pending {
    uint64_t slot, count;
};

MERGE_INLINE void merge_count(uint64_t counts, uint64_t slot, uint64_t count)
{
#ifdef TILE_CUDA
    if (count)
        atomicAdd((unsigned long long *)counts + slot, (unsigned long long)count);
#else
    ((uint64_t *)counts)[slot] += count;
#endif
}

MERGE_INLINE void merge_later(uint64_t counts, struct merge_pending *pending, uint64_t slot, uint64_t count)
{
    if (pending->slot != slot) {
        merge_count(counts, pending->slot, pending->count);
        pending->slot = slot;
        pending->count = 0;
    }
    pending->count += count;
}

MERGE_INLINE uint32_t merge_bits_count(uint32_t bits)
{
#ifdef TILE_CUDA
    return __popc(bits);
#else
    return (uint32_t)__builtin_popcount(bits);
#endif
}

MERGE_INLINE void merge_bits_word(const struct bound_bits *work, uint64_t word, struct merge_pending *pending)
{
    uint32_t *const own = (uint32_t *)work->own + word;
    uint32_t added = ((const volatile uint32_t *)work->other)[word] & ~*own;
    const uint64_t first = word * 32, slot = first / work->domain;
    if (added == 0)
        return;
    *own |= added;
    if (slot == (first + 31) / work->domain) {
        merge_later(work->counts, pending, slot, merge_bits_count(added));
        return;
    }
    for (uint32_t bit = 0; bit < 32; bit++)
        if (added >> bit & 1)
            merge_later(work->counts, pending, (first + bit) / work->domain, 1);
}

/* The slot of a group that this GPU has. */
MERGE_INLINE uint64_t merge_slot_of(const struct bound_keys *work, uint64_t number)
{
    const volatile uint64_t *const keys = (const volatile uint64_t *)work->group_keys;
    if (work->group_slots == 0)
        return number;
    uint64_t slot = hash_mix(number) & (work->group_slots - 1);
    for (uint32_t probe = 0; probe < ABSORB_PROBES_MAX && keys[slot] != number + 1; probe++)
        slot = (slot + 1) & (work->group_slots - 1);
    return slot;
}

MERGE_INLINE void merge_keys_place(const struct bound_keys *work, uint64_t place,
                                   struct merge_pending *pending)
{
    const uint64_t key = merge_word(work->table.other, work->table.other_keys + place);
    uint32_t added = 0;
    if (key)
        absorb_find(&work->table, key, place, &added);
    if (added)
        merge_later(work->counts, pending, merge_slot_of(work, (key - 1) / work->domain), 1);
}

#endif
