/*
 * wah_operations_body.h: the functions of wah_many.h for vectors one and two at a time, written once. wah_many.c and
 * wah_many32.c include it with the names that storage/index/wah_body.h needs.
 */
#include "storage/index/wah_write_body.h"

/* ---- Build ---- */

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
