/*
 * joint_states_cuda.h: states of several aggregates in one word of global memory, where statistics prove that they fit. A row then
 * waits for the second-level cache once and not for each of them. A joint word is in the place of the first one's state:
 *
 *     sums        numbers of rows and sums of values that are not negative, at bits that none can leave: one addition
 *     extrema     two minima or maxima as numbers of 32 bits, 0: no row yet: one load, as most rows change neither
 *
 * After the scan each slot's states are made of its joint words, and whether it has rows of one of them that only rows make other
 * than 0; so a row need not mark its group either. What reads states knows nothing of this.
 */
#ifndef TESSERA_OPERATORS_GROUP_JOINT_STATES_CUDA_H
#define TESSERA_OPERATORS_GROUP_JOINT_STATES_CUDA_H

#include "operators/group/states_cuda.h"

TILE_INLINE state_word &joint_word(uint32_t aggregate, uint64_t slot)
{
    return state_words(arguments.states[aggregate])[slot];
}

/* The state of an extremum's worst value, by the range of its argument. */
TILE_INLINE uint64_t joint_worst(uint32_t aggregate, uint32_t value)
{
    const set_argument &range = arguments.sets[aggregate];
    return state_word_of(value, value == STATE_OF_MIN ? range.low + (int64_t)range.last : range.low);
}
TILE_INLINE uint32_t joint_code(uint32_t aggregate, uint32_t value, uint64_t state)
{
    return state ? (uint32_t)(state - joint_worst(aggregate, value)) + 1 : 0;
}
TILE_INLINE uint64_t joint_state(uint32_t aggregate, uint32_t value, uint32_t code)
{
    return code ? joint_worst(aggregate, value) + (code - 1) : 0;
}

TILE_INLINE void joint_add(uint32_t aggregate, uint64_t slot, uint64_t word)
{
    atomicAdd(&joint_word(aggregate, slot), (state_word)word);
}

TILE_INLINE void joint_raise(uint32_t aggregate, uint64_t slot, uint32_t low, uint32_t high)
{
    state_word *const word = &joint_word(aggregate, slot);
    const uint64_t seen = *reinterpret_cast<volatile state_word *>(word);
    if (low > (uint32_t)seen)
        atomicMax(reinterpret_cast<uint32_t *>(word), low);
    if (high > (uint32_t)(seen >> 32))
        atomicMax(reinterpret_cast<uint32_t *>(word) + 1, high);
}

/* Calls make(slot) for all slots; `present` is what it returns. */
template <class MAKE> TILE_INLINE void joint_complete(MAKE make)
{
    for (uint64_t slot = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; slot < arguments.slots;
         slot += gridDim.x * (uint64_t)blockDim.x)
        reinterpret_cast<uint32_t *>(arguments.present)[slot] = make(slot);
}

#endif
