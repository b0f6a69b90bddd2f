/*
 * bench_slice.c: measures what a range filter on a narrow column costs a tile: on the bit planes of
 * lane-slice, and by decoding the tile and comparing its values, as the tile dialect does with other codecs
 * (operators/dialect/tile_cpu.h).
 *
 *     bench_slice     prints nanoseconds a tile of 1024 rows by width, for 16 tiles in the cache and for a
 *                     segment of 2^24 rows
 *
 * Values are uniform, and the range is their middle half. All variants must give the same bits before they
 * are timed. Times are processor times, the least of many rounds. On x86-64 the program is compiled for
 * AVX-512 and needs it.
 */
#if defined(__x86_64__)
#pragma GCC target("arch=x86-64-v4")
#endif

#include "operators/dialect/tile_cpu.h"
#include "storage/codec/integer/lane_slice.h"
#include "tests/support/codec/codec_input.h"
#include "tests/support/bench_memory.h"

#include <stdio.h>
#include <stdlib.h>

#define FEW_TILES 16u
#define ALL_TILES (SEGMENT_ROWS / TILE_ROWS)

typedef void filter(const struct chunk_view *chunk, uint32_t tile, int32_t low, int32_t high, uint64_t *bits);

static void on_planes(const struct chunk_view *chunk, uint32_t tile, int32_t low, int32_t high,
                      uint64_t *bits)
{
    lane_slice_range(chunk, tile, low, high, bits);
}

static void by_decoding(const struct chunk_view *chunk, uint32_t tile, int32_t low, int32_t high,
                        uint64_t *bits)
{
    _Alignas(64) int32_t values[TILE_ROWS];
    chunk->codec->decode_tile(chunk, tile, values);
    for (uint32_t word = 0; word < TILE_MASK_WORDS; word++)
        bits[word] = tile_bits_in_range(values + 64 * word, low, high);
}

static double tile_ns(filter *run, const struct chunk_view *chunk, uint32_t tiles, int32_t low, int32_t high)
{
    double best = 1e30;
    const uint32_t turns = tiles == FEW_TILES ? 100 : 1, rounds = tiles == FEW_TILES ? 60 : 20;
    for (uint32_t round = 0; round < rounds; round++) {
        const double begin = processor_ns();
        for (uint32_t i = 0; i < turns * tiles; i++) {
            uint64_t bits[TILE_MASK_WORDS];
            run(chunk, i % tiles, low, high, bits);
            __asm__ volatile("" : : "r"(bits) : "memory");
        }
        const double ns = processor_ns() - begin;
        best = ns < best ? ns : best;
    }
    return best / (turns * tiles);
}

static struct chunk_view encode(enum codec_id id, const int32_t *values)
{
    const struct codec *const codec = codec_by_id(id);
    uint8_t *const bytes = allocate(codec->bound(SEGMENT_ROWS, 4));
    const size_t size = codec_encode(codec, values, SEGMENT_ROWS, 4, bytes);
    struct chunk_view chunk;
    struct error error = {0};
    if (chunk_open(bytes, size, &chunk, &error) != STATUS_OK) {
        fprintf(stderr, "bench_slice: %s\n", error.text);
        exit(1);
    }
    return chunk;
}

static void check(const struct chunk_view *slice, const struct chunk_view *packed, int32_t low, int32_t high)
{
    uint64_t found = 0;
    for (uint32_t tile = 0; tile < ALL_TILES; tile++) {
        tile_mask planes, decoded, other;
        on_planes(slice, tile, low, high, planes.bits);
        by_decoding(slice, tile, low, high, decoded.bits);
        by_decoding(packed, tile, low, high, other.bits);
        if (memcmp(&planes, &other, sizeof planes) || memcmp(&decoded, &other, sizeof planes)) {
            fprintf(stderr, "bench_slice: tile %u: the filters disagree on %d .. %d\n", tile, low, high);
            exit(1);
        }
        found += tile_count(&planes);
    }
    if (found == 0 || found == SEGMENT_ROWS) {
        fprintf(stderr, "bench_slice: %d .. %d selects %llu rows\n", low, high, (unsigned long long)found);
        exit(1);
    }
}

int main(void)
{
    static const unsigned widths[] = {3, 4, 6, 8, 12, 16};
#if defined(__AVX512F__)
    if (isa_level() < ISA_AVX512) {
        fprintf(stderr, "bench_slice: this build of it needs AVX-512; see `tessera devices`\n");
        return 3;
    }
#endif
    int32_t *const values = allocate((size_t)SEGMENT_ROWS * sizeof *values);
    printf("nanoseconds a tile, %s\n\n", isa_name(isa_level()));
    printf("%5s %6s %18s %18s %18s\n", "width", "tiles", "planes", "decode lane-slice", "decode lane-for");
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        uint64_t random = 1;
        for (uint32_t i = 0; i < SEGMENT_ROWS; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            values[i] = 1000 + (int32_t)(random >> (64 - widths[w]));
        }
        const int32_t low = 1000 + (1 << widths[w]) / 4, high = low + (1 << widths[w]) / 2 - 1;
        const struct chunk_view slice = encode(CODEC_LANE_SLICE, values),
                                packed = encode(CODEC_LANE_FOR, values);
        check(&slice, &packed, low, high);
        for (uint32_t tiles = FEW_TILES; tiles <= ALL_TILES; tiles += ALL_TILES - FEW_TILES)
            printf("%5u %6u %18.1f %18.1f %18.1f\n", widths[w], tiles,
                   tile_ns(on_planes, &slice, tiles, low, high),
                   tile_ns(by_decoding, &slice, tiles, low, high),
                   tile_ns(by_decoding, &packed, tiles, low, high));
        free((void *)(uintptr_t)slice.bytes);
        free((void *)(uintptr_t)packed.bytes);
    }
    free(values);
    return 0;
}
