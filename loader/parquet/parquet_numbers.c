/* parquet_numbers.c: numbers of all physical types, as what they mean (parquet_values.h). */
#include "loader/parquet/parquet_values.h"

#include "storage/base/calendar.h"
#include "storage/base/double_key.h"

#include <string.h>

#define JULIAN_1970 2440588 /* the number of the day 1970-01-01 */
#define NANOSECONDS 1000000000
#define INT96_BYTES 12u

static bool has_nanoseconds(const struct parquet_leaf *leaf)
{
    return leaf->meaning == PARQUET_NANOS || leaf->meaning == PARQUET_JULIAN;
}

static bool may_be_wide(const struct parquet_leaf *leaf)
{
    return (leaf->meaning == PARQUET_UNSIGNED && leaf->physical == PARQUET_INT64) ||
           (leaf->meaning == PARQUET_DECIMAL &&
            (leaf->physical == PARQUET_BYTES || (leaf->physical == PARQUET_FIXED && leaf->length > 8)));
}

static enum status take_arrays(const struct parquet_decoding *decoding, uint32_t count, bool entries,
                               struct parquet_numbers *into)
{
    RETURN_IF_ERROR(parquet_take(decoding, entries ? PARQUET_ROOM_ENTRIES : PARQUET_ROOM_NUMBERS,
                                 8ull * count, &into->numbers));
    if (has_nanoseconds(decoding->leaf))
        RETURN_IF_ERROR(parquet_take(decoding,
                                     entries ? PARQUET_ROOM_ENTRY_NANOSECONDS : PARQUET_ROOM_NANOSECONDS,
                                     8ull * count, &into->nanoseconds));
    if (may_be_wide(decoding->leaf))
        RETURN_IF_ERROR(parquet_take(decoding, entries ? PARQUET_ROOM_ENTRY_WIDE : PARQUET_ROOM_WIDE,
                                     16ull * count, &into->wide));
    return STATUS_OK;
}

enum status parquet_numbers_begin(struct parquet_decoding *decoding)
{
    return take_arrays(decoding, decoding->values->rows, false, &decoding->into);
}

static struct parquet_numbers numbers_at(const struct parquet_numbers *numbers, uint32_t at)
{
    return (struct parquet_numbers){numbers->numbers + at,
                                    numbers->nanoseconds ? numbers->nanoseconds + at : NULL,
                                    numbers->wide ? numbers->wide + at : NULL};
}

uint32_t parquet_width_of(const struct parquet_leaf *leaf)
{
    static const uint32_t widths[PARQUET_PHYSICALS] = {0, 4, 8, INT96_BYTES, 4, 8, 0, 0};
    return leaf->physical == PARQUET_FIXED ? leaf->length : widths[leaf->physical];
}

/* ---- Decimals of bytes ---- */

/* A signed number, the greatest byte first; one beyond 128 bits becomes one beyond any column's range. */
static __int128 big_number(const uint8_t *bytes, uint32_t length)
{
    const uint8_t fill = length && bytes[0] & 128 ? 255 : 0;
    unsigned __int128 number = fill ? ~(unsigned __int128)0 : 0;
    bool beyond = false;
    for (uint32_t b = 0; b < length; b++) {
        beyond |= length - b > 16 && bytes[b] != fill;
        number = number << 8 | bytes[b];
    }
    beyond |= length > 16 && (bytes[length - 16] & 128) != (fill & 128);
    return !beyond ? (__int128)number : fill ? -((__int128)1 << 126) : (__int128)1 << 126;
}

static void put_wide(struct parquet_decoding *decoding, const struct parquet_numbers *into, uint32_t at,
                     __int128 number)
{
    into->numbers[at] = (int64_t)number;
    if (into->wide)
        into->wide[at] = number;
    decoding->any_wide |= number != (int64_t)number;
}

static void fixed_decimals(struct parquet_decoding *decoding, const uint8_t *bytes, uint32_t count,
                           const struct parquet_numbers *into)
{
    const uint32_t length = decoding->leaf->length;
    if (length > 8) {
        for (uint32_t i = 0; i < count; i++)
            put_wide(decoding, into, i, big_number(bytes + (uint64_t)i * length, length));
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t word; /* COLUMNAR_SPARE_BYTES */
        memcpy(&word, bytes + (uint64_t)i * length, sizeof word);
        into->numbers[i] = (int64_t)__builtin_bswap64(word) >> (64 - 8 * length);
    }
}

/* Decimals of bytes in encodings of bytes. */
static enum status field_decimals(struct parquet_decoding *decoding, uint32_t encoding,
                                  struct parquet_bytes *bytes, uint32_t count,
                                  const struct parquet_numbers *into)
{
    struct text_field *fields;
    RETURN_IF_ERROR(parquet_take(decoding, PARQUET_ROOM_TEXTS, sizeof *fields * (uint64_t)count, &fields));
    RETURN_IF_ERROR(parquet_fields_decode(decoding, encoding, bytes, count, fields));
    for (uint32_t i = 0; i < count; i++) {
        if (decoding->leaf->physical == PARQUET_FIXED && fields[i].length != decoding->leaf->length)
            return parquet_page_damaged(decoding, "has values of other lengths than the schema says");
        put_wide(decoding, into, i, big_number((const uint8_t *)fields[i].text, fields[i].length));
    }
    return STATUS_OK;
}

/* ---- Values side by side ---- */

static void int32s(const uint8_t *bytes, uint32_t count, int64_t *out)
{
    for (uint32_t i = 0; i < count; i++) {
        int32_t number;
        memcpy(&number, bytes + 4ull * i, sizeof number);
        out[i] = number;
    }
}

static void reals(const uint8_t *bytes, uint32_t count, bool narrow, int64_t *out)
{
    for (uint32_t i = 0; i < count; i++) {
        float less = 0;
        double number = 0;
        if (narrow)
            memcpy(&less, bytes + 4ull * i, sizeof less);
        else
            memcpy(&number, bytes + 8ull * i, sizeof number);
        out[i] = double_key_of(narrow ? (double)less : number);
    }
}

static void julian_days(const uint8_t *bytes, uint32_t count, const struct parquet_numbers *into)
{
    for (uint32_t i = 0; i < count; i++) {
        int64_t nanoseconds;
        int32_t day;
        memcpy(&nanoseconds, bytes + (uint64_t)INT96_BYTES * i, sizeof nanoseconds);
        memcpy(&day, bytes + (uint64_t)INT96_BYTES * i + 8, sizeof day);
        const int64_t second = calendar_floor(nanoseconds, NANOSECONDS);
        into->numbers[i] = ((int64_t)day - JULIAN_1970) * 86400 + second;
        into->nanoseconds[i] = nanoseconds - second * NANOSECONDS;
    }
}

/* Decodes values of one width from their bytes, which are there. */
static void plain_values(struct parquet_decoding *decoding, const uint8_t *bytes, uint32_t count,
                         const struct parquet_numbers *into)
{
    switch (decoding->leaf->physical) {
    case PARQUET_INT32:
        int32s(bytes, count, into->numbers);
        break;
    case PARQUET_INT64:
        memcpy(into->numbers, bytes, 8ull * count);
        break;
    case PARQUET_FLOAT:
    case PARQUET_DOUBLE:
        reals(bytes, count, decoding->leaf->physical == PARQUET_FLOAT, into->numbers);
        break;
    case PARQUET_INT96:
        julian_days(bytes, count, into);
        break;
    default:
        fixed_decimals(decoding, bytes, count, into);
    }
}

/* Makes decoded numbers what they mean. */
static void settle(struct parquet_decoding *decoding, uint32_t count, const struct parquet_numbers *into)
{
    int64_t *const numbers = into->numbers;
    if (decoding->leaf->meaning == PARQUET_NANOS)
        for (uint32_t i = 0; i < count; i++) {
            const int64_t second = calendar_floor(numbers[i], NANOSECONDS);
            into->nanoseconds[i] = numbers[i] - second * NANOSECONDS;
            numbers[i] = second;
        }
    if (decoding->leaf->meaning != PARQUET_UNSIGNED)
        return;
    for (uint32_t i = 0; i < count; i++)
        if (into->wide)
            put_wide(decoding, into, i, (__int128)(uint64_t)numbers[i]);
        else
            numbers[i] = (uint32_t)numbers[i];
}

/* ---- Encodings ---- */

static enum status plain(struct parquet_decoding *decoding, struct parquet_bytes *bytes, uint32_t count,
                         const struct parquet_numbers *into)
{
    const uint64_t needed = (uint64_t)parquet_width_of(decoding->leaf) * count;
    if (decoding->leaf->physical == PARQUET_BYTES)
        return field_decimals(decoding, PARQUET_PLAIN, bytes, count, into);
    if (decoding->leaf->physical == PARQUET_BOOLEAN)
        return parquet_bits_decode(bytes, count, into->numbers)
                   ? STATUS_OK
                   : parquet_page_damaged(decoding, "ends before its last value");
    if (needed > parquet_bytes_left(bytes))
        return parquet_page_damaged(decoding, "ends before its last value");
    plain_values(decoding, bytes->at, count, into);
    return STATUS_OK;
}

/* Puts the bytes of each value side by side again. */
static enum status split(struct parquet_decoding *decoding, struct parquet_bytes *bytes, uint32_t count,
                         const struct parquet_numbers *into)
{
    const uint32_t width = parquet_width_of(decoding->leaf);
    uint8_t *together;
    if (width == 0 || decoding->leaf->physical == PARQUET_INT96)
        return parquet_page_damaged(decoding, "has an encoding that is not for its type");
    if ((uint64_t)width * count > parquet_bytes_left(bytes))
        return parquet_page_damaged(decoding, "ends before its last value");
    RETURN_IF_ERROR(parquet_take(decoding, PARQUET_ROOM_BYTES, (uint64_t)width * count, &together));
    for (uint32_t b = 0; b < width; b++)
        for (uint32_t i = 0; i < count; i++)
            together[(uint64_t)i * width + b] = bytes->at[(uint64_t)b * count + i];
    plain_values(decoding, together, count, into);
    return STATUS_OK;
}

static enum status deltas(struct parquet_decoding *decoding, struct parquet_bytes *bytes, uint32_t count,
                          const struct parquet_numbers *into)
{
    const bool narrow = decoding->leaf->physical == PARQUET_INT32;
    if (!narrow && decoding->leaf->physical != PARQUET_INT64)
        return parquet_page_damaged(decoding, "has an encoding that is not for its type");
    return parquet_deltas_decode(bytes, narrow, count, into->numbers)
               ? STATUS_OK
               : parquet_page_damaged(decoding, "does not have the deltas of its values");
}

/* Truth values as runs, which have their length before them. */
static enum status runs(struct parquet_decoding *decoding, struct parquet_bytes *bytes, uint32_t count,
                        const struct parquet_numbers *into)
{
    uint32_t *bits;
    if (decoding->leaf->physical != PARQUET_BOOLEAN)
        return parquet_page_damaged(decoding, "has an encoding that is not for its type");
    RETURN_IF_ERROR(parquet_take(decoding, PARQUET_ROOM_INDICES, 4ull * count, &bits));
    bytes->at += parquet_bytes_left(bytes) < 4 ? parquet_bytes_left(bytes) : 4;
    if (!parquet_runs_decode(bytes, 1, count, bits))
        return parquet_page_damaged(decoding, "ends before its last value");
    for (uint32_t i = 0; i < count; i++)
        into->numbers[i] = bits[i] & 1;
    return STATUS_OK;
}

static enum status gather(const struct parquet_decoding *decoding, struct parquet_bytes *bytes,
                          uint32_t count, const struct parquet_numbers *into)
{
    const struct parquet_numbers *const from = &decoding->entries;
    const uint32_t *indices;
    RETURN_IF_ERROR(parquet_indices_decode(decoding, bytes, count, &indices));
    for (uint32_t i = 0; i < count; i++)
        into->numbers[i] = from->numbers[indices[i]];
    for (uint32_t i = 0; into->nanoseconds && i < count; i++)
        into->nanoseconds[i] = from->nanoseconds[indices[i]];
    for (uint32_t i = 0; into->wide && i < count; i++)
        into->wide[i] = from->wide[indices[i]];
    return STATUS_OK;
}

enum status parquet_numbers_dictionary(struct parquet_decoding *decoding, struct parquet_bytes *bytes)
{
    const uint32_t count = decoding->entry_count;
    if (count > 8 * parquet_bytes_left(bytes)) /* a bit each, at least */
        return parquet_page_damaged(decoding, "ends before its last value");
    RETURN_IF_ERROR(take_arrays(decoding, count, true, &decoding->entries));
    RETURN_IF_ERROR(plain(decoding, bytes, count, &decoding->entries));
    settle(decoding, count, &decoding->entries);
    return STATUS_OK;
}

enum status parquet_numbers_page(struct parquet_decoding *decoding, uint32_t encoding,
                                 struct parquet_bytes *bytes, uint32_t count)
{
    const struct parquet_numbers into = numbers_at(&decoding->into, decoding->done);
    enum status status;
    switch (encoding) {
    case PARQUET_DICTIONARY:
    case PARQUET_PLAIN_DICTIONARY:
        return gather(decoding, bytes, count, &into);
    case PARQUET_PLAIN:
        status = plain(decoding, bytes, count, &into);
        break;
    case PARQUET_RLE:
        status = runs(decoding, bytes, count, &into);
        break;
    case PARQUET_DELTA_NUMBERS:
        status = deltas(decoding, bytes, count, &into);
        break;
    case PARQUET_BYTE_STREAM_SPLIT:
        status = split(decoding, bytes, count, &into);
        break;
    case PARQUET_DELTA_LENGTHS:
    case PARQUET_DELTA_STRINGS:
        status = decoding->leaf->meaning == PARQUET_DECIMAL && decoding->leaf->physical >= PARQUET_BYTES
                     ? field_decimals(decoding, encoding, bytes, count, &into)
                     : parquet_page_damaged(decoding, "has an encoding that is not for its type");
        break;
    default:
        return parquet_page_damaged(decoding, "has an unknown encoding");
    }
    RETURN_IF_ERROR(status);
    settle(decoding, count, &into);
    return STATUS_OK;
}
