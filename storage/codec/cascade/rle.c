/*
 * rle.c: rle: run-length encoding, the values and the lengths of runs apart (Fang, He and Luo, PVLDB 2010).
 *
 *     directory    word first_run[tiles + 1]: the number of runs before each tile; the last one: of all runs
 *     data         the value of each run, of value_bytes
 *     auxiliary    the length of each run, 1 .. 1024: 1 word
 *
 * A run ends with its tile, so the lengths of a tile add up to 1024; rows after the chunk's last row belong to
 * the last run. A GPU decodes it in the four published steps, each a pass of its own (SIGMOD 2022, section 6):
 *
 *     pass 1    a prefix sum over the lengths: the rows at which runs start
 *     pass 2    sets a flag at each of these rows
 *     pass 3    a prefix sum over the flags: the number of each row's run
 *     pass 4    gathers the run values by these numbers
 *
 * The published format has runs of the whole column, so its prefix sums go over the whole column. Here tiles are
 * decoded alone, so that tiles can be skipped and segments be decoded apart. This takes a word and at most one
 * more run a tile: 0.09 bits a value for int32.
 */
#include "storage/base/isa.h"
#include "storage/codec/cascade/layers.h"
#include "storage/codec/integer/runs.h"

static uint64_t directory_bytes(uint32_t tiles)
{
    return ((uint64_t)tiles + 1) * sizeof(uint32_t);
}

static size_t bound(uint32_t rows, uint32_t value_bytes)
{
    const uint64_t runs = (uint64_t)chunk_tiles(rows) * TILE_ROWS;
    return chunk_size(directory_bytes(chunk_tiles(rows)), runs * value_bytes, runs * sizeof(uint32_t));
}

/* The lengths are written after the greatest size of the values, and moved down when the number of runs is
 * known. */
FORCED_INLINE size_t encode_values(const void *values, uint32_t rows, const uint32_t value_bytes,
                                   uint8_t *out)
{
    _Alignas(64) int64_t last[TILE_ROWS];
    const uint32_t tiles = chunk_tiles(rows);
    const uint64_t most = (uint64_t)tiles * TILE_ROWS * value_bytes;
    uint32_t *const first_run = (uint32_t *)chunk_directory(out);
    uint8_t *const data = chunk_data(out, directory_bytes(tiles));
    uint32_t *const lengths = (uint32_t *)chunk_auxiliary(out, directory_bytes(tiles), most);
    uint32_t runs = 0;
    for (uint32_t tile = 0; tile < tiles; tile++) {
        const void *const v = chunk_tile_values(values, rows, value_bytes, tile, last);
        first_run[tile] = runs;
        runs += runs_take(v, TILE_ROWS, value_bytes, data + (size_t)runs * value_bytes, lengths + runs);
    }
    first_run[tiles] = runs;
    const struct chunk_header header = {.codec = CODEC_RLE,
                                        .rows = rows,
                                        .value_bytes = value_bytes,
                                        .width_low = value_bytes * 8,
                                        .width_high = value_bytes * 8,
                                        .directory_bytes = directory_bytes(tiles),
                                        .data_bytes = (uint64_t)runs * value_bytes,
                                        .auxiliary_bytes = (uint64_t)runs * sizeof *lengths};
    memmove(chunk_auxiliary(out, header.directory_bytes, header.data_bytes), lengths, header.auxiliary_bytes);
    return chunk_finish(out, header);
}

CODEC_ENCODE_BOTH

/* The runs of a tile. */
struct tile_runs {
    uint32_t count;
    const uint8_t *values;
    const uint32_t *lengths;
};

static struct tile_runs runs_at(const struct chunk_view *chunk, uint32_t tile)
{
    const uint32_t *const first_run = (const uint32_t *)chunk->directory + tile;
    return (struct tile_runs){.count = first_run[1] - first_run[0],
                              .values = chunk->data + (size_t)first_run[0] * chunk->value_bytes,
                              .lengths = (const uint32_t *)chunk->auxiliary + first_run[0]};
}

static bool tile_valid(const struct tile_runs *runs)
{
    uint32_t rows = 0;
    for (uint32_t run = 0; run < runs->count; run++) {
        if (runs->lengths[run] < 1 || runs->lengths[run] > TILE_ROWS)
            return false;
        rows += runs->lengths[run];
    }
    return rows == TILE_ROWS;
}

static bool valid(const struct chunk_view *chunk)
{
    const struct chunk_header *const header = chunk_head(chunk);
    const uint32_t *const first_run = (const uint32_t *)chunk->directory;
    if (header->directory_bytes != directory_bytes(chunk->tiles) ||
        header->data_bytes != (uint64_t)first_run[chunk->tiles] * chunk->value_bytes ||
        header->auxiliary_bytes != (uint64_t)first_run[chunk->tiles] * sizeof(uint32_t) ||
        first_run[0] != 0 || chunk->width_low != chunk->value_bytes * 8 ||
        chunk->width_high != chunk->width_low)
        return false;
    for (uint32_t tile = 0; tile < chunk->tiles; tile++) {
        const struct tile_runs runs = runs_at(chunk, tile);
        if (first_run[tile + 1] > first_run[chunk->tiles] || runs.count < 1 || runs.count > TILE_ROWS ||
            !tile_valid(&runs))
            return false;
    }
    return true;
}

static const uint8_t *tile_span(const struct chunk_view *chunk, uint32_t tile, uint32_t *bytes)
{
    const struct tile_runs runs = runs_at(chunk, tile);
    *bytes = runs.count * chunk->value_bytes;
    return runs.values;
}

FORCED_INLINE void runs_decode(const struct tile_runs *runs, const uint32_t value_bytes, void *out)
{
    uint32_t row = 0;
    for (uint32_t run = 0; run < runs->count; run++) {
        run_fill(out, TILE_ROWS, value_bytes, row, row + runs->lengths[run], runs->values, run);
        row += runs->lengths[run];
    }
}

static void decode_tile(const struct chunk_view *chunk, uint32_t tile, void *out)
{
    const struct tile_runs runs = runs_at(chunk, tile);
    if (chunk->value_bytes == 4)
        runs_decode(&runs, 4, out);
    else
        runs_decode(&runs, 8, out);
}

static int64_t value(const struct chunk_view *chunk, uint32_t row)
{
    const struct tile_runs runs = runs_at(chunk, row / TILE_ROWS);
    uint32_t run = 0;
    for (uint32_t end = runs.lengths[0]; end <= row % TILE_ROWS; end += runs.lengths[run])
        run++;
    return load_value(runs.values + (size_t)run * chunk->value_bytes, chunk->value_bytes);
}

static uint32_t gpu_passes(const struct chunk_view *chunk)
{
    (void)chunk;
    return 4;
}

/* The rows at which runs start; flags, which become numbers. */
static uint64_t gpu_layer_bytes(const struct chunk_view *chunk)
{
    return 2 * layers_word_bytes(chunk);
}

const struct codec ISA(codec_rle) = {
    .id = CODEC_RLE,
    .name = "rle",
    .family = "baseline",
    .summary = "run-length encoding: values and lengths of runs apart, decoded in 4 passes on a GPU",
    .holds_int64 = true,
    .decode_cycles = 1,
    .gpu = {.header = "operators/decode/rle_cuda.h",
            .decoder = "decode_rle",
            .passes = gpu_passes,
            .layer_bytes = gpu_layer_bytes},
    .bound = bound,
    .encode = encode,
    .valid = valid,
    .tile_span = tile_span,
    .decode_tile = decode_tile,
    .value = value,
};
