/*
 * merge_hash.h: adds the hashed groups of another GPU to those of this one: what one thread does with a slot of the
 * other's group table, which it reads over NVLink or the bus.
 *
 * Tables and states are those of operators/group/states_cuda.h; the two may have different sizes. The other's table has
 * each number once, and nothing else changes this GPU's table meanwhile. So a number that this thread looks for is not
 * inserted by another thread, and states need no atomic additions. Expected: tables of 2^4 to 2^31 slots, at most half
 * full. This header is C and CUDA.
 */
#ifndef TESSERA_OPERATORS_GROUP_MERGE_HASH_H
#define TESSERA_OPERATORS_GROUP_MERGE_HASH_H

#include "operators/group/merge.h"
#include "storage/base/hash.h"

#define ABSORB_KEY_WORDS_MAX 4u /* with more the host merges */

/* As STATE_PROBES_MAX, GROUP_TAKEN and GROUP_READY. */
#define ABSORB_PROBES_MAX 1024u
#define ABSORB_TAKEN      1ull
#define ABSORB_READY      3ull

/* A state of both GPUs: offsets in units of 8 bytes, and an enum merge_kind. */
struct absorb_state {
    uint64_t own, other;
    uint64_t kind;
};

/* The argument of the kernel. Offsets within the allocations are in units of 8 bytes. */
struct bound_absorb {
    uint64_t own, other;             /* the allocations */
    uint64_t own_slots, other_slots; /* powers of two */
    uint64_t own_keys, other_keys;
    uint64_t own_numbers, other_numbers; /* the words of numbers, if they have several */
    uint64_t full, found;                /* this GPU's marks: 32 bits, and the number of its groups */
    uint32_t key_words;                  /* of a number */
    uint32_t state_count;
    struct absorb_state states[MERGE_STATES_MAX];
};

#ifdef TILE_CUDA
#define ABSORB_FENCE() __threadfence()
MERGE_INLINE uint64_t absorb_exchange(uint64_t *word, uint64_t value)
{
    return atomicCAS((unsigned long long *)word, 0ull, (unsigned long long)value);
}
#else
#define ABSORB_FENCE()
/* Sets the word if it is 0; returns what it was. */
MERGE_INLINE uint64_t absorb_exchange(uint64_t *word, uint64_t value)
{
    const uint64_t seen = *word;
    *word = seen ? seen : value;
    return seen;
}
#endif

/* The first slot at which a number of one word is looked for, or of several, whose words are at `slot` in the other's
 * table. */
MERGE_INLINE uint64_t absorb_first(const struct bound_absorb *work, uint64_t key, uint64_t slot,
                                   uint64_t number[ABSORB_KEY_WORDS_MAX])
{
    uint64_t hash = 0;
    if (work->key_words == 1)
        return hash_mix(key - 1) & (work->own_slots - 1);
    for (uint32_t word = 0; word < ABSORB_KEY_WORDS_MAX; word++) {
        if (word >= work->key_words)
            break;
        number[word] = merge_word(work->other, work->other_numbers + word * work->other_slots + slot);
        hash = hash_mix(hash ^ number[word]);
    }
    return hash_mix(hash) & (work->own_slots - 1);
}

MERGE_INLINE bool absorb_is_group(const struct bound_absorb *work, uint64_t slot, const uint64_t *number)
{
    bool same = true;
    for (uint32_t word = 0; word < ABSORB_KEY_WORDS_MAX; word++)
        same &= work->key_words == 1 || word >= work->key_words ||
                merge_word(work->own, work->own_numbers + word * work->own_slots + slot) == number[word];
    return same;
}

/* Writes the words of a number to a slot that this thread has taken, and then its key. */
MERGE_INLINE void absorb_write(const struct bound_absorb *work, uint64_t slot, uint64_t key,
                               const uint64_t *number)
{
    volatile uint64_t *const words = (volatile uint64_t *)work->own;
    for (uint32_t word = 0; word < ABSORB_KEY_WORDS_MAX; word++)
        if (word < work->key_words)
            words[work->own_numbers + word * work->own_slots + slot] = number[word];
    ABSORB_FENCE();
    words[work->own_keys + slot] = key;
}

/* Finds the group's slot in this GPU's table, and inserts a new group; own_slots if the table is too full. */
MERGE_INLINE uint64_t absorb_find(const struct bound_absorb *work, uint64_t key, uint64_t other_slot,
                                  uint32_t *added)
{
    uint64_t number[ABSORB_KEY_WORDS_MAX] = {0, 0, 0, 0};
    uint64_t *const keys = (uint64_t *)work->own + work->own_keys;
    uint64_t slot = absorb_first(work, key, other_slot, number);
    for (uint32_t probe = 0; probe < ABSORB_PROBES_MAX && probe < work->own_slots; probe++) {
        uint64_t seen = ((volatile uint64_t *)keys)[slot];
        if (seen == 0) {
            seen = absorb_exchange(keys + slot,
                                   work->key_words == 1 ? key : (key ^ ABSORB_READY) | ABSORB_TAKEN);
            if (seen == 0) {
                if (work->key_words > 1)
                    absorb_write(work, slot, key, number);
                ++*added;
                return slot;
            }
        }
        if (seen == key) {
            ABSORB_FENCE();
            if (absorb_is_group(work, slot, number))
                return slot;
        }
        slot = (slot + 1) & (work->own_slots - 1);
    }
    *(volatile uint32_t *)((uint64_t *)work->own + work->full) = 1;
    return work->own_slots;
}

MERGE_INLINE void absorb_state(const struct bound_absorb *work, const struct absorb_state *state,
                               uint64_t slot, uint64_t other_slot)
{
    const bool wide = state->kind == MERGE_ADD_WIDE;
    uint64_t *const to = (uint64_t *)work->own + state->own + slot;
    const uint64_t at = state->other + other_slot;
    uint64_t low = *to, high = wide ? to[work->own_slots] : 0;
    state_merge_words((uint32_t)state->kind, &low, &high, merge_word(work->other, at),
                      wide ? merge_word(work->other, at + work->other_slots) : 0);
    *to = low;
    if (wide)
        to[work->own_slots] = high;
}

/* Adds the group at a slot of the other's table, if there is one; returns 1 if it is new here. */
MERGE_INLINE uint32_t absorb_slot(const struct bound_absorb *work, uint64_t other_slot)
{
    const uint64_t key = merge_word(work->other, work->other_keys + other_slot);
    uint32_t added = 0;
    if (key == 0)
        return 0;
    const uint64_t slot = absorb_find(work, key, other_slot, &added);
    for (uint32_t s = 0; slot < work->own_slots && s < work->state_count; s++)
        absorb_state(work, &work->states[s], slot, other_slot);
    return added;
}

#endif
