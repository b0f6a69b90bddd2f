/*
 * merge.h: adds the states of several GPUs up, by one of them that reads the others' memory: what one thread does.
 *
 * The states are those of operators/group/states_cuda.h for slots: the states of one statement, which lie at the same
 * offsets in each GPU's allocation. A word that no row has reached is 0 and changes nothing. The memory of another GPU is
 * read over NVLink or the bus, 32 bytes at a time; threads that follow each other read words that follow each other.
 * Expected: up to 2^20 slots (8 MB a state), 1 to 15 other GPUs; 8192 words of one other GPU take 4.4 us with the launch,
 * 131072 take 6.3 us (two H200s). This header is C and CUDA.
 */
#ifndef TESSERA_OPERATORS_GROUP_MERGE_H
#define TESSERA_OPERATORS_GROUP_MERGE_H

#include "operators/group/state.h"

#define MERGE_STATES_MAX 128u /* aggregates of a statement; with more the host merges */
#define MERGE_PEERS_MAX  63u

/* The offset within the allocation in units of 8 bytes, and an enum merge_kind. */
struct merge_state {
    uint32_t kind, offset;
};

/* The argument of the kernel. The driver takes up to 4096 bytes of them. */
struct bound_merge {
    uint64_t own;                    /* the allocation that all are added to */
    uint64_t peers[MERGE_PEERS_MAX]; /* the others' */
    uint32_t peer_count, state_count;
    uint32_t slots;
    uint32_t present; /* the offset of the marks of slots with rows, of 32 bits each, in units of 8 bytes */
    struct merge_state states[MERGE_STATES_MAX];
};

#define MERGE_INLINE STATE_INLINE

/* Volatile, because a compiler that knows the memory as this kernel's own could keep words. */
MERGE_INLINE uint64_t merge_word(uint64_t allocation, uint64_t word)
{
    return ((const volatile uint64_t *)(allocation))[word];
}

MERGE_INLINE void merge_slot_state(const struct bound_merge *work, const struct merge_state *state,
                                   uint32_t slot)
{
    uint64_t *const to = (uint64_t *)work->own + state->offset + slot;
    uint64_t low = *to, high = state->kind == MERGE_ADD_WIDE ? to[work->slots] : 0;
    for (uint32_t p = 0; p < work->peer_count; p++) {
        const uint64_t at = (uint64_t)state->offset + slot, other = merge_word(work->peers[p], at);
        state_merge_words(state->kind, &low, &high, other,
                          state->kind == MERGE_ADD_WIDE ? merge_word(work->peers[p], at + work->slots) : 0);
    }
    *to = low;
    if (state->kind == MERGE_ADD_WIDE)
        to[work->slots] = high;
}

MERGE_INLINE void merge_slot_present(const struct bound_merge *work, uint32_t slot)
{
    uint32_t *const to = (uint32_t *)((uint64_t *)work->own + work->present) + slot;
    uint32_t any = *to;
    for (uint32_t p = 0; p < work->peer_count; p++)
        any |= ((const volatile uint32_t *)((const volatile uint64_t *)work->peers[p] + work->present))[slot];
    *to = any;
}

/* The items are the slots' marks and then each state's slots: below 2^28. */
MERGE_INLINE uint32_t merge_items(const struct bound_merge *work)
{
    return (work->state_count + 1) * work->slots;
}

MERGE_INLINE void merge_item(const struct bound_merge *work, uint32_t item)
{
    const uint32_t section = item / work->slots, slot = item - section * work->slots;
    if (section == 0)
        merge_slot_present(work, slot);
    else
        merge_slot_state(work, &work->states[section - 1], slot);
}

#endif
