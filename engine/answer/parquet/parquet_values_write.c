/* parquet_values_write.c: values, codes and levels of a page as bytes (parquet_writing.h). */
#include "engine/answer/parquet/parquet_writing.h"
#include "storage/base/double_key.h"
#include "storage/codec/integer/bitpack.h"

#include <string.h>

/* Codes that are the same so many times are a run of their own; fewer stay among the bits, where no head is needed. */
#define RUN_LEAST 16u

/* ---- PLAIN ---- */

/* The loops over a column's values; each appends something of `value` at `at`. */
#define FOR_EACH(...)                                                \
    for (uint32_t i = 0; i < count; i++) {                           \
        const int64_t value = column->from->values[first + rows[i]]; \
        __VA_ARGS__;                                                 \
    }

static void put_truths(const struct parquet_write_column *column, uint64_t first, const uint32_t *rows,
                       uint32_t count, uint8_t *at)
{
    memset(at, 0, (count + 7) / 8);
    FOR_EACH(at[i / 8] |= (uint8_t)((value != 0) << i % 8))
}

/* A decimal of 9 bytes, the greatest first. */
static void put_wide(int64_t value, uint8_t *at)
{
    const uint64_t bytes = __builtin_bswap64((uint64_t)value);
    at[0] = value < 0 ? 0xff : 0;
    memcpy(at + 1, &bytes, sizeof bytes);
}

static void put_numbers(const struct parquet_write_column *column, uint64_t first, const uint32_t *rows,
                        uint32_t count, uint8_t *at)
{
    if (column->physical == PARQUET_INT32)
        FOR_EACH(const int32_t narrow = (int32_t)value; memcpy(at + 4 * (size_t)i, &narrow, 4))
    else if (column->physical == PARQUET_DOUBLE)
        FOR_EACH(const double real = double_of_key(value); memcpy(at + 8 * (size_t)i, &real, 8))
    else if (column->physical == PARQUET_FIXED)
        FOR_EACH(put_wide(value, at + PARQUET_WIDE_DECIMAL_BYTES * (size_t)i))
    else
        FOR_EACH(memcpy(at + 8 * (size_t)i, &value, 8))
}

static enum status put_strings(const struct parquet_write_column *column, uint64_t first,
                               const uint32_t *rows, uint32_t count, struct text_space *to,
                               struct error *error)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < count; i++)
        bytes += 4 + rowset_string(column->from, first + rows[i]).length;
    RETURN_IF_ERROR(text_space_reserve(to, bytes, error));
    for (uint32_t i = 0; i < count; i++) {
        const struct string_value string = rowset_string(column->from, first + rows[i]);
        memcpy(to->bytes + to->used, &string.length, 4);
        if (string.length)
            memcpy(to->bytes + to->used + 4, string.text, string.length);
        to->used += 4 + (size_t)string.length;
    }
    return STATUS_OK;
}

enum status parquet_put_plain(const struct parquet_write_column *column, uint64_t first, const uint32_t *rows,
                              uint32_t count, struct text_space *to, struct error *error)
{
    static const uint8_t bytes[PARQUET_PHYSICALS] = {[PARQUET_INT32] = 4,
                                                     [PARQUET_INT64] = 8,
                                                     [PARQUET_DOUBLE] = 8,
                                                     [PARQUET_FIXED] = PARQUET_WIDE_DECIMAL_BYTES};
    if (column->physical == PARQUET_BYTES)
        return put_strings(column, first, rows, count, to, error);
    const bool truths = column->physical == PARQUET_BOOLEAN;
    const size_t room = truths ? (count + 7) / 8 : (size_t)count * bytes[column->physical];
    RETURN_IF_ERROR(text_space_reserve(to, room, error));
    (truths ? put_truths : put_numbers)(column, first, rows, count, (uint8_t *)to->bytes + to->used);
    to->used += room;
    return STATUS_OK;
}

/* ---- Runs and bits ---- */

static void put_base_128(struct text_space *to, uint32_t number)
{
    for (; number >= 128; number >>= 7)
        to->bytes[to->used++] = (char)((number & 127) | 128);
    to->bytes[to->used++] = (char)number;
}

/* How often codes[0] comes, at most `most` times. */
static uint32_t run_of(const uint32_t *codes, uint32_t most)
{
    uint32_t run = 1;
    while (run < most && codes[run] == codes[0])
        run++;
    return run;
}

static void put_run(struct text_space *to, uint32_t code, uint32_t count, uint32_t width)
{
    put_base_128(to, count << 1);
    memcpy(to->bytes + to->used, &code, 4);
    to->used += (width + 7) / 8;
}

/* Groups of 8 codes. */
static void put_bits(struct text_space *to, const uint32_t *codes, uint32_t groups, uint32_t width,
                     uint32_t *words)
{
    put_base_128(to, groups << 1 | 1);
    bits_pack(codes, 8 * groups, 4, 0, width, words);
    memcpy(to->bytes + to->used, words, (size_t)groups * width);
    to->used += (size_t)groups * width;
}

enum status parquet_put_codes(uint32_t *codes, uint32_t count, uint32_t entries, uint32_t *words,
                              struct text_space *to, struct error *error)
{
    const unsigned least = width_of(entries ? entries - 1 : 0), width = least ? least : 1;
    RETURN_IF_ERROR(text_space_reserve(to, 64 + (size_t)count * 6, error)); /* heads are of 8 codes or more */
    to->bytes[to->used++] = (char)width;
    memset(codes + count, 0, 8 * sizeof *codes);
    for (uint32_t at = 0; at < count;) {
        const uint32_t begin = at, run = run_of(codes + at, count - at);
        if (run >= RUN_LEAST) {
            put_run(to, codes[at], run, width);
            at += run;
            continue;
        }
        do
            at += 8;
        while (at < count && run_of(codes + at, count - at < RUN_LEAST ? count - at : RUN_LEAST) < RUN_LEAST);
        put_bits(to, codes + begin, (at - begin) / 8, width, words);
    }
    return STATUS_OK;
}

enum status parquet_put_levels(const uint8_t *nulls, uint32_t count, struct text_space *to,
                               struct error *error)
{
    const uint32_t groups = (count + 7) / 8;
    const bool mixed = nulls && memchr(nulls, 1, count);
    RETURN_IF_ERROR(text_space_reserve(to, groups + 16, error));
    const size_t begin = to->used;
    to->used += 4;
    if (mixed) {
        put_base_128(to, groups << 1 | 1);
        uint8_t *const bits = (uint8_t *)to->bytes + to->used;
        memset(bits, 0, groups);
        for (uint32_t i = 0; i < count; i++)
            bits[i / 8] |= (uint8_t)(!nulls[i] << i % 8);
        to->used += groups;
    } else {
        put_run(to, 1, count, 1);
    }
    const uint32_t bytes = (uint32_t)(to->used - begin - 4);
    memcpy(to->bytes + begin, &bytes, sizeof bytes);
    return STATUS_OK;
}
