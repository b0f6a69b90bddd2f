/* parquet_runs.c: see parquet_runs.h. */
#include "loader/parquet/parquet_runs.h"

#include <string.h>

static bool base_128(struct parquet_bytes *bytes, uint64_t *number)
{
    *number = 0;
    for (unsigned shift = 0; shift < 64 && bytes->at < bytes->end; shift += 7) {
        const uint8_t digit = *bytes->at++;
        *number |= (uint64_t)(digit & 127) << shift;
        if (digit < 128)
            return true;
    }
    return false;
}

static bool zigzag(struct parquet_bytes *bytes, uint64_t *number)
{
    const bool right = base_128(bytes, number);
    *number = *number >> 1 ^ (0 - (*number & 1));
    return right;
}

static uint64_t load_8(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* ---- Runs ---- */

/* Unpacks values of up to 32 bits. Reads up to 8 bytes past the last one. */
static void unpack(const uint8_t *in, uint32_t width, uint32_t count, uint32_t *out)
{
    const uint64_t mask = (1ull << width) - 1;
    if (width == 8 || width == 16) {
        for (uint32_t i = 0; i < count; i++)
            out[i] = width == 8 ? in[i] : in[2 * i] | (uint32_t)in[2 * i + 1] << 8;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t bit = (uint64_t)i * width;
        out[i] = (uint32_t)(load_8(in + bit / 8) >> bit % 8 & mask);
    }
}

/* The value of a run in (width + 7) / 8 bytes. */
static bool run_value(struct parquet_bytes *bytes, uint32_t width, uint32_t *value)
{
    const uint32_t size = (width + 7) / 8;
    *value = 0;
    if (parquet_bytes_left(bytes) < size)
        return false;
    for (uint32_t b = 0; b < size; b++)
        *value |= (uint32_t)*bytes->at++ << 8 * b;
    return true;
}

/* The next run's header; *packed: its values are packed, else *value is all of them. *length: of values, at most `most`.
 * The bytes of packed values are checked, and not skipped. */
static bool run_next(struct parquet_bytes *bytes, uint32_t width, uint32_t most, bool *packed,
                     uint32_t *length, uint32_t *value)
{
    uint64_t header;
    if (!base_128(bytes, &header))
        return false;
    *packed = header & 1;
    header >>= 1;
    if (!*packed) {
        *length = header < most ? (uint32_t)header : most;
        return run_value(bytes, width, value);
    }
    *length = header < (most + 7ull) / 8 ? (uint32_t)header * 8 : most;
    *length = *length < most ? *length : most;
    return ((uint64_t)*length * width + 7) / 8 <= parquet_bytes_left(bytes);
}

/* Skips packed values: whole groups of 8, of which the last ones may be missing at the end. */
static void packed_skip(struct parquet_bytes *bytes, uint32_t width, uint32_t length)
{
    const uint64_t size = ((uint64_t)length + 7) / 8 * width, left = parquet_bytes_left(bytes);
    bytes->at += size < left ? size : left;
}

bool parquet_runs_decode(struct parquet_bytes *bytes, uint32_t width, uint32_t count, uint32_t *out)
{
    if (width > 32)
        return false;
    for (uint32_t done = 0, length = 0, value = 0; done < count; done += length) {
        bool packed = false;
        if (!run_next(bytes, width, count - done, &packed, &length, &value))
            return false;
        if (packed) {
            unpack(bytes->at, width, length, out + done);
            packed_skip(bytes, width, length);
        } else {
            for (uint32_t i = 0; i < length; i++)
                out[done + i] = value;
        }
    }
    return true;
}

bool parquet_runs_all_one(const struct parquet_bytes *bytes, uint32_t count)
{
    struct parquet_bytes copy = *bytes;
    uint32_t length = 0, value = 0;
    bool packed;
    return run_next(&copy, 1, count, &packed, &length, &value) && !packed && value == 1 && length == count;
}

/* Makes a byte of each bit, from the lowest one on: 1 if it is 0. Returns the number of them. */
static uint32_t spread(const uint8_t *bits, uint32_t count, uint8_t *out)
{
    uint32_t at = 0, zeros = 0;
    for (; at + 8 <= count; at += 8) {
        /* Eight copies of the byte; copy i keeps bit i, and its highest bit tells whether that is set. */
        const uint64_t copies = bits[at / 8] * 0x0101010101010101ull & 0x8040201008040201ull;
        const uint64_t ones = (copies + 0x7f7f7f7f7f7f7f7full) >> 7 & 0x0101010101010101ull;
        const uint64_t bytes = ones ^ 0x0101010101010101ull;
        memcpy(out + at, &bytes, sizeof bytes);
        zeros += (uint32_t)__builtin_popcountll(bytes);
    }
    for (; at < count; at++) {
        out[at] = !(bits[at / 8] >> at % 8 & 1);
        zeros += out[at];
    }
    return zeros;
}

static bool old_levels(struct parquet_bytes *bytes, uint32_t count, uint8_t *out, uint32_t *nulls)
{
    const uint64_t size = ((uint64_t)count + 7) / 8;
    if (size > parquet_bytes_left(bytes))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        out[i] = !(bytes->at[i / 8] >> (7 - i % 8) & 1);
        *nulls += out[i];
    }
    bytes->at += size;
    return true;
}

bool parquet_levels_decode(struct parquet_bytes *bytes, bool old, uint32_t count, uint8_t *out,
                           uint32_t *nulls)
{
    if (old)
        return old_levels(bytes, count, out, nulls);
    for (uint32_t done = 0, length = 0, value = 0; done < count; done += length) {
        bool packed = false;
        if (!run_next(bytes, 1, count - done, &packed, &length, &value) || (!packed && value > 1))
            return false;
        if (packed) {
            *nulls += spread(bytes->at, length, out + done);
            packed_skip(bytes, 1, length);
        } else {
            memset(out + done, !value, length);
            *nulls += value ? 0 : length;
        }
    }
    return true;
}

bool parquet_bits_decode(struct parquet_bytes *bytes, uint32_t count, int64_t *out)
{
    const uint64_t size = ((uint64_t)count + 7) / 8;
    if (size > parquet_bytes_left(bytes))
        return false;
    for (uint32_t i = 0; i < count; i++)
        out[i] = bytes->at[i / 8] >> i % 8 & 1;
    bytes->at += size;
    return true;
}

/* ---- Deltas ---- */

struct deltas {
    uint64_t block, miniblocks; /* values of a block; miniblocks of a block */
    uint64_t last;              /* the value before the next one */
    bool narrow;
};

/* Adds up `count` deltas of one miniblock. */
static void add_up(struct deltas *deltas, const uint8_t *in, uint32_t width, uint64_t least, uint32_t count,
                   int64_t *out)
{
    const uint64_t mask = width == 64 ? UINT64_MAX : (1ull << width) - 1;
    uint64_t last = deltas->last;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t bit = (uint64_t)i * width, shift = bit % 8;
        uint64_t delta = load_8(in + bit / 8) >> shift;
        if (width + shift > 64)
            delta |= (uint64_t)in[bit / 8 + 8] << (64 - shift);
        last += least + (delta & mask);
        out[i] = deltas->narrow ? (int32_t)last : (int64_t)last;
    }
    deltas->last = last;
}

/* Decodes a block of up to `count` values. The widths of miniblocks without values stand there, their bytes do not. */
static bool block_decode(struct parquet_bytes *bytes, struct deltas *deltas, uint32_t count, int64_t *out)
{
    const uint64_t values = deltas->block / deltas->miniblocks;
    uint64_t least;
    if (!zigzag(bytes, &least) || parquet_bytes_left(bytes) < deltas->miniblocks)
        return false;
    const uint8_t *const width = bytes->at;
    bytes->at += deltas->miniblocks;
    for (uint64_t m = 0; count && m < deltas->miniblocks; m++) {
        const uint32_t here = values < count ? (uint32_t)values : count;
        const uint64_t left = parquet_bytes_left(bytes), whole = values / 8 * width[m];
        if (width[m] > 64 || ((uint64_t)here * width[m] + 7) / 8 > left)
            return false;
        add_up(deltas, bytes->at, width[m], least, here, out);
        bytes->at += whole < left ? whole : left;
        count -= here;
        out += here;
    }
    return true;
}

bool parquet_deltas_decode(struct parquet_bytes *bytes, bool narrow, uint32_t count, int64_t *out)
{
    struct deltas deltas = {.narrow = narrow};
    uint64_t total;
    if (!base_128(bytes, &deltas.block) || !base_128(bytes, &deltas.miniblocks) || !base_128(bytes, &total) ||
        !zigzag(bytes, &deltas.last))
        return false;
    if (total != count || deltas.block == 0 || deltas.block > INT32_MAX || deltas.miniblocks == 0 ||
        deltas.block % deltas.miniblocks || deltas.block / deltas.miniblocks % 8)
        return false;
    if (count)
        out[0] = narrow ? (int32_t)deltas.last : (int64_t)deltas.last;
    for (uint32_t done = 1; done < count;) {
        const uint32_t left = count - done, here = deltas.block < left ? (uint32_t)deltas.block : left;
        if (!block_decode(bytes, &deltas, here, out + done))
            return false;
        done += here;
    }
    return true;
}
