/*
 * bench_levels.c: measures what conditions on levels of a key cost a tile: on the planes of lane-levels, and by decoding
 * lane-for and probing a bitmap, as the tile dialect does without levels; and what some bits of few or many rows cost.
 *
 *     bench_levels     prints nanoseconds a tile of 1024 rows, by planes that are tested and cubes, for 16 tiles in the
 *                      cache and for a segment of 2^24 rows; then nanoseconds to fetch rows of a tile, by their number
 *
 * Keys are uniform and have 22 bits, 10 of them levels (customers at scale factor 20). All variants must give the same
 * bits before they are timed. Variants take turns, and times are processor times, the least of many rounds, so that other
 * work on the machine disturbs their ratio least. On x86-64 the probes are compiled for AVX-512, which the program needs;
 * TESSERA_ISA chooses the codecs' instruction set.
 */
#if defined(__x86_64__)
#pragma GCC target("arch=x86-64-v4")
#endif

#include "operators/dialect/tile_cpu.h"
#include "storage/codec/codec.h"
#include "tests/support/bench_memory.h"

#include <stdio.h>
#include <stdlib.h>

#define BITS      22u
#define PLANES    10u
#define REST      (BITS - PLANES)
#define FEW_TILES 16u
#define ALL_TILES (SEGMENT_ROWS / TILE_ROWS)

struct condition {
    struct position_cube cubes[POSITION_CUBES_MAX];
    uint32_t count;
    uint32_t *bitmap; /* of positions, with the same ones */
};

static struct chunk_view slices, packed;

static void on_planes(const struct condition *condition, uint32_t tile, uint64_t *bits)
{
    slices.codec->in_cubes(&slices, tile, condition->cubes, condition->count, bits);
}

static void by_probing(const struct condition *condition, uint32_t tile, uint64_t *bits)
{
    _Alignas(64) int32_t values[TILE_ROWS];
    packed.codec->decode_tile(&packed, tile, values);
    for (uint32_t word = 0; word < TILE_MASK_WORDS; word++)
        bits[word] = tile_bits_in_bitmap(values + 64 * word, condition->bitmap);
}

typedef void filter(const struct condition *condition, uint32_t tile, uint64_t *bits);

static double round_ns(filter *run, const struct condition *condition, uint32_t tiles)
{
    const uint32_t turns = tiles == FEW_TILES ? 100 : 1;
    const double begin = processor_ns();
    for (uint32_t i = 0; i < turns * tiles; i++) {
        uint64_t bits[TILE_MASK_WORDS];
        run(condition, i % tiles, bits);
        __asm__ volatile("" : : "r"(bits) : "memory");
    }
    return (processor_ns() - begin) / (turns * tiles);
}

static void check(const struct condition *condition)
{
    for (uint32_t tile = 0; tile < ALL_TILES; tile += 97) {
        uint64_t planes[TILE_MASK_WORDS], probed[TILE_MASK_WORDS];
        on_planes(condition, tile, planes);
        by_probing(condition, tile, probed);
        if (memcmp(planes, probed, sizeof planes)) {
            fprintf(stderr, "bench_levels: tile %u: planes and bitmap disagree\n", tile);
            exit(1);
        }
    }
}

static void bench_condition(uint32_t planes, uint32_t cubes)
{
    struct condition condition = {.count = cubes, .bitmap = allocate((1u << BITS) / 8)};
    for (uint32_t c = 0; c < cubes; c++) {
        condition.cubes[c].care = (1u << BITS) - (1u << (BITS - planes));
        condition.cubes[c].value_bits = (2 * c + 1) << (BITS - planes);
        for (uint32_t at = condition.cubes[c].value_bits;
             (at & condition.cubes[c].care) == condition.cubes[c].value_bits; at++)
            condition.bitmap[at / 32] |= 1u << at % 32;
    }
    check(&condition);
    for (uint32_t tiles = FEW_TILES; tiles <= ALL_TILES; tiles += ALL_TILES - FEW_TILES) {
        double best[2] = {1e30, 1e30};
        for (int round = 0; round < (tiles == FEW_TILES ? 60 : 12); round++)
            for (int variant = 0; variant < 2; variant++) {
                const double ns = round_ns(variant ? by_probing : on_planes, &condition, tiles);
                best[variant] = ns < best[variant] ? ns : best[variant];
            }
        printf("%6u %6u %6u %12.1f %12.1f %9.1f\n", planes, cubes, tiles, best[0], best[1],
               best[1] / best[0]);
    }
    free(condition.bitmap);
}

/* Fetching `count` rows of each tile: all bits, those of the levels, and lane-for's values. */
static void bench_fetch(uint32_t count)
{
    static uint16_t rows[TILE_ROWS];
    _Alignas(64) static int32_t out[TILE_ROWS];
    double best[5] = {1e30, 1e30, 1e30, 1e30, 1e30};
    for (uint32_t i = 0; i < count; i++)
        rows[i] = (uint16_t)(i * TILE_ROWS / count);
    for (int round = 0; round < 40; round++)
        for (int variant = 0; variant < 5; variant++) {
            const double begin = processor_ns();
            for (uint32_t i = 0; i < 100 * FEW_TILES; i++) {
                const uint32_t tile = i % FEW_TILES;
                if (variant == 0)
                    slices.codec->fetch(&slices, tile, rows, count, out);
                else if (variant == 1)
                    slices.codec->decode_tile(&slices, tile, out);
                else if (variant == 2)
                    slices.codec->fetch_bits(&slices, tile, rows, count, (1u << BITS) - (1u << REST), out);
                else if (variant == 3)
                    packed.codec->fetch(&packed, tile, rows, count, out);
                else
                    packed.codec->decode_tile(&packed, tile, out);
                __asm__ volatile("" : : "r"(out) : "memory");
            }
            const double ns = (processor_ns() - begin) / (100 * FEW_TILES);
            best[variant] = ns < best[variant] ? ns : best[variant];
        }
    printf("%6u %10.1f %10.1f %12.1f %14.1f %14.1f\n", count, best[0], best[1], best[2], best[3], best[4]);
}

static struct chunk_view encode(enum codec_id id, const struct codec_input *input)
{
    const struct codec *const codec = codec_by_id(id);
    uint8_t *const bytes = allocate(codec->bound(SEGMENT_ROWS, 4));
    struct chunk_view chunk;
    struct error error = {0};
    if (chunk_open(bytes, codec->encode(input, bytes), &chunk, &error) != STATUS_OK) {
        fprintf(stderr, "bench_levels: %s\n", error.text);
        exit(1);
    }
    return chunk;
}

int main(void)
{
    static const uint32_t conditions[][2] = {{3, 1}, {4, 1}, {5, 1}, {6, 1}, {6, 4}, {10, 1}, {10, 8}};
    static const uint32_t counts[] = {1, 4, 8, 16, 24, 32, 48, 64, 128, 512};
    int32_t *const values = allocate((size_t)SEGMENT_ROWS * sizeof *values);
    uint64_t random = 1;
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx512f")) {
        fprintf(stderr, "bench_levels: it needs AVX-512; see `tessera devices`\n");
        return 3;
    }
#endif
    for (uint32_t i = 0; i < SEGMENT_ROWS; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        values[i] = (int32_t)(random >> (64 - BITS));
    }
    const struct codec_input input = {
        .values = values, .rows = SEGMENT_ROWS, .value_bytes = 4, .bits = BITS, .planes = PLANES};
    slices = encode(CODEC_LANE_LEVELS, &input);
    packed = encode(CODEC_LANE_FOR, &input);
    printf("conditions, nanoseconds a tile, %s\n\n", isa_name(isa_level()));
    printf("%6s %6s %6s %12s %12s %9s\n", "planes", "cubes", "tiles", "lane-levels", "lane-for", "times");
    for (size_t c = 0; c < sizeof conditions / sizeof *conditions; c++)
        bench_condition(conditions[c][0], conditions[c][1]);
    printf("\nrows of a tile, nanoseconds\n\n");
    printf("%6s %10s %10s %12s %14s %14s\n", "rows", "fetch", "decode", "fetch_bits", "lane-for fetch",
           "lane-for decode");
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        bench_fetch(counts[c]);
    free((void *)(uintptr_t)slices.bytes);
    free((void *)(uintptr_t)packed.bytes);
    free(values);
    return 0;
}
