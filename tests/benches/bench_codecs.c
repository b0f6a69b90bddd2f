/*
 * bench_codecs.c: measures how fast every codec encodes and decodes on one core, and how small it makes
 * lineorder.
 *
 *     bench_codecs             speed on 2^20 random values in runs (mean 4), by width and instruction set
 *     bench_codecs --sf 20     bits a value of the first 4 million rows of lineorder at that scale factor
 *
 * Every chunk is decoded and compared before it is timed; a difference gives exit code 1. Times are the best
 * of 7 rounds (decoding) or 5 (encoding). Decoding writes each tile into the same 4 KiB, as a query does.
 */
#include "ssb/data/generator.h"
#include "storage/base/clock.h"
#include "storage/codec/codec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPEED_ROWS  (1u << 20)
#define SAMPLE_ROWS 4000000u

static void *allocate(size_t bytes)
{
    void *const memory = aligned_alloc(128, (bytes + 127) / 128 * 128);
    if (!memory) {
        fprintf(stderr, "bench_codecs: out of memory: %zu bytes\n", bytes);
        exit(3);
    }
    memset(memory, 0, bytes);
    return memory;
}

static _Alignas(64) int64_t tile[TILE_ROWS];

static void check(const struct chunk_view *chunk, const void *values)
{
    for (uint32_t t = 0; t < chunk->tiles; t++) {
        const uint64_t first = (uint64_t)t * TILE_ROWS;
        const uint64_t here = chunk->rows - first < TILE_ROWS ? chunk->rows - first : TILE_ROWS;
        chunk->codec->decode_tile(chunk, t, tile);
        if (memcmp(tile, (const uint8_t *)values + first * chunk->value_bytes, here * chunk->value_bytes)) {
            fprintf(stderr, "bench_codecs: %s decodes tile %u to other values\n", chunk->codec->name, t);
            exit(1);
        }
    }
}

static void open_or_exit(const uint8_t *bytes, size_t size, struct chunk_view *chunk)
{
    struct error error = {0};
    if (chunk_open(bytes, size, chunk, &error) != STATUS_OK) {
        fprintf(stderr, "bench_codecs: %s\n", error.text);
        exit(1);
    }
}

/* Nanoseconds a value, the best of 5 rounds. */
static double time_encode(const struct codec *codec, const int32_t *values, uint8_t *out)
{
    double best = 1e30;
    for (int round = 0; round < 5; round++) {
        const double begin = clock_ns();
        codec->encode(values, SPEED_ROWS, 4, out);
        const double ns = clock_ns() - begin;
        best = ns < best ? ns : best;
    }
    return best / SPEED_ROWS;
}

static double time_decode(const struct chunk_view *chunk)
{
    double best = 1e30;
    for (int round = 0; round < 7; round++) {
        const double begin = clock_ns();
        for (uint32_t t = 0; t < chunk->tiles; t++) {
            chunk->codec->decode_tile(chunk, t, tile);
            __asm__ volatile("" ::: "memory");
        }
        const double ns = clock_ns() - begin;
        best = ns < best ? ns : best;
    }
    return best / SPEED_ROWS;
}

static double time_open(const uint8_t *bytes, size_t size)
{
    struct chunk_view chunk;
    double best = 1e30;
    for (int round = 0; round < 5; round++) {
        const double begin = clock_ns();
        open_or_exit(bytes, size, &chunk);
        const double ns = clock_ns() - begin;
        best = ns < best ? ns : best;
    }
    return best / (SPEED_ROWS / 128.0);
}

static void bench_speed(void)
{
    static const unsigned widths[] = {4, 8, 12, 20, 27};
    int32_t *const values = allocate(SPEED_ROWS * sizeof *values);
    printf("%u rows in runs of 1 to 7, one core; million values a second, and decoding as a ratio to plain's "
           "memcpy\n\n",
           SPEED_ROWS);
    printf("%-11s %-9s %5s %9s %9s %9s %7s %14s\n", "codec", "isa", "width", "bits", "encode", "decode",
           "ratio", "open ns/128");
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        uint64_t random = 1;
        for (uint32_t i = 0, left = 0; i < SPEED_ROWS; i++, left--) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            if (left == 0)
                left = 1 + (uint32_t)(random >> 32) % 7;
            values[i] = left == 1 || i == 0 ? (int32_t)(random >> (64 - widths[w])) : values[i - 1];
        }
        double plain_ns = 0;
        for (uint32_t id = 1; id < CODEC_COUNT; id++)
            for (int level = 0; level <= (int)isa_level(); level++) {
                const struct codec *const codec = codec_by_id_isa(id, (enum isa_level)level);
                const size_t bound = codec->bound(SPEED_ROWS, 4);
                uint8_t *const out = allocate(bound);
                const double encode_ns = time_encode(codec, values, out);
                const size_t size = codec->encode(values, SPEED_ROWS, 4, out);
                struct chunk_view chunk;
                open_or_exit(out, size, &chunk);
                chunk.codec = codec;
                check(&chunk, values);
                const double decode_ns = time_decode(&chunk);
                if (codec->layout == CODEC_LAYOUT_VALUES)
                    plain_ns = decode_ns;
                printf("%-11s %-9s %5u %9.3f %9.0f %9.0f %7.2f %14.1f\n", codec->name,
                       isa_name((enum isa_level)level), widths[w], (double)size * 8 / SPEED_ROWS,
                       1e3 / encode_ns, 1e3 / decode_ns, decode_ns / plain_ns, time_open(out, size));
                free(out);
            }
    }
    free(values);
}

/* Prints bits a value for each column, and the ratio of all columns' sizes at the end. */
static void bench_sizes(double scale_factor)
{
    const char *choices[CODEC_COUNT + 2] = {"gpu-star", "smallest", "auto"};
    enum { CHOICES = CODEC_COUNT + 2 };
    for (uint32_t id = 1; id < CODEC_COUNT; id++)
        choices[id + 2] = codec_by_id(id)->name;
    const struct ssb_table_info *const info = ssb_table_info(SSB_LINEORDER);
    const struct ssb_options options = {.scale_factor = scale_factor};
    struct ssb_generator *generator;
    struct error error = {0};
    if (ssb_generator_create(&options, 0, &generator, &error) != STATUS_OK) {
        fprintf(stderr, "bench_codecs: %s\n", error.text);
        exit((int)error.status);
    }
    const uint64_t all = ssb_rows(generator, SSB_LINEORDER);
    const uint32_t rows = all < SAMPLE_ROWS ? (uint32_t)all : SAMPLE_ROWS;
    double total[CHOICES] = {0};
    printf("the first %u rows of lineorder at scale factor %g, bits a value\n\n%-18s", rows, scale_factor,
           "column");
    for (int i = 0; i < CHOICES; i++)
        printf(" %10s", choices[i]);
    printf("\n");
    for (uint32_t c = 0; c < info->column_count; c++) {
        void *columns[SSB_COLUMNS_MAX] = {NULL};
        const uint32_t stored_bytes = info->columns[c].wide ? 8 : 4;
        void *const values = allocate((size_t)rows * stored_bytes);
        columns[c] = values;
        ssb_generate_lineorder(generator, 0, rows, columns);
        for (uint32_t i = 0; stored_bytes == 8 && i < rows; i++) /* the sample's keys fit 32 bits */
            ((int32_t *)values)[i] = (int32_t)((const int64_t *)values)[i];
        printf("%-18s", info->columns[c].name);
        for (int i = 0; i < CHOICES; i++) {
            struct codec_choice choice;
            if (codec_choice_parse(choices[i], &choice, &error) != STATUS_OK)
                exit(1);
            const size_t bound = codec_choice_bound(&choice, rows, 4);
            uint8_t *const out = allocate(bound), *const scratch = allocate(bound);
            const size_t size = codec_choose(&choice, values, rows, 4, out, scratch);
            struct chunk_view chunk;
            open_or_exit(out, size, &chunk);
            check(&chunk, values);
            total[i] += (double)size;
            if (choice.codec)
                printf(" %10.3f", (double)size * 8 / rows);
            else
                printf(" %10s", chunk.codec->name);
            free(out);
            free(scratch);
        }
        printf("\n");
        free(values);
    }
    printf("%-18s", "all, plain / size");
    for (int i = 0; i < CHOICES; i++)
        printf(" %10.3f", total[0] / total[i]);
    printf("\n");
    ssb_generator_destroy(generator);
}

int main(int argc, char **argv)
{
    if (argc == 1)
        bench_speed();
    else if (argc == 3 && strcmp(argv[1], "--sf") == 0)
        bench_sizes(strtod(argv[2], NULL));
    else {
        fprintf(stderr, "usage: bench_codecs [--sf SCALE_FACTOR]\n");
        return 2;
    }
    return 0;
}
