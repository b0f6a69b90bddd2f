/*
 * evaluate_cuda.h: runs instructions of a program (program.h) on GENERAL_ITEMS rows of each lane. An instruction is decoded
 * once for all of them, and for all lanes of a warp.
 */
#ifndef TESSERA_OPERATORS_GENERAL_EVALUATE_CUDA_H
#define TESSERA_OPERATORS_GENERAL_EVALUATE_CUDA_H

#include "operators/dialect/query_cuda.h"
#include "operators/general/calls.h"
#include "operators/general/columns_cuda.h"
#include "operators/general/states_cuda.h"

static __device__ __noinline__ int64_t general_call(uint32_t function, int64_t a, int64_t b, int64_t c,
                                                    int unit, bool *missing)
{
    enum general_function {
#define GENERAL_CALL_NUMBER_(name) CALL_NUMBER_##name,
        GENERAL_CALLS(GENERAL_CALL_NUMBER_)
    };
#define GENERAL_CALL_CASE_(name) \
    case CALL_NUMBER_##name:     \
        return call_##name(a, b, c, unit, missing);
    switch (function) {
        GENERAL_CALLS(GENERAL_CALL_CASE_)
    }
    return 0;
}

static __device__ __noinline__ int64_t general_field(uint32_t time, int64_t value, int field)
{
    return time ? calendar_timestamp_field(value, field) : calendar_date_field(value, field);
}

static __device__ __noinline__ int64_t general_months(int64_t days, int64_t months)
{
    return calendar_add_months(days, months);
}

TILE_INLINE int64_t general_element(const general_code &code, uint64_t position)
{
    const uint64_t place = position >> (code.number & 255), values = arguments.arrays[code.index].values;
    switch (code.number >> 8 & 255) {
    case 1:
        return __ldg(reinterpret_cast<const unsigned char *>(values) + place);
    case 2:
        return __ldg(reinterpret_cast<const unsigned short *>(values) + place);
    case 4:
        return __ldg(reinterpret_cast<const int *>(values) + place);
    default:
        return __ldg(reinterpret_cast<const long long *>(values) + place);
    }
}

TILE_INLINE int64_t general_double(uint32_t operation, int64_t a, int64_t b)
{
    const double x = double_of_key(a), y = double_of_key(b);
    return double_key(operation == GENERAL_ADD_DOUBLE        ? __dadd_rn(x, y)
                      : operation == GENERAL_SUBTRACT_DOUBLE ? __dsub_rn(x, y)
                      : operation == GENERAL_MULTIPLY_DOUBLE ? __dmul_rn(x, y)
                                                             : -x);
}

/* Loads an instruction; all lanes load the same one. */
TILE_INLINE general_code general_load(const general_code *from)
{
    const uint4 words = *reinterpret_cast<const uint4 *>(from);
    return general_code{(uint8_t)words.x,          (uint8_t)(words.x >> 8),
                        (uint8_t)(words.x >> 16),  (uint8_t)(words.x >> 24),
                        (uint8_t)words.y,          (uint8_t)(words.y >> 8),
                        (uint16_t)(words.y >> 16), (int64_t)(words.z | (uint64_t)words.w << 32)};
}

/* The program's parts. */
struct general_context {
    const general_program *program;
    const general_column *columns;
    const general_step *steps;
    const general_match *matches;
    const general_group *groups;
    const general_aggregate *aggregates;
    const general_code *code;
    const general_plane *planes;

    __device__ __forceinline__ void bind(const void *at)
    {
        program = reinterpret_cast<const general_program *>(at);
        columns = reinterpret_cast<const general_column *>(program + 1);
        steps = reinterpret_cast<const general_step *>(columns + program->column_count);
        matches = reinterpret_cast<const general_match *>(steps + program->step_count);
        groups = reinterpret_cast<const general_group *>(matches + program->match_count);
        aggregates = reinterpret_cast<const general_aggregate *>(groups + program->group_count);
        code = reinterpret_cast<const general_code *>(aggregates + program->aggregate_count);
        planes = reinterpret_cast<const general_plane *>(code + program->code_count);
    }
    /* The same with a copy of the program in the block's shared memory, if it has room. All threads call it. */
    __device__ __forceinline__ void bind_copy(const void *original)
    {
        const uint32_t copy_at = reinterpret_cast<const general_program *>(original)->copy_at,
                       words = reinterpret_cast<const general_program *>(original)->bytes / 16;
        for (uint32_t word = threadIdx.x; copy_at != GENERAL_NOT_COPIED && word < words; word += blockDim.x)
            reinterpret_cast<uint4 *>(tile_shared + copy_at)[word] =
                __ldg(reinterpret_cast<const uint4 *>(original) + word);
        __syncthreads();
        bind(copy_at != GENERAL_NOT_COPIED ? tile_shared + copy_at : original);
    }
};

/* The rows on which instructions run. Those that are not `active` are computed like others, as if they were row 0, and
 * change nothing. A lane's slots are APART words from each other. */
template <uint32_t APART> struct general_rows {
    int64_t *slots;
    uint64_t nulls[GENERAL_ITEMS]; /* a bit for each slot */
    uint32_t row[GENERAL_ITEMS];
    bool active[GENERAL_ITEMS];
    uint64_t group[GENERAL_ITEMS], number[GENERAL_ITEMS]; /* the slot, and the first word of the number */

    __device__ __forceinline__ int64_t &slot(uint32_t slot, uint32_t i) const
    {
        return slots[(slot * GENERAL_ITEMS + i) * APART];
    }
    /* 0 for an operand that there is not. */
    __device__ __forceinline__ int64_t operand(uint32_t of, uint32_t i) const
    {
        return of == GENERAL_NO_OPERAND ? 0 : slot(of, i);
    }
    __device__ __forceinline__ bool is_null(uint32_t slot, uint32_t i) const
    {
        return nulls[i] >> slot & 1;
    }
    __device__ __forceinline__ bool is_true(uint32_t of, uint32_t i) const
    {
        return !is_null(of, i) && slot(of, i);
    }
};

#define EACH_ITEM _Pragma("unroll") for (uint32_t i = 0; i < GENERAL_ITEMS; i++)

/* Finds the groups of rows, and marks them. */
template <class ROWS>
TILE_INLINE void general_find(const general_context &context, ROWS &rows, general_states &states)
{
    const uint32_t count = GENERAL_PLACE == GENERAL_SINGLE ? 0 : context.program->group_count;
    bool added = false;
    if (GENERAL_PLACE == GENERAL_HASH && context.program->key_words > 1) {
        EACH_ITEM
        {
            uint64_t words[GENERAL_KEY_WORDS] = {0};
            for (uint32_t g = 0; g < count; g++) {
                const general_group group = context.groups[g];
                words[group.word] +=
                    group_number_part(g, (uint64_t)rows.slot(group.slot, i), rows.is_null(group.slot, i));
            }
            rows.number[i] = words[0];
            rows.group[i] =
                rows.active[i] ? find_group_of(words, context.program->key_words, added) : STATE_NO_SLOT;
            states.found.add(rows.active[i] && added);
        }
        return;
    }
    EACH_ITEM
    rows.number[i] = 0;
    for (uint32_t g = 0; g < count; g++) {
        const uint32_t slot = context.groups[g].slot;
        EACH_ITEM
        rows.number[i] += group_number_part(g, (uint64_t)rows.slot(slot, i), rows.is_null(slot, i));
    }
    EACH_ITEM
    {
        rows.group[i] = STATE_NO_SLOT;
        if (!rows.active[i])
            continue;
        if (GENERAL_PLACE == GENERAL_HASH) {
            rows.group[i] = find_group(group_number<1>{{rows.number[i]}}, added);
            states.found.add(added);
        } else {
            rows.group[i] = rows.number[i];
            states.mark(rows.group[i]);
        }
    }
}

template <class ROWS>
TILE_INLINE void general_add(const general_code &code, const ROWS &rows, general_states &states)
{
    EACH_ITEM
    {
        if (rows.group[i] == STATE_NO_SLOT || rows.is_null(code.a, i))
            continue;
        const int64_t value = rows.operand(code.a, i);
        const bool adds = code.flags == GENERAL_SET_NONE   ? true
                          : code.flags == GENERAL_SET_BITS ? distinct_bits(code.index, rows.group[i], value)
                          : code.flags == GENERAL_SET_KEYS ? distinct_keys(code.index, rows.number[i], value)
                                                           : distinct_pairs(code.index, rows.group[i], value);
        if (adds)
            states.add(code.index, rows.group[i], state_word_of(code.c, value));
    }
}

/* Whether the sum, difference, product or negative of whole numbers, which is `result` in 64 bits, is another number. */
TILE_INLINE bool general_leaves(uint32_t operation, int64_t x, int64_t y, int64_t result)
{
    return operation == GENERAL_ADD        ? ((x ^ result) & (y ^ result)) < 0
           : operation == GENERAL_SUBTRACT ? ((x ^ y) & (x ^ result)) < 0
           : operation == GENERAL_NEGATE   ? x != 0 && x == result
           : x == -1                       ? y != 0 && y == result
                                           : x != 0 && result / x != y;
}

/* What instructions are run on: fact rows, where `source(column)` gives where a column of the tile is, and
 * `passes(dimension, position)` whether a key has a match; positions of a dimension, which are in slot 0; or groups, where
 * `source(code, null)` gives the value of a term or aggregate, and `passes()` hears of checked ones that leave 64 bits. */
enum general_subject { GENERAL_OF_ROWS, GENERAL_OF_POSITIONS, GENERAL_OF_GROUPS };

template <general_subject SUBJECT, class ROWS, class SOURCE, class PASSES>
TILE_INLINE void general_evaluate(const general_context &context, uint32_t first, uint32_t end, ROWS &rows,
                                  general_states &states, SOURCE source, PASSES passes)
{
#pragma unroll 1
    for (uint32_t at = first; at < end; at++) {
        const general_code code = general_load(context.code + at);
        int64_t result[GENERAL_ITEMS];
        bool null[GENERAL_ITEMS];
        EACH_ITEM
        null[i] = (rows.nulls[i] >> (code.a & 63) | rows.nulls[i] >> (code.b & 63) |
                   rows.nulls[i] >> (code.c & 63)) &
                  1;
#define A rows.slot(code.a, i)
#define B rows.slot(code.b, i)
        switch (code.operation) {
        case GENERAL_CONSTANT:
            EACH_ITEM
            {
                result[i] = code.number;
                null[i] = code.flags;
            }
            break;
        case GENERAL_COLUMN:
        case GENERAL_KEY:
            if constexpr (SUBJECT == GENERAL_OF_ROWS) {
                const general_column column = context.columns[code.index];
                const general_source from = source(code.index);
                fetch_column<GENERAL_ITEMS>(column, from, rows.row, result);
                EACH_ITEM
                {
                    const uint32_t *const validity = words_at(column.nullable ? from.chunk->validity : 0);
                    null[i] =
                        validity &&
                        !(load(validity + from.tile * TILE_LANES + rows.row[i] % 32) >> rows.row[i] / 32 & 1);
                    if (code.operation == GENERAL_COLUMN)
                        continue;
                    if (!null[i] && code.flags != GENERAL_PROBE_NONE)
                        null[i] = !passes(code.c, code.flags, (uint32_t)result[i]);
                    result[i] = null[i] ? 0 : (int64_t)(uint32_t)result[i];
                }
            }
            break;
        case GENERAL_ARRAY:
            EACH_ITEM
            {
                const uint64_t position = (uint64_t)A;
                result[i] = null[i] ? 0 : general_element(code, position);
                if (code.number >> 16 && !null[i])
                    null[i] = array_is_null(code.index, position >> (code.number & 255));
            }
            break;
        case GENERAL_BITS:
            EACH_ITEM
            result[i] = (int64_t)((uint64_t)A >> (code.number & 255) & (uint64_t)code.number >> 32);
            break;
        case GENERAL_ADD:
            EACH_ITEM
            result[i] = (int64_t)((uint64_t)A + (uint64_t)B);
            break;
        case GENERAL_SUBTRACT:
            EACH_ITEM
            result[i] = (int64_t)((uint64_t)A - (uint64_t)B);
            break;
        case GENERAL_MULTIPLY:
            EACH_ITEM
            result[i] = (int64_t)((uint64_t)A * (uint64_t)B);
            break;
        case GENERAL_NEGATE:
            EACH_ITEM
            result[i] = (int64_t)(0 - (uint64_t)A);
            break;
        case GENERAL_DIVIDE:
        case GENERAL_REMAINDER:
            EACH_ITEM
            {
                const int64_t x = A, y = B;
                result[i] = code.operation == GENERAL_DIVIDE ? whole_quotient<int64_t>(x, y)
                                                             : whole_remainder<int64_t>(x, y);
                null[i] |= y == 0;
            }
            break;
        case GENERAL_ADD_DOUBLE:
        case GENERAL_SUBTRACT_DOUBLE:
        case GENERAL_MULTIPLY_DOUBLE:
        case GENERAL_NEGATE_DOUBLE:
            EACH_ITEM
            result[i] = general_double(code.operation, A, rows.operand(code.b, i));
            break;
        case GENERAL_DIVIDE_DOUBLE:
            EACH_ITEM
            {
                result[i] = double_key(__ddiv_rn(double_of_key(A), double_of_key(B)));
                null[i] |= B == 0;
            }
            break;
        case GENERAL_EQUAL:
            EACH_ITEM
            result[i] = A == B;
            break;
        case GENERAL_LESS:
            EACH_ITEM
            result[i] = A < B;
            break;
        case GENERAL_LESS_EQUAL:
            EACH_ITEM
            result[i] = A <= B;
            break;
        case GENERAL_AND:
        case GENERAL_OR: /* one false or true child decides, whatever the other is */
            EACH_ITEM
            {
                const bool is_or = code.operation == GENERAL_OR;
                const bool decided = (!rows.is_null(code.a, i) && (A != 0) == is_or) ||
                                     (!rows.is_null(code.b, i) && (B != 0) == is_or);
                result[i] = decided == is_or;
                null[i] = !decided && null[i];
            }
            break;
        case GENERAL_NOT:
            EACH_ITEM
            result[i] = !A;
            break;
        case GENERAL_IS_NULL:
            EACH_ITEM
            {
                result[i] = null[i];
                null[i] = false;
            }
            break;
        case GENERAL_CHOOSE:
            EACH_ITEM
            {
                const uint32_t chosen = rows.is_true(code.a, i) ? code.b : code.c;
                result[i] = rows.slot(chosen, i);
                null[i] = rows.is_null(chosen, i);
            }
            break;
        case GENERAL_IN_SET:
            EACH_ITEM
            result[i] = lookup_contains(code.index, A);
            break;
        case GENERAL_LOOKUP:
            EACH_ITEM
            {
                result[i] = lookup_index(code.index, A);
                null[i] |= result[i] == INT64_MIN;
            }
            break;
        case GENERAL_DATE_FIELD:
        case GENERAL_TIME_FIELD:
            EACH_ITEM
            result[i] = general_field(code.operation == GENERAL_TIME_FIELD, A, code.index);
            break;
        case GENERAL_ADD_MONTHS:
            EACH_ITEM
            result[i] = general_months(A, B);
            break;
        case GENERAL_TO_DATE:
            EACH_ITEM
            result[i] = calendar_floor(A, CALENDAR_DAY_MICROSECONDS);
            break;
        case GENERAL_TO_DOUBLE:
            EACH_ITEM
            result[i] = double_key(__ddiv_rn((double)A, __longlong_as_double(code.number)));
            break;
        case GENERAL_LIMB:
            EACH_ITEM
            result[i] = double_limb(A, (int)code.number, code.index);
            break;
        case GENERAL_CALL:
            EACH_ITEM
            {
                bool missing = false;
                result[i] = null[i] ? 0
                                    : general_call(code.index, A, rows.operand(code.b, i),
                                                   rows.operand(code.c, i), (int)code.number, &missing);
                null[i] |= missing;
            }
            break;
        case GENERAL_TERM:
        case GENERAL_AGGREGATE:
            if constexpr (SUBJECT == GENERAL_OF_GROUPS) {
                EACH_ITEM
                result[i] = source(code, null[i]);
            }
            break;
        case GENERAL_SLOT:
            if constexpr (SUBJECT == GENERAL_OF_ROWS && GENERAL_PLACE != GENERAL_ROWS)
                general_find(context, rows, states);
            continue;
        case GENERAL_STATE:
            if constexpr (SUBJECT == GENERAL_OF_ROWS && GENERAL_PLACE != GENERAL_ROWS)
                general_add(code, rows, states);
            continue;
        }
        if constexpr (SUBJECT == GENERAL_OF_GROUPS)
            if (code.operation >= GENERAL_ADD && code.operation <= GENERAL_NEGATE && code.flags)
                EACH_ITEM
        if (!null[i] && general_leaves(code.operation, A, rows.operand(code.b, i), result[i]))
            passes();
#undef A
#undef B
        EACH_ITEM
        {
            rows.slot(code.to, i) = result[i];
            rows.nulls[i] = (rows.nulls[i] & ~(1ull << code.to)) | (uint64_t)null[i] << code.to;
        }
    }
}

#endif
