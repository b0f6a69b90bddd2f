/*
 * groups_cuda.h: the groups that may be in the answer, of those that a scan has made. A statement with HAVING, or with
 * LIMIT, copies these alone to the host:
 *
 *     groups_sample    finds the best rank of each of GROUPS_VOTERS shares of a sample of the slots
 *     first_tighten    finds the rank that `wanted` groups have or better: no worse one is wanted (first_rows_cuda.h)
 *     groups_select    lists the slots of the groups that pass HAVING and are not worse
 *     groups_gather    copies the numbers and states of the listed groups to an array
 *     groups_total     adds up numbers of the groups that pass HAVING, where no group is wanted itself
 *     groups_set       sets the bit of an expression's value of each group that passes HAVING, where nothing else is wanted
 *
 * Ranks are made as those of rows (engine/plan/order/first_rows.h), from the terms of ORDER BY, which instructions of a
 * program compute from the group's number and states, and from the number. The host computes the answer from the groups that
 * it gets, and so a group that passes here too often is no error. That is what becomes of a group whose terms the device
 * cannot compute exactly: its rank is the best one.
 */
#ifndef TESSERA_OPERATORS_GENERAL_GROUPS_CUDA_H
#define TESSERA_OPERATORS_GENERAL_GROUPS_CUDA_H

#define GENERAL_PLACE GENERAL_ROWS
#include "operators/general/evaluate_cuda.h"
#include "operators/general/groups.h"
#include "operators/general/values_cuda.h"
#include "operators/group/first_rows_cuda.h"

/* Sums and divisors up to this are doubles, so that their quotient is rounded once (storage/base/decimal.h). */
#define GROUPS_EXACT (1ull << 53)

struct group_reader {
    const groups_work &work;
    uint64_t slot;
    bool unknown; /* a value cannot be computed here */

    __device__ __forceinline__ uint64_t word(uint32_t word) const
    {
        return !work.hashed          ? slot
               : work.key_words == 1 ? state_words(arguments.keys)[slot] - 1
                                     : state_words(arguments.key_words)[word * arguments.slots + slot];
    }
    __device__ __forceinline__ uint64_t state(uint32_t aggregate, uint32_t word) const
    {
        return state_words(arguments.states[aggregate])[word * arguments.slots + slot];
    }
    __device__ __forceinline__ int64_t term(const general_code &code, bool &null) const
    {
        const group_argument of = arguments.groups[code.index];
        const uint64_t value = word(code.c) / of.stride % (of.last + 1);
        null = code.flags && value == 0;
        return null ? 0 : (int64_t)(of.base + value);
    }
    __device__ __forceinline__ int64_t average(uint64_t low, uint64_t high, uint64_t divisor, uint32_t scale)
    {
        uint64_t power = 1;
        for (uint32_t digit = 0; digit < scale; digit++)
            power *= 10;
        const bool exact = high == (uint64_t)((int64_t)low >> 63) && low + GROUPS_EXACT <= 2 * GROUPS_EXACT &&
                           divisor <= GROUPS_EXACT / power;
        unknown |= !exact;
        return double_key(__ddiv_rn((double)(int64_t)low, (double)(int64_t)(divisor * power)));
    }
    __device__ __forceinline__ int64_t aggregate(const general_code &code, bool &null)
    {
        const uint64_t parts = (uint64_t)code.number, low = state(code.index, 0);
        const uint32_t count = parts & 0xffff, divisor = parts >> GROUPS_DIVISOR_SHIFT & 0xffff;
        const uint64_t high =
            (parts >> GROUPS_WORDS_SHIFT & 0xff) > 1 ? state(code.index, 1) : (uint64_t)((int64_t)low >> 63);
        null = count && state(count - 1, 0) == 0;
        if (null)
            return 0;
        if (divisor)
            return average(low, high, state(divisor - 1, 0), parts >> GROUPS_SCALE_SHIFT & 0xff);
        return code.c == STATE_OF_MIN   ? min_of_greatest(low)
               : code.c == STATE_OF_MAX ? max_of_greatest(low)
               : code.c == STATE_OF_AND ? and_of_bits(low)
                                        : (int64_t)low;
    }
    /* Whether a sum leaves 64 bits, which is an error that the host tells of. */
    __device__ __forceinline__ bool overflows() const
    {
        bool any = false;
        for (uint32_t c = 0; c < work.checked_count; c++)
            any |= state(work.checked[c], 1) != (uint64_t)((int64_t)state(work.checked[c], 0) >> 63);
        return any;
    }
};

TILE_INLINE bool group_is_used(const groups_work &work, uint64_t slot)
{
    if (work.full)
        return slot + 1 < arguments.slots;
    return work.hashed ? state_words(arguments.keys)[slot] != 0
                       : reinterpret_cast<const uint32_t *>(arguments.present)[slot] != 0;
}

/* What instructions compute of the group in a slot, in the thread's slots of the block's shared memory. */
struct group_values {
    group_reader group;
    general_context context;
    general_rows<GROUPS_THREADS> rows;

    __device__ __forceinline__ group_values(const groups_work &work, uint64_t slot)
        : group{work, slot, false}, context{}
    {
        context.code = reinterpret_cast<const general_code *>(work.code);
        rows.slots = reinterpret_cast<int64_t *>(tile_shared) + threadIdx.x;
        EACH_ITEM
        rows.nulls[i] = 0;
    }
    __device__ __forceinline__ void evaluate(uint32_t first, uint32_t end)
    {
        general_states none;
        general_evaluate<GENERAL_OF_GROUPS>(
            context, first, end, rows, none,
            [&](const general_code &code, bool &null) {
                return code.operation == GENERAL_TERM ? group.term(code, null) : group.aggregate(code, null);
            },
            [&]() { group.unknown = true; });
    }
    __device__ __forceinline__ bool passes() const
    {
        const uint32_t having = group.work.having;
        return having == GENERAL_NO_OPERAND || rows.is_true(having, 0);
    }
};

/* The rank of the group in a slot; FIRST_NO_RANK: HAVING is not true, or it is worse than `bound`, which mostly the first term
 * of ORDER BY tells: only then the others are computed. */
TILE_INLINE uint64_t group_rank(const groups_work &work, uint64_t slot, uint64_t bound)
{
    group_values of(work, slot);
    const auto part = [&](uint32_t t) {
        const first_term_argument &term = arguments.first.terms[t];
        const uint32_t at = work.term_slots[t];
        return first_part_of(term, term.descending, of.rows.slot(at, 0), of.rows.is_null(at, 0));
    };
    of.evaluate(0, work.first_count);
    if (of.group.unknown || of.group.overflows())
        return 0;
    if (!of.passes())
        return FIRST_NO_RANK;
    uint64_t rank = work.term_count ? part(0) : 0;
    if (rank > bound)
        return FIRST_NO_RANK;
    of.evaluate(work.first_count, work.code_count);
    if (of.group.unknown)
        return 0;
    for (uint32_t t = 1; t < work.term_count; t++)
        rank += part(t);
    rank += work.by_number ? of.group.word(work.key_words - 1) * work.number_stride : 0;
    return rank <= bound ? rank : FIRST_NO_RANK;
}

/* Whether the first term of ORDER BY alone tells that a group is worse than the bound, where it is nothing but an aggregate and
 * there is no HAVING: most groups are told so by one state, without running instructions. */
struct group_hint {
    general_code code;
    bool usable;

    __device__ __forceinline__ group_hint(const groups_work &work)
    {
        code = work.code_count ? reinterpret_cast<const general_code *>(work.code)[0] : general_code{};
        usable = work.term_count && work.first_count == 1 && work.having == GENERAL_NO_OPERAND &&
                 !work.checked_count && code.operation == GENERAL_AGGREGATE &&
                 !((uint64_t)code.number >> GROUPS_DIVISOR_SHIFT & 0xffff);
    }
    /* No rank of the group is less. */
    __device__ __forceinline__ uint64_t least(const groups_work &work, uint64_t slot) const
    {
        bool null;
        if (!usable)
            return 0;
        const int64_t value = group_reader{work, slot, false}.aggregate(code, null);
        return first_part_of(arguments.first.terms[0], arguments.first.terms[0].descending, value, null);
    }
};

/* The hint as a comparison of the state with a number: least() is not greater than the bound. */
struct group_limit {
    const state_word *states;
    int64_t limit;
    bool usable, descending;

    __device__ __forceinline__ group_limit(const group_hint &hint, uint64_t bound)
    {
        const first_term_argument &term = arguments.first.terms[0];
        const uint64_t span = (uint64_t)term.high - (uint64_t)term.low;
        const uint32_t value = hint.code.c;
        usable = hint.usable && !((uint64_t)hint.code.number & 0xffff) && term.stride &&
                 value != STATE_OF_MIN && value != STATE_OF_MAX && value != STATE_OF_AND;
        states = usable ? state_words(arguments.states[hint.code.index]) : nullptr;
        descending = term.descending;
        limit = descending ? INT64_MIN : INT64_MAX; /* all pass */
        if (!usable || bound / term.stride - term.best >= span >> term.shift)
            return; /* also if the bound is better than the best rank, which nothing is */
        const uint64_t distance = ((bound / term.stride - term.best + 1) << term.shift) - 1;
        limit = (int64_t)(descending ? (uint64_t)term.high - distance : (uint64_t)term.low + distance);
    }
    __device__ __forceinline__ bool may(uint64_t slot) const
    {
        const int64_t value = (int64_t)states[slot];
        return descending ? value >= limit : value <= limit;
    }
};

/* A voter's slots are as far apart as they can be. */
extern "C" __global__ void __launch_bounds__(GROUPS_THREADS)
    groups_sample(const __grid_constant__ groups_work work)
{
    const uint64_t voters = gridDim.x * (uint64_t)blockDim.x, slots = arguments.slots,
                   apart = (slots + GROUPS_VOTER_SLOTS - 1) / GROUPS_VOTER_SLOTS,
                   voter = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    const uint64_t step = apart > voters ? apart : voters;
    const group_hint hint(work);
    uint64_t best = FIRST_NO_RANK, best_slot = 0; /* the latter, if ranks are hints as yet */
    for (uint64_t first = voter; first < slots; first += GROUPS_TAKEN * step) {
        uint64_t least[GROUPS_TAKEN];
#pragma unroll
        for (uint32_t i = 0; i < GROUPS_TAKEN; i++) {
            const uint64_t slot = first + i * step;
            least[i] = slot < slots && group_is_used(work, slot) ? hint.least(work, slot) : FIRST_NO_RANK;
        }
        if (hint.usable) {
#pragma unroll
            for (uint32_t i = 0; i < GROUPS_TAKEN; i++) {
                best_slot = least[i] < best ? first + i * step : best_slot;
                best = least[i] < best ? least[i] : best;
            }
            continue;
        }
#pragma unroll 1
        for (uint32_t i = 0; i < GROUPS_TAKEN; i++) {
            const uint64_t rank = least[i] < best ? group_rank(work, first + i * step, best) : FIRST_NO_RANK;
            best = rank < best ? rank : best;
        }
    }
    if (hint.usable && best != FIRST_NO_RANK) /* of one of the best by the first term */
        best = group_rank(work, best_slot, FIRST_NO_RANK);
    const uint32_t lane = threadIdx.x % 32, lanes = __ballot_sync(FULL_WARP, best != FIRST_NO_RANK);
    uint32_t at = 0;
    if (lane == 0 && lanes)
        at = atomicAdd(const_cast<uint32_t *>(&first_rows_state()->known), (uint32_t)__popc(lanes));
    at = __shfl_sync(FULL_WARP, at, 0) + __popc(lanes & low_bits(lane));
    if (best != FIRST_NO_RANK)
        reinterpret_cast<first_known *>(arguments.first.known)[at] = first_known{best, 1, 0};
}

/* Lists the group in a lane's slot, if it passes. All lanes call it. */
TILE_INLINE void group_list(const groups_work &work, uint64_t slot, bool used, uint64_t bound)
{
    const uint64_t rank = used ? group_rank(work, slot, bound) : FIRST_NO_RANK;
    const uint32_t lane = threadIdx.x % 32, lanes = __ballot_sync(FULL_WARP, rank != FIRST_NO_RANK);
    uint64_t at = 0;
    if (!lanes)
        return;
    if (lane == 0)
        at = atomicAdd(const_cast<state_word *>(&first_rows_state()->found), (state_word)__popc(lanes));
    at = __shfl_sync(FULL_WARP, at, 0) + __popc(lanes & low_bits(lane));
    if (rank != FIRST_NO_RANK && at < arguments.first.capacity)
        state_words(arguments.first.list)[at] = slot;
}

/* Calls `take` for all used slots of which `may` is true, by all lanes of a warp at once: with a slot and whether the lane has
 * one. Most slots of a table are free: a warp gathers the others, in shared memory after its threads' slots, until all lanes have
 * one. */
template <class MAY, class TAKE> TILE_INLINE void groups_each(const groups_work &work, MAY may, TAKE take)
{
    const uint64_t slots = arguments.slots;
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = GROUPS_THREADS / 32;
    state_word *const waiting = reinterpret_cast<state_word *>(tile_shared) +
                                work.slot_count * GROUPS_THREADS + warp * GROUPS_WAITING;
    uint32_t count = 0; /* of those that wait; the same in all lanes */
    for (uint64_t first = (blockIdx.x * (uint64_t)warps + warp) * GROUPS_TAKEN * 32; first < slots;
         first += gridDim.x * (uint64_t)warps * GROUPS_TAKEN * 32) {
        bool used[GROUPS_TAKEN];
#pragma unroll
        for (uint32_t i = 0; i < GROUPS_TAKEN; i++)
            used[i] = first + 32 * i + lane < slots && group_is_used(work, first + 32 * i + lane) &&
                      may(first + 32 * i + lane);
#pragma unroll
        for (uint32_t i = 0; i < GROUPS_TAKEN; i++) {
            const uint32_t lanes = __ballot_sync(FULL_WARP, used[i]);
            if (used[i])
                waiting[count + __popc(lanes & low_bits(lane))] = first + 32 * i + lane;
            count += __popc(lanes);
        }
        __syncwarp();
        while (count >= 32) {
            count -= 32;
            take(waiting[count + lane], true);
        }
        __syncwarp();
    }
    take(lane < count ? waiting[lane] : 0, lane < count);
}

TILE_INLINE bool groups_all(uint64_t)
{
    return true;
}

/* The list has the first `capacity` groups that pass; the state counts all of them. */
extern "C" __global__ void __launch_bounds__(GROUPS_THREADS)
    groups_select(const __grid_constant__ groups_work work)
{
    const uint64_t bound = first_bound();
    const group_hint hint(work);
    const group_limit limit(hint, bound);
    groups_each(
        work, [&](uint64_t slot) { return limit.usable ? limit.may(slot) : hint.least(work, slot) <= bound; },
        [&](uint64_t slot, bool used) { group_list(work, slot, used, bound); });
}

/* ---- Totals ---- */

/* A warp's totals: each lane has its own until the end. */
struct group_totals {
    uint64_t low[GROUPS_TOTALS_MAX], high[GROUPS_TOTALS_MAX], groups;
    bool unknown;

    __device__ __forceinline__ group_totals() : low{}, high{}, groups(0), unknown(false)
    {
    }
    __device__ __forceinline__ void add(const groups_work &work, uint64_t slot)
    {
        group_values of(work, slot);
        of.evaluate(0, work.code_count);
        unknown |= of.group.unknown || of.group.overflows();
        if (!of.passes())
            return;
        groups++;
#pragma unroll
        for (uint32_t t = 0; t < GROUPS_TOTALS_MAX; t++) {
            const groups_total total = work.totals[t];
            const bool counts = total.slot == GENERAL_NO_OPERAND;
            if (t >= work.total_count || (!counts && of.rows.is_null(total.slot, 0)))
                continue;
            const uint64_t word = state_word_of(total.value, of.rows.operand(total.slot, 0));
            state_merge_words(total.merge, &low[t], &high[t], word, (uint64_t)((int64_t)word >> 63));
        }
    }
    __device__ __forceinline__ void give(uint32_t merge, unsigned long long *words, uint64_t low,
                                         uint64_t high) const
    {
        for (uint32_t distance = 16; distance > 0; distance /= 2) {
            const uint64_t other = __shfl_down_sync(FULL_WARP, low, distance),
                           other_high = __shfl_down_sync(FULL_WARP, high, distance);
            state_merge_words(merge, &low, &high, other, other_high);
        }
        if (threadIdx.x % 32 || !(low | high))
            return;
        if (merge == MERGE_ADD)
            atomicAdd(words, (state_word)low);
        else if (merge == MERGE_ADD_WIDE)
            add_wide(words, words + 1, low, high);
        else if (merge == MERGE_GREATEST)
            raise(words, low);
        else if (merge == MERGE_OR)
            combine_bits<false>(words, low);
        else
            combine_bits<true>(words, low);
    }
    __device__ __forceinline__ void finish(const groups_work &work) const
    {
        groups_totals *const to = reinterpret_cast<groups_totals *>(work.totals_state);
        give(MERGE_ADD, &to->groups, groups, 0);
        if (__any_sync(FULL_WARP, unknown) && threadIdx.x % 32 == 0)
            to->unknown = 1;
#pragma unroll
        for (uint32_t t = 0; t < GROUPS_TOTALS_MAX; t++)
            if (t < work.total_count)
                give(work.totals[t].merge, to->words[t], low[t], high[t]);
    }
};

extern "C" __global__ void __launch_bounds__(GROUPS_THREADS)
    groups_total(const __grid_constant__ groups_work work)
{
    group_totals totals;
    groups_each(work, groups_all, [&](uint64_t slot, bool used) {
        if (used)
            totals.add(work, slot);
        __syncwarp();
    });
    totals.finish(work);
}

/* ---- Sets ---- */

/* Neighbouring slots mostly have neighbouring values: the first of consecutive lanes with bits of one word sets all of them.
 * All lanes call it. Returns how many bits the lane was the first to set. */
TILE_INLINE uint32_t set_bit(uint32_t *bits, uint64_t place, bool is_set)
{
    const uint32_t lane = threadIdx.x % 32;
    const uint64_t word = is_set ? place / 32 : ~0ull;
    uint32_t mine = is_set ? 1u << place % 32 : 0;
#pragma unroll
    for (uint32_t distance = 1; distance < 32; distance *= 2) {
        const uint64_t other = __shfl_down_sync(FULL_WARP, word, distance);
        const uint32_t its = __shfl_down_sync(FULL_WARP, mine, distance);
        mine |= lane + distance < 32 && other == word ? its : 0;
    }
    const uint64_t before = __shfl_up_sync(FULL_WARP, word, 1);
    return is_set && (lane == 0 || before != word) ? __popc(mine & ~atomicOr(bits + word, mine)) : 0;
}

extern "C" __global__ void __launch_bounds__(GROUPS_THREADS)
    groups_set(const __grid_constant__ groups_work work)
{
    struct groups_set *const state = reinterpret_cast<struct groups_set *>(work.set_state);
    bool null = false, unknown = false;
    unsigned long long count = 0;
    groups_each(work, groups_all, [&](uint64_t slot, bool used) {
        uint64_t place = 0;
        bool is_set = false;
        if (used) {
            group_values of(work, slot);
            of.evaluate(0, work.code_count);
            unknown |= of.group.unknown || of.group.overflows();
            const bool passes = of.passes(), is_null = of.rows.is_null(work.set_slot, 0);
            null |= passes && is_null;
            place = (uint64_t)of.rows.operand(work.set_slot, 0) - (uint64_t)work.set_low;
            unknown |= passes && !is_null && place > work.set_span;
            is_set = passes && !is_null && place <= work.set_span;
        }
        __syncwarp();
        count += set_bit(reinterpret_cast<uint32_t *>(work.set_bits), place, is_set);
    });
    for (uint32_t distance = 16; distance > 0; distance /= 2)
        count += __shfl_down_sync(FULL_WARP, count, distance);
    if (threadIdx.x % 32 == 0 && count)
        atomicAdd(&state->count, count);
    if (__any_sync(FULL_WARP, null) && threadIdx.x % 32 == 0)
        state->null = 1;
    if (__any_sync(FULL_WARP, unknown) && threadIdx.x % 32 == 0)
        state->unknown = 1;
}

/* ---- Copies ---- */

/* Column by column, as groups_collect (operators/dialect/query_cuda.h). */
extern "C" __global__ void __launch_bounds__(GROUPS_THREADS)
    groups_gather(const __grid_constant__ groups_work work, uint64_t out, uint64_t count, uint64_t words)
{
    const uint64_t threads = gridDim.x * (uint64_t)blockDim.x;
    state_word *const to = state_words(out);
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < count; i += threads) {
        const group_reader group = {work, state_words(arguments.first.list)[i], false};
        uint64_t column = 0;
        for (uint32_t word = 0; word < work.key_words; word++)
            to[column++ * count + i] = group.word(word);
        for (uint32_t a = 0; a < work.aggregate_count; a++)
            for (uint32_t word = 0; word < reinterpret_cast<const unsigned char *>(words)[a]; word++)
                to[column++ * count + i] = group.state(a, word);
    }
}

#endif
