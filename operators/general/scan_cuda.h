/*
 * scan_cuda.h: the general kernels. They do what the kernels of one statement do (engine/gpu/kernel.h), for any plan that
 * the engine can write as a program (program.h):
 *
 *     prepare    clears the states, and makes each dimension's bitmap from its predicate
 *     scan       runs the program's steps on each tile, and its instructions on the rows that pass
 *     collect    copies the hashed groups to an array
 *
 * The text that includes this file defines GENERAL_PLACE, where the states are (states_cuda.h): one kernel for each place.
 *
 * Shared memory has the block's states, its copy of the program, and then each warp's staging area: of columns that are
 * staged, the chunks of its tile's segment, and its lanes' slots.
 */
#ifndef TESSERA_OPERATORS_GENERAL_SCAN_CUDA_H
#define TESSERA_OPERATORS_GENERAL_SCAN_CUDA_H

#include "operators/dialect/course_cuda.h"
#include "operators/general/evaluate_cuda.h"

#define GENERAL_THREADS 256u

/* A thread has 85 registers then, on GPUs with 65,536 a multiprocessor. With 4 blocks SSB's queries take as long, and
 * statements that look at most rows a sixth longer. */
#define GENERAL_BLOCKS 3u

/* From this number of rows in a tile on, lanes take their own rows if they have about equally many. */
#define GENERAL_MANY_ROWS 256u

#define PLANES_TOGETHER 8u

typedef general_rows<TILE_LANES> general_tile_rows;

/* A warp's tile: where its columns are. */
struct general_tile {
    const general_context &context;
    const general_bound &bound;
    unsigned char *staging; /* the warp's */
    bound_chunk *chunks;    /* of the columns, in the staging area */
    tile t;
    uint32_t place;    /* of these chunks */
    uint64_t prepared; /* the staged columns whose values are in the staging area */

    /* Goes to the next tile, and reads the columns' chunks if they are others. All lanes call it. */
    __device__ __forceinline__ void seek(const tile &to)
    {
        t = to;
        prepared = 0;
        if (place == t.place)
            return;
        place = t.place;
        for (uint32_t column = t.lane; column < context.program->column_count; column += TILE_LANES)
            chunks[column] = reinterpret_cast<const bound_chunk *>(bound.columns[column].chunks)[place];
        __syncwarp();
    }
    __device__ __forceinline__ general_source source(uint32_t column) const
    {
        return general_source{chunks + column,
                              reinterpret_cast<uint32_t *>(staging + bound.columns[column].staging), t.index,
                              t.lane};
    }
    __device__ __forceinline__ void prepare(uint32_t column)
    {
        const general_column of = context.columns[column];
        if (!of.staged || prepared >> (of.staged - 1) & 1)
            return;
        prepare_column(of, source(column));
        prepared |= 1ull << (of.staged - 1);
    }
    /* Prepares the staged columns that instructions read. */
    __device__ __forceinline__ void prepare_all(uint64_t needed)
    {
        for (uint32_t column = 0; needed & ~prepared; column++) {
            const general_column of = context.columns[column];
            if (of.staged && needed >> (of.staged - 1) & 1)
                prepare(column);
        }
    }
    __device__ __forceinline__ bool passes(uint32_t dimension, uint32_t probe, uint32_t position) const
    {
        const bound_dimension &of = bound.dimensions[dimension];
        if (probe == GENERAL_PROBE_RANGE)
            return of.first <= of.last && position - (uint32_t)of.first <= (uint32_t)(of.last - of.first);
        return __ldg(words_at(of.bitmap) + position / 32) << position % 32 >> 31;
    }
    __device__ __forceinline__ tile_mask valid(uint32_t column, tile_mask keep) const
    {
        const uint32_t *validity = words_at(source(column).chunk->validity);
        return validity ? keep & load(validity + t.index * TILE_LANES + t.lane) : keep;
    }
    __device__ __forceinline__ tile_mask test(const general_step &step, tile_mask keep)
    {
        general_column column = context.columns[step.column];
        column.needed = FULL_WARP; /* survivors may need fewer bits than the test */
        general_test test = {nullptr, (uint32_t)step.low, (uint32_t)step.high - (uint32_t)step.low};
        if (step.kind == GENERAL_STEP_BITMAP)
            test.bitmap = words_at(bound.dimensions[step.dimension].bitmap);
        else if (step.low > step.high)
            return 0;
        prepare(step.column);
        return test_column(column, source(step.column), keep, test);
    }
    /* The loads of PLANES_TOGETHER planes, of any columns, are in flight at once; see PLANES_AT_ONCE. A lane without rows
     * loads none. */
    __device__ __forceinline__ tile_mask in_cube(uint32_t first, uint32_t end, tile_mask keep) const
    {
#pragma unroll 1
        for (; first < end; first += PLANES_TOGETHER) {
            const uint32_t *words[PLANES_TOGETHER];
            uint32_t opposite[PLANES_TOGETHER], word[PLANES_TOGETHER], known[PLANES_TOGETHER];
#pragma unroll
            for (uint32_t i = 0; i < PLANES_TOGETHER; i++) {
                const uint32_t plane = plane_at(min(first + i, end - 1)), line = plane >> 16 & 255,
                               bits = plane >> 8 & 255;
                levels_place place;
                place.seek(chunks[plane & 255], t.index, bits);
                words[i] = place.line_at(line) + t.lane;
                opposite[i] = (plane >> 24) - 1;
                known[i] = place.is_same(line) || !keep;
                word[i] = 0u - (place.entry >> (bits - 1 - line) & 1);
            }
#pragma unroll
            for (uint32_t i = 0; i < PLANES_TOGETHER; i++)
                word[i] = load_unless(words[i], known[i], word[i]);
#pragma unroll
            for (uint32_t i = 0; i < PLANES_TOGETHER; i++)
                keep &= word[i] ^ opposite[i];
        }
        return keep;
    }
    /* A struct general_plane as one word. */
    __device__ __forceinline__ uint32_t plane_at(uint32_t plane) const
    {
        return reinterpret_cast<const uint32_t *>(context.planes)[plane];
    }
    __device__ __forceinline__ tile_mask in_cubes(const general_step &step, tile_mask keep) const
    {
        tile_mask any = 0;
#pragma unroll 1
        for (uint32_t cube = 0, first = step.first; cube < step.cubes; cube++, first += step.each)
            any |= in_cube(first, first + step.each, keep & ~any);
        return any;
    }
};

/* Gives the rows of a mask to the lanes, GENERAL_ITEMS to each at a time: each lane its own, or any lane's. */
struct general_walk {
    tile_walk walk;
    tile_mask rest;
    bool own; /* the same in all lanes */

    __device__ __forceinline__ general_walk(const tile &t, tile_mask keep, bool of_lane) : walk(&t, keep)
    {
        rest = keep;
        own = of_lane || (walk.total >= GENERAL_MANY_ROWS &&
                          __all_sync(FULL_WARP, 32 * __popc(keep) <= walk.total + walk.total / 4 + 64));
    }
    /* All lanes call it, and get the same. */
    __device__ __forceinline__ bool next(general_tile_rows &rows)
    {
        if (own ? !__any_sync(FULL_WARP, rest) : walk.next_rank >= walk.total)
            return false;
        EACH_ITEM
        {
            uint32_t row = TILE_ROWS;
            if (own) {
                row = rest ? 32 * (__ffs(rest) - 1) + walk.lane : TILE_ROWS;
                rest &= rest - 1;
            } else {
                walk.next(row);
            }
            rows.active[i] = row < TILE_ROWS;
            rows.row[i] = rows.active[i] ? row : 0;
        }
        return true;
    }
};

/* Runs instructions on the rows of `keep`. Gives the rows whose `slot` is true, if the instructions are a condition. */
TILE_INLINE tile_mask general_run(general_tile &tile, const general_step &step, bool condition,
                                  tile_mask keep, general_tile_rows &rows, general_states &states)
{
    tile.prepare_all(step.staged);
    general_walk walk(tile.t, keep, condition);
    while (walk.next(rows)) {
        general_evaluate<GENERAL_OF_ROWS>(
            tile.context, step.first, step.end, rows, states,
            [&](uint32_t column) { return tile.source(column); },
            [&](uint32_t dimension, uint32_t probe, uint32_t position) {
                return tile.passes(dimension, probe, position);
            });
        EACH_ITEM
        if (condition && rows.active[i] && !rows.is_true(step.slot, i))
            keep &= ~(1u << rows.row[i] / 32);
    }
    __syncwarp();
    return keep;
}

TILE_INLINE void general_answer(general_tile &tile, general_tile_rows &rows, general_states &states)
{
    const general_context &context = tile.context;
    tile_mask keep = tile_all(&tile.t);
#pragma unroll 1
    for (uint32_t s = 0; s < context.program->step_count; s++) {
        const general_step step = context.steps[s];
        const bool condition = step.kind == GENERAL_STEP_CONDITION;
        if (step.kind == GENERAL_STEP_INDEX)
            keep &= index_mask(&tile.t);
        else if (step.kind == GENERAL_STEP_VALID)
            keep = tile.valid(step.column, keep);
        else if (step.kind == GENERAL_STEP_CUBES)
            keep = tile.in_cubes(step, keep);
        else if (step.kind == GENERAL_STEP_ADD || condition)
            keep = general_run(tile, step, condition, keep, rows, states);
        else
            keep = tile.test(step, keep);
        if (!__any_sync(FULL_WARP, keep))
            break;
    }
    if (GENERAL_PLACE == GENERAL_ROWS)
        keep_rows(&tile.t, keep);
    else
        states.add_mask(keep);
}

/* Calls `answer` for each of a warp's tiles: with the tile, the rows and the states. */
template <class ANSWER>
TILE_INLINE void general_each_tile(const general_bound &bound, const bound_scan &work, ANSWER answer)
{
    const uint32_t warp = threadIdx.x / 32;
    const tile_groups groups(work, GENERAL_THREADS);
    general_context context;
    general_states states;
    general_tile_rows rows;
    context.bind_copy(reinterpret_cast<const void *>(arguments.program));
    states.bind(context.program, context.aggregates);
    __syncthreads();
    tile_course course = {reinterpret_cast<const uint4 *>(work.work),
                          work.items,
                          groups.first,
                          groups.count,
                          groups.place,
                          threadIdx.x % 32,
                          groups.first};
    unsigned char *const staging = tile_shared + work.staging_offset + warp * work.staging_bytes;
    bound_chunk *const chunks = reinterpret_cast<bound_chunk *>(staging + context.program->chunks_at);
    general_tile tile = {context, bound, staging, chunks, {}, FULL_WARP, 0};
    rows.slots = reinterpret_cast<int64_t *>(staging + context.program->slots_at) + threadIdx.x % 32;
    EACH_ITEM
    rows.nulls[i] = 0;
#pragma unroll 1
    for (uint32_t item = course.first; item < course.count; item += course.step) {
        const struct tile next = course.next();
        if (!next.rows)
            continue;
        tile.seek(next);
        answer(tile, rows, states);
        __syncwarp(); /* the next tile reuses the staging area */
    }
    states.finish();
}

extern "C" __global__ void __launch_bounds__(GENERAL_THREADS, GENERAL_BLOCKS)
    scan(const __grid_constant__ general_bound bound, const __grid_constant__ bound_scan work)
{
    wait_for_prepare();
    general_each_tile(bound, work, [&](general_tile &tile, general_tile_rows &rows, general_states &states) {
        general_answer(tile, rows, states);
    });
}

extern "C" __global__ void __launch_bounds__(GENERAL_THREADS) prepare()
{
    general_context context;
    general_states none;
    memory_clear();
    context.bind(reinterpret_cast<const void *>(arguments.program));
    for (uint32_t m = 0; m < context.program->match_count; m++) {
        const general_match match = context.matches[m];
        match_rows(match.join, [&](uint64_t position) {
            int64_t slots[GENERAL_SLOTS * GENERAL_ITEMS];
            general_rows<1> rows;
            rows.slots = slots;
            EACH_ITEM
            {
                rows.slot(0, i) = (int64_t)position;
                rows.nulls[i] = 0;
            }
            general_evaluate<GENERAL_OF_POSITIONS>(context, match.first, match.end, rows, none, 0, 0);
            return rows.is_true(match.slot, 0);
        });
    }
}

extern "C" __global__ void __launch_bounds__(GENERAL_THREADS)
    collect(uint64_t out, uint64_t count, uint64_t next)
{
    general_context context;
    context.bind(reinterpret_cast<const void *>(arguments.program));
    if (GENERAL_PLACE == GENERAL_HASH)
        groups_collect(
            context.program->key_words, out, count, next,
            [&](uint32_t aggregate) { return (uint32_t)context.aggregates[aggregate].words; },
            context.program->aggregate_count);
}

#endif
