/*
 * rank_rle.c: rank-rle: one bit a row marks where a run starts, and the run values are packed.
 *
 *     directory, int32, 16 bytes a tile     word 0: start | width << 26    word 1: reference
 *                                           word 2: runs in the tile       word 3: runs in all earlier tiles
 *     directory, int64, 32 bytes a tile     words 0..3: start, width, runs in the tile, runs in earlier tiles
 *                                           words 4, 5: reference          words 6, 7: 0
 *     data                                  each tile, from byte start * 32: 32 mark words, in which bit l of
 *                                           word j marks row 32j + l; then ceil(runs * width / 32) words,
 *                                           run i - reference at bits [i*width, i*width + width); zeros up to
 *                                           a multiple of 32 bytes; after the last tile SPARE_BYTES zeros
 *
 * Row 0 of a tile always starts a run. A row's run is the number of marks in rows 0 .. row, minus 1. This is
 * a rank, so there is no sum over lengths, and any row can be read alone. The overhead is 1.125 bits a value
 * (int64: 1.25), in addition to the run values.
 */
#include "storage/codec/integer/bitpack.h"
#include "storage/base/isa.h"
#include "storage/codec/integer/runs.h"

#define MARK_WORDS (TILE_ROWS / 32)

struct tile_entry {
    uint64_t start; /* in units of CODEC_START_BYTES */
    int64_t reference;
    uint32_t width, runs, earlier_runs;
};

FORCED_INLINE uint64_t entry_bytes(const uint32_t value_bytes)
{
    return value_bytes == 4 ? 16 : 32;
}

FORCED_INLINE struct tile_entry entry_read(const uint8_t *directory, uint32_t tile,
                                           const uint32_t value_bytes)
{
    const uint8_t *const at = directory + tile * entry_bytes(value_bytes);
    const uint32_t word = load_u32(at);
    if (value_bytes == 4)
        return (struct tile_entry){.start = word & 0x3ffffffu,
                                   .width = word >> 26,
                                   .reference = load_value(at + 4, 4),
                                   .runs = load_u32(at + 8),
                                   .earlier_runs = load_u32(at + 12)};
    return (struct tile_entry){.start = word,
                               .width = load_u32(at + 4),
                               .runs = load_u32(at + 8),
                               .earlier_runs = load_u32(at + 12),
                               .reference = load_value(at + 16, 8)};
}

FORCED_INLINE void entry_write(uint8_t *directory, uint32_t tile, const uint32_t value_bytes,
                               struct tile_entry entry)
{
    uint32_t *const words = (uint32_t *)(directory + tile * entry_bytes(value_bytes));
    if (value_bytes == 4) {
        words[0] = (uint32_t)entry.start | entry.width << 26;
        words[1] = (uint32_t)entry.reference;
        words[2] = entry.runs;
        words[3] = entry.earlier_runs;
    } else {
        words[0] = (uint32_t)entry.start;
        words[1] = entry.width;
        words[2] = entry.runs;
        words[3] = entry.earlier_runs;
        memcpy(words + 4, &entry.reference, sizeof entry.reference);
        memset(words + 6, 0, 8);
    }
}

FORCED_INLINE uint64_t tile_bytes(uint32_t runs, uint32_t width)
{
    const uint64_t bytes = (MARK_WORDS + bits_words(runs, width)) * UINT64_C(4);
    return (bytes + CODEC_START_BYTES - 1) / CODEC_START_BYTES * CODEC_START_BYTES;
}

static size_t bound(uint32_t rows, uint32_t value_bytes)
{
    const uint64_t tiles = chunk_tiles(rows);
    return chunk_size(tiles * entry_bytes(value_bytes),
                      tiles * tile_bytes(TILE_ROWS, value_bytes * 8) + SPARE_BYTES, 0);
}

#if defined(__AVX512F__)
#define RUN_SPARE 16u /* whole vectors of run values are stored */

/* Takes the run values of 16 rows of 4 bytes, or of 8 rows of 8 bytes; returns a bit for each row that starts a run. The
 * first row of the tile always does. */
FORCED_INLINE uint32_t runs_start(const void *values, uint32_t row, const uint32_t value_bytes,
                                  void *run_values)
{
    const __mmask16 all = (__mmask16)(row ? 0xffff : 0xfffe);
    if (value_bytes == 4) {
        const int32_t *const v = (const int32_t *)values + row;
        const __m512i here = _mm512_loadu_si512(v);
        const __m512i before = _mm512_mask_loadu_epi32(_mm512_set1_epi32(~*v), all, v - 1);
        const __mmask16 starts = _mm512_cmpneq_epi32_mask(here, before);
        _mm512_storeu_si512(run_values, _mm512_maskz_compress_epi32(starts, here));
        return starts;
    }
    const int64_t *const v = (const int64_t *)values + row;
    const __m512i here = _mm512_loadu_si512(v);
    const __m512i before = _mm512_mask_loadu_epi64(_mm512_set1_epi64(~*v), (__mmask8)all, v - 1);
    const __mmask8 starts = _mm512_cmpneq_epi64_mask(here, before);
    _mm512_storeu_si512(run_values, _mm512_maskz_compress_epi64(starts, here));
    return starts;
}
#else
#define RUN_SPARE 16u

FORCED_INLINE uint32_t runs_start(const void *values, uint32_t row, const uint32_t value_bytes,
                                  void *run_values)
{
    const uint32_t rows = 64 / value_bytes;
    uint32_t starts = 0, count = 0;
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t is_start = row + i == 0;
        if (value_bytes == 4) {
            const uint32_t *const v = (const uint32_t *)values + row + i;
            ((uint32_t *)run_values)[count] = *v;
            is_start = is_start || v[0] != v[-1];
        } else {
            const uint64_t *const v = (const uint64_t *)values + row + i;
            ((uint64_t *)run_values)[count] = *v;
            is_start = is_start || v[0] != v[-1];
        }
        starts |= is_start << i;
        count += is_start;
    }
    return starts;
}
#endif

/* Marks the rows of a tile that start runs, and takes the runs' values; returns the number of runs. No branch depends on
 * the data. */
FORCED_INLINE uint32_t runs_mark(const void *values, const uint32_t value_bytes, void *run_values,
                                 uint32_t *marks)
{
    const uint32_t at_once = 64 / value_bytes;
    uint32_t runs = 0;
    for (uint32_t row = 0; row < TILE_ROWS; row += 32) {
        uint32_t word = 0;
        for (uint32_t part = 0; part < 32; part += at_once) {
            const uint32_t starts = runs_start(values, row + part, value_bytes,
                                               (uint8_t *)run_values + (size_t)runs * value_bytes);
            word |= starts << part;
            runs += (uint32_t)__builtin_popcount(starts);
        }
        marks[row / 32] = word;
    }
    return runs;
}

FORCED_INLINE size_t encode_values(const void *values, uint32_t rows, const uint32_t value_bytes,
                                   uint8_t *out)
{
    _Alignas(64) int64_t last[TILE_ROWS], run_values[TILE_ROWS + RUN_SPARE];
    const uint64_t directory_bytes = chunk_tiles(rows) * entry_bytes(value_bytes);
    struct width_range widths = {UINT32_MAX, 0};
    uint8_t *const data = chunk_data(out, directory_bytes);
    uint64_t at = 0;
    uint32_t earlier_runs = 0;
    for (uint32_t tile = 0; tile < chunk_tiles(rows); tile++) {
        const void *const v = chunk_tile_values(values, rows, value_bytes, tile, last);
        struct tile_entry entry = {.start = at / CODEC_START_BYTES, .earlier_runs = earlier_runs};
        int64_t high;
        uint32_t *const marks = (uint32_t *)(data + at);
        entry.runs = runs_mark(v, value_bytes, run_values, marks);
        values_range(run_values, entry.runs, value_bytes, &entry.reference, &high);
        entry.width = width_of((uint64_t)high - (uint64_t)entry.reference);
        width_range_add(&widths, entry.width);
        entry_write(chunk_directory(out), tile, value_bytes, entry);
        earlier_runs += entry.runs;

        const uint64_t bytes = tile_bytes(entry.runs, entry.width);
        memset(marks + MARK_WORDS, 0, bytes - MARK_WORDS * sizeof *marks);
        bits_pack(run_values, entry.runs, value_bytes, entry.reference, entry.width, marks + MARK_WORDS);
        at += bytes;
    }
    return chunk_finish_packed(out, CODEC_RANK_RLE, rows, value_bytes, widths, directory_bytes, at,
                               SPARE_BYTES);
}

CODEC_ENCODE_BOTH

/* The number of marks in rows 0 .. row of a tile. */
static uint32_t marks_rank(const uint8_t *marks, uint32_t row)
{
    uint32_t rank = 0, word = 0;
    for (; word < row / 64; word++)
        rank += (uint32_t)__builtin_popcountll(load_u64(marks + 8 * word));
    return rank + (uint32_t)__builtin_popcountll(load_u64(marks + 8 * word) << (63 - row % 64));
}

static bool valid(const struct chunk_view *chunk)
{
    const uint64_t data_bytes = chunk_head(chunk)->data_bytes;
    if (chunk_head(chunk)->directory_bytes != chunk->tiles * entry_bytes(chunk->value_bytes) ||
        data_bytes < SPARE_BYTES)
        return false;
    struct width_range widths = {UINT32_MAX, 0};
    uint32_t earlier_runs = 0;
    for (uint32_t tile = 0; tile < chunk->tiles; tile++) {
        const struct tile_entry entry = entry_read(chunk->directory, tile, chunk->value_bytes);
        const uint64_t start = entry.start * CODEC_START_BYTES;
        if (entry.width > chunk->value_bytes * 8 || entry.runs > TILE_ROWS ||
            entry.earlier_runs != earlier_runs ||
            start + tile_bytes(entry.runs, entry.width) > data_bytes - SPARE_BYTES)
            return false;
        const uint8_t *const marks = chunk->data + start;
        if ((marks[0] & 1) == 0 || marks_rank(marks, TILE_ROWS - 1) != entry.runs)
            return false;
        earlier_runs += entry.runs;
        width_range_add(&widths, entry.width);
    }
    return width_range_matches(&widths, chunk);
}

FORCED_INLINE void runs_expand(const uint8_t *marks, const void *run_values, const uint32_t value_bytes,
                               void *out)
{
    uint16_t begins[TILE_ROWS + 1];
    uint32_t runs = 0;
    for (uint32_t row = 0; row < TILE_ROWS; row += 64)
        for (uint64_t left = load_u64(marks + row / 8); left; left &= left - 1)
            begins[runs++] = (uint16_t)(row + (uint32_t)__builtin_ctzll(left));
    begins[runs] = TILE_ROWS;
    for (uint32_t run = 0; run < runs; run++)
        run_fill(out, TILE_ROWS, value_bytes, begins[run], begins[run + 1], run_values, run);
}

FORCED_INLINE void decode_values(const struct chunk_view *chunk, uint32_t tile, const uint32_t value_bytes,
                                 void *out)
{
    _Alignas(64) int64_t run_values[TILE_ROWS + RANKS_SPARE];
    const struct tile_entry entry = entry_read(chunk->directory, tile, value_bytes);
    const uint8_t *const marks = chunk->data + entry.start * CODEC_START_BYTES;
    bits_unpack((const uint32_t *)marks + MARK_WORDS, entry.runs, value_bytes, entry.width, entry.reference,
                run_values);
#if defined(__AVX2__)
    if (value_bytes == 4) {
        const uint32_t *next = (const uint32_t *)run_values;
        for (uint32_t row = 0; row < TILE_ROWS; row += 8)
            next = ranks_expand(_pdep_u64(marks[row / 8], EIGHT_ONES), next, (uint32_t *)out + row);
        return;
    }
#endif
    runs_expand(marks, run_values, value_bytes, out);
}

static const uint8_t *tile_span(const struct chunk_view *chunk, uint32_t tile, uint32_t *bytes)
{
    const struct tile_entry entry = entry_read(chunk->directory, tile, chunk->value_bytes);
    *bytes = (uint32_t)tile_bytes(entry.runs, entry.width);
    return chunk->data + entry.start * CODEC_START_BYTES;
}

CODEC_DECODE_BOTH

static int64_t value(const struct chunk_view *chunk, uint32_t row)
{
    const struct tile_entry entry = entry_read(chunk->directory, row / TILE_ROWS, chunk->value_bytes);
    const uint8_t *const marks = chunk->data + entry.start * CODEC_START_BYTES;
    const uint32_t run = marks_rank(marks, row % TILE_ROWS) - 1;
    const uint64_t offset =
        bits_fetch((const uint32_t *)marks + MARK_WORDS, (uint64_t)run * entry.width, entry.width);
    return chunk_value(offset + (uint64_t)entry.reference, chunk->value_bytes);
}

CODEC_FETCH_VALUES

const struct codec ISA(codec_rank_rle) = {
    .id = CODEC_RANK_RLE,
    .name = "rank-rle",
    .family = "lane",
    .summary = "a bit a row marks where runs start, and the run values are packed",
    .choosers = CHOSEN_BY(CHOOSER_SMALLEST) | CHOSEN_BY(CHOOSER_AUTO),
    .random_access = true,
    .holds_int64 = true,
    .decode_cycles = 0.35,
    .gpu = {.header = "operators/decode/rank_rle_cuda.h",
            .decoder = "decode_rank_rle",
            .random_access = true,
            .scratch_bytes = 256},
    .bound = bound,
    .encode = encode,
    .valid = valid,
    .tile_span = tile_span,
    .decode_tile = decode_tile,
    .value = value,
    .fetch_rows = 16,
    .fetch = fetch,
};
