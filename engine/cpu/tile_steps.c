/* tile_steps.c: see tile_steps.h. Called once for each tile and column; count <= 1024. */
#include "engine/cpu/tile_steps.h"

uint32_t ISA(tile_steps_rows)(const struct tile_step *steps, uint32_t step_count, const struct tile *t,
                              const uint64_t *mask, tile_mask *dense, uint16_t *rows,
                              struct scan_point *points, uint64_t *since)
{
    tile_mask keep = tile_all(t);
    if (mask)
        memcpy(keep.bits, mask, sizeof keep.bits);
    for (uint32_t s = 0; s < step_count; s++) {
        if (points)
            scan_point_reach(&points[s], tile_count(&keep), since);
        keep = steps[s].dimension       ? tile_semi_join_(t, keep, steps[s].column, steps[s].dimension)
               : steps[s].probe.members ? tile_probe(t, keep, steps[s].column, &steps[s].probe)
                                        : tile_filter_(t, keep, steps[s].column);
    }
    const uint32_t count = tile_count(&keep);
    if (points)
        scan_point_reach(&points[step_count], count, since);
    if (dense && tile_steps_dense(t, count)) {
        *dense = keep;
        return count;
    }
    const struct tile_list *list = tile_list_of(t, &keep);
    memcpy(rows, list->rows, list->count * sizeof *rows);
    return list->count;
}

/* A bit for each of 64 values that is not 0. */
static inline uint64_t bits_true(const int64_t *values)
{
    uint64_t bits = 0;
#if defined(__AVX512F__)
    for (uint32_t i = 0; i < 64; i += 8) {
        const __m512i some = _mm512_loadu_si512(values + i);
        bits |= (uint64_t)_mm512_test_epi64_mask(some, some) << i;
    }
#elif defined(__AVX2__)
    for (uint32_t i = 0; i < 64; i += 4) {
        const __m256i some = _mm256_loadu_si256((const __m256i *)(const void *)(values + i)),
                      zero = _mm256_cmpeq_epi64(some, _mm256_setzero_si256());
        bits |= (uint64_t)(~_mm256_movemask_pd(_mm256_castsi256_pd(zero)) & 15) << i;
    }
#else
    for (uint32_t i = 0; i < 64; i++)
        bits |= (uint64_t)(values[i] != 0) << i;
#endif
    return bits;
}

/* Vectors have room for all rows that a tile can have; what is there after the last is in no mask. */
uint32_t ISA(tile_steps_keep)(const struct vector *truth, const struct tile *t, tile_mask *keep)
{
    for (uint32_t begin = 0; begin < t->rows; begin += 64) {
        uint64_t nulls = 0;
        for (uint32_t i = 0; truth->nulls && i < 64; i++)
            nulls |= (uint64_t)(truth->nulls[begin + i] != 0) << i;
        keep->bits[begin / 64] &= bits_true(truth->values + begin) & ~nulls;
    }
    return tile_count(keep);
}

/* The values of the rows in the mask, one after the other. Whole vectors are written, which never reach beyond the tile. */
static void compress(const int32_t *from, const tile_mask *mask, int32_t *to)
{
    for (uint32_t word = 0; word < TILE_MASK_WORDS; word++, from += 64) {
        uint64_t bits = mask->bits[word];
#if defined(__AVX512F__)
        for (uint32_t i = 0; i < 64; i += 16, bits >>= 16) {
            const __mmask16 some = (__mmask16)bits;
            _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(some, _mm512_loadu_si512(from + i)));
            to += __builtin_popcount(some);
        }
#elif defined(__AVX2__)
        for (uint32_t i = 0; i < 64;
             i += 8, bits >>= 8) { /* the bytes of `places` are the numbers of the bits that are set */
            const uint64_t bytes = _pdep_u64(bits, 0x0101010101010101ull) * 255,
                           places = _pext_u64(0x0706050403020100ull, bytes);
            const __m256i order = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((int64_t)places));
            const __m256i values = _mm256_loadu_si256((const __m256i *)(const void *)(from + i));
            _mm256_storeu_si256((__m256i *)(void *)to, _mm256_permutevar8x32_epi32(values, order));
            to += __builtin_popcount((uint32_t)bits & 255);
        }
#else
        for (; bits; bits &= bits - 1)
            *to++ = from[tile_lowest(bits)];
#endif
    }
}

/* Writes a 1 for each NULL. The words of `valid` are in lane order (tile_bits_valid). */
static void find_nulls(const uint32_t *valid, const uint16_t *rows, uint32_t count, bool all, uint8_t *nulls)
{
    if (all)
        for (uint32_t row = 0; row < count; row++)
            nulls[row] = !(valid[row % TILE_LANES] >> row / TILE_LANES & 1);
    else
        for (uint32_t i = 0; i < count; i++)
            nulls[i] = !(valid[rows[i] % TILE_LANES] >> rows[i] / TILE_LANES & 1);
}

/* NULL: no row of the tile is NULL. */
static const uint32_t *tile_validity(const struct tile_column *column, const struct tile *t)
{
    const uint32_t *const valid = column->validity ? column->validity + t->index * TILE_LANES : NULL;
    uint32_t all = UINT32_MAX;
    for (uint32_t lane = 0; valid && lane < TILE_LANES; lane++)
        all &= valid[lane];
    return all == UINT32_MAX ? NULL : valid;
}

void ISA(tile_steps_values)(struct tile_column *column, const struct tile *t, const uint16_t *rows,
                            const tile_mask *mask, uint32_t count, int64_t *values, uint8_t *nulls)
{
    tile_fetch_rows(t, column, rows, mask ? t->rows : count);
    int32_t some[TILE_ROWS];
    const int32_t *from = column->values;
    const bool all = count == t->rows;
    if (mask && !all) {
        compress(from, mask, some);
        from = some;
    }
    for (uint32_t i = 0; (all || mask) && i < count; i++)
        values[i] = from[i];
    for (uint32_t i = 0; !all && !mask && i < count; i++)
        values[i] = from[rows[i]];
    if (!nulls)
        return;
    const uint32_t *const valid = tile_validity(column, t);
    if (valid)
        find_nulls(valid, rows, count, all, nulls);
    else
        memset(nulls, 0, count);
}

struct row_vector ISA(tile_steps_term)(const struct tile_term *term, const struct tile *t,
                                       const uint16_t *rows, const tile_mask *mask, uint32_t count)
{
    int32_t *const buffer = term->buffer;
    uint8_t *const nulls = (uint8_t *)(buffer + TILE_ROWS);
    tile_fetch_rows(t, term->column, rows, mask ? t->rows : count);
    const int32_t *from = term->column->values;
    const uint32_t *const valid = tile_validity(term->column, t);
    const bool all = count == t->rows;
    if (!all && mask)
        compress(from, mask, buffer);
    for (uint32_t i = 0; !all && !mask && i < count; i++)
        buffer[i] = from[rows[i]];
    from = all ? from : buffer;
    if (term->mask != UINT32_MAX) {
        for (uint32_t i = 0; i < count; i++)
            buffer[i] = (int32_t)((uint32_t)from[i] >> term->shift & term->mask);
        from = buffer;
    }
    if (valid)
        find_nulls(valid, rows, count, all, nulls);
    return (struct row_vector){.narrow = from, .nulls = valid ? nulls : NULL};
}

/* A code is NULL ? 0 : value - base, but at most `last`. Codes of small domains are multiplied in 32 bits. */
#define ADD_CODES(type, source, NULLS)                                                   \
    for (uint32_t i = 0; i < count; i++) {                                               \
        type code = (type)(source)[i] - (type)base;                                      \
        code = (NULLS) ? 0 : code;                                                       \
        code = code < (type)last ? code : (type)last;                                    \
        const uint64_t part = small ? (uint32_t)code * (uint32_t)stride : code * stride; \
        numbers[i] = (first ? i % GROUP_COPIES * spread : numbers[i]) + part;            \
    }

static inline __attribute__((always_inline)) void add_codes(const struct plan_group *group,
                                                            const struct row_vector *from, uint32_t count,
                                                            bool small, bool first, uint32_t spread,
                                                            uint64_t *restrict numbers)
{
    const uint64_t base = (uint64_t)group->low - group->nullable, last = group->domain - 1,
                   stride = group->stride;
    if (from->narrow && small && from->nulls)
        ADD_CODES(uint32_t, from->narrow, from->nulls[i])
    else if (from->narrow && small)
        ADD_CODES(uint32_t, from->narrow, false)
    else if (from->narrow)
        ADD_CODES(uint64_t, from->narrow, from->nulls && from->nulls[i])
    else if (from->nulls)
        ADD_CODES(uint64_t, from->values, from->nulls[i])
    else
        ADD_CODES(uint64_t, from->values, false)
}

void ISA(tile_steps_number)(const struct plan_group *group, const struct row_vector *from, uint32_t count,
                            bool first, uint32_t spread, uint64_t *numbers)
{
    const bool small = (unsigned __int128)group->domain * group->stride <= UINT32_MAX;
    if (small && first)
        add_codes(group, from, count, true, true, spread, numbers);
    else if (small)
        add_codes(group, from, count, true, false, 0, numbers);
    else
        add_codes(group, from, count, false, first, spread, numbers);
}

/* What a term is does not change in the loop, as far as the compiler knows, if it is a copy. */
static inline __attribute__((always_inline)) uint64_t add_parts(struct first_term term,
                                                                const int64_t *restrict values,
                                                                const uint8_t *restrict nulls, uint32_t count,
                                                                uint64_t *restrict ranks)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        ranks[i] += first_term_part(&term, values[i], nulls && nulls[i]);
        least = ranks[i] < least ? ranks[i] : least;
    }
    return least;
}

uint64_t ISA(tile_steps_rank)(const struct first_term *term, const struct vector *from, uint32_t count,
                              uint64_t *ranks)
{
    return from->nulls ? add_parts(*term, from->values, from->nulls, count, ranks)
                       : add_parts(*term, from->values, NULL, count, ranks);
}
