/*
 * wah_body.h: the functions of wah.h and wah32.h, written once. wah.c and wah32.c include it, after they have defined
 *
 *     WORD         the type of a word
 *     WAH(name)    the name of a function or struct: wah_name or wah32_name
 *     GROUP_ROWS, FILL, ONES, LENGTH, FULL   the constants of wah_format.h
 */
#include "storage/index/wah_write_body.h"

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

/* ---- Counts ---- */

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
