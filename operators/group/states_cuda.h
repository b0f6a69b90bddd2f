/*
 * states_cuda.h: the aggregate states of a planned statement on a GPU: sums of 64 and 128 bits, minima,
 * maxima, marks of the groups that have rows, the group table and the hash tables of distinct values.
 *
 * A state has a fixed number of words for each group slot; all are 0 at first. There are three places:
 *
 *     STATE_SINGLE   one group: the state is in registers, and each warp adds its own up at the end
 *     STATE_SHARED   few groups: each block has its own states in shared memory
 *     STATE_GLOBAL   many groups: rows are added in global memory
 *
 * All additions are exact and of integers, so the answer does not depend on the order of rows.
 *
 * INDEX is the number of the aggregate. FIRST is the number of 32-bit words a slot that come before this
 * state in a block's shared memory, where the states of all aggregates follow each other.
 */
#ifndef TESSERA_OPERATORS_GROUP_STATES_CUDA_H
#define TESSERA_OPERATORS_GROUP_STATES_CUDA_H

#include "operators/dialect/query_arguments.h"
#include "operators/dialect/tile_cuda.h"
#include "operators/group/state.h"
#include "storage/base/hash.h"

/* The addresses of the statement's arrays, constants and states. The engine writes them before the first
 * launch. */
extern "C" {
__constant__ query_arguments arguments;
}

enum state_place { STATE_SINGLE, STATE_SHARED, STATE_GLOBAL };

typedef unsigned long long state_word;

TILE_INLINE state_word *state_words(uint64_t address)
{
    return reinterpret_cast<state_word *>(address);
}

/* The slots of a block's states, and the place of one. Lanes that add to one bank of shared memory take turns, and the groups of
 * a tile that is kept whole are few and often a multiple of 8 or 32 slots apart. So a place's low five bits, which are its bank,
 * depend on the five above them, too. */
TILE_INLINE uint32_t shared_slots()
{
#ifdef TILE_MANY
    return ((uint32_t)arguments.slots + STATE_BANKS - 1) / STATE_BANKS * STATE_BANKS;
#else
    return (uint32_t)arguments.slots;
#endif
}
TILE_INLINE uint32_t shared_place(uint32_t slot)
{
#ifdef TILE_MANY
    return slot ^ (slot / STATE_BANKS & (STATE_BANKS - 1));
#else
    return slot;
#endif
}
TILE_INLINE uint32_t *shared_state(uint32_t first)
{
    return reinterpret_cast<uint32_t *>(tile_shared) + first * shared_slots();
}

/* Clear a block's own states, `words` 32-bit words a slot, before the first row; and wait, after the last
 * row, until all warps of the block have added theirs. */
template <state_place PLACE> TILE_INLINE void states_clear(uint32_t words)
{
    if (PLACE == STATE_SHARED)
        for (uint32_t word = threadIdx.x; word < words * shared_slots(); word += blockDim.x)
            shared_state(0)[word] = 0;
}

template <state_place PLACE> TILE_INLINE void states_complete()
{
    if (PLACE == STATE_SHARED)
        __syncthreads();
}

/* Adds high * 2^64 + low to two words of global memory. */
TILE_INLINE void add_wide(state_word *low_word, state_word *high_word, uint64_t low, uint64_t high)
{
    const uint64_t before = atomicAdd(low_word, (state_word)low);
    high += before + low < before;
    if (high)
        atomicAdd(high_word, (state_word)high);
}

/* Adds a number of WORDS 32-bit words, least significant first, to words in shared memory that are `stride`
 * words apart. It adds 32 bits at a time, because atomic additions of 64 bits in shared memory compile to
 * loops; a carry is rare. */
template <uint32_t WORDS> TILE_INLINE void add_words(uint32_t *to, uint32_t stride, int64_t value)
{
    uint32_t carry = 0;
#pragma unroll
    for (uint32_t word = 0; word < WORDS; word++) {
        const uint32_t part = (uint32_t)(value >> (word < 2 ? 32 * word : 63)), addend = part + carry;
        carry = addend < carry;
        if (word == 0 || addend) {
            const uint32_t before = atomicAdd(to + word * stride, addend);
            carry |= before + addend < before;
        }
    }
}

/* A sum; WIDE: of 128 bits. */
template <state_place PLACE, bool WIDE, uint32_t INDEX, uint32_t FIRST> struct state_sum;

template <bool WIDE, uint32_t INDEX, uint32_t FIRST> struct state_sum<STATE_SINGLE, WIDE, INDEX, FIRST> {
    uint64_t low, high;

    __device__ __forceinline__ void begin()
    {
        low = high = 0;
    }
    __device__ __forceinline__ void add(uint64_t, int64_t value)
    {
        low += (uint64_t)value;
        if (WIDE)
            high += (uint64_t)(value >> 63) + (low < (uint64_t)value);
    }
    __device__ __forceinline__ void finish_at(state_word *words)
    {
#pragma unroll
        for (uint32_t distance = 16; distance > 0; distance /= 2) {
            const uint64_t other = __shfl_down_sync(FULL_WARP, low, distance);
            low += other;
            if (WIDE)
                high += __shfl_down_sync(FULL_WARP, high, distance) + (low < other);
        }
        if (threadIdx.x % 32)
            return;
        if (WIDE)
            add_wide(words, words + 1, low, high);
        else if (low)
            atomicAdd(words, (state_word)low);
    }
    __device__ __forceinline__ void finish()
    {
        finish_at(state_words(arguments.states[INDEX]));
    }
};

template <bool WIDE, uint32_t INDEX, uint32_t FIRST> struct state_sum<STATE_SHARED, WIDE, INDEX, FIRST> {
    uint32_t *words, slots;

    __device__ __forceinline__ void begin()
    {
        words = shared_state(FIRST);
        slots = shared_slots();
    }
    __device__ __forceinline__ void add(uint32_t slot, int64_t value)
    {
        add_words<WIDE ? 4 : 2>(words + shared_place(slot), slots, value);
    }
    __device__ __forceinline__ void finish()
    {
        state_word *const to = state_words(arguments.states[INDEX]);
        for (uint32_t slot = threadIdx.x; slot < (uint32_t)arguments.slots; slot += blockDim.x) {
            const uint32_t *const own = words + shared_place(slot);
            const uint64_t low = (uint64_t)own[slots] << 32 | own[0];
            if (WIDE) {
                const uint64_t high = (uint64_t)own[3 * slots] << 32 | own[2 * slots];
                if (low | high)
                    add_wide(to + slot, to + arguments.slots + slot, low, high);
            } else if (low) {
                atomicAdd(to + slot, (state_word)low);
            }
        }
    }
};

template <bool WIDE, uint32_t INDEX, uint32_t FIRST> struct state_sum<STATE_GLOBAL, WIDE, INDEX, FIRST> {
    __device__ __forceinline__ void begin()
    {
    }
    __device__ __forceinline__ void add(uint64_t slot, int64_t value)
    {
        state_word *const words = state_words(arguments.states[INDEX]);
        if (WIDE)
            add_wide(words + slot, words + arguments.slots + slot, (uint64_t)value, (uint64_t)(value >> 63));
        else
            atomicAdd(words + slot, (state_word)value);
    }
    __device__ __forceinline__ void finish()
    {
    }
};

/* For EXPLAIN ANALYZE: a point counts the rows that reach it and the clock ticks since the point before. The
 * compiler moves no load across a reading of the clock. But a load that is issued before a point and waited
 * for after it counts after it. */
TILE_INLINE uint64_t state_clock()
{
    uint64_t ticks;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(ticks) : : "memory");
    return ticks;
}

template <uint32_t POINT> struct state_point {
    state_sum<STATE_SINGLE, false, 0, 0> rows, ticks;

    __device__ __forceinline__ void begin()
    {
        rows.begin();
        ticks.begin();
    }
    __device__ __forceinline__ void reach(tile_mask keep, uint64_t &since)
    {
        const uint64_t now = state_clock();
        rows.add(0, __popc(keep));
        ticks.add(0, (int64_t)(now - since));
        since = now;
    }
    __device__ __forceinline__ void finish()
    {
        rows.finish_at(state_words(arguments.points) + 2 * POINT);
        ticks.finish_at(state_words(arguments.points) + 2 * POINT + 1);
    }
};

/* Raises *word to `value`. Most rows do not raise it, so a load comes before the atomic operation. */
TILE_INLINE void raise(state_word *word, uint64_t value)
{
    if (value > *reinterpret_cast<volatile state_word *>(word))
        atomicMax(word, (state_word)value);
}

template <state_place PLACE, uint32_t INDEX, uint32_t FIRST> struct state_greatest;

template <uint32_t INDEX, uint32_t FIRST> struct state_greatest<STATE_SINGLE, INDEX, FIRST> {
    uint64_t best;

    __device__ __forceinline__ void begin()
    {
        best = 0;
    }
    __device__ __forceinline__ void add(uint64_t, uint64_t value)
    {
        best = value > best ? value : best;
    }
    __device__ __forceinline__ void finish()
    {
#pragma unroll
        for (uint32_t distance = 16; distance > 0; distance /= 2)
            add(0, __shfl_down_sync(FULL_WARP, best, distance));
        if (threadIdx.x % 32 == 0)
            raise(state_words(arguments.states[INDEX]), best);
    }
};

template <uint32_t INDEX, uint32_t FIRST> struct state_greatest<STATE_SHARED, INDEX, FIRST> {
    state_word *words;

    __device__ __forceinline__ void begin()
    {
        words = reinterpret_cast<state_word *>(shared_state(FIRST));
    }
    __device__ __forceinline__ void add(uint32_t slot, uint64_t value)
    {
        raise(words + shared_place(slot), value);
    }
    __device__ __forceinline__ void finish()
    {
        for (uint32_t slot = threadIdx.x; slot < (uint32_t)arguments.slots; slot += blockDim.x)
            raise(state_words(arguments.states[INDEX]) + slot, words[shared_place(slot)]);
    }
};

template <uint32_t INDEX, uint32_t FIRST> struct state_greatest<STATE_GLOBAL, INDEX, FIRST> {
    __device__ __forceinline__ void begin()
    {
    }
    __device__ __forceinline__ void add(uint64_t slot, uint64_t value)
    {
        raise(state_words(arguments.states[INDEX]) + slot, value);
    }
    __device__ __forceinline__ void finish()
    {
    }
};

/* Sets bits of *word, or turns them. Most rows set no new bit, so a load comes before the atomic operation. */
template <bool XOR> TILE_INLINE void combine_bits(state_word *word, uint64_t bits)
{
    if (XOR)
        atomicXor(word, (state_word)bits);
    else if (bits & ~*reinterpret_cast<volatile state_word *>(word))
        atomicOr(word, (state_word)bits);
}

/* Bits that a value has; XOR: that an odd number of values have. */
template <state_place PLACE, bool XOR, uint32_t INDEX, uint32_t FIRST> struct state_bits;

template <bool XOR, uint32_t INDEX, uint32_t FIRST> struct state_bits<STATE_SINGLE, XOR, INDEX, FIRST> {
    uint64_t bits;

    __device__ __forceinline__ void begin()
    {
        bits = 0;
    }
    __device__ __forceinline__ void add(uint64_t, uint64_t value)
    {
        bits = XOR ? bits ^ value : bits | value;
    }
    __device__ __forceinline__ void finish()
    {
#pragma unroll
        for (uint32_t distance = 16; distance > 0; distance /= 2)
            add(0, __shfl_down_sync(FULL_WARP, bits, distance));
        if (threadIdx.x % 32 == 0)
            combine_bits<XOR>(state_words(arguments.states[INDEX]), bits);
    }
};

template <bool XOR, uint32_t INDEX, uint32_t FIRST> struct state_bits<STATE_SHARED, XOR, INDEX, FIRST> {
    state_word *words;

    __device__ __forceinline__ void begin()
    {
        words = reinterpret_cast<state_word *>(shared_state(FIRST));
    }
    __device__ __forceinline__ void add(uint32_t slot, uint64_t value)
    {
        combine_bits<XOR>(words + shared_place(slot), value);
    }
    __device__ __forceinline__ void finish()
    {
        for (uint32_t slot = threadIdx.x; slot < (uint32_t)arguments.slots; slot += blockDim.x)
            if (words[shared_place(slot)])
                combine_bits<XOR>(state_words(arguments.states[INDEX]) + slot, words[shared_place(slot)]);
    }
};

template <bool XOR, uint32_t INDEX, uint32_t FIRST> struct state_bits<STATE_GLOBAL, XOR, INDEX, FIRST> {
    __device__ __forceinline__ void begin()
    {
    }
    __device__ __forceinline__ void add(uint64_t slot, uint64_t value)
    {
        combine_bits<XOR>(state_words(arguments.states[INDEX]) + slot, value);
    }
    __device__ __forceinline__ void finish()
    {
    }
};

/* Marks the groups that have rows, with a 32-bit word a slot. */
template <state_place PLACE, uint32_t FIRST> struct state_present {
    uint32_t any;

    __device__ __forceinline__ void begin()
    {
        any = 0;
    }
    __device__ __forceinline__ void add(uint64_t slot)
    {
        if (PLACE == STATE_SINGLE)
            any = 1;
        else if (PLACE == STATE_SHARED)
            *reinterpret_cast<volatile uint32_t *>(shared_state(FIRST) + shared_place((uint32_t)slot)) = 1;
        else
            *reinterpret_cast<volatile uint32_t *>(arguments.present + 4 * slot) = 1;
    }
    __device__ __forceinline__ void finish()
    {
        uint32_t *const to = reinterpret_cast<uint32_t *>(arguments.present);
        if (PLACE == STATE_SINGLE && any)
            *to = 1;
        if (PLACE == STATE_SHARED)
            for (uint32_t slot = threadIdx.x; slot < (uint32_t)arguments.slots; slot += blockDim.x)
                if (shared_state(FIRST)[shared_place(slot)])
                    to[slot] = 1;
    }
};

/* The states of a hand-written kernel (tile.h): tile_sum adds to the only sum and marks the group as present;
 * tile_group2 and tile_group3 make slots from codes. */
#define HAND_WRITTEN_SUM(sum)                                                    \
    __device__ __forceinline__ void add(uint32_t slot, int64_t value)            \
    {                                                                            \
        sum.add(slot, value);                                                    \
        present.add(slot);                                                       \
    }                                                                            \
    __device__ __forceinline__ uint32_t part(uint32_t term, uint32_t code) const \
    {                                                                            \
        return code * (uint32_t)arguments.groups[term].stride;                   \
    }

/* ---- Hash tables: open addressing with linear probing ---- */

/* The number of 64-bit places is a power of two. A place holds key + 1, or 0 if it is free. */
#define STATE_NO_SLOT (~0ull)

/* A probe looks at no more places than this. A longer probe means that the table is too full; the engine then
 * makes a larger one. */
#define STATE_PROBES_MAX 1024u

/* After so many places a row asks whether the table was too full for another one: the run is repeated then, and probes of most rows
 * would be long. */
#define STATE_PROBES_FEW 16u
TILE_INLINE bool table_is_given_up(uint32_t probe)
{
    return probe % STATE_PROBES_FEW == STATE_PROBES_FEW - 1 &&
           *reinterpret_cast<volatile uint32_t *>(arguments.full);
}

/* Finds the place of a key below 2^64 - 1 from the place of `hash` on, and inserts a new key. If the table is too full, sets
 * arguments.full and returns STATE_NO_SLOT. */
TILE_INLINE uint64_t find_place_from(uint64_t table, uint64_t capacity, uint64_t key, uint64_t hash,
                                     bool &added)
{
    state_word *const places = state_words(table);
    uint64_t place = hash & (capacity - 1);
    added = false;
    for (uint32_t probe = 0; probe < STATE_PROBES_MAX && probe < capacity; probe++) {
        uint64_t seen = *reinterpret_cast<volatile state_word *>(places + place);
        if (seen == 0) {
            seen = atomicCAS(places + place, 0ull, (state_word)key + 1);
            added = seen == 0;
        }
        if (added || seen == key + 1)
            return place;
        if (table_is_given_up(probe))
            return STATE_NO_SLOT;
        place = (place + 1) & (capacity - 1);
    }
    *reinterpret_cast<volatile uint32_t *>(arguments.full) = 1;
    return STATE_NO_SLOT;
}

TILE_INLINE uint64_t find_place(uint64_t table, uint64_t capacity, uint64_t key, bool &added)
{
    return find_place_from(table, capacity, key, hash_mix(key), added);
}

template <uint32_t WORDS> struct group_number {
    uint64_t words[WORDS];
};

/* The slot of a group number, and whether it is a new one. STATE_NO_SLOT: the group table is too full, and the run must be
 * repeated. */
TILE_INLINE uint64_t find_group(const group_number<1> &number, bool &added)
{
    const uint64_t key = number.words[0];
    return find_place_from(arguments.keys, arguments.slots, key, arguments.direct ? key : hash_mix(key),
                           added);
}

/* Counts the new groups: most threads have some, and one counter would be waited for. */
struct state_found {
    state_sum<STATE_SINGLE, false, 0, 0> groups;

    __device__ __forceinline__ void begin()
    {
        groups.begin();
    }
    __device__ __forceinline__ void add(bool added)
    {
        groups.add(0, added);
    }
    __device__ __forceinline__ void finish()
    {
        groups.finish_at(state_words(arguments.groups_found));
    }
};

/* The place of a group number of several words holds 62 bits of the words' hash and a mark in the low 2 bits:
 * TAKEN while the words are being written, then READY. A lane that finds its own hash with the mark TAKEN
 * looks at the place again in the next iteration of the common loop. A loop of its own could wait forever,
 * because the lane that writes the words may be in the same warp. */
#define GROUP_TAKEN 1ull
#define GROUP_READY 3ull

TILE_INLINE bool is_group(uint64_t slot, const uint64_t *number, uint32_t words)
{
    bool same = true;
#pragma unroll
    for (uint32_t word = 0; word < words; word++)
        same &= reinterpret_cast<volatile state_word *>(arguments.key_words)[word * arguments.slots + slot] ==
                number[word];
    return same;
}

TILE_INLINE uint64_t find_group_of(const uint64_t *number, uint32_t words, bool &added)
{
    state_word *const places = state_words(arguments.keys);
    uint64_t hash = 0;
#pragma unroll
    for (uint32_t word = 0; word < words; word++)
        hash = hash_mix(hash ^ number[word]);
    const uint64_t ready = hash | GROUP_READY;
    uint64_t slot = hash_mix(hash) & (arguments.slots - 1);
    added = false;
    for (uint32_t probe = 0; probe < STATE_PROBES_MAX && probe < arguments.slots;) {
        uint64_t seen = *reinterpret_cast<volatile state_word *>(places + slot);
        if (seen == 0) {
            seen = atomicCAS(places + slot, 0ull, (state_word)(ready ^ GROUP_READY | GROUP_TAKEN));
            if (seen == 0) {
#pragma unroll
                for (uint32_t word = 0; word < words; word++)
                    reinterpret_cast<volatile state_word *>(
                        arguments.key_words)[word * arguments.slots + slot] = number[word];
                __threadfence();
                atomicExch(places + slot, (state_word)ready);
                added = true;
                return slot;
            }
        }
        if ((seen | GROUP_READY) == ready) {
            if ((seen & GROUP_READY) != GROUP_READY)
                continue;
            __threadfence();
            if (is_group(slot, number, words))
                return slot;
        }
        if (table_is_given_up(probe))
            return STATE_NO_SLOT;
        slot = (slot + 1) & (arguments.slots - 1);
        probe++;
    }
    *reinterpret_cast<volatile uint32_t *>(arguments.full) = 1;
    return STATE_NO_SLOT;
}

template <uint32_t WORDS> TILE_INLINE uint64_t find_group(const group_number<WORDS> &number, bool &added)
{
    return find_group_of(number.words, WORDS, added);
}

/* count(distinct): the row that brings a value into its group for the first time counts it. Three kinds of
 * set:
 *
 *     DISTINCT_BITS    one bit for each slot and value
 *     DISTINCT_KEYS    a hash table of group number * domain + value
 *     DISTINCT_PAIRS   for keys of more than 64 bits: one hash table gives each value a place, a second holds
 *                      slot and place as one key
 *
 * They return whether the row does. Its count is a sum as any other, in the place of the states: few groups have few words, and
 * additions of all rows to one word of global memory would wait for each other.
 */
TILE_INLINE uint64_t distinct_code(uint32_t aggregate, int64_t value)
{
    const set_argument &set = arguments.sets[aggregate];
    const uint64_t code = (uint64_t)value - (uint64_t)set.low;
    return code < set.last ? code : set.last;
}

TILE_INLINE bool distinct_bits(uint32_t aggregate, uint64_t slot, int64_t value)
{
    const set_argument &set = arguments.sets[aggregate];
    const uint64_t bit = slot * (set.last + 1) + distinct_code(aggregate, value);
    uint32_t *const word = reinterpret_cast<uint32_t *>(set.table) + bit / 32;
    const uint32_t mask = 1u << bit % 32;
    return !(*reinterpret_cast<volatile uint32_t *>(word) & mask) && !(atomicOr(word, mask) & mask);
}

TILE_INLINE bool distinct_keys(uint32_t aggregate, uint64_t number, int64_t value)
{
    const set_argument &set = arguments.sets[aggregate];
    bool added;
    find_place(set.table, set.capacity, number * (set.last + 1) + distinct_code(aggregate, value), added);
    return added;
}

TILE_INLINE bool distinct_pairs(uint32_t aggregate, uint64_t slot, int64_t value)
{
    const set_argument &set = arguments.sets[aggregate];
    const uint64_t code = distinct_code(aggregate, value);
    bool added = false;
    /* find_place takes no key of 2^64 - 1: that one value gets the number after all places. */
    const uint64_t place =
        code == ~0ull ? set.capacity : find_place(set_values(&set), set.capacity, code, added);
    if (place == STATE_NO_SLOT)
        return false;
    find_place(set.table, set.capacity, slot * (set.capacity + 1) + place, added);
    return added;
}

#endif
