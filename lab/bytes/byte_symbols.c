/* byte_symbols.c: see byte_symbols.h. */
#include "lab/bytes/byte_symbols.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double byte_symbols_length(const struct byte_symbols *symbols)
{
    return (double)(symbols->run_length + symbols->literals) / (double)(symbols->runs + symbols->literals);
}

double byte_symbols_run(const struct byte_symbols *symbols)
{
    return (double)symbols->run_length / (double)symbols->runs;
}

/* ---- RLE v1 (storage/codec/bytes/orc_rle.h says which file draws it) ---- */

#define RUN_LEAST 3u

/* The end of a number in base 128. */
static const uint8_t *skip_number(const uint8_t *at, const uint8_t *end)
{
    while (at < end && *at >= 128)
        at++;
    return at < end ? at + 1 : end;
}

static void count_rle1(const uint8_t *at, uint32_t bytes, struct byte_symbols *symbols)
{
    const uint8_t *const end = at + bytes;
    while (at < end) {
        const uint32_t header = *at++;
        if (header < 128) {
            symbols->runs++;
            symbols->run_length += header + RUN_LEAST;
            at = skip_number(at < end ? at + 1 : end, end); /* after the delta */
            continue;
        }
        symbols->literals += 256 - header;
        for (uint32_t i = header; i < 256; i++)
            at = skip_number(at, end);
    }
}

/* ---- Deflate (RFC 1951): codes are read bit by bit ---- */

#define CODE_BITS 15u
#define LENGTHS   19u /* of the code of lengths */
#define LITERALS  288u
#define DISTANCES 32u
#define BLOCK_END 256u
#define LONGEST   258u

struct bits {
    const uint8_t *bytes;
    uint64_t at, count; /* in bits */
};

static uint32_t take_bits(struct bits *bits, uint32_t count)
{
    uint32_t value = 0;
    for (uint32_t i = 0; i < count; i++, bits->at++)
        if (bits->at < bits->count)
            value |= (uint32_t)(bits->bytes[bits->at / 8] >> bits->at % 8 & 1) << i;
    return value;
}

/* A code: how many symbols have each length, and the symbols in the order of their codes. */
struct code {
    uint16_t counts[CODE_BITS + 1], symbols[LITERALS];
};

static void code_make(const uint8_t *lengths, uint32_t count, struct code *code)
{
    uint16_t next[CODE_BITS + 2] = {0};
    memset(code->counts, 0, sizeof code->counts);
    for (uint32_t s = 0; s < count; s++)
        code->counts[lengths[s]]++;
    code->counts[0] = 0;
    for (uint32_t length = 1; length <= CODE_BITS; length++)
        next[length + 1] = (uint16_t)(next[length] + code->counts[length]);
    for (uint32_t s = 0; s < count; s++)
        if (lengths[s])
            code->symbols[next[lengths[s]]++] = (uint16_t)s;
}

/* Canonical decoding: codes of a length follow those of shorter ones. Past the end, or without such a code, BLOCK_END. */
static uint32_t take_symbol(struct bits *bits, const struct code *code)
{
    int32_t value = 0, first = 0, index = 0;
    for (uint32_t length = 1; length <= CODE_BITS && bits->at < bits->count; length++) {
        value |= (int32_t)take_bits(bits, 1);
        const int32_t count = code->counts[length];
        if (value >= first && value - first < count)
            return code->symbols[index + value - first];
        index += count;
        first = (first + count) << 1;
        value <<= 1;
    }
    bits->at = bits->count;
    return BLOCK_END;
}

static void fixed_codes(struct code *literal, struct code *distance)
{
    uint8_t lengths[LITERALS], fives[DISTANCES];
    for (uint32_t s = 0; s < LITERALS; s++)
        lengths[s] = s < 144 ? 8 : s < 256 ? 9 : s < 280 ? 7 : 8;
    memset(fives, 5, sizeof fives);
    code_make(lengths, LITERALS, literal);
    code_make(fives, DISTANCES, distance);
}

static void read_codes(struct bits *bits, struct code *literal, struct code *distance)
{
    static const uint8_t order[LENGTHS] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    uint8_t lengths[LITERALS + DISTANCES] = {0};
    const uint32_t literals = 257 + take_bits(bits, 5), distances = 1 + take_bits(bits, 5);
    const uint32_t count = 4 + take_bits(bits, 4);
    for (uint32_t i = 0; i < count; i++)
        lengths[order[i]] = (uint8_t)take_bits(bits, 3);
    struct code code;
    code_make(lengths, LENGTHS, &code);
    memset(lengths, 0, sizeof lengths);
    for (uint32_t i = 0; i < literals + distances && bits->at < bits->count;) {
        const uint32_t symbol = take_symbol(bits, &code);
        const uint8_t value = symbol < 16 ? (uint8_t)symbol : symbol == 16 && i ? lengths[i - 1] : 0;
        uint32_t repeat = symbol < 16    ? 1
                          : symbol == 16 ? 3 + take_bits(bits, 2)
                          : symbol == 17 ? 3 + take_bits(bits, 3)
                                         : 11 + take_bits(bits, 7);
        for (; repeat && i < literals + distances; repeat--)
            lengths[i++] = value;
    }
    code_make(lengths, literals < LITERALS ? literals : LITERALS, literal);
    code_make(lengths + literals, distances, distance);
}

/* The length of a copy, by its symbol 257 .. 285. */
static uint32_t take_length(struct bits *bits, uint32_t symbol)
{
    const uint32_t code = symbol - 257, extra = code < 8 ? 0 : code / 4 - 1;
    if (code >= 28)
        return LONGEST;
    return (code < 8 ? 3 + code : 3 + ((4 + code % 4) << extra)) + take_bits(bits, extra);
}

static void count_codes(struct bits *bits, const struct code *literal, const struct code *distance,
                        struct byte_symbols *symbols)
{
    for (uint32_t symbol; (symbol = take_symbol(bits, literal)) != BLOCK_END;) {
        if (symbol < BLOCK_END) {
            symbols->literals++;
            continue;
        }
        symbols->runs++;
        symbols->run_length += take_length(bits, symbol);
        const uint32_t code = take_symbol(bits, distance);
        take_bits(bits, code < 4 || code >= 30 ? 0 : code / 2 - 1);
    }
}

static void count_deflate(const uint8_t *bytes, uint32_t count, struct byte_symbols *symbols)
{
    struct bits bits = {.bytes = bytes, .count = (uint64_t)count * 8};
    bool last = false;
    while (!last && bits.at < bits.count) {
        struct code literal, distance;
        last = take_bits(&bits, 1);
        const uint32_t kind = take_bits(&bits, 2);
        if (kind == 0) {
            bits.at = (bits.at + 7) / 8 * 8;
            const uint32_t stored = take_bits(&bits, 16);
            symbols->literals += stored;
            bits.at += 16 + (uint64_t)stored * 8;
            continue;
        }
        if (kind == 1)
            fixed_codes(&literal, &distance);
        else
            read_codes(&bits, &literal, &distance);
        count_codes(&bits, &literal, &distance, symbols);
    }
}

/* ---- All blocks ---- */

struct counting {
    const struct byte_streams *streams;
    _Atomic uint64_t runs, run_length, literals;
};

static enum status count_block(void *context, uint64_t block, unsigned thread, struct error *error)
{
    struct counting *const counting = context;
    const struct byte_streams *const streams = counting->streams;
    struct byte_symbols symbols = {0};
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    (streams->format == BYTES_RLE1 ? count_rle1 : count_deflate)(streams->bytes + streams->starts[block],
                                                                 streams->lengths[block], &symbols);
    counting->runs += symbols.runs;
    counting->run_length += symbols.run_length;
    counting->literals += symbols.literals;
    return STATUS_OK;
}

enum status byte_symbols_count(struct lab *lab, const struct byte_streams *streams,
                               struct byte_symbols *symbols, struct error *error)
{
    struct counting counting = {.streams = streams};
    *symbols = (struct byte_symbols){0};
    if (streams->format == BYTES_RLE2)
        return STATUS_OK;
    RETURN_IF_ERROR(parallel_for(lab->threads, streams->block_count, count_block, &counting, error));
    *symbols = (struct byte_symbols){counting.runs, counting.run_length, counting.literals};
    return STATUS_OK;
}
