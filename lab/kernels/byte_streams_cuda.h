/*
 * byte_streams_cuda.h: decoders of byte streams over an array of blocks, and the ways of giving threads to a block that
 * CODAG compares (section V). Each kernel is one of
 *
 *     lab_decode_blocks<DECODER>              a warp a block: any decoder of operators/decode/bytes/ (byte_blocks_cuda.h)
 *     byte_streams_prefetched<DECODER>        two warps a block: one decodes, the other one fetches its input ahead
 *     byte_streams_block<DECODER, THREADS>    a thread block a block, the baseline of the paper: a leader decodes a batch of
 *                                             operations, a warp fetches its input, and all other threads and the leader
 *                                             write what the batch says; 1024 threads for run-length codes, 128 for Deflate
 *
 * called with (blocks, count, next, faults): *next is 0 before the launch, and *faults gets the number of blocks that were
 * refused. Warps take one block after the other, so any grid will do; one that fills the device does best.
 *
 *     extern "C" __global__ void __launch_bounds__(256, 4) decode(const byte_block *blocks, uint32_t count, uint32_t *next,
 *                                                                 uint32_t *faults)
 *     {
 *         lab_decode_blocks<orc_rle1_published<uint64_t>>(blocks, count, next, faults);
 *     }
 *
 *     kernel         threads     launch bounds    shared bytes, with D = DECODER
 *     run            256         256, 4           8 * D::SCRATCH_BYTES
 *     prefetched     256         256, 4           4 * (PREFETCH_BYTES + D::TABLE_BYTES)
 *     block          1024, 128   1024, 1; 128, 8  PREFETCH_BYTES + BATCH_BYTES + D::TABLE_BYTES
 *
 *     D of lab/kernels/bytes_published/    SCRATCH_BYTES    TABLE_BYTES    run      prefetched    block
 *     run-length codes                          256              0              2048     4608          2816
 *     Deflate                                   6656             6400           53248    30208         9216
 *     the same with published_registers         0 and 6400       0 and 6400     0 and 51200
 *
 * The one decoding lane and the window in registers are policies of DECODER, for lab_decode_blocks only (streams_cuda.h).
 */
#ifndef TESSERA_LAB_KERNELS_BYTE_STREAMS_CUDA_H
#define TESSERA_LAB_KERNELS_BYTE_STREAMS_CUDA_H

#include "lab/kernels/byte_blocks_cuda.h"
#include "lab/kernels/bytes_published/streams_cuda.h"

/* ---- A warp that prefetches ---- */

#define PREFETCH_LINES   8u
#define PREFETCH_BYTES   (PREFETCH_LINES * 128u + 128u) /* the ring, then the words below */
#define PREFETCH_FILLED  (PREFETCH_LINES * 128u)        /* lines that are in the ring, or were */
#define PREFETCH_TAKEN   (PREFETCH_FILLED + 4u)         /* lines that the decoder has done with */
#define PREFETCH_BLOCK   (PREFETCH_FILLED + 8u)         /* the block that both warps work on */
#define PREFETCH_DONE    0xffffffffu                    /* taken: the decoder needs no more */
#define PREFETCH_WAIT_NS 40u

/* Waits for `threads` threads, in whole warps. */
TILE_INLINE void named_barrier(uint32_t name, uint32_t threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(name), "r"(threads) : "memory");
}

/* Waits for the two warps of a pair. The names are constants, as a kernel whose names are not occupies all 16 barriers. */
TILE_INLINE void pair_barrier(uint32_t pair)
{
    switch (pair) {
    case 0:
        return named_barrier(1, 64);
    case 1:
        return named_barrier(2, 64);
    case 2:
        return named_barrier(3, 64);
    default:
        return named_barrier(4, 64);
    }
}

/* A word that another warp writes, as lane 0 sees it. */
TILE_INLINE uint32_t look_at(uint32_t address)
{
    const uint32_t word = load_shared_word(address);
    return __shfl_sync(FULL_WARP, word, 0);
}

/* The ring of lines, as the decoding warp sees it: a window of an input_stream. */
struct prefetched_window {
    static constexpr uint32_t BYTES = PREFETCH_BYTES;
    uint32_t count, shared, lane;

    __device__ __forceinline__ void open(const byte_block &block, uint32_t of_lane, uint32_t at_shared)
    {
        stream_lines lines;
        lines.open(block, of_lane);
        count = lines.count;
        shared = at_shared;
        lane = of_lane;
        enter(0);
    }
    __device__ __forceinline__ void ahead(uint32_t)
    {
    }
    __device__ __forceinline__ uint32_t word(uint32_t i)
    {
        if (i % LINE_WORDS == 0)
            enter(i / LINE_WORDS);
        return i / LINE_WORDS < count ? load_shared_word(shared + i % (PREFETCH_LINES * LINE_WORDS) * 4) : 0;
    }

  private:
    /* Gives back the lines before, and waits for this one. */
    __device__ __forceinline__ void enter(uint32_t line)
    {
        __syncwarp();
        if (lane == 0)
            store_shared_word(shared + PREFETCH_TAKEN, line);
        if (line < count)
            while (look_at(shared + PREFETCH_FILLED) <= line)
                __nanosleep(PREFETCH_WAIT_NS);
        __threadfence_block();
    }
};

/* Before both warps begin; lane 0. */
TILE_INLINE void prefetch_reset(uint32_t shared, uint32_t block)
{
    store_shared_word(shared + PREFETCH_FILLED, 0);
    store_shared_word(shared + PREFETCH_TAKEN, 0);
    store_shared_word(shared + PREFETCH_BLOCK, block);
}

/* All of the prefetching warp's work on a block. */
TILE_INLINE void prefetch(const byte_block &block, uint32_t shared, uint32_t lane)
{
    stream_lines lines;
    lines.open(block, lane);
    for (uint32_t line = 0; line < lines.count; line++) {
        uint32_t taken = look_at(shared + PREFETCH_TAKEN);
        for (; taken != PREFETCH_DONE && line - taken >= PREFETCH_LINES;
             taken = look_at(shared + PREFETCH_TAKEN))
            __nanosleep(PREFETCH_WAIT_NS);
        if (taken == PREFETCH_DONE)
            return;
        const uint32_t place = line % PREFETCH_LINES * 128 + lane * 4;
        store_shared_word(shared + place, lines.fetch(line));
        __threadfence_block();
        __syncwarp();
        if (lane == 0)
            store_shared_word(shared + PREFETCH_FILLED, line + 1);
    }
}

/* Decodes with any streams; all lanes of the decoding warp return the same. */
template <class DECODER, class OUT>
TILE_INLINE bool decode_prefetched(const byte_block &block, OUT &out, uint32_t lane, uint8_t *room,
                                   uint8_t *tables)
{
    input_stream<DECODER::ORDER, prefetched_window, false> in;
    const uint32_t shared = shared_address(room);
    in.open(block, lane, shared);
    const bool right = DECODER::read(in, out, tables);
    __syncwarp();
    if (lane == 0)
        store_shared_word(shared + PREFETCH_TAKEN, PREFETCH_DONE);
    return right;
}

template <class DECODER>
TILE_INLINE void byte_streams_prefetched(const byte_block *blocks, uint32_t count, uint32_t *next,
                                         uint32_t *faults)
{
    const uint32_t lane = threadIdx.x % 32, pair = threadIdx.x / 64;
    const bool decodes = threadIdx.x % 64 < 32;
    uint8_t *const room = lab_shared + pair * (PREFETCH_BYTES + DECODER::TABLE_BYTES);
    const uint32_t shared = shared_address(room);
    for (;;) {
        if (decodes) {
            const uint32_t b = take_block(next, lane);
            if (lane == 0)
                prefetch_reset(shared, b);
        }
        pair_barrier(pair);
        const uint32_t b = look_at(shared + PREFETCH_BLOCK);
        if (b >= count)
            return;
        const byte_block block = blocks[b];
        if (decodes) {
            output_stream<typename DECODER::item> out;
            out.open(block, warp_writers{lane});
            const bool right = decode_prefetched<DECODER>(block, out, lane, room, room + PREFETCH_BYTES);
            if (!right && lane == 0)
                atomicAdd(faults, 1u);
        } else {
            prefetch(block, shared, lane);
        }
        pair_barrier(pair); /* both have done with the ring */
    }
}

/* ---- A thread block a block: the baseline ---- */

/* What the leader has decoded, for all to write: in shared memory a number of operations, then these. */
#define BATCH_OPERATIONS 64u
#define BATCH_WORDS      6u   /* kind and length, place, and two numbers of 64 bits */
#define BATCH_HEAD_BYTES 128u /* the number of operations, and whether they are the last */
#define BATCH_BYTES      (BATCH_HEAD_BYTES + BATCH_OPERATIONS * BATCH_WORDS * 4u)

enum batch_kind { BATCH_RUN, BATCH_COPY, BATCH_ADD };
#define BATCH_KIND_SHIFT 30u /* above the length */

/* All threads but the prefetching warp, which is the block's second one. */
template <uint32_t THREADS> struct block_writers {
    static constexpr uint32_t COUNT = THREADS - 32;
    uint32_t rank;

    __device__ __forceinline__ void open()
    {
        rank = threadIdx.x < 32 ? threadIdx.x : threadIdx.x - 32;
    }
    __device__ __forceinline__ void sync() const
    {
        named_barrier(1, COUNT);
    }
};

TILE_INLINE uint64_t load_shared_long(uint32_t address)
{
    return load_shared_word(address) | (uint64_t)load_shared_word(address + 4) << 32;
}

TILE_INLINE void store_shared_long(uint32_t address, uint64_t number)
{
    store_shared_word(address, (uint32_t)number);
    store_shared_word(address + 4, (uint32_t)(number >> 32));
}

/* Writes a batch; all writers call it together. Returns true if it was the last one. */
template <class T, class WRITERS> TILE_INLINE bool write_batch(uint32_t batch, output_stream<T, WRITERS> &out)
{
    out.writers.sync(); /* the batch is complete */
    const uint32_t operations = load_shared_word(batch), is_last = load_shared_word(batch + 4);
    uint32_t address = batch + BATCH_HEAD_BYTES;
    for (uint32_t i = 0; i < operations; i++, address += BATCH_WORDS * 4) {
        const uint32_t head = load_shared_word(address), kind = head >> BATCH_KIND_SHIFT;
        const uint32_t length = head & ((1u << BATCH_KIND_SHIFT) - 1), place = load_shared_word(address + 4);
        out.at = place;
        if (kind == BATCH_RUN) {
            if (out.writers.rank < length)
                out.write_run((number_of<T>)load_shared_long(address + 8), length,
                              (number_of<T>)load_shared_long(address + 16));
        } else if (kind == BATCH_COPY) {
            if constexpr (sizeof(T) == 1)
                out.memcpy(load_shared_word(address + 8), length);
        } else {
            out.at = out.items;
            out.add_to_item(place, (number_of<T>)load_shared_long(address + 8));
        }
    }
    out.writers.sync(); /* it is written */
    return is_last;
}

/* The leader's output_stream: it checks bounds, and puts operations into the batch. The leader is a warp whose lanes run
 * alike, which takes the time of one thread. */
template <class T, class WRITERS> struct batch_output {
    typedef number_of<T> number;
    output_stream<T, WRITERS> out;
    uint32_t at, batch, operations;
    uint32_t wrong;

    __device__ __forceinline__ void open(const byte_block &block, const WRITERS &writers, uint32_t at_batch)
    {
        out.open(block, writers);
        wrong = out.failed();
        at = operations = 0;
        batch = at_batch;
    }
    __device__ __forceinline__ uint32_t place() const
    {
        return at;
    }
    __device__ __forceinline__ uint32_t room() const
    {
        return out.items - at;
    }
    __device__ __forceinline__ bool failed() const
    {
        return wrong;
    }
    __device__ __forceinline__ void fail()
    {
        wrong = 1;
    }
    __device__ __forceinline__ void write_item(number value)
    {
        write_run(value, 1, 0);
    }
    __device__ __forceinline__ void write_byte(uint32_t byte)
    {
        write_item(byte);
    }
    __device__ __forceinline__ void write_run(number init, uint32_t length, number delta)
    {
        if (length > room())
            wrong = 1;
        else
            put(BATCH_RUN, at, length, init, delta);
    }
    __device__ __forceinline__ void memcpy(uint32_t offset, uint32_t length)
    {
        if (offset - 1 >= at || length > room())
            wrong = 1;
        else
            put(BATCH_COPY, at, length, offset, 0);
    }
    __device__ __forceinline__ void add_to_item(uint32_t to, number value)
    {
        if (to >= at)
            wrong = 1;
        else
            put(BATCH_ADD, to, 0, value, 0);
    }
    __device__ __forceinline__ void finish()
    {
        flush(1);
    }

  private:
    __device__ __forceinline__ void put(batch_kind kind, uint32_t to, uint32_t length, uint64_t first,
                                        uint64_t second)
    {
        const uint32_t address = batch + BATCH_HEAD_BYTES + operations * BATCH_WORDS * 4;
        if (out.writers.rank == 0) {
            store_shared_word(address, (uint32_t)kind << BATCH_KIND_SHIFT | length);
            store_shared_word(address + 4, to);
            store_shared_long(address + 8, first);
            store_shared_long(address + 16, second);
        }
        at += length;
        if (++operations == BATCH_OPERATIONS)
            flush(0);
    }
    __device__ __forceinline__ void flush(uint32_t is_last)
    {
        if (out.writers.rank == 0) {
            store_shared_word(batch, operations);
            store_shared_word(batch + 4, is_last);
        }
        write_batch(batch, out);
        operations = 0;
    }
};

template <class DECODER, uint32_t THREADS>
TILE_INLINE void byte_streams_block(const byte_block *blocks, uint32_t count, uint32_t *next,
                                    uint32_t *faults)
{
    typedef typename DECODER::item item;
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint8_t *const room = lab_shared, *const tables = room + PREFETCH_BYTES + BATCH_BYTES;
    const uint32_t shared = shared_address(room), batch = shared + PREFETCH_BYTES;
    block_writers<THREADS> writers;
    writers.open();
    for (;;) {
        if (threadIdx.x == 0)
            prefetch_reset(shared, atomicAdd(next, 1u));
        named_barrier(0, THREADS);
        const uint32_t b = look_at(shared + PREFETCH_BLOCK);
        if (b >= count)
            return;
        const byte_block block = blocks[b];
        if (warp == 0) {
            batch_output<item, block_writers<THREADS>> out;
            out.open(block, writers, batch);
            const bool right = decode_prefetched<DECODER>(block, out, lane, room, tables);
            out.finish();
            if (!right && lane == 0)
                atomicAdd(faults, 1u);
        } else if (warp == 1) {
            prefetch(block, shared, lane);
        } else {
            output_stream<item, block_writers<THREADS>> out;
            out.open(block, writers);
            while (!write_batch(batch, out))
                ;
        }
        named_barrier(0, THREADS); /* the next block reuses the shared memory */
    }
}

#endif
