/*
 * deflate_cuda.h: decodes raw Deflate (RFC 1951) on the GPU, a warp a stream: zlib's streams as they are.
 *
 * Each lane decodes symbols of its own: deflate_symbols_cuda.h says how it finds them, deflate_copy_cuda.h how copies
 * avoid waiting for each other, deflate_tables_cuda.h how look-up tables are built. It accepts what zlib's inflate()
 * accepts with a window of 32 KiB and exactly `out_bytes` of room. Bytes after the end of the last block are ignored.
 *
 * Of the output, the words of 4 bytes that hold bytes of it may be read.
 */
#ifndef TESSERA_OPERATORS_DECODE_BYTES_DEFLATE_CUDA_H
#define TESSERA_OPERATORS_DECODE_BYTES_DEFLATE_CUDA_H

#include "operators/decode/bytes/deflate_copy_cuda.h"
#include "operators/decode/decode_cuda.h"

/* A warp's shared memory. Lengths of codes and the plain table are needed only while tables are built: they share
 * their place with the list of matches. The window is read again after its matches have been copied: the tile has its
 * place. */
#define DEFLATE_LITERALS_AT  0u
#define DEFLATE_DISTANCES_AT (4 * deflate_literal_code::ENTRIES)
#define DEFLATE_WINDOW_AT    ((DEFLATE_DISTANCES_AT + 2 * deflate_distance_code::ENTRIES + 15) / 16 * 16)
#define DEFLATE_TILE_AT      DEFLATE_WINDOW_AT
#define DEFLATE_WHAT_AT      (DEFLATE_TILE_AT + DEFLATE_TILE)
#define DEFLATE_WHERE_AT     (DEFLATE_WHAT_AT + 4 * DEFLATE_MATCHES)
#define DEFLATE_LENGTHS_AT   DEFLATE_WHAT_AT
#define DEFLATE_PLAIN_AT     (DEFLATE_LENGTHS_AT + 320)
#define DEFLATE_SCRATCH_END  (DEFLATE_WHERE_AT + 2 * DEFLATE_MATCHES)

/* The header of a stored block and its bytes. Returns how many there were, or more than `room` if it is refused. */
TILE_INLINE uint32_t deflate_stored(const deflate_input &input, uint32_t &bit, uint8_t *to, uint32_t room,
                                    uint32_t lane)
{
    const uint32_t refused = 0xffffffffu;
    const uint32_t header = (bit + 7) / 8;
    if (8 * header + 32 > input.end)
        return refused;
    const uint8_t *bytes = reinterpret_cast<const uint8_t *>(input.words) + header;
    const uint32_t length = load(bytes) | (uint32_t)load(bytes + 1) << 8,
                   check = load(bytes + 2) | (uint32_t)load(bytes + 3) << 8;
    if (length != (check ^ 0xffff) || length > room || length > input.end / 8 - header - 4)
        return refused;
    for (uint32_t i = lane; i < length; i += 32)
        to[i] = load(bytes + 4 + i);
    bit = 8 * (header + 4 + length);
    __syncwarp();
    return length;
}

template <class T> struct deflate_stream {
    static_assert(sizeof(T) == 1, "Deflate gives bytes");
    static constexpr uint32_t SCRATCH_BYTES = (DEFLATE_SCRATCH_END + 127) / 128 * 128;
    static_assert(SCRATCH_BYTES <= 7168, "32 warps are resident on a multiprocessor");
    static_assert(4 * DEFLATE_WINDOW_WORDS <= DEFLATE_TILE && DEFLATE_PLAIN_AT + 1024 <= DEFLATE_SCRATCH_END,
                  "places");

    static __device__ __forceinline__ bool decode(const byte_block &block, uint32_t lane, uint32_t *scratch)
    {
        uint32_t bytes = 0;
        return decode_most(block, lane, scratch, &bytes) && bytes == block.out_bytes;
    }

    /* Streams that may give less than out_bytes: *given is what this one gave. */
    static __device__ __forceinline__ bool decode_most(const byte_block &block, uint32_t lane,
                                                       uint32_t *scratch, uint32_t *given)
    {
        uint8_t *shared = reinterpret_cast<uint8_t *>(scratch);
        deflate_tables tables;
        tables.literals = reinterpret_cast<uint32_t *>(shared + DEFLATE_LITERALS_AT);
        tables.distances = reinterpret_cast<uint16_t *>(shared + DEFLATE_DISTANCES_AT);
        tables.plain = reinterpret_cast<uint32_t *>(shared + DEFLATE_PLAIN_AT);
        tables.code_length = shared + DEFLATE_LENGTHS_AT;
        deflate_matches matches;
        matches.what = reinterpret_cast<uint32_t *>(shared + DEFLATE_WHAT_AT);
        matches.where = reinterpret_cast<uint16_t *>(shared + DEFLATE_WHERE_AT);
        uint32_t *window = reinterpret_cast<uint32_t *>(shared + DEFLATE_WINDOW_AT);

        deflate_tile tile;
        tile.bytes = shared + DEFLATE_TILE_AT;
        tile.begin = block.out;
        tile.end = block.out + block.out_bytes;

        const deflate_input input = deflate_input_of(block);
        uint32_t bit = input.end - 8 * min(block.in_bytes, 1u << 28), bytes = 0;
        bool last;
        do {
            deflate_header_reader header(input, window, lane, bit);
            last = header.take(1);
            const uint32_t type = header.take(2);
            if (header.bit > input.end || type == 3)
                return false;
            if (type == 0) {
                bit = header.bit;
                const uint32_t stored =
                    deflate_stored(input, bit, block.out + bytes, block.out_bytes - bytes, lane);
                if (stored > block.out_bytes - bytes)
                    return false;
                bytes += stored;
                continue;
            }
            uint32_t literals = 288, distances = 32;
            if (type == 1)
                deflate_fixed_lengths(tables, lane);
            else if (!deflate_dynamic_lengths(header, tables, literals, distances))
                return false;
            if (!deflate_build_tables(tables, literals, distances, lane))
                return false;
            bit = header.bit;
            for (bool ended = false; !ended;) {
                const uint32_t first = bit / 32;
                if (bit >= input.end)
                    return false;
                deflate_stage(input, first, lane, window);
                const deflate_window_result result =
                    deflate_window_symbols(window, tables, matches, bit % 32, input.end - 32 * first,
                                           block.out + bytes, bytes, block.out_bytes - bytes, lane);
                if (result.refused)
                    return false;
                deflate_copy(tile, matches, result.matches, block.out + bytes, lane);
                bytes += result.bytes;
                bit = 32 * first + result.bits;
                ended = result.ended;
            }
        } while (!last);
        *given = bytes;
        return true;
    }
};

/* The codec's. */
template <class VALUE> struct decode_deflate : decode_blocks, deflate_stream<uint8_t> {
};

#endif
