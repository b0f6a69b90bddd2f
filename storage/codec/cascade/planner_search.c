/*
 * planner_search.c: chooses the planner's plan for a chunk.
 *
 * Fang, He and Luo (PVLDB 2010) choose by properties of the column: whether it is sorted, its average run
 * length, its number of distinct values; the plan should give "the best compression ratio" (SIGMOD 2022,
 * section 2.2, which is all that we know of their rule). Here the size of every plan in the space is computed,
 * and the smallest chunk wins; of equal ones the one with fewer layers. The space:
 *
 *     {rows, RLE} x {values, DICT} x {as they are, DELTA} x {as they are, FOR} x {NSF, NSV}
 *
 * with NSF or NSV for the run lengths, too. That is 32 plans for the values. FOR has one reference for the
 * chunk, DICT one dictionary for the chunk; RLE and DELTA begin anew in each tile.
 *
 * The chunk is walked over twice: for the dictionary and the least and greatest item after the layers, and for
 * the bytes that NSV needs, with and without FOR.
 */
#include "storage/codec/cascade/planner.h"

#include "storage/codec/integer/runs.h"

/* ---- Null suppression ---- */

uint64_t planner_suppressed_bytes(const uint64_t *items, uint32_t count, uint32_t width)
{
    uint64_t bytes = 0;
    if (width)
        return (uint64_t)count * width;
    for (uint32_t i = 0; i < count; i++)
        bytes += nsv_length(nsv_selector((uint32_t)items[i], false), false);
    return planner_nsv_words(count) * 4 + (bytes + 3) / 4 * 4;
}

/* The bytes of NSF for unsigned numbers up to `most`. */
static uint32_t fixed_width(uint64_t most)
{
    return most <= UINT8_MAX ? 1 : most <= UINT16_MAX ? 2 : most <= UINT32_MAX ? 4 : 8;
}

/* ---- The dictionary ---- */

static uint32_t dictionary_most(uint32_t rows)
{
    return rows < PLANNER_DICTIONARY_MAX ? rows : PLANNER_DICTIONARY_MAX;
}

/* At most half of the slots are taken. */
static uint32_t dictionary_slot_bits(uint32_t rows)
{
    return width_of(dictionary_most(rows)) + 1;
}

size_t planner_dictionary_bytes(uint32_t rows)
{
    return dictionary_most(rows) * sizeof(int64_t) + (sizeof(uint32_t) << dictionary_slot_bits(rows));
}

void planner_dictionary_create(void *memory, uint32_t rows, struct planner_dictionary *dictionary)
{
    *dictionary = (struct planner_dictionary){
        .values = memory, .most = dictionary_most(rows), .slot_bits = dictionary_slot_bits(rows)};
    dictionary->slots = (uint32_t *)(dictionary->values + dictionary->most);
    memset(dictionary->slots, 0, sizeof(uint32_t) << dictionary->slot_bits);
}

/* The slot of the value, or the free one in which it belongs. */
static uint32_t *slot_of(const struct planner_dictionary *dictionary, int64_t value)
{
    const uint32_t mask = (1u << dictionary->slot_bits) - 1;
    uint32_t slot =
        (uint32_t)((uint64_t)value * UINT64_C(0x9e3779b97f4a7c15) >> (64 - dictionary->slot_bits));
    while (dictionary->slots[slot] && dictionary->values[dictionary->slots[slot] - 1] != value)
        slot = (slot + 1) & mask;
    return &dictionary->slots[slot];
}

/* The code of a value, which is added if it is new. If there is no room, the dictionary is full. */
static int64_t code_of(struct planner_dictionary *dictionary, int64_t value)
{
    uint32_t *const slot = slot_of(dictionary, value);
    if (*slot == 0 && dictionary->count == dictionary->most) {
        dictionary->full = true;
        return 0;
    }
    if (*slot == 0) {
        dictionary->values[dictionary->count++] = value;
        *slot = dictionary->count;
    }
    return (int64_t)*slot - 1;
}

/* ---- Layers ---- */

void planner_tile_take(const void *values, uint32_t rows, uint32_t value_bytes, uint32_t tile,
                       struct planner_dictionary *dictionary, struct planner_tile *taken)
{
    _Alignas(64) int64_t last[TILE_ROWS];
    const uint8_t *const from = chunk_tile_values(values, rows, value_bytes, tile, last);
    for (uint32_t i = 0; i < TILE_ROWS; i++)
        taken->rows[i] = load_value(from + (size_t)i * value_bytes, value_bytes);
    taken->run_count = runs_take(taken->rows, TILE_ROWS, 8, taken->runs, taken->lengths);
    for (uint32_t run = 0; run < taken->run_count && !dictionary->full; run++)
        taken->codes[run] = code_of(dictionary, taken->runs[run]);
}

/* The items before DELTA; returns their number. */
static uint32_t take_items(const struct planner_tile *tile, uint32_t layers, int64_t *items)
{
    const int64_t *const runs = layers & PLANNER_DICT ? tile->codes : tile->runs;
    uint32_t row = 0;
    if (layers & PLANNER_RLE) {
        memcpy(items, runs, tile->run_count * sizeof *items);
        return tile->run_count;
    }
    for (uint32_t run = 0; run < tile->run_count; run++) {
        run_fill(items, TILE_ROWS, 8, row, row + tile->lengths[run], runs, run);
        row += tile->lengths[run];
    }
    return TILE_ROWS;
}

uint32_t planner_items(const struct planner_tile *tile, uint32_t layers, uint32_t value_bytes,
                       int64_t items[TILE_ROWS], int64_t *first)
{
    int64_t taken[TILE_ROWS];
    if (!(layers & PLANNER_DELTA)) {
        const uint32_t count = take_items(tile, layers, items);
        *first = items[0];
        return count;
    }
    const uint32_t count = take_items(tile, layers, taken);
    *first = taken[0];
    items[0] = 0;
    if (value_bytes == 4)
        for (uint32_t i = 1; i < count; i++)
            items[i] = (int32_t)((uint32_t)taken[i] - (uint32_t)taken[i - 1]);
    else
        for (uint32_t i = 1; i < count; i++)
            items[i] = (int64_t)((uint64_t)taken[i] - (uint64_t)taken[i - 1]);
    return count;
}

void planner_subtract(const int64_t *items, uint32_t count, int64_t reference, uint32_t value_bytes,
                      uint64_t *offsets)
{
    const uint64_t mask = value_bytes == 4 ? UINT32_MAX : UINT64_MAX;
    for (uint32_t i = 0; i < count; i++)
        offsets[i] = ((uint64_t)items[i] - (uint64_t)reference) & mask;
}

/* ---- The search ---- */

/* The items of all tiles after some layers, without and with FOR: [0] and [1]. */
struct measured {
    int64_t low, high;
    uint64_t count;
    uint64_t variable_bytes[2];
};

struct search {
    const void *values;
    uint32_t rows, tiles, value_bytes;
    struct planner_dictionary *dictionary;
    struct measured measured[PLANNER_FOR]; /* by layers before FOR */
    uint64_t runs, length_variable_bytes;
    uint32_t longest;
};

static bool possible(const struct search *search, uint32_t layers)
{
    return !(layers & PLANNER_DICT && search->dictionary->full);
}

/* The greatest number that null suppression stores. */
static uint64_t greatest(const struct search *search, const struct measured *measured, bool subtracted)
{
    const uint64_t mask = search->value_bytes == 4 ? UINT32_MAX : UINT64_MAX;
    if (subtracted)
        return ((uint64_t)measured->high - (uint64_t)measured->low) & mask;
    return measured->low < 0 ? mask : (uint64_t)measured->high;
}

static void measure_lengths(struct search *search, const struct planner_tile *tile)
{
    uint64_t lengths[TILE_ROWS];
    for (uint32_t run = 0; run < tile->run_count; run++) {
        lengths[run] = tile->lengths[run];
        search->longest = tile->lengths[run] > search->longest ? tile->lengths[run] : search->longest;
    }
    search->runs += tile->run_count;
    search->length_variable_bytes += planner_suppressed_bytes(lengths, tile->run_count, 0);
}

static void measure_ranges(struct search *search)
{
    struct planner_tile tile;
    int64_t items[TILE_ROWS], first, low, high;
    for (uint32_t t = 0; t < search->tiles; t++) {
        planner_tile_take(search->values, search->rows, search->value_bytes, t, search->dictionary, &tile);
        measure_lengths(search, &tile);
        for (uint32_t layers = 0; layers < PLANNER_FOR; layers++) {
            struct measured *const measured = &search->measured[layers];
            if (!possible(search, layers))
                continue;
            const uint32_t count = planner_items(&tile, layers, search->value_bytes, items, &first);
            values_range(items, count, 8, &low, &high);
            measured->low = t == 0 || low < measured->low ? low : measured->low;
            measured->high = t == 0 || high > measured->high ? high : measured->high;
            measured->count += count;
        }
    }
}

static void measure_variable(struct search *search)
{
    struct planner_tile tile;
    int64_t items[TILE_ROWS], first;
    uint64_t offsets[TILE_ROWS];
    for (uint32_t t = 0; t < search->tiles; t++) {
        planner_tile_take(search->values, search->rows, search->value_bytes, t, search->dictionary, &tile);
        for (uint32_t layers = 0; layers < PLANNER_FOR; layers++) {
            struct measured *const measured = &search->measured[layers];
            if (!possible(search, layers))
                continue;
            const uint32_t count = planner_items(&tile, layers, search->value_bytes, items, &first);
            for (uint32_t subtracted = 0; subtracted < 2; subtracted++) {
                planner_subtract(items, count, subtracted ? measured->low : 0, search->value_bytes, offsets);
                measured->variable_bytes[subtracted] += planner_suppressed_bytes(offsets, count, 0);
            }
        }
    }
}

/* The plan of these layers, with NSF or NSV for the values; false if there is none. */
static bool plan_of(const struct search *search, uint32_t layers, bool variable, struct planner_plan *plan)
{
    const bool subtracted = layers & PLANNER_FOR, rle = layers & PLANNER_RLE;
    const struct measured *const measured = &search->measured[layers & ~PLANNER_FOR];
    const uint64_t most = greatest(search, measured, subtracted);
    if (!possible(search, layers) || (variable && most > UINT32_MAX))
        return false;
    *plan = (struct planner_plan){.layers = layers,
                                  .value_width = variable ? 0 : fixed_width(most),
                                  .entries = layers & PLANNER_DICT ? search->dictionary->count : 0,
                                  .reference = subtracted ? measured->low : 0};
    plan->data_bytes =
        SPARE_BYTES + (variable ? measured->variable_bytes[subtracted] : measured->count * plan->value_width);
    if (layers & (PLANNER_DICT | PLANNER_RLE))
        plan->auxiliary_bytes = SPARE_BYTES + (uint64_t)plan->entries * search->value_bytes;
    if (rle) {
        const uint32_t width = fixed_width(search->longest);
        const uint64_t fixed = search->runs * width,
                       starts = ((uint64_t)search->tiles + 1) * sizeof(uint32_t);
        const bool shorter = search->length_variable_bytes + starts < fixed;
        plan->length_width = shorter ? 0 : width;
        plan->auxiliary_bytes += shorter ? search->length_variable_bytes : fixed;
    }
    return true;
}

static bool better(const struct search *search, const struct planner_plan *plan,
                   const struct planner_plan *than)
{
    const struct planner_plan *const plans[] = {plan, than};
    uint64_t bytes[2];
    for (int i = 0; i < 2; i++)
        bytes[i] = chunk_size(planner_directory_bytes(plans[i], search->tiles, search->value_bytes),
                              plans[i]->data_bytes, plans[i]->auxiliary_bytes);
    return bytes[0] < bytes[1] ||
           (bytes[0] == bytes[1] && __builtin_popcount(plan->layers) < __builtin_popcount(than->layers));
}

void planner_choose(const void *values, uint32_t rows, uint32_t value_bytes,
                    struct planner_dictionary *dictionary, struct planner_plan *plan)
{
    struct search search = {.values = values,
                            .rows = rows,
                            .tiles = chunk_tiles(rows),
                            .value_bytes = value_bytes,
                            .dictionary = dictionary};
    struct planner_plan candidate;
    measure_ranges(&search);
    measure_variable(&search);
    (void)!plan_of(&search, 0, false, plan); /* NSF alone holds any values */
    for (uint32_t layers = 0; layers < PLANNER_PLANS; layers++)
        for (int variable = 0; variable < 2; variable++)
            if (plan_of(&search, layers, variable, &candidate) && better(&search, &candidate, plan))
                *plan = candidate;
}
