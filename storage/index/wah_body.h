/*
 * wah_body.h: the functions of wah.h and wah32.h, written once. wah.c and wah32.c include it, after they have defined
 *
 *     WORD         the type of a word
 *     WAH(name)    the name of a function or struct: wah_name or wah32_name
 *     GROUP_ROWS, FILL, ONES, LENGTH, FULL   the constants of wah_format.h
 */
#include "storage/base/memory.h"
#include "storage/index/wah_put.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 16u /* words of a builder's first array */

/* ---- Write ---- */

/* The most words that put_run() adds. */
static uint64_t run_bound(WORD bits, uint64_t groups)
{
    return is_uniform(bits) ? groups / LENGTH + 1 : groups;
}

static enum status need_room(struct WAH(builder) * builder, uint64_t more, struct error *error)
{
    if (builder->room - builder->count >= more)
        return STATUS_OK;
    uint64_t room = builder->room ? 2 * builder->room : ROOM_FIRST;
    if (room < builder->count + more)
        room = builder->count + more;
    RETURN_IF_ERROR(
        memory_grow(&builder->words, room * sizeof *builder->words, "a compressed vector", error));
    builder->room = room;
    return STATUS_OK;
}

static enum status push(struct WAH(builder) * builder, WORD bits, uint64_t groups, struct error *error)
{
    RETURN_IF_ERROR(need_room(builder, run_bound(bits, groups), error));
    builder->count = put_run(builder->words, builder->count, bits, groups);
    return STATUS_OK;
}

/* Completes the groups before `group`, which becomes the one that gets bits. */
static enum status move_to(struct WAH(builder) * builder, uint64_t group, struct error *error)
{
    if (builder->group == group)
        return STATUS_OK;
    RETURN_IF_ERROR(push(builder, builder->bits, 1, error));
    RETURN_IF_ERROR(push(builder, 0, group - builder->group - 1, error));
    builder->group = group;
    builder->bits = 0;
    return STATUS_OK;
}

/* ---- Build ---- */

enum status WAH(append_run)(struct WAH(builder) * builder, bool value, uint64_t rows, struct error *error)
{
    while (value && rows) {
        const uint32_t first = (uint32_t)(builder->rows % GROUP_ROWS);
        uint64_t taken = min_of(rows, GROUP_ROWS - first);
        RETURN_IF_ERROR(move_to(builder, builder->rows / GROUP_ROWS, error));
        if (taken == GROUP_ROWS) {
            const uint64_t groups = rows / GROUP_ROWS;
            RETURN_IF_ERROR(push(builder, FULL, groups, error));
            builder->group += groups;
            taken = groups * GROUP_ROWS;
        } else {
            builder->bits |= (((WORD)1 << taken) - 1) << first;
        }
        builder->rows += taken;
        rows -= taken;
    }
    builder->rows += rows; /* zeros are written when a later group gets bits */
    return STATUS_OK;
}

enum status WAH(append_group)(struct WAH(builder) * builder, WORD bits, struct error *error)
{
    RETURN_IF_ERROR(move_to(builder, builder->rows / GROUP_ROWS, error));
    builder->bits = bits & FULL;
    builder->rows += GROUP_ROWS;
    return STATUS_OK;
}

/* `count` bits, at most 32 or 63, of a flat bitset from bit `first` on. */
static inline uint64_t bits_at(const uint64_t *bits, uint64_t first, uint32_t count)
{
    const uint32_t shift = first % 64;
    uint64_t value = bits[first / 64] >> shift;
    if (shift + count > 64)
        value |= bits[first / 64 + 1] << (64 - shift);
    return value & ((UINT64_C(1) << count) - 1);
}

enum status WAH(append_bits)(struct WAH(builder) * builder, const uint64_t *bits, uint64_t count,
                             struct error *error)
{
    for (uint64_t done = 0; done < count;) {
        const uint32_t first = (uint32_t)(builder->rows % GROUP_ROWS);
        const uint32_t taken = (uint32_t)min_of(count - done, GROUP_ROWS - first);
        RETURN_IF_ERROR(move_to(builder, builder->rows / GROUP_ROWS, error));
        builder->bits |= (WORD)(bits_at(bits, done, taken) << first);
        builder->rows += taken;
        done += taken;
    }
    return STATUS_OK;
}

enum status WAH(append_row)(struct WAH(builder) * builder, uint64_t row, struct error *error)
{
    RETURN_IF_ERROR(move_to(builder, row / GROUP_ROWS, error));
    builder->bits |= (WORD)1 << row % GROUP_ROWS;
    builder->rows = row + 1;
    return STATUS_OK;
}

/* Columns that are sorted or clustered have many groups of one code. */
static bool all_equal(const uint32_t *codes)
{
    uint32_t differences = codes[0] ^ codes[GROUP_ROWS - 1];
    if (differences)
        return false;
    for (uint32_t i = 1; i < GROUP_ROWS; i++)
        differences |= codes[i] ^ codes[0];
    return !differences;
}

enum status WAH(append_codes)(struct WAH(builder) * builders, uint32_t vectors, uint64_t first_row,
                              const uint32_t *codes, uint64_t count, struct error *error)
{
    for (uint64_t done = 0; done < count;) {
        const uint64_t row = first_row + done, group = row / GROUP_ROWS;
        const uint32_t first = (uint32_t)(row % GROUP_ROWS);
        const uint32_t taken = (uint32_t)min_of(count - done, GROUP_ROWS - first);
        const uint32_t *const here = codes + done;
        done += taken;
        if (taken == GROUP_ROWS && all_equal(here)) {
            if (here[0] >= vectors)
                continue;
            struct WAH(builder) *const builder = &builders[here[0]];
            builder->rows = row;
            RETURN_IF_ERROR(WAH(append_run)(builder, true, GROUP_ROWS, error));
            continue;
        }
        for (uint32_t i = 0; i < taken; i++) {
            if (here[i] >= vectors)
                continue;
            struct WAH(builder) *const builder = &builders[here[i]];
            if (builder->group != group)
                RETURN_IF_ERROR(move_to(builder, group, error));
            builder->bits |= (WORD)1 << (first + i);
            builder->rows = row + i + 1;
        }
    }
    return STATUS_OK;
}

enum status WAH(finish)(struct WAH(builder) * builder, uint64_t rows, struct error *error)
{
    builder->rows = rows;
    return move_to(builder, WAH(groups)(rows), error);
}

void WAH(builder_free)(struct WAH(builder) * builder)
{
    free(builder->words);
    *builder = (struct WAH(builder)){.words = NULL};
}

/* ---- Check ---- */

bool WAH(valid)(const WORD *words, uint64_t count, uint64_t rows)
{
    const uint64_t groups = WAH(groups)(rows);
    uint64_t done = 0;
    for (uint64_t w = 0; w < count; w++) {
        const WORD word = words[w], length = word & LENGTH, before = w ? words[w - 1] : 0;
        if (!(word & FILL)) {
            if (is_uniform(word) || done == groups)
                return false;
            done++;
            continue;
        }
        const bool continues = (before & ~LENGTH) == (word & ~LENGTH); /* a fill of the same value */
        if (length == 0 || length > groups - done || (continues && (before & LENGTH) != LENGTH))
            return false;
        done += length;
    }
    if (done != groups || count == 0)
        return done == groups;
    const WORD last = words[count - 1], outside = (WORD)~WAH(last_mask)(rows) & FULL;
    return !outside || (last & FILL ? !(last & ONES) : !(last & outside));
}

void WAH(directory_build)(struct WAH(vector) vector, uint64_t rows, struct wah_start *starts)
{
    const uint64_t pieces = WAH(pieces)(rows);
    uint64_t piece = 0, done = 0;
    for (uint64_t w = 0; w < vector.count; w++) {
        const WORD word = vector.words[w];
        const uint64_t next = done + (word & FILL ? word & LENGTH : 1);
        for (; piece < pieces && piece * WAH_PIECE_GROUPS < next; piece++)
            starts[piece] = (struct wah_start){(uint32_t)w, (uint32_t)(piece * WAH_PIECE_GROUPS - done)};
        done = next;
    }
}

bool WAH(directory_valid)(struct WAH(vector) vector, uint64_t rows, const struct wah_start *starts)
{
    const uint64_t pieces = WAH(pieces)(rows);
    uint64_t piece = 0, done = 0;
    for (uint64_t w = 0; w < vector.count; w++) {
        const WORD word = vector.words[w];
        const uint64_t next = done + (word & FILL ? word & LENGTH : 1);
        for (; piece < pieces && piece * WAH_PIECE_GROUPS < next; piece++)
            if (starts[piece].word != w || starts[piece].skip != piece * WAH_PIECE_GROUPS - done)
                return false;
        done = next;
    }
    return piece == pieces;
}

/* ---- Decompress ---- */

static inline void set_groups(WORD *groups, WORD bits, uint64_t count)
{
    for (uint64_t g = 0; g < count; g++)
        groups[g] = bits;
}

void WAH(piece_to_groups)(struct WAH(vector) vector, struct wah_start start, uint64_t count, WORD *groups)
{
    uint64_t skip = start.skip;
    for (uint64_t w = start.word, done = 0; done < count; w++, skip = 0) {
        const WORD word = vector.words[w];
        if (!(word & FILL)) {
            groups[done++] = word;
            continue;
        }
        const uint64_t length = min_of((word & LENGTH) - skip, count - done);
        set_groups(groups + done, word & ONES ? FULL : 0, length);
        done += length;
    }
}

void WAH(to_groups)(struct WAH(vector) vector, WORD *groups)
{
    for (uint64_t w = 0; w < vector.count; w++) {
        const WORD word = vector.words[w];
        const uint64_t length = word & FILL ? word & LENGTH : 1;
        set_groups(groups, word & FILL ? word & ONES ? FULL : 0 : word, length);
        groups += length;
    }
}

static void set_rows(uint64_t *bits, uint64_t row, uint64_t end)
{
    for (; row < end && row % 64; row++)
        bits[row / 64] |= UINT64_C(1) << row % 64;
    if (end - row >= 64) {
        memset(bits + row / 64, 0xff, (end - row) / 64 * sizeof *bits);
        row += (end - row) / 64 * 64;
    }
    if (row < end)
        bits[row / 64] |= (UINT64_C(1) << (end - row)) - 1;
}

void WAH(to_bits)(struct WAH(vector) vector, uint64_t rows, uint64_t *bits)
{
    memset(bits, 0, (rows / 64 + (rows % 64 != 0)) * sizeof *bits);
    uint64_t row = 0;
    for (uint64_t w = 0; w < vector.count; w++) {
        const WORD word = vector.words[w];
        if (word & FILL) {
            const uint64_t next = row + (word & LENGTH) * (uint64_t)GROUP_ROWS;
            if (word & ONES)
                set_rows(bits, row, next);
            row = next;
            continue;
        }
        const uint32_t shift = row % 64;
        const uint64_t high = shift ? (uint64_t)word >> (64 - shift) : 0;
        bits[row / 64] |= (uint64_t)word << shift;
        if (high)
            bits[row / 64 + 1] |= high;
        row += GROUP_ROWS;
    }
}

struct wah_counts WAH(counts)(struct WAH(vector) vector)
{
    struct wah_counts counts = {.literals = 0};
    for (uint64_t w = 0; w < vector.count; w++) {
        const WORD word = vector.words[w];
        const bool fill = word & FILL;
        counts.fills += fill;
        counts.literals += !fill;
        counts.fill_groups += fill ? word & LENGTH : 0;
        counts.ones += !fill         ? (uint64_t)__builtin_popcountll(word)
                       : word & ONES ? (word & LENGTH) * (uint64_t)GROUP_ROWS
                                     : 0;
    }
    return counts;
}

uint64_t WAH(count)(struct WAH(vector) vector)
{
    return WAH(counts)(vector).ones;
}

/* ---- Combine ---- */

/* Walks along a vector's words: `left` groups of `bits`. At the end, `left` is 0. */
struct walk {
    const WORD *next, *end;
    WORD bits;
    uint64_t left;
};

static inline void step(struct walk *walk)
{
    walk->left = 0;
    if (walk->next == walk->end)
        return;
    const WORD word = *walk->next++;
    walk->bits = word & FILL ? word & ONES ? FULL : 0 : word;
    walk->left = word & FILL ? word & LENGTH : 1;
}

static inline struct walk walk_of(struct WAH(vector) vector)
{
    struct walk walk = {.next = vector.words, .end = vector.words + vector.count};
    step(&walk);
    return walk;
}

static inline void skip(struct walk *walk, uint64_t groups)
{
    while (groups >= walk->left && walk->left) {
        groups -= walk->left;
        step(walk);
    }
    walk->left -= walk->left ? groups : 0;
}

enum operation { OPERATION_AND, OPERATION_OR, OPERATION_AND_NOT };

static inline WORD combined(enum operation operation, WORD a, WORD b)
{
    return operation == OPERATION_AND ? a & b : operation == OPERATION_OR ? a | b : a & ~b;
}

/* A fill that decides the result alone lets the other vector's words be skipped. */
static inline __attribute__((always_inline)) uint64_t combine(struct WAH(vector) a, struct WAH(vector) b,
                                                              const enum operation operation, WORD *out)
{
    const WORD a_decides = operation == OPERATION_OR ? FULL : 0,
               b_decides = operation == OPERATION_AND ? 0 : FULL;
    struct walk x = walk_of(a), y = walk_of(b);
    uint64_t count = 0;
    while (x.left && y.left) {
        const uint64_t groups = x.left > 1 && x.bits == a_decides   ? x.left
                                : y.left > 1 && y.bits == b_decides ? y.left
                                                                    : min_of(x.left, y.left);
        count = put_run(out, count, combined(operation, x.bits, y.bits), groups);
        skip(&x, groups);
        skip(&y, groups);
    }
    return count;
}

uint64_t WAH (and)(struct WAH(vector) a, struct WAH(vector) b, WORD *out)
{
    return combine(a, b, OPERATION_AND, out);
}

uint64_t WAH(or)(struct WAH(vector) a, struct WAH(vector) b, WORD *out)
{
    return combine(a, b, OPERATION_OR, out);
}

uint64_t WAH(and_not)(struct WAH(vector) a, struct WAH(vector) b, WORD *out)
{
    return combine(a, b, OPERATION_AND_NOT, out);
}

uint64_t WAH(not )(struct WAH(vector) vector, uint64_t rows, WORD *out)
{
    const WORD last_mask = (WORD)WAH(last_mask)(rows);
    uint64_t left = WAH(groups)(rows), count = 0;
    for (struct walk walk = walk_of(vector); walk.left; step(&walk)) {
        const uint64_t groups = walk.left;
        left -= groups;
        count = put_run(out, count, ~walk.bits & FULL, groups - (left == 0));
        if (left == 0)
            count = put_run(out, count, ~walk.bits & last_mask, 1);
    }
    return count;
}
