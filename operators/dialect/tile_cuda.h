/*
 * tile_cuda.h: the tile dialect on a GPU (tile.h says what each word means). A warp owns the tile; a lane's
 * mask holds its 32 items, bit j for row 32j + lane. The kernel is compiled at run time for the codecs and
 * widths of its columns.
 *
 * The shared memory of a block holds, in this order: the block's sums, copies of dimension bitmaps, and a
 * staging area for each warp, into which columns without random access are decoded once for tile_value.
 * engine/gpu/kernel_layout.c computes the sizes. The sums are a type that the engine writes
 * (operators/group/states_cuda.h).
 */
#ifndef TESSERA_OPERATORS_DIALECT_TILE_CUDA_H
#define TESSERA_OPERATORS_DIALECT_TILE_CUDA_H

#include "operators/decode/decode_cuda.h"

typedef uint32_t tile_mask;

struct tile {
    uint32_t segment, index; /* of the tile within the segment */
    uint32_t rows;           /* 1 .. 1024 */
    uint32_t lane;
    tile_mask dropped; /* the items that failed a test before the query's first step */
    uint32_t place;    /* of its chunks in the columns' lists */
};

extern __shared__ __align__(16) unsigned char tile_shared[];

/* A column that the query does not use. */
struct tile_absent {
    __device__ __forceinline__ void bind(const bound_column &, unsigned char *)
    {
    }
    __device__ __forceinline__ void bind(const bound_dimension &)
    {
    }
    __device__ __forceinline__ void seek(const tile &)
    {
    }
    __device__ __forceinline__ void preload()
    {
    }
    __device__ __forceinline__ void ahead(const tile &)
    {
    }
    __device__ __forceinline__ void copy(const tile &)
    {
    }
    __device__ __forceinline__ void advance(const tile &)
    {
    }
    __device__ __forceinline__ tile_mask first() const
    {
        return FULL_WARP;
    }
};

/* The items of each lane that the warp looks at, before any test; with TILE_MANY a tile may be divided among warps. */
TILE_INLINE uint32_t tile_first_item(const tile &t)
{
#ifdef TILE_MANY
    return __ffs(~t.dropped) - 1;
#else
    return 0;
#endif
}
TILE_INLINE uint32_t tile_items(const tile &t)
{
#ifdef TILE_MANY
    return __popc(~t.dropped);
#else
    return 32;
#endif
}

/* An address in shared memory, which the compiler keeps: else it is computed again for each load. */
TILE_INLINE uint32_t copied_at(const void *of)
{
    uint32_t address;
    asm volatile("mov.u32 %0, %1;" : "=r"(address) : "r"((uint32_t)__cvta_generic_to_shared(of)));
    return address;
}

/* Whether the row is NULL, by the chunk's validity words if it has any. */
TILE_INLINE bool tile_row_is_null(const bound_chunk &chunk, const tile *t, uint32_t row)
{
    const uint32_t *validity = words_at(chunk.validity);
    return validity && !(load(validity + t->index * TILE_LANES + row % 32) >> row / 32 & 1);
}

/* The place of a row's value in shared memory, of so many. `apart`: neighbours are in different banks, and rows 32 apart, too. */
TILE_INLINE constexpr uint32_t tile_places(bool apart)
{
    return TILE_ROWS + (apart ? TILE_ROWS / 32 : 0);
}
TILE_INLINE constexpr uint32_t tile_place(uint32_t row, bool apart)
{
    return row + (apart ? row / 32 : 0);
}

/* With at most this many survivors in a tile, a column's values are read one by one. That reads at most 32
 * sectors of 32 bytes, as many as a narrow column has in the whole tile. */
#define TILE_FEW_ROWS 32u

/* PRELOADED: the column filters, and its packed words are loaded as soon as the tile is known, so that the
 * loads of all such columns are in flight at once. FETCHED: tile_value reads the column. COPIED: if not 0, survivors
 * need most of a tile's lines, at most so many, which are copied to shared memory when the tile is known. NULLABLE: chunks may
 * have validity words. WHOLE: all values of a tile are fetched, and lanes look at rows 32 apart: they are decoded to places where
 * lanes meet in no bank then. */
template <class DECODE, bool PRELOADED, bool FETCHED, uint32_t COPIED, bool NULLABLE, bool WHOLE = false>
struct tile_column {
    static constexpr bool STAGED = FETCHED && (WHOLE || !DECODE::RANDOM_ACCESS);
    static constexpr uint32_t STAGING_BYTES =
        DECODE::SCRATCH_BYTES + (STAGED   ? tile_places(WHOLE) * sizeof(uint32_t)
                                 : COPIED ? COPIED_BYTES(COPIED)
                                          : 0);
    DECODE decode;
    DECODE coming; /* of the warp's next tile, if tiles are loaded ahead and the column is PRELOADED */
    const bound_chunk *chunks;
    uint32_t *scratch; /* the decoder's scratch, then 1024 values if STAGED */
    int32_t low, high;
    bool staged;      /* the tile's values, or what the decoder's item() needs, are in shared memory */
    uint32_t copy_at; /* if COPIED: the address there */

    __device__ __forceinline__ void bind(const bound_column &bound, unsigned char *staging)
    {
        chunks = reinterpret_cast<const bound_chunk *>(bound.chunks);
        scratch = reinterpret_cast<uint32_t *>(staging + bound.staging);
        if constexpr (COPIED)
            copy_at = copied_at(values());
        low = bound.low;
        high = bound.high;
    }
    __device__ __forceinline__ void seek(const tile &t)
    {
        decode.seek(chunks[t.place], t.index, t.lane);
        staged = false;
    }
    __device__ __forceinline__ void preload()
    {
        if constexpr (PRELOADED)
            decode.preload();
    }
    __device__ __forceinline__ void ahead(const tile &t)
    {
        if constexpr (PRELOADED) {
            coming.seek(chunks[t.place], t.index, t.lane);
            coming.preload();
        }
    }
    __device__ __forceinline__ void copy(const tile &t)
    {
        if constexpr (COPIED)
            decode.copy(copy_at, tile_first_item(t), tile_items(t));
    }
    __device__ __forceinline__ void advance(const tile &t)
    {
        if constexpr (PRELOADED)
            decode = coming;
        else
            decode.seek(chunks[t.place], t.index, t.lane);
        staged = false;
    }
    __device__ __forceinline__ tile_mask first() const
    {
        return FULL_WARP;
    }
    __device__ __forceinline__ tile_mask valid(const tile *t, tile_mask keep) const
    {
        if (NULLABLE) {
            const uint32_t *validity = words_at(chunks[t->place].validity);
            if (validity)
                keep &= load(validity + t->index * TILE_LANES + t->lane);
        }
        return keep;
    }
    __device__ __forceinline__ uint32_t *values() const
    {
        return scratch + DECODE::SCRATCH_BYTES / sizeof(uint32_t);
    }
    /* Calls f for each item of this lane. If STAGED, also stores the values in shared memory for
     * tile_value. */
    template <class F> __device__ __forceinline__ void items(const tile *t, F f)
    {
        uint32_t *mine = values() + t->lane;
        decode.template items<PRELOADED>(scratch, [&](uint32_t j, int32_t value) {
            if (STAGED)
                mine[tile_place(32 * j, WHOLE)] = (uint32_t)value;
            f(j, value);
        });
        if (STAGED) {
            __syncwarp();
            staged = true;
        }
    }
    /* Prepares `value` for the tile's rows. All lanes must call it. */
    __device__ __forceinline__ void stage(const tile *t)
    {
        if (staged)
            return;
        if constexpr (STAGED)
            items(t, [](uint32_t, int32_t) {});
        else if constexpr (DECODE::RANDOM_ACCESS)
            decode.stage(scratch);
        staged = true;
    }
    template <class TEST>
    __device__ __forceinline__ tile_mask keep_singly(const tile *t, tile_mask keep, TEST test)
    {
        stage(t);
        for (tile_mask rest = keep; rest; rest &= rest - 1) {
            const uint32_t j = __ffs(rest) - 1;
            if (!test(decode.item(scratch, 32 * j + t->lane), 1u))
                keep &= ~(1u << j);
        }
        __syncwarp();
        return keep;
    }
    /* Whether all items are tested: the words are loaded already, or many rows survive. */
    __device__ __forceinline__ bool looks_at_all(tile_mask keep) const
    {
        return PRELOADED || sum_warp(__popc(keep)) > TILE_FEW_ROWS;
    }
    /* The rows of `keep` whose value passes test(value, wanted). Rows are tested one by one if few survive
     * and the words are not loaded yet. If `wanted` is 0, the row is not in `keep` and the test's result is
     * not used. */
    template <class TEST>
    __device__ __forceinline__ tile_mask keep_if(const tile *t, tile_mask keep, TEST test)
    {
        if (!PRELOADED) {
            const uint32_t survivors = sum_warp(__popc(keep));
            if (survivors == 0)
                return 0;
            if constexpr (DECODE::RANDOM_ACCESS)
                if (survivors <= TILE_FEW_ROWS)
                    return keep_singly(t, keep, test);
        }
        tile_mask passing = 0;
        items(t, [&](uint32_t j, int32_t value) { passing |= (uint32_t)test(value, keep & 1u << j) << j; });
        return keep & passing;
    }
    __device__ __forceinline__ tile_mask filter(const tile *t, tile_mask keep)
    {
        const uint32_t span = (uint32_t)high - (uint32_t)low;
        keep = valid(t, low <= high ? keep : 0);
        if constexpr (DECODE::RANGES && DECODE::SLICED && !PRELOADED)
            return keep ? keep & decode.template in_range<false>(low, high) : 0;
        if constexpr (DECODE::RANGES)
            if (DECODE::SLICED || looks_at_all(keep))
                return keep & decode.template in_range<PRELOADED>(low, high);
        return keep_if(t, keep,
                       [&](int32_t value, uint32_t) { return (uint32_t)value - (uint32_t)low <= span; });
    }
    template <class DIMENSION>
    __device__ __forceinline__ tile_mask semi_join(const tile *t, tile_mask keep, const DIMENSION &dimension)
    {
        keep = valid(t, keep);
        if (!DIMENSION::FILTERED)
            return keep;
        if constexpr (DECODE::RANGES && DIMENSION::IS_RANGE)
            if (DECODE::SLICED || looks_at_all(keep))
                return keep & decode.template in_range<PRELOADED>(dimension.first, dimension.last);
        if constexpr (DECODE::PROBES && DIMENSION::IS_SHARED)
            if (looks_at_all(keep))
                return decode.template probe<PRELOADED>(dimension.shared, keep);
        return keep_if(t, keep, [&](int32_t value, uint32_t wanted) {
            return dimension.passes((uint32_t)value, wanted);
        });
    }
    __device__ __forceinline__ void fetch(const tile *t, tile_mask keep)
    {
        if constexpr (COPIED)
            wait_for_copies();
        else if (__any_sync(FULL_WARP, keep != 0))
            stage(t);
    }
    __device__ __forceinline__ int32_t value(uint32_t row)
    {
        if constexpr (STAGED)
            return (int32_t)values()[tile_place(row, WHOLE)];
        else if constexpr (COPIED)
            return decode.copied(copy_at, row);
#ifdef TILE_MANY
        else if constexpr (PRELOADED && DECODE::SLICED)
            return decode.own(row);
#endif
        else if constexpr (DECODE::RANDOM_ACCESS)
            return decode.item(scratch, row);
        else
            return 0; /* not used: a key whose group has one value, so that its code is masked */
    }
    __device__ __forceinline__ bool is_null(const tile *t, uint32_t row) const
    {
        return NULLABLE && tile_row_is_null(chunks[t->place], t, row);
    }
};

/* Spreads the survivors of a tile over the lanes, 32 at a time, whichever lane's mask they are in. So the
 * body runs only ceil(survivors / 32) times, and the loads of 32 survivors are in flight at once. */
struct tile_walk {
    uint32_t keep, upto; /* this lane's rows; the number of survivors of this lane and all lanes below it */
    uint32_t total, next_rank, lane;

    __device__ __forceinline__ tile_walk(const tile *t, tile_mask of_lane)
    {
        lane = t->lane;
        keep = of_lane;
        upto = scan_warp(__popc(keep), lane);
        total = __shfl_sync(FULL_WARP, upto, 31);
        next_rank = 0;
    }
    /* All lanes must call it; all get false when no survivors remain. A lane that gets no row gets
     * TILE_ROWS. */
    __device__ __forceinline__ bool next(uint32_t &row)
    {
        if (next_rank >= total)
            return false;
        const uint32_t rank = next_rank + lane;
        uint32_t owner = 0; /* the number of lanes whose survivors all come before this rank */
#pragma unroll
        for (uint32_t step = 16; step > 0; step /= 2)
            owner += __shfl_sync(FULL_WARP, upto, owner + step - 1) <= rank ? step : 0;
        uint32_t rows = __shfl_sync(FULL_WARP, keep, owner);
        uint32_t skip = rank - (__shfl_sync(FULL_WARP, upto, owner) - __popc(rows));
        row = TILE_ROWS;
        if (rank < total) {
#pragma unroll 1
            for (; skip > 0; skip--)
                rows &= rows - 1;
            row = 32 * (__ffs(rows) - 1) + owner;
        }
        next_rank += 32;
        return true;
    }
};

/* How a semi-join tests a position. NONE: every row passes. SHARED, GLOBAL: by a bitmap in that memory.
 * RANGE: by two comparisons, because the positions that pass are consecutive, as the days of one year are. */
enum tile_bitmap { TILE_BITMAP_NONE, TILE_BITMAP_SHARED, TILE_BITMAP_GLOBAL, TILE_BITMAP_RANGE };

/* SHARED_OFFSET: where in shared memory the block's copy of the bitmap is, if it has one. CODE: the type of
 * the group attribute's codes. */
template <tile_bitmap BITMAP, uint32_t SHARED_OFFSET, class CODE> struct tile_dimension {
    static constexpr bool FILTERED = BITMAP != TILE_BITMAP_NONE;
    static constexpr bool IS_RANGE = BITMAP == TILE_BITMAP_RANGE;
    static constexpr bool IS_SHARED = BITMAP == TILE_BITMAP_SHARED;
    int32_t first, last; /* if IS_RANGE: the positions that pass; first > last: none passes */
    const uint32_t *bitmap;
    const CODE *codes;
    uint32_t code_base;
    uint32_t shared; /* address of the block's copy of the bitmap in shared memory */

    __device__ __forceinline__ void bind(const bound_dimension &bound)
    {
        bitmap = words_at(bound.bitmap);
        codes = reinterpret_cast<const CODE *>(bound.codes);
        code_base = bound.code_base;
        shared = (uint32_t)__cvta_generic_to_shared(tile_shared) + SHARED_OFFSET;
        first = bound.first;
        last = bound.last;
        if (BITMAP == TILE_BITMAP_SHARED) {
            uint32_t *copy = reinterpret_cast<uint32_t *>(tile_shared + SHARED_OFFSET);
            for (uint32_t word = threadIdx.x; word < bound.bitmap_words; word += blockDim.x)
                copy[word] = bitmap[word];
        }
    }
    /* A row that is not wanted costs no access to the second-level cache. */
    __device__ __forceinline__ uint32_t passes(uint32_t position, uint32_t wanted) const
    {
        if (IS_RANGE)
            return first <= last && position - (uint32_t)first <= (uint32_t)(last - first);
        const uint32_t word =
            IS_SHARED ? load_shared(shared + position / 32 * 4) : load_if(bitmap + position / 32, wanted);
        return word << position % 32 >> 31;
    }
    __device__ __forceinline__ uint32_t code(int32_t position) const
    {
        return (uint32_t)__ldg(codes + position) - code_base;
    }
};

/* ---- The words of the dialect ---- */

#define TILE_QUERY(name, q, t) TILE_INLINE void tile_answer(tile_parameters *q, const tile *t)

TILE_INLINE tile_mask tile_all(const tile *t)
{
    /* The number of items j with 32j + lane < rows. */
    const uint32_t items = (t->rows + 31 - t->lane) / 32;
    return low_bits(items) & ~t->dropped;
}

#define tile_filter(t, keep, column)               (column).filter((t), (keep))
#define tile_semi_join(t, keep, column, dimension) (column).semi_join((t), (keep), (dimension))
#define tile_fetch(t, keep, column)                (column).fetch((t), (keep))
/* Runs the body for every row of `keep`, each lane for its own rows. */
#define tile_where(t, keep, row)                                                                     \
    for (tile_mask rest_##row = (keep), row = __ffs(rest_##row) * 32u - 32u + (t)->lane; rest_##row; \
         rest_##row &= rest_##row - 1, row = __ffs(rest_##row) * 32u - 32u + (t)->lane)
/* TILE_MANY: the kernel is expected to keep many rows of a tile. Then lanes look at their own rows: a few more turns where their
 * masks are not equally long, but none looks for rows, neighbours' rows follow each other, and what a lane's rows share, as the
 * words of bit planes, is loaded once. */
#ifdef TILE_MANY
#define tile_each(t, keep, row) tile_where(t, keep, row)
#else
#define tile_each(t, keep, row)             \
    if (tile_walk walk((t), (keep)); true)  \
        for (uint32_t row; walk.next(row);) \
            if (row < TILE_ROWS)
#endif
#define tile_value(t, column, row)     (column).value(row)
#define tile_code(dimension, position) (dimension).code(position)
#define tile_group2(sums, a, b)        ((sums).part(0, (a)) + (b))
#define tile_group3(sums, a, b, c)     ((sums).part(0, (a)) + (sums).part(1, (b)) + (c))
#define tile_sum(t, sums, slot, value) (sums).add((slot), (value))

#endif
