/*
 * states_cuda.h: aggregate states of the general kernel, in the places of operators/group/states_cuda.h and with the same
 * words; which aggregates there are is data. A kernel has one place:
 *
 *     GENERAL_ROWS     no states: the answer is rows
 *     GENERAL_SINGLE   one group: each thread has states, and each warp adds its own up at the end
 *     GENERAL_SHARED   few groups: each block has states in shared memory
 *     GENERAL_DENSE    many groups with a slot each, in global memory
 *     GENERAL_HASH     groups of a hash table
 */
#ifndef TESSERA_OPERATORS_GENERAL_STATES_CUDA_H
#define TESSERA_OPERATORS_GENERAL_STATES_CUDA_H

#include "operators/general/program.h"
#include "operators/group/states_cuda.h"

enum general_place { GENERAL_ROWS, GENERAL_SINGLE, GENERAL_SHARED, GENERAL_DENSE, GENERAL_HASH };

static constexpr state_place GENERAL_STATE_PLACE = GENERAL_PLACE == GENERAL_SINGLE   ? STATE_SINGLE
                                                   : GENERAL_PLACE == GENERAL_SHARED ? STATE_SHARED
                                                                                     : STATE_GLOBAL;

/* Merges words into the state of a slot in global memory; `high` is that of MERGE_ADD_WIDE. */
TILE_INLINE void merge_globally(uint32_t merge, uint32_t aggregate, uint64_t slot, uint64_t low,
                                uint64_t high)
{
    state_word *const words = state_words(arguments.states[aggregate]);
    switch (merge) {
    case MERGE_ADD:
        atomicAdd(words + slot, (state_word)low);
        break;
    case MERGE_ADD_WIDE:
        add_wide(words + slot, words + arguments.slots + slot, low, high);
        break;
    case MERGE_GREATEST:
        raise(words + slot, low);
        break;
    case MERGE_OR:
        combine_bits<false>(words + slot, low);
        break;
    case MERGE_XOR:
        combine_bits<true>(words + slot, low);
        break;
    }
}

/* Merges one word into the state of a slot of the block. */
TILE_INLINE void merge_in_block(uint32_t merge, uint32_t first, uint32_t slot, uint64_t word)
{
    uint32_t *const words = shared_state(first);
    switch (merge) {
    case MERGE_ADD:
        add_words<2>(words + slot, (uint32_t)arguments.slots, (int64_t)word);
        break;
    case MERGE_ADD_WIDE:
        add_words<4>(words + slot, (uint32_t)arguments.slots, (int64_t)word);
        break;
    case MERGE_GREATEST:
        raise(reinterpret_cast<state_word *>(words) + slot, word);
        break;
    case MERGE_OR:
        combine_bits<false>(reinterpret_cast<state_word *>(words) + slot, word);
        break;
    case MERGE_XOR:
        combine_bits<true>(reinterpret_cast<state_word *>(words) + slot, word);
        break;
    }
}

struct general_states {
    uint64_t single[GENERAL_PLACE == GENERAL_SINGLE ? GENERAL_SINGLE_WORDS : 1];
    state_present<GENERAL_STATE_PLACE, 0> present; /* GENERAL_SHARED: at program->present_first */
    state_found found;                             /* GENERAL_HASH */
    const general_program *program;
    const general_aggregate *aggregates;

    __device__ __forceinline__ void bind(const general_program *of, const general_aggregate *list)
    {
        program = of;
        aggregates = list;
        states_clear<GENERAL_STATE_PLACE>(GENERAL_PLACE == GENERAL_SHARED ? program->shared_words : 0);
        present.begin();
        found.begin();
        if (GENERAL_PLACE == GENERAL_SINGLE)
            for (uint32_t a = 0; a < program->aggregate_count; a++)
                for (uint32_t word = 0; word < aggregates[a].words; word++)
                    single[aggregates[a].first + word] = 0;
    }
    __device__ __forceinline__ void mark(uint64_t slot)
    {
        if (GENERAL_PLACE == GENERAL_SINGLE)
            present.any = 1;
        else if (GENERAL_PLACE == GENERAL_SHARED)
            *reinterpret_cast<volatile uint32_t *>(shared_state(program->present_first) + (uint32_t)slot) = 1;
        else if (GENERAL_PLACE == GENERAL_DENSE)
            present.add(slot);
    }
    __device__ __forceinline__ void merge_single(uint32_t merge, uint32_t first, uint64_t word)
    {
        uint64_t low = single[first], high = merge == MERGE_ADD_WIDE ? single[first + 1] : 0;
        state_merge_words(merge, &low, &high, word, (uint64_t)((int64_t)word >> 63));
        single[first] = low;
        if (merge == MERGE_ADD_WIDE)
            single[first + 1] = high;
    }
    __device__ __forceinline__ void add(uint32_t aggregate, uint64_t slot, uint64_t word)
    {
        const general_aggregate of = aggregates[aggregate];
        if (GENERAL_PLACE == GENERAL_SINGLE)
            merge_single(of.merge, of.first, word);
        else if (GENERAL_PLACE == GENERAL_SHARED)
            merge_in_block(of.merge, of.first, (uint32_t)slot, word);
        else
            merge_globally(of.merge, aggregate, slot, word, (uint64_t)((int64_t)word >> 63));
    }
    /* What a tile adds without looking at its rows. */
    __device__ __forceinline__ void add_mask(tile_mask keep)
    {
        if (GENERAL_PLACE != GENERAL_SINGLE)
            return;
        present.any |= keep != 0;
        for (uint32_t a = 0; a < program->aggregate_count; a++)
            if (aggregates[a].by_mask)
                single[aggregates[a].first] += __popc(keep);
    }
    __device__ __forceinline__ void finish_single(uint32_t aggregate)
    {
        const general_aggregate of = aggregates[aggregate];
        uint64_t low = single[of.first], high = of.words > 1 ? single[of.first + 1] : 0;
        for (uint32_t distance = 16; distance > 0; distance /= 2) {
            const uint64_t other = __shfl_down_sync(FULL_WARP, low, distance),
                           other_high = __shfl_down_sync(FULL_WARP, high, distance);
            state_merge_words(of.merge, &low, &high, other, other_high);
        }
        if (threadIdx.x % 32 == 0 && (low | high))
            merge_globally(of.merge, aggregate, 0, low, high);
    }
    __device__ __forceinline__ void finish_shared(uint32_t aggregate)
    {
        const general_aggregate of = aggregates[aggregate];
        const uint32_t slots = (uint32_t)arguments.slots, *const words = shared_state(of.first);
        for (uint32_t slot = threadIdx.x; slot < slots; slot += blockDim.x) {
            uint64_t low, high = 0;
            if (of.merge == MERGE_ADD || of.merge == MERGE_ADD_WIDE)
                low = (uint64_t)words[slots + slot] << 32 | words[slot];
            else
                low = reinterpret_cast<const uint64_t *>(words)[slot];
            if (of.merge == MERGE_ADD_WIDE)
                high = (uint64_t)words[3 * slots + slot] << 32 | words[2 * slots + slot];
            if (low | high)
                merge_globally(of.merge, aggregate, slot, low, high);
        }
    }
    __device__ __forceinline__ void finish()
    {
        if (GENERAL_PLACE == GENERAL_HASH)
            found.finish();
        if (GENERAL_PLACE == GENERAL_ROWS || GENERAL_PLACE == GENERAL_DENSE || GENERAL_PLACE == GENERAL_HASH)
            return;
        states_complete<GENERAL_STATE_PLACE>();
        for (uint32_t a = 0; a < program->aggregate_count; a++) {
            if (GENERAL_PLACE == GENERAL_SINGLE)
                finish_single(a);
            else
                finish_shared(a);
        }
        uint32_t *const to = reinterpret_cast<uint32_t *>(arguments.present);
        if (GENERAL_PLACE == GENERAL_SINGLE) {
            present.finish();
            return;
        }
        for (uint32_t slot = threadIdx.x; slot < (uint32_t)arguments.slots; slot += blockDim.x)
            if (shared_state(program->present_first)[slot])
                to[slot] = 1;
    }
};

#endif
