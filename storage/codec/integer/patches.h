/*
 * patches.h: outliers of a tile, for lane-pfor, pfor and pfor-diff (Zukowski et al., ICDE 2006; the lists are
 * those of Przymus and Kaczmarski, 2012, section 2.1).
 *
 * A value is reference + code + (high part << width). The code is the low `width` bits of value - reference,
 * and every row of the tile has one. Only exceptions, the values outside reference .. reference + 2^width -
 * 1, have a high part that is not 0; it is negative below the reference. High parts are numbers modulo 2^64
 * and are stored as their difference to the least one. All of it wraps to 32 bits in int32 chunks, so a
 * difference that does not fit its type does no harm.
 *
 *     positions    packed: the rows of the tile that are exceptions, ascending, minus the position reference
 *     high parts   packed: those of the same exceptions, minus the least high part
 *
 * frame_choose sorts the tile's values and finds for each width the window of 2^width numbers whose codes and
 * list take the fewest bytes. Encoders call it once a tile; decoders apply a list once a tile, or find one row
 * in it.
 */
#ifndef TESSERA_STORAGE_CODEC_INTEGER_PATCHES_H
#define TESSERA_STORAGE_CODEC_INTEGER_PATCHES_H

#include "storage/codec/integer/bitpack.h"

/* ---- Encoding: how a tile is divided into codes and exceptions ---- */

#define POSITION_WIDTH 10u /* of a row of a tile */

struct frame {
    int64_t reference;
    uint32_t width;      /* of the codes */
    uint32_t exceptions; /* their number; 0: the fields below are 0 */
    uint32_t high_width; /* the bits of the greatest minus the least high part */
    uint64_t high;       /* the least high part */
};

/* A tile divided: all codes, and the list of exceptions. */
struct frame_parts {
    _Alignas(64) int64_t codes[TILE_ROWS]; /* int32 in an int32 chunk */
    uint32_t positions[TILE_ROWS];
    uint64_t highs[TILE_ROWS];
};

/* The values of a tile minus the least of them, sorted, and the best frame so far. */
struct frame_search {
    uint64_t offsets[TILE_ROWS];
    int64_t least;
    uint32_t value_bytes;
    uint32_t begin, inside; /* the window of the most values that was found last */
    uint64_t best_bytes;
    struct frame best;
};

/* The bytes of a tile's codes and list. */
FORCED_INLINE uint64_t frame_bytes(const struct frame *frame, const uint32_t value_bytes)
{
    const uint32_t list = value_bytes / 4 + bits_words(frame->exceptions, POSITION_WIDTH) +
                          bits_words(frame->exceptions, frame->high_width);
    return (bits_words(TILE_ROWS, frame->width) + (frame->exceptions ? list : 0)) * UINT64_C(4);
}

/* floor((value - reference) / 2^width) modulo 2^64; width 0..63. */
FORCED_INLINE uint64_t frame_high(int64_t value, int64_t reference, uint32_t width)
{
    return value >= reference ? ((uint64_t)value - (uint64_t)reference) >> width
                              : ~(((uint64_t)reference - (uint64_t)value - 1) >> width);
}

/* Sorts the offsets, which have `width` bits, by eight bits at a time. */
FORCED_INLINE void offsets_sort(uint64_t offsets[TILE_ROWS], uint32_t width)
{
    uint64_t sorted[TILE_ROWS];
    for (uint32_t shift = 0; shift < width; shift += 8) {
        uint32_t places[256] = {0};
        for (uint32_t i = 0; i < TILE_ROWS; i++)
            places[offsets[i] >> shift & 255]++;
        for (uint32_t digit = 0, place = 0; digit < 256; digit++) {
            const uint32_t count = places[digit];
            places[digit] = place;
            place += count;
        }
        for (uint32_t i = 0; i < TILE_ROWS; i++)
            sorted[places[offsets[i] >> shift & 255]++] = offsets[i];
        memcpy(offsets, sorted, sizeof sorted);
    }
}

/* Whether `count` >= 1 of the sorted offsets fit a window of 2^width numbers. */
FORCED_INLINE bool offsets_reach(const uint64_t offsets[TILE_ROWS], uint32_t width, uint32_t count)
{
    uint64_t fits = 0;
    for (uint32_t i = 0; i + count <= TILE_ROWS; i++)
        fits |= offsets[i + count - 1] - offsets[i] <= width_mask(width);
    return fits != 0;
}

/* The most of the sorted offsets that fit a window of 2^width numbers; *begin is the first of them. The window
 * only ever grows, so the loop has no branch that depends on the data. */
FORCED_INLINE uint32_t offsets_window(const uint64_t offsets[TILE_ROWS], uint32_t width, uint32_t *begin)
{
    uint32_t first = 0, most = 0;
    for (uint32_t end = 0; end < TILE_ROWS; end++) {
        first += offsets[end] - offsets[first] > width_mask(width);
        const uint32_t count = end + 1 - first;
        *begin = count > most ? first : *begin;
        most = count > most ? count : most;
    }
    return most;
}

/* Tries codes of `width` < value_bytes * 8 for the `inside` >= 1 sorted values from `begin` on. */
FORCED_INLINE void frame_try(struct frame_search *search, uint32_t width, uint32_t begin, uint32_t inside,
                             int64_t reference)
{
    const uint32_t end = begin + inside; /* the first value above the window */
    struct frame frame = {.reference = reference, .width = width, .exceptions = TILE_ROWS - inside};
    if (frame.exceptions) {
        const uint64_t low = search->offsets[begin == 0 ? end : 0] + (uint64_t)search->least;
        const uint64_t high =
            search->offsets[end == TILE_ROWS ? begin - 1 : TILE_ROWS - 1] + (uint64_t)search->least;
        frame.high = frame_high((int64_t)low, reference, width);
        frame.high_width = width_of(frame_high((int64_t)high, reference, width) - frame.high);
    }
    const uint64_t bytes = frame_bytes(&frame, search->value_bytes);
    if (bytes < search->best_bytes) {
        search->best = frame;
        search->best_bytes = bytes;
    }
}

/* The reference of a window is 0 if that costs nothing, because GPU kernels save an addition a row if all
 * references are 0. */
FORCED_INLINE void frame_try_window(struct frame_search *search, uint32_t width, uint32_t begin,
                                    uint32_t inside)
{
    const int64_t first = (int64_t)((uint64_t)search->least + search->offsets[begin]);
    const int64_t last = (int64_t)((uint64_t)search->least + search->offsets[begin + inside - 1]);
    if (first > 0 && (uint64_t)last <= width_mask(width))
        frame_try(search, width, begin, inside, 0);
    frame_try(search, width, begin, inside, first);
}

/* Tries the window with exceptions on both sides that has the most values, unless any has too few of them: the
 * high parts then have at least the bits by which `width` is narrower than the tile's range. */
FORCED_INLINE void frame_try_middle(struct frame_search *search, uint32_t width, uint32_t range_width)
{
    const uint64_t code_bytes = (uint64_t)width * (TILE_ROWS / 8);
    if (code_bytes >= search->best_bytes)
        return;
    const uint64_t exceptions =
        (search->best_bytes - code_bytes) * 8 / (POSITION_WIDTH + range_width - width);
    const uint32_t inside = exceptions < TILE_ROWS ? TILE_ROWS - (uint32_t)exceptions : 1;
    /* the window of a wider width is also that of this one if its values fit this one */
    if (search->offsets[search->begin + search->inside - 1] - search->offsets[search->begin] >
        width_mask(width)) {
        if (!offsets_reach(search->offsets, width, inside))
            return;
        search->inside = offsets_window(search->offsets, width, &search->begin);
    }
    frame_try_window(search, width, search->begin, search->inside);
}

/* The frame of the fewest bytes; of equal ones the widest, which has the fewest exceptions. */
FORCED_INLINE struct frame frame_choose(const void *values, const uint32_t value_bytes)
{
    struct frame_search search = {.value_bytes = value_bytes, .inside = TILE_ROWS};
    int64_t most;
    values_range(values, TILE_ROWS, value_bytes, &search.least, &most);
    const uint64_t range = (uint64_t)most - (uint64_t)search.least;
    const uint32_t range_width = width_of(range);
    const bool from_zero = search.least > 0 && width_of((uint64_t)most) == range_width;
    search.best = (struct frame){.reference = from_zero ? 0 : search.least, .width = range_width};
    search.best_bytes = frame_bytes(&search.best, value_bytes);
    for (uint32_t i = 0; i < TILE_ROWS; i++)
        search.offsets[i] = (uint64_t)load_value((const uint8_t *)values + i * value_bytes, value_bytes) -
                            (uint64_t)search.least;
    offsets_sort(search.offsets, range_width);
    uint32_t low = TILE_ROWS,
             high = 0; /* the window at the least value ends, the one at the greatest begins */
    for (uint32_t width = range_width; width-- > 0;) {
        while (search.offsets[low - 1] > width_mask(width))
            low--;
        while (range - search.offsets[high] > width_mask(width))
            high++;
        frame_try_window(&search, width, 0, low);
        frame_try_window(&search, width, high, TILE_ROWS - high);
        frame_try_middle(&search, width, range_width);
    }
    return search.best;
}

/* Divides the tile's values; `parts` is filled up to frame->exceptions. */
FORCED_INLINE void frame_divide(const void *values, const uint32_t value_bytes, const struct frame *frame,
                                struct frame_parts *parts)
{
    const uint64_t mask = width_mask(frame->width);
    for (uint32_t row = 0; row < TILE_ROWS; row++)
        if (value_bytes == 4)
            ((uint32_t *)parts->codes)[row] =
                (((const uint32_t *)values)[row] - (uint32_t)frame->reference) & (uint32_t)mask;
        else
            ((uint64_t *)parts->codes)[row] =
                (((const uint64_t *)values)[row] - (uint64_t)frame->reference) & mask;
    for (uint32_t row = 0, count = 0; count < frame->exceptions; row++) {
        const int64_t value = load_value((const uint8_t *)values + row * value_bytes, value_bytes);
        const uint64_t high = frame_high(value, frame->reference, frame->width);
        parts->positions[count] = row;
        parts->highs[count] = high;
        count += high != 0;
    }
}

/* ---- A list of exceptions in a chunk ---- */

struct patches {
    uint32_t count;
    uint32_t position_reference, position_width;
    uint32_t high_width;
    uint32_t shift; /* the width of the codes, below value_bytes * 8 if there are exceptions */
    uint64_t high;  /* the least high part; its low 32 bits are enough in an int32 chunk */
    const uint32_t *words;
};

/* The words of the positions, and of the whole list. */
FORCED_INLINE uint32_t patches_position_words(const struct patches *list)
{
    return bits_words(list->count, list->position_width);
}

FORCED_INLINE uint32_t patches_words(const struct patches *list)
{
    return patches_position_words(list) + bits_words(list->count, list->high_width);
}

/* Packs the list into `words`. The list's numbers are set. */
FORCED_INLINE void patches_pack(const struct patches *list, const struct frame_parts *parts, uint32_t *words)
{
    bits_pack(parts->positions, list->count, 4, list->position_reference, list->position_width, words);
    bits_pack(parts->highs, list->count, 8, (int64_t)list->high, list->high_width,
              words + patches_position_words(list));
}

FORCED_INLINE uint32_t patches_position(const struct patches *list, uint32_t index)
{
    return list->position_reference +
           (uint32_t)bits_fetch(list->words, (uint64_t)index * list->position_width, list->position_width);
}

/* What is added to the code of exception `index`. */
FORCED_INLINE uint64_t patches_value(const struct patches *list, uint32_t index)
{
    return (list->high + bits_fetch(list->words + patches_position_words(list),
                                    (uint64_t)index * list->high_width, list->high_width))
           << list->shift;
}

/* Adds to each exception of the tile `values` what it lacks. */
FORCED_INLINE void patches_apply(const struct patches *list, const uint32_t value_bytes, void *values)
{
    _Alignas(64) uint32_t positions[TILE_ROWS];
    _Alignas(64) int64_t highs[TILE_ROWS];
    bits_unpack_narrow(list->words, list->count, list->position_width, list->position_reference, positions);
    bits_unpack(list->words + patches_position_words(list), list->count, value_bytes, list->high_width,
                (int64_t)list->high, highs);
    for (uint32_t i = 0; i < list->count; i++)
        if (value_bytes == 4)
            ((uint32_t *)values)[positions[i]] += ((const uint32_t *)highs)[i] << list->shift;
        else
            ((uint64_t *)values)[positions[i]] += ((const uint64_t *)highs)[i] << list->shift;
}

/* What is added to the code of a row: 0 if it is no exception. */
FORCED_INLINE uint64_t patches_find(const struct patches *list, uint32_t row)
{
    uint32_t first = 0, end = list->count; /* the row's place, if it has one, is first .. end-1 */
    while (end - first > 1) {
        const uint32_t middle = (first + end) / 2;
        if (patches_position(list, middle) <= row)
            first = middle;
        else
            end = middle;
    }
    return first < end && patches_position(list, first) == row ? patches_value(list, first) : 0;
}

/* Whether the list's numbers are possible, before its words are looked at. */
FORCED_INLINE bool patches_numbers_valid(const struct patches *list, const uint32_t value_bytes)
{
    return list->count <= TILE_ROWS && list->position_width <= 10 && list->high_width <= value_bytes * 8 &&
           (list->count == 0 || list->shift < value_bytes * 8);
}

/* Whether the positions, which are in bounds, ascend and are rows of a tile. */
FORCED_INLINE bool patches_positions_valid(const struct patches *list)
{
    uint32_t least = 0; /* that the next position may be */
    for (uint32_t i = 0; i < list->count; i++) {
        const uint32_t row = patches_position(list, i);
        if (row < least || row >= TILE_ROWS)
            return false;
        least = row + 1;
    }
    return true;
}

#endif
