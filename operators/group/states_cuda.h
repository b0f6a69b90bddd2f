/*
 * states_cuda.h: what a planned statement knows of its groups on a GPU: sums of 64 and 128 bits, minima and maxima,
 * which groups have rows, and the hash tables of groups and of distinct values.
 *
 * A state is a number of words for each slot of a group, all 0 at first. STATE_SINGLE: one group, kept in registers and
 * added up warp by warp at the end. STATE_SHARED: few groups, of which each block has its own in shared memory.
 * STATE_GLOBAL: the rest, straight to global memory. Additions are exact and their order does not matter, so the
 * answer's bits do not depend on which thread saw a row.
 *
 * INDEX: the aggregate. FIRST: in a block's shared memory the states follow each other, so many 32-bit words a slot
 * come before this one.
 */
#ifndef TESSERA_OPERATORS_GROUP_STATES_CUDA_H
#define TESSERA_OPERATORS_GROUP_STATES_CUDA_H

#include "operators/dialect/query_arguments.h"
#include "operators/dialect/tile_cuda.h"

/* Where the statement's arrays, constants and states are; written by the engine before the first launch. */
extern "C" {
__constant__ query_arguments arguments;
}

enum state_place { STATE_SINGLE, STATE_SHARED, STATE_GLOBAL };

typedef unsigned long long state_word;

TILE_INLINE state_word *state_words(uint64_t address)
{
    return reinterpret_cast<state_word *>(address);
}

TILE_INLINE uint32_t *shared_state(uint32_t first)
{
    return reinterpret_cast<uint32_t *>(tile_shared) + first * (uint32_t)arguments.slots;
}

/* A block's own states, `words` 32-bit words a slot, before the first row and behind the last. */
template <state_place PLACE> TILE_INLINE void states_clear(uint32_t words)
{
    if (PLACE == STATE_SHARED)
        for (uint32_t word = threadIdx.x; word < words * (uint32_t)arguments.slots; word += blockDim.x)
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

/* Adds a number of WORDS words, least first, to words in shared memory that lie `stride` apart: 32 bits at a time,
 * because 64-bit additions there are loops; a carry is rare. */
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

/* WIDE: 128 bits. */
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
        slots = (uint32_t)arguments.slots;
    }
    __device__ __forceinline__ void add(uint32_t slot, int64_t value)
    {
        add_words<WIDE ? 4 : 2>(words + slot, slots, value);
    }
    __device__ __forceinline__ void finish()
    {
        state_word *const to = state_words(arguments.states[INDEX]);
        for (uint32_t slot = threadIdx.x; slot < slots; slot += blockDim.x) {
            const uint64_t low = (uint64_t)words[slots + slot] << 32 | words[slot];
            if (WIDE) {
                const uint64_t high = (uint64_t)words[3 * slots + slot] << 32 | words[2 * slots + slot];
                if (low | high)
                    add_wide(to + slot, to + slots + slot, low, high);
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

/* For EXPLAIN ANALYZE: how many rows reached a point, and how long they took since the point before. Loads do not move
 * over the reading of the clock, but a load that is asked for before a point and waited for behind it counts there. */
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

/* The greatest of unsigned numbers. A maximum is kept as value + 2^63, a minimum as 2^63 - 1 - value. */
TILE_INLINE uint64_t greatest_of_max(int64_t value)
{
    return (uint64_t)value ^ 1ull << 63;
}
TILE_INLINE uint64_t greatest_of_min(int64_t value)
{
    return ~greatest_of_max(value);
}

/* Most rows do not raise it: they cost a load. */
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
        raise(words + slot, value);
    }
    __device__ __forceinline__ void finish()
    {
        for (uint32_t slot = threadIdx.x; slot < (uint32_t)arguments.slots; slot += blockDim.x)
            raise(state_words(arguments.states[INDEX]) + slot, words[slot]);
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

/* Which groups have rows: a 32-bit word a slot. */
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
            *reinterpret_cast<volatile uint32_t *>(shared_state(FIRST) + (uint32_t)slot) = 1;
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
                if (shared_state(FIRST)[slot])
                    to[slot] = 1;
    }
};

/* ---- Hash tables: open, a power of two of 64-bit places; a place holds key + 1, 0: it is free ---- */

#define STATE_NO_SLOT (~0ull)

/* More places than this are not looked at: the table is too full, and the engine makes a larger one. */
#define STATE_PROBES_MAX 1024u

/* The finaliser of MurmurHash3. */
TILE_INLINE uint64_t mix(uint64_t key)
{
    key ^= key >> 33;
    key *= 0xff51afd7ed558ccdull;
    key ^= key >> 33;
    key *= 0xc4ceb9fe1a85ec53ull;
    return key ^ key >> 33;
}

/* The place of a key below 2^64 - 1, put there if it is new; STATE_NO_SLOT, and arguments.full set, if the table is too
 * full. */
TILE_INLINE uint64_t find_place(uint64_t table, uint64_t capacity, uint64_t key, bool &added)
{
    state_word *const places = state_words(table);
    uint64_t place = mix(key) & (capacity - 1);
    added = false;
    for (uint32_t probe = 0; probe < STATE_PROBES_MAX && probe < capacity; probe++) {
        uint64_t seen = *reinterpret_cast<volatile state_word *>(places + place);
        if (seen == 0) {
            seen = atomicCAS(places + place, 0ull, (state_word)key + 1);
            added = seen == 0;
        }
        if (added || seen == key + 1)
            return place;
        place = (place + 1) & (capacity - 1);
    }
    *reinterpret_cast<volatile uint32_t *>(arguments.full) = 1;
    return STATE_NO_SLOT;
}

template <uint32_t WORDS> struct group_number {
    uint64_t words[WORDS];
};

/* The slot of a group number; STATE_NO_SLOT: the row cannot be counted in this run. */
TILE_INLINE uint64_t find_group(const group_number<1> &number)
{
    bool added;
    const uint64_t slot = find_place(arguments.keys, arguments.slots, number.words[0], added);
    if (added)
        atomicAdd(state_words(arguments.groups_found), 1ull);
    return slot;
}

/* A number of several words: its place holds a mark of 62 bits of their hash, TAKEN while the words behind it are being
 * written, then READY. Who meets a mark like its own that is not ready comes back to it, so that no lane waits inside
 * of what another has to finish. */
#define GROUP_TAKEN 1ull
#define GROUP_READY 3ull

template <uint32_t WORDS> TILE_INLINE bool is_group(uint64_t slot, const group_number<WORDS> &number)
{
    bool same = true;
#pragma unroll
    for (uint32_t word = 0; word < WORDS; word++)
        same &= reinterpret_cast<volatile state_word *>(arguments.key_words)[word * arguments.slots + slot] ==
                number.words[word];
    return same;
}

template <uint32_t WORDS> TILE_INLINE uint64_t find_group(const group_number<WORDS> &number)
{
    state_word *const places = state_words(arguments.keys);
    uint64_t hash = 0;
#pragma unroll
    for (uint32_t word = 0; word < WORDS; word++)
        hash = mix(hash ^ number.words[word]);
    const uint64_t ready = hash | GROUP_READY;
    uint64_t slot = mix(hash) & (arguments.slots - 1);
    for (uint32_t probe = 0; probe < STATE_PROBES_MAX && probe < arguments.slots;) {
        uint64_t seen = *reinterpret_cast<volatile state_word *>(places + slot);
        if (seen == 0) {
            seen = atomicCAS(places + slot, 0ull, (state_word)(ready ^ GROUP_READY | GROUP_TAKEN));
            if (seen == 0) {
#pragma unroll
                for (uint32_t word = 0; word < WORDS; word++)
                    reinterpret_cast<volatile state_word *>(
                        arguments.key_words)[word * arguments.slots + slot] = number.words[word];
                __threadfence();
                atomicExch(places + slot, (state_word)ready);
                atomicAdd(state_words(arguments.groups_found), 1ull);
                return slot;
            }
        }
        if ((seen | GROUP_READY) == ready) {
            if ((seen & GROUP_READY) != GROUP_READY)
                continue;
            __threadfence();
            if (is_group(slot, number))
                return slot;
        }
        slot = (slot + 1) & (arguments.slots - 1);
        probe++;
    }
    *reinterpret_cast<volatile uint32_t *>(arguments.full) = 1;
    return STATE_NO_SLOT;
}

/* count(distinct): whoever brings a value of a group for the first time counts it.
 * DISTINCT_BITS: a bit for each slot and value. DISTINCT_KEYS: a hash table of number * domain + value.
 * DISTINCT_PAIRS: where that leaves 64 bits: one table gives each value a place, another holds pairs of slot and
 * place. */
template <uint32_t SET> TILE_INLINE void distinct_count(bool first, uint64_t slot)
{
    if (first)
        atomicAdd(state_words(arguments.states[SET]) + slot, 1ull);
}

template <uint32_t SET> TILE_INLINE uint64_t distinct_code(int64_t value)
{
    const set_argument &set = arguments.sets[SET];
    const uint64_t code = (uint64_t)value - (uint64_t)set.low;
    return code < set.last ? code : set.last;
}

template <uint32_t SET> TILE_INLINE void distinct_bits(uint64_t slot, int64_t value)
{
    const uint64_t bit = slot * (arguments.sets[SET].last + 1) + distinct_code<SET>(value);
    uint32_t *const word = reinterpret_cast<uint32_t *>(arguments.sets[SET].table) + bit / 32;
    const uint32_t mask = 1u << bit % 32;
    if (!(*reinterpret_cast<volatile uint32_t *>(word) & mask))
        distinct_count<SET>(!(atomicOr(word, mask) & mask), slot);
}

template <uint32_t SET> TILE_INLINE void distinct_keys(uint64_t slot, uint64_t number, int64_t value)
{
    bool added;
    find_place(arguments.sets[SET].table, arguments.sets[SET].capacity,
               number * (arguments.sets[SET].last + 1) + distinct_code<SET>(value), added);
    distinct_count<SET>(added, slot);
}

template <uint32_t SET> TILE_INLINE void distinct_pairs(uint64_t slot, int64_t value)
{
    const set_argument &set = arguments.sets[SET];
    const uint64_t code = distinct_code<SET>(value);
    bool added = false;
    /* one value has no place: it takes the number behind them all */
    const uint64_t place = code == ~0ull ? set.capacity : find_place(set.values, set.capacity, code, added);
    if (place == STATE_NO_SLOT)
        return;
    find_place(set.table, set.capacity, slot * (set.capacity + 1) + place, added);
    distinct_count<SET>(added, slot);
}

#endif
