/*
 * planner.c: planner: a cascade of schemes that is chosen for each chunk (Fang, He and Luo, PVLDB 2010).
 * Layers, each optional, in the order of encoding:
 *
 *     RLE      runs within a tile: a value and a length each
 *     DICT     values become codes; one dictionary of up to 65536 values for the chunk
 *     DELTA    an item becomes its difference to the one before it in the tile; the first becomes 0
 *     FOR      the least item of the chunk is subtracted
 *
 * and then null suppression, always: NSF, whole bytes of one size for the chunk, or NSV, 1 to 4 bytes for each
 * item. planner_search.c says how the plan is chosen.
 *
 *     directory
 *         plan         word: layers | value width << 8 | length width << 16 (bytes of NSF; 0: NSV, or no lengths)
 *         entries      word: of the dictionary; 0 without DICT
 *         reference    2 words, low first: subtracted by FOR; 0 without
 *         tiles + 1 entries, the last one for the end; each has those that the plan needs of
 *             first run       word: runs in earlier tiles (RLE)
 *             value start     word: where the tile's values begin in data, in words (values in NSV)
 *             length start    word: where its lengths begin, in words (lengths in NSV)
 *             first item      1 word (int64: 2): the item before DELTA; 0 at the end
 *     data         the items of each tile; then SPARE_BYTES zeros
 *     auxiliary    with DICT or RLE: the values of the dictionary, of value_bytes, by code; the run lengths of each
 *                  tile; then SPARE_BYTES zeros
 *
 * The items (or lengths) of a tile in NSF: 1, 2, 4 or 8 bytes each. In NSV: ceil(count / 16) words with 2 bits
 * for each item, its bytes minus 1; then the bytes; then zeros up to a multiple of 4.
 *
 * On a GPU each layer is a pass, RLE four and the null suppression of its lengths one more: up to 9.
 */
#include "storage/codec/cascade/planner.h"

#include "storage/base/isa.h"
#include "storage/codec/cascade/layers.h"
#include "storage/codec/integer/runs.h"

/* The most bytes of a chunk: without layers, NSF takes the values' own size. */
static size_t chunk_bound(uint32_t rows, uint32_t value_bytes)
{
    return chunk_size(PLANNER_HEAD_WORDS * sizeof(uint32_t),
                      (uint64_t)chunk_tiles(rows) * TILE_ROWS * value_bytes + SPARE_BYTES, 0);
}

/* The encoder's dictionary is after the chunk. */
static size_t bound(uint32_t rows, uint32_t value_bytes)
{
    return chunk_bound(rows, value_bytes) + chunk_align(planner_dictionary_bytes(rows));
}

/* ---- Encoding ---- */

/* Writes `count` items; returns the end. Up to 3 bytes after it are overwritten. */
static uint8_t *suppress(const uint64_t *items, uint32_t count, uint32_t width, uint8_t *out)
{
    for (uint32_t i = 0; i < count && width; i++)
        switch (width) {
        case 1:
            out[i] = (uint8_t)items[i];
            break;
        case 2:
            ((uint16_t *)(void *)out)[i] = (uint16_t)items[i];
            break;
        case 4:
            ((uint32_t *)(void *)out)[i] = (uint32_t)items[i];
            break;
        default:
            ((uint64_t *)(void *)out)[i] = items[i];
        }
    if (width)
        return out + (size_t)count * width;
    uint8_t *const bytes = out + planner_nsv_words(count) * 4, *end = bytes;
    memset(out, 0, planner_nsv_words(count) * 4);
    for (uint32_t i = 0; i < count; i++)
        end = nsv_append((uint32_t)items[i], i, end, out, false);
    memset(end, 0, 3);
    return bytes + (end - bytes + 3) / 4 * 4;
}

struct encoder {
    struct planner_plan plan;
    struct planner_dictionary dictionary;
    uint32_t value_bytes, runs;
    uint32_t *entry;
    uint8_t *data, *lengths;
    const uint8_t *data_begin, *lengths_begin;
};

/* Writes the entry of the next tile, or that of the end. */
static void encode_entry(struct encoder *encoder, int64_t first)
{
    const struct planner_plan *const plan = &encoder->plan;
    const bool rle = plan->layers & PLANNER_RLE;
    if (rle)
        *encoder->entry++ = encoder->runs;
    if (plan->value_width == 0)
        *encoder->entry++ = (uint32_t)((encoder->data - encoder->data_begin) / 4);
    if (rle && plan->length_width == 0)
        *encoder->entry++ = (uint32_t)((encoder->lengths - encoder->lengths_begin) / 4);
    if (plan->layers & PLANNER_DELTA) {
        memcpy(encoder->entry, &first, encoder->value_bytes);
        encoder->entry += encoder->value_bytes / 4;
    }
}

static void encode_tile(struct encoder *encoder, const struct planner_tile *tile)
{
    const struct planner_plan *const plan = &encoder->plan;
    int64_t items[TILE_ROWS], first;
    uint64_t offsets[TILE_ROWS];
    const uint32_t count = planner_items(tile, plan->layers, encoder->value_bytes, items, &first);
    encode_entry(encoder, first);
    planner_subtract(items, count, plan->reference, encoder->value_bytes, offsets);
    encoder->data = suppress(offsets, count, plan->value_width, encoder->data);
    if (!(plan->layers & PLANNER_RLE))
        return;
    for (uint32_t run = 0; run < tile->run_count; run++)
        offsets[run] = tile->lengths[run];
    encoder->lengths = suppress(offsets, tile->run_count, plan->length_width, encoder->lengths);
    encoder->runs += tile->run_count;
}

static void encode_head(const struct encoder *encoder, uint32_t *words)
{
    const struct planner_plan *const plan = &encoder->plan;
    words[0] = plan->layers | plan->value_width << 8 | plan->length_width << 16;
    words[1] = plan->entries;
    memcpy(words + 2, &plan->reference, sizeof plan->reference);
}

static size_t encode(const struct codec_input *input, uint8_t *out)
{
    const void *const values = input->values;
    const uint32_t rows = input->rows, value_bytes = input->value_bytes;
    struct encoder encoder = {.value_bytes = value_bytes};
    struct planner_plan *const plan = &encoder.plan;
    struct planner_tile tile;
    planner_dictionary_create(out + chunk_bound(rows, value_bytes), rows, &encoder.dictionary);
    planner_choose(values, rows, value_bytes, &encoder.dictionary, plan);
    const struct chunk_header header = {.codec = CODEC_PLANNER,
                                        .rows = rows,
                                        .value_bytes = value_bytes,
                                        .width_low = value_bytes * 8,
                                        .width_high = value_bytes * 8,
                                        .directory_bytes =
                                            planner_directory_bytes(plan, chunk_tiles(rows), value_bytes),
                                        .data_bytes = plan->data_bytes,
                                        .auxiliary_bytes = plan->auxiliary_bytes};
    uint8_t *const auxiliary = chunk_auxiliary(out, header.directory_bytes, header.data_bytes);
    encode_head(&encoder, (uint32_t *)chunk_directory(out));
    encoder.entry = (uint32_t *)chunk_directory(out) + PLANNER_HEAD_WORDS;
    encoder.data_begin = encoder.data = chunk_data(out, header.directory_bytes);
    for (uint32_t code = 0; code < plan->entries; code++)
        memcpy(auxiliary + (size_t)code * value_bytes, &encoder.dictionary.values[code], value_bytes);
    encoder.lengths_begin = encoder.lengths = auxiliary + (size_t)plan->entries * value_bytes;
    for (uint32_t t = 0; t < chunk_tiles(rows); t++) {
        planner_tile_take(values, rows, value_bytes, t, &encoder.dictionary, &tile);
        encode_tile(&encoder, &tile);
    }
    encode_entry(&encoder, 0);
    memset(encoder.data, 0, SPARE_BYTES);
    if (plan->auxiliary_bytes)
        memset(encoder.lengths, 0, SPARE_BYTES);
    return chunk_finish(out, header);
}

/* ---- Decoding ---- */

/* Where the items of a tile are. */
struct place {
    uint32_t first_run, count;          /* of runs; without RLE, of rows */
    uint64_t value_start, length_start; /* in bytes of data, and of the lengths */
    uint64_t first;
};

static struct planner_plan plan_at(const struct chunk_view *chunk)
{
    const uint32_t *const head = (const uint32_t *)chunk->directory;
    return (struct planner_plan){.layers = head[0] & 255,
                                 .value_width = head[0] >> 8 & 255,
                                 .length_width = head[0] >> 16 & 255,
                                 .entries = head[1],
                                 .reference = (int64_t)load_u64(head + 2)};
}

static const uint8_t *lengths_at(const struct chunk_view *chunk, const struct planner_plan *plan)
{
    return chunk->auxiliary + (size_t)plan->entries * chunk->value_bytes;
}

/* The place of tile 0 .. tiles; the last one is the end, without `count`. */
static struct place place_at(const struct chunk_view *chunk, const struct planner_plan *plan, uint32_t tile)
{
    const uint32_t words = planner_entry_words(plan, chunk->value_bytes);
    const uint32_t *entry = (const uint32_t *)chunk->directory + PLANNER_HEAD_WORDS + (size_t)tile * words;
    const bool rle = plan->layers & PLANNER_RLE;
    struct place place = {.first_run = tile * TILE_ROWS, .count = TILE_ROWS};
    if (rle) {
        place.count = tile < chunk->tiles ? entry[words] - entry[0] : 0;
        place.first_run = *entry++;
    }
    place.value_start = (uint64_t)place.first_run * plan->value_width;
    place.length_start = (uint64_t)place.first_run * plan->length_width;
    if (plan->value_width == 0)
        place.value_start = *entry++ * UINT64_C(4);
    if (rle && plan->length_width == 0)
        place.length_start = *entry++ * UINT64_C(4);
    if (plan->layers & PLANNER_DELTA)
        place.first = (uint64_t)load_value(entry, chunk->value_bytes);
    return place;
}

/* Reads `count` items. */
static void restore(const uint8_t *in, uint32_t count, uint32_t width, uint64_t *items)
{
    const uint8_t *bytes = in + planner_nsv_words(count) * 4;
    for (uint32_t i = 0; i < count; i++)
        switch (width) {
        case 0:
            items[i] = nsv_low_bytes(bytes, nsv_stored_length(in, i, false), false);
            bytes += nsv_stored_length(in, i, false);
            break;
        case 1:
            items[i] = in[i];
            break;
        case 2:
            items[i] = ((const uint16_t *)(const void *)in)[i];
            break;
        case 4:
            items[i] = load_u32(in + (size_t)i * 4);
            break;
        default:
            items[i] = load_u64(in + (size_t)i * 8);
        }
}

/* The items of a tile before DICT: codes, or values. */
static void decode_items(const struct chunk_view *chunk, const struct planner_plan *plan,
                         const struct place *place, uint64_t *items)
{
    const uint64_t mask = chunk->value_bytes == 4 ? UINT32_MAX : UINT64_MAX;
    restore(chunk->data + place->value_start, place->count, plan->value_width, items);
    for (uint32_t i = 0; plan->layers & PLANNER_FOR && i < place->count; i++)
        items[i] = (items[i] + (uint64_t)plan->reference) & mask;
    uint64_t sum = place->first;
    for (uint32_t i = 0; plan->layers & PLANNER_DELTA && i < place->count; i++)
        items[i] = sum = (sum + items[i]) & mask;
}

/* ---- Checking ---- */

static bool is_width(uint32_t width, uint32_t most)
{
    return width == 0 || width == 1 || width == 2 || (width == 4 && most >= 4) || (width == 8 && most == 8);
}

static bool head_valid(const struct chunk_view *chunk, struct planner_plan *plan)
{
    const struct chunk_header *const header = chunk_head(chunk);
    if (header->directory_bytes < PLANNER_HEAD_WORDS * sizeof(uint32_t) || header->data_bytes < SPARE_BYTES)
        return false;
    *plan = plan_at(chunk);
    const bool dictionary = plan->layers & PLANNER_DICT, rle = plan->layers & PLANNER_RLE;
    const uint64_t least = (uint64_t)plan->entries * chunk->value_bytes + SPARE_BYTES;
    return load_u32(chunk->directory) >> 24 == 0 && plan->layers < PLANNER_PLANS &&
           is_width(plan->value_width, chunk->value_bytes) && is_width(plan->length_width, 2) &&
           (rle || plan->length_width == 0) && (plan->layers & PLANNER_FOR || plan->reference == 0) &&
           plan->entries <= PLANNER_DICTIONARY_MAX && (plan->entries > 0) == dictionary &&
           (dictionary || rle ? header->auxiliary_bytes >= least : header->auxiliary_bytes == 0) &&
           header->directory_bytes == planner_directory_bytes(plan, chunk->tiles, chunk->value_bytes) &&
           chunk->width_low == chunk->value_bytes * 8 && chunk->width_high == chunk->width_low;
}

/* Checks that `count` items begin at byte *at and end before `end`, and moves *at there. */
static bool items_fit(const uint8_t *stream, uint32_t count, uint32_t width, uint64_t end, uint64_t *at)
{
    if (width) {
        *at += (uint64_t)count * width;
        return *at <= end;
    }
    const uint8_t *const lengths = stream + *at;
    uint64_t bytes = 0;
    *at += planner_nsv_words(count) * 4;
    if (*at > end)
        return false;
    for (uint32_t i = 0; i < count; i++)
        bytes += nsv_stored_length(lengths, i, false);
    *at += (bytes + 3) / 4 * 4;
    return *at <= end;
}

static bool lengths_valid(const uint8_t *in, uint32_t count, uint32_t width)
{
    uint64_t lengths[TILE_ROWS], rows = 0;
    restore(in, count, width, lengths);
    for (uint32_t run = 0; run < count; run++) {
        if (lengths[run] < 1 || lengths[run] > TILE_ROWS)
            return false;
        rows += lengths[run];
    }
    return rows == TILE_ROWS;
}

static bool codes_valid(const struct chunk_view *chunk, const struct planner_plan *plan,
                        const struct place *place)
{
    uint64_t codes[TILE_ROWS];
    decode_items(chunk, plan, place, codes);
    for (uint32_t i = 0; i < place->count; i++)
        if (codes[i] >= plan->entries)
            return false;
    return true;
}

/* With DICT all codes are decoded, because they come from sums. */
static bool valid(const struct chunk_view *chunk)
{
    const struct chunk_header *const header = chunk_head(chunk);
    struct planner_plan plan;
    if (!head_valid(chunk, &plan))
        return false;
    const bool rle = plan.layers & PLANNER_RLE;
    const uint64_t dictionary_bytes = (uint64_t)plan.entries * chunk->value_bytes;
    const uint64_t value_end = header->data_bytes - SPARE_BYTES,
                   length_end =
                       header->auxiliary_bytes ? header->auxiliary_bytes - SPARE_BYTES - dictionary_bytes : 0;
    uint64_t value_at = 0, length_at = 0, run_at = 0;
    for (uint32_t tile = 0; tile < chunk->tiles; tile++) {
        const struct place place = place_at(chunk, &plan, tile);
        if ((rle && place.first_run != run_at) || place.count < 1 || place.count > TILE_ROWS ||
            place.value_start != value_at || (rle && place.length_start != length_at) ||
            !items_fit(chunk->data, place.count, plan.value_width, value_end, &value_at))
            return false;
        run_at += place.count;
        if (rle &&
            (!items_fit(lengths_at(chunk, &plan), place.count, plan.length_width, length_end, &length_at) ||
             !lengths_valid(lengths_at(chunk, &plan) + place.length_start, place.count, plan.length_width)))
            return false;
        if (plan.layers & PLANNER_DICT && !codes_valid(chunk, &plan, &place))
            return false;
    }
    const struct place end = place_at(chunk, &plan, chunk->tiles);
    return (!rle || (end.first_run == run_at && end.length_start == length_at)) &&
           end.value_start == value_at && value_at == value_end && length_at == length_end;
}

/* ---- Tiles and values ---- */

static const uint8_t *tile_span(const struct chunk_view *chunk, uint32_t tile, uint32_t *bytes)
{
    const struct planner_plan plan = plan_at(chunk);
    const struct place place = place_at(chunk, &plan, tile);
    *bytes = (uint32_t)(place_at(chunk, &plan, tile + 1).value_start - place.value_start);
    return chunk->data + place.value_start;
}

static void look_up(const struct chunk_view *chunk, uint32_t count, uint64_t *items)
{
    for (uint32_t i = 0; i < count; i++)
        items[i] = (uint64_t)load_value(chunk->auxiliary + items[i] * chunk->value_bytes, chunk->value_bytes);
}

FORCED_INLINE void rows_write(const uint64_t *items, uint32_t count, const uint64_t *lengths,
                              const uint32_t value_bytes, void *out)
{
    _Alignas(64) uint64_t typed[TILE_ROWS];
    uint32_t row = 0;
    for (uint32_t i = 0; i < count; i++)
        memcpy((uint8_t *)typed + (size_t)i * value_bytes, &items[i], value_bytes);
    if (!lengths) {
        memcpy(out, typed, (size_t)count * value_bytes);
        return;
    }
    for (uint32_t run = 0; run < count; run++) {
        const uint32_t end = row + (uint32_t)lengths[run];
        run_fill(out, TILE_ROWS, value_bytes, row, end, typed, run);
        row = end;
    }
}

static void decode_tile(const struct chunk_view *chunk, uint32_t tile, void *out)
{
    const struct planner_plan plan = plan_at(chunk);
    const struct place place = place_at(chunk, &plan, tile);
    const bool rle = plan.layers & PLANNER_RLE;
    uint64_t items[TILE_ROWS], lengths[TILE_ROWS];
    decode_items(chunk, &plan, &place, items);
    if (plan.layers & PLANNER_DICT)
        look_up(chunk, place.count, items);
    if (rle)
        restore(lengths_at(chunk, &plan) + place.length_start, place.count, plan.length_width, lengths);
    if (chunk->value_bytes == 4)
        rows_write(items, place.count, rle ? lengths : NULL, 4, out);
    else
        rows_write(items, place.count, rle ? lengths : NULL, 8, out);
}

static int64_t value(const struct chunk_view *chunk, uint32_t row)
{
    _Alignas(64) int64_t tile[TILE_ROWS];
    decode_tile(chunk, row / TILE_ROWS, tile);
    return load_value((const uint8_t *)tile + row % TILE_ROWS * chunk->value_bytes, chunk->value_bytes);
}

/* ---- Passes ---- */

static uint64_t gpu_detail(const struct chunk_view *chunk)
{
    const uint32_t layers = plan_at(chunk).layers;
    const struct {
        uint32_t pass;
        bool is;
    } passes[PLANNER_PASSES] = {
        {PLANNER_PASS_VALUES, true},
        {PLANNER_PASS_ADD, layers & PLANNER_FOR},
        {PLANNER_PASS_SUM, layers & PLANNER_DELTA},
        {PLANNER_PASS_LOOK_UP, layers & PLANNER_DICT},
        {PLANNER_PASS_LENGTHS, layers & PLANNER_RLE},
        {PLANNER_PASS_STARTS, layers & PLANNER_RLE},
        {PLANNER_PASS_FLAGS, layers & PLANNER_RLE},
        {PLANNER_PASS_NUMBERS, layers & PLANNER_RLE},
        {PLANNER_PASS_GATHER, layers & PLANNER_RLE},
    };
    uint64_t detail = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < PLANNER_PASSES; i++)
        if (passes[i].is)
            detail |= (uint64_t)passes[i].pass << 4 * count++;
    return detail;
}

static uint32_t gpu_passes(const struct chunk_view *chunk)
{
    uint32_t count = 0;
    for (uint64_t detail = gpu_detail(chunk); detail; detail >>= 4)
        count++;
    return count;
}

/* Values or run values; with RLE, lengths, which become starts, and flags, which become numbers. */
static uint64_t gpu_layer_bytes(const struct chunk_view *chunk)
{
    const bool rle = plan_at(chunk).layers & PLANNER_RLE;
    return layers_value_bytes(chunk) + (rle ? 2 * layers_word_bytes(chunk) : 0);
}

const struct codec ISA(codec_planner) = {
    .id = CODEC_PLANNER,
    .name = "planner",
    .family = "cascades",
    .summary = "the smallest cascade of RLE, DICT, DELTA, FOR and NSF or NSV, a pass a layer on a GPU",
    .holds_int64 = true,
    .decode_cycles = 3,
    .gpu = {.header = "operators/decode/planner_cuda.h",
            .decoder = "decode_planner",
            .detail = gpu_detail,
            .passes = gpu_passes,
            .layer_bytes = gpu_layer_bytes},
    .bound = bound,
    .encode = encode,
    .valid = valid,
    .tile_span = tile_span,
    .decode_tile = decode_tile,
    .value = value,
};
