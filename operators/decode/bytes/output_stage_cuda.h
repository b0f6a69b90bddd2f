/*
 * output_stage_cuda.h: the output of a warp's decoder on its way to memory.
 *
 * Decoders of runs write a few items at a time, anywhere. Written straight to memory, almost every store begins and ends
 * within a sector of 32 bytes, and such stores, not the bytes, limit an H200 (1.8 of 4.4 TB/s at runs of 40 items of
 * four bytes). So items go to a ring of 2 KiB in shared memory first; whole units of 512 bytes leave it, 16 bytes a
 * lane.
 */
#ifndef TESSERA_OPERATORS_DECODE_BYTES_OUTPUT_STAGE_CUDA_H
#define TESSERA_OPERATORS_DECODE_BYTES_OUTPUT_STAGE_CUDA_H

#include "operators/decode/bytes/warp_words_cuda.h"

#define STAGE_BYTES 2048u
#define STAGE_UNIT  512u
#define STAGE_ITEMS \
    (STAGE_BYTES - STAGE_UNIT) /* bytes of items that may be put without an advance() between them */

template <class T> struct output_stage {
    uint8_t *origin; /* of the unit that holds the first item; places count from here */
    uint32_t shared, lane;
    uint32_t first;   /* place of item 0 */
    uint32_t head;    /* place of the first byte that is not in memory yet */
    uint32_t flushed; /* the unit that holds it */

    __device__ __forceinline__ void begin(uint8_t *out, uint32_t of_lane, uint32_t at_shared)
    {
        first = head = (uint32_t) reinterpret_cast<uint64_t>(out) % STAGE_UNIT;
        origin = out - first;
        shared = at_shared;
        lane = of_lane;
        flushed = 0;
    }
    __device__ __forceinline__ uint32_t place_of(uint32_t item) const
    {
        return first + item * (uint32_t)sizeof(T);
    }
    __device__ __forceinline__ void put(uint32_t item, T value)
    {
        const uint32_t address = shared + place_of(item) % STAGE_BYTES;
        if constexpr (sizeof(T) == 1)
            store_shared_byte(address, (uint8_t)value);
        else if constexpr (sizeof(T) == 2)
            store_shared_half(address, (uint16_t)value);
        else if constexpr (sizeof(T) == 4)
            store_shared_word(address, (uint32_t)value);
        else
            store_shared_pair(address, make_uint2((uint32_t)value, (uint32_t)((uint64_t)value >> 32)));
    }
    /* All items before `items` were put: whole units go to memory. All lanes call it together. */
    __device__ __forceinline__ void advance(uint32_t items)
    {
#pragma unroll 1
        while (place_of(items) - flushed >= STAGE_UNIT) {
            __syncwarp();
            if (head > flushed)
                copy_items(flushed + STAGE_UNIT);
            else
                *reinterpret_cast<uint4 *>(origin + flushed + lane * 16) =
                    load_shared_four(shared + (flushed + lane * 16) % STAGE_BYTES);
            flushed += STAGE_UNIT;
            head = flushed;
        }
    }
    /* The rest of `items` items go to memory. */
    __device__ __forceinline__ void finish(uint32_t items)
    {
        advance(items);
        __syncwarp();
        copy_items(place_of(items));
    }
    /* Forgets all items from `items` on, of which some may be in memory. */
    __device__ __forceinline__ void rewind(uint32_t items)
    {
        const uint32_t place = place_of(items);
        if (place < flushed) {
            flushed = place / STAGE_UNIT * STAGE_UNIT;
            head = place;
        }
    }
    /* Copies the items from `head` to `end`, within a unit, one by one. */
    __device__ __forceinline__ void copy_items(uint32_t end)
    {
#pragma unroll 1
        for (uint32_t place = head + lane * (uint32_t)sizeof(T); place < end;
             place += 32 * (uint32_t)sizeof(T)) {
            const uint32_t address = shared + place % STAGE_BYTES;
            T *item = reinterpret_cast<T *>(origin + place);
            if constexpr (sizeof(T) == 1)
                *item = (T)load_shared_byte(address);
            else if constexpr (sizeof(T) == 2)
                *item = (T)load_shared_half(address);
            else if constexpr (sizeof(T) == 4)
                *item = (T)load_shared_word(address);
            else {
                const uint2 words = load_shared_pair(address);
                *item = (T)(words.x | (uint64_t)words.y << 32);
            }
        }
    }
};

/* Puts `length` items from item `item` on: value, value + step, ...; `value` is this lane's first. */
template <class T, class NUMBER>
TILE_INLINE void put_run(output_stage<T> *stage, uint32_t item, uint32_t length, NUMBER value, NUMBER step)
{
    const int32_t left = (int32_t)(length - stage->lane);
    const uint32_t mine = item + stage->lane;
    const NUMBER next = step * 32;
#pragma unroll 1
    for (uint32_t from = 0; from < length; from += 64) {
        if (left > (int32_t)from)
            stage->put(mine + from, (T)value);
        value += next;
        if (left > (int32_t)from + 32)
            stage->put(mine + from + 32, (T)value);
        value += next;
        stage->advance(item + min(from + 64, length));
    }
}

#endif
