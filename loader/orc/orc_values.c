/* orc_values.c: see orc_values.h. */
#include "loader/orc/orc_values.h"

#include "loader/orc/orc_runs.h"
#include "storage/base/calendar.h"
#include "storage/base/double_key.h"
#include "storage/base/zone/zone.h"
#include "storage/codec/bytes/orc_rle.h"

#include <stdlib.h>
#include <string.h>

/* What the rooms of columnar_values are for. */
enum { ROOM_NULLS, ROOM_BYTES, ROOM_NUMBERS, ROOM_SECOND, ROOM_TEXTS, ROOM_WIDE };

/* Seconds from 1970 to 2015, from which timestamps count. */
#define TIMESTAMP_EPOCH 1420070400

/* Seconds farther away than this, 36 billion years, are no times. */
#define SECONDS_MOST (INT64_MAX / 8)

struct decoding {
    const struct columnar_place *place;
    const struct orc_type *type;
    const struct orc_column_encoding *encoding;
    const struct columnar_streams *streams;
    const char *timezone;
    uint64_t most;
    struct columnar_values *values;
    struct error *error;
};

/* Gives memory without keeping what was in it. */
static enum status take(const struct decoding *decoding, uint32_t which, uint64_t bytes, void *pointer)
{
    if (bytes > decoding->most)
        return columnar_too_large(decoding->error, decoding->place, "its values take", bytes, decoding->most);
    return columnar_values_take(decoding->values, which, bytes, pointer, decoding->error);
}

static enum status ends_early(const struct decoding *decoding, enum orc_stream_kind kind)
{
    return columnar_damaged(decoding->error, decoding->place,
                            "its stream %s does not have the values of %u rows", orc_stream_name(kind),
                            decoding->values->rows);
}

static bool is_version_2(const struct decoding *decoding)
{
    return decoding->encoding->kind == ORC_DIRECT_V2 || decoding->encoding->kind == ORC_DICTIONARY_V2;
}

/* Decodes `count` integers of 64 bits. */
static enum status integers(const struct decoding *decoding, enum orc_stream_kind kind, bool is_signed,
                            uint32_t count, int64_t *numbers)
{
    const struct columnar_stream *const stream = &decoding->streams->streams[kind];
    const struct orc_item item = {.bytes = 8, .is_signed = is_signed};
    size_t used;
    if (count == 0)
        return STATUS_OK;
    const bool right = is_version_2(decoding)
                           ? orc_rle2_decode(stream->bytes, stream->count, item, numbers, count, &used)
                           : orc_rle1_decode(stream->bytes, stream->count, item, numbers, count, &used);
    return right ? STATUS_OK : ends_early(decoding, kind);
}

static enum status bytes(const struct decoding *decoding, enum orc_stream_kind kind, uint64_t count,
                         uint8_t *out)
{
    const struct columnar_stream *const stream = &decoding->streams->streams[kind];
    return orc_bytes_decode(stream->bytes, stream->count, out, count) ? STATUS_OK
                                                                      : ends_early(decoding, kind);
}

/* ---- NULLs ---- */

static enum status nulls(const struct decoding *decoding)
{
    struct columnar_values *const values = decoding->values;
    const uint64_t bit_bytes = ((uint64_t)values->rows + 7) / 8;
    uint8_t *bits, *spread;
    values->count = values->rows;
    values->nulls = NULL;
    if (!decoding->streams->streams[ORC_PRESENT].count)
        return STATUS_OK;
    RETURN_IF_ERROR(take(decoding, ROOM_BYTES, bit_bytes, &bits));
    RETURN_IF_ERROR(take(decoding, ROOM_NULLS, values->rows, &spread));
    RETURN_IF_ERROR(bytes(decoding, ORC_PRESENT, bit_bytes, bits));
    values->count -= (uint32_t)orc_bits_spread(bits, values->rows, 1, spread);
    values->nulls = values->count < values->rows ? spread : NULL;
    return STATUS_OK;
}

/* ---- Kinds ---- */

static enum status numbers(const struct decoding *decoding)
{
    int64_t *into;
    RETURN_IF_ERROR(take(decoding, ROOM_NUMBERS, 8ull * decoding->values->count, &into));
    decoding->values->numbers = into;
    return integers(decoding, ORC_DATA, true, decoding->values->count, into);
}

/* Bytes, or bits, as numbers. */
static enum status small_numbers(const struct decoding *decoding, bool bits)
{
    struct columnar_values *const values = decoding->values;
    const uint64_t in_bytes = bits ? ((uint64_t)values->count + 7) / 8 : values->count;
    int64_t *into;
    uint8_t *small;
    RETURN_IF_ERROR(take(decoding, ROOM_NUMBERS, 8ull * values->count, &into));
    RETURN_IF_ERROR(take(decoding, ROOM_BYTES, in_bytes, &small));
    RETURN_IF_ERROR(bytes(decoding, ORC_DATA, in_bytes, small));
    values->numbers = into;
    for (uint32_t i = 0; i < values->count; i++)
        into[i] = bits ? small[i / 8] >> (7 - i % 8) & 1 : (int8_t)small[i];
    return STATUS_OK;
}

/* Floating-point numbers of 4 or 8 bytes. */
static enum status doubles(const struct decoding *decoding, bool narrow)
{
    struct columnar_values *const values = decoding->values;
    const struct columnar_stream *const stream = &decoding->streams->streams[ORC_DATA];
    int64_t *into;
    RETURN_IF_ERROR(take(decoding, ROOM_NUMBERS, 8ull * values->count, &into));
    if (stream->count / (narrow ? 4 : 8) < values->count)
        return ends_early(decoding, ORC_DATA);
    for (uint32_t i = 0; i < values->count; i++) {
        float less;
        double number;
        if (narrow)
            memcpy(&less, stream->bytes + 4ull * i, sizeof less);
        else
            memcpy(&number, stream->bytes + 8ull * i, sizeof number);
        into[i] = double_key_of(narrow ? (double)less : number);
    }
    values->numbers = into;
    return STATUS_OK;
}

/* The lowest 3 bits of stored nanoseconds, if they are not 0, are one less than the number of zeros that were cut off
 * their end. Times before 1970 come in two ways, which are read as ORC's own readers read them. Most writers round the
 * second to zero if the nanoseconds exceed a millisecond; Arrow writes negative nanoseconds. (The first way is ambiguous
 * in the second before 1970, where every reader is wrong by a second.) */
static enum status decode_timestamps(const struct decoding *decoding, const struct zone *zone)
{
    static const int64_t tens[] = {1, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    struct columnar_values *const values = decoding->values;
    const int64_t epoch = TIMESTAMP_EPOCH - zone_offset(zone, TIMESTAMP_EPOCH);
    int64_t *seconds, *parts;
    RETURN_IF_ERROR(take(decoding, ROOM_NUMBERS, 8ull * values->count, &seconds));
    RETURN_IF_ERROR(take(decoding, ROOM_SECOND, 8ull * values->count, &parts));
    RETURN_IF_ERROR(integers(decoding, ORC_DATA, true, values->count, seconds));
    RETURN_IF_ERROR(integers(decoding, ORC_SECONDARY, false, values->count, parts));
    for (uint32_t i = 0; i < values->count; i++) {
        const int64_t stored = parts[i] >> 3, ten = tens[parts[i] & 7];
        if (stored > 999999999 / ten || stored < -999999999 / ten || seconds[i] > SECONDS_MOST ||
            seconds[i] < -SECONDS_MOST)
            return columnar_damaged(decoding->error, decoding->place, "value %u is no time", i + 1);
        seconds[i] += epoch;
        seconds[i] += zone_offset(zone, seconds[i]);
        parts[i] = stored * ten;
        seconds[i] -= (seconds[i] < 0 && parts[i] > 999999) || parts[i] < 0;
        parts[i] += parts[i] < 0 ? 1000000000 : 0;
    }
    values->numbers = seconds;
    values->nanoseconds = parts;
    return STATUS_OK;
}

/* Timestamps without a zone are shown as the clock of the writer's zone did. */
static enum status timestamps(const struct decoding *decoding)
{
    const struct zone *zone;
    struct error why;
    const bool local = decoding->type->kind == ORC_TIMESTAMP;
    const enum status status = zone_find(local ? decoding->timezone : "", &zone, &why);
    if (status == STATUS_OK)
        return decode_timestamps(decoding, zone);
    char text[COLUMNAR_PLACE_BYTES];
    columnar_place_text(decoding->place, text);
    return error_set(decoding->error, status, "%s: %s", text, why.text);
}

/* ---- Decimals ---- */

/* Reads a signed number in base 128, least digit first. False if the stream ends, or the number has more than 128
 * bits. */
static bool read_wide(const uint8_t **at, const uint8_t *end, __int128 *number)
{
    unsigned __int128 coded = 0;
    for (unsigned shift = 0;; shift += 7) {
        if (*at == end || shift > 126)
            return false;
        const uint8_t byte = *(*at)++;
        coded |= (unsigned __int128)(byte & 127) << shift;
        if (byte < 128)
            break;
    }
    *number = (__int128)(coded >> 1) ^ -(__int128)(coded & 1);
    return true;
}

/* Brings a number of another scale to that of the type; decimals that the type does not have are cut. */
static __int128 rescale(__int128 number, int64_t from, int64_t to)
{
    for (; from > to && number; from--)
        number /= 10;
    for (; from < to && number; from++)
        if (__builtin_mul_overflow(number, 10, &number))
            return number < 0 ? -((__int128)1 << 126) : (__int128)1 << 126; /* out of any column's range */
    return number;
}

static enum status decimals(const struct decoding *decoding)
{
    struct columnar_values *const values = decoding->values;
    const struct columnar_stream *const stream = &decoding->streams->streams[ORC_DATA];
    const uint8_t *at = stream->bytes, *const end = at + stream->count;
    int64_t *into, *scales;
    __int128 *wide = NULL;
    RETURN_IF_ERROR(take(decoding, ROOM_NUMBERS, 8ull * values->count, &into));
    RETURN_IF_ERROR(take(decoding, ROOM_SECOND, 8ull * values->count, &scales));
    RETURN_IF_ERROR(integers(decoding, ORC_SECONDARY, true, values->count, scales));
    for (uint32_t i = 0; i < values->count; i++) {
        __int128 number;
        if (!read_wide(&at, end, &number))
            return ends_early(decoding, ORC_DATA);
        if (scales[i] != decoding->type->scale)
            number = rescale(number, scales[i], decoding->type->scale);
        if (!wide && number != (int64_t)number) {
            RETURN_IF_ERROR(take(decoding, ROOM_WIDE, 16ull * values->count, &wide));
            for (uint32_t before = 0; before < i; before++)
                wide[before] = into[before];
        }
        if (wide)
            wide[i] = number;
        else
            into[i] = (int64_t)number;
    }
    values->numbers = into;
    values->wide = wide;
    return STATUS_OK;
}

/* ---- Text ---- */

static const char no_text[COLUMNAR_SPARE_BYTES];

_Static_assert(sizeof(struct text_field) == 2 * sizeof(int64_t), "lengths are in the second half of texts");

/* Decodes the lengths of `count` strings, whose text is in the stream `kind`. The lengths come into the second half of the
 * texts' memory: when text s is written, which ends at byte 16 s + 16, length s + 1 at byte 8 count + 8 s + 8 stays. */
static enum status strings(const struct decoding *decoding, enum orc_stream_kind kind, uint32_t count)
{
    struct columnar_values *const values = decoding->values;
    const struct columnar_stream *const stream = &decoding->streams->streams[kind];
    const char *const text = stream->bytes ? (const char *)stream->bytes : no_text;
    struct text_field *texts;
    uint64_t at = 0;
    RETURN_IF_ERROR(take(decoding, ROOM_TEXTS, sizeof *texts * (uint64_t)count, &texts));
    int64_t *const lengths = (int64_t *)(void *)texts + count;
    RETURN_IF_ERROR(integers(decoding, ORC_LENGTH, false, count, lengths));
    for (uint32_t s = 0; s < count; s++) {
        int64_t length;
        memcpy(&length, &lengths[s], sizeof length);
        if ((uint64_t)length > stream->count - at || length > INT32_MAX)
            return columnar_damaged(decoding->error, decoding->place,
                                    "string %u goes past the end of its stream %s", s + 1,
                                    orc_stream_name(kind));
        const struct text_field field = {text + at, (uint32_t)length};
        memcpy(&texts[s], &field, sizeof field);
        at += (uint64_t)length;
    }
    values->texts = texts;
    values->text_count = count;
    return STATUS_OK;
}

static enum status dictionary(const struct decoding *decoding)
{
    struct columnar_values *const values = decoding->values;
    const uint32_t entries = decoding->encoding->dictionary_size;
    int64_t *into;
    values->is_dictionary = true;
    RETURN_IF_ERROR(strings(decoding, ORC_DICTIONARY_DATA, entries));
    RETURN_IF_ERROR(take(decoding, ROOM_NUMBERS, 8ull * values->count, &into));
    RETURN_IF_ERROR(integers(decoding, ORC_DATA, false, values->count, into));
    for (uint32_t i = 0; i < values->count; i++)
        if ((uint64_t)into[i] >= entries)
            return columnar_damaged(decoding->error, decoding->place,
                                    "value %u is entry %llu of a dictionary of %u", i + 1,
                                    (unsigned long long)into[i], entries);
    values->numbers = into;
    return STATUS_OK;
}

static enum status text(const struct decoding *decoding)
{
    const bool is_dictionary =
        decoding->encoding->kind == ORC_DICTIONARY || decoding->encoding->kind == ORC_DICTIONARY_V2;
    return is_dictionary ? dictionary(decoding) : strings(decoding, ORC_DATA, decoding->values->count);
}

enum status orc_values_decode(const struct columnar_place *place, const struct orc_type *type,
                              const struct orc_column_encoding *encoding, const char *timezone,
                              const struct columnar_streams *streams, uint32_t rows, uint64_t most,
                              struct columnar_values *values, struct error *error)
{
    const struct decoding decoding = {.place = place,
                                      .type = type,
                                      .encoding = encoding,
                                      .streams = streams,
                                      .timezone = timezone,
                                      .most = most,
                                      .values = values,
                                      .error = error};
    columnar_values_begin(values, rows);
    if (encoding->kind >= ORC_ENCODINGS)
        return columnar_damaged(error, place, "its encoding has the unknown number %u", encoding->kind);
    RETURN_IF_ERROR(nulls(&decoding));
    switch (type->kind) {
    case ORC_BOOLEAN:
    case ORC_BYTE:
        return small_numbers(&decoding, type->kind == ORC_BOOLEAN);
    case ORC_SHORT:
    case ORC_INT:
    case ORC_LONG:
    case ORC_DATE:
        return numbers(&decoding);
    case ORC_FLOAT:
    case ORC_DOUBLE:
        return doubles(&decoding, type->kind == ORC_FLOAT);
    case ORC_TIMESTAMP:
    case ORC_TIMESTAMP_INSTANT:
        return timestamps(&decoding);
    case ORC_DECIMAL:
        return decimals(&decoding);
    case ORC_STRING:
    case ORC_VARCHAR:
    case ORC_CHAR:
        return text(&decoding);
    default:
        return columnar_damaged(error, place, "type %s has no values", orc_kind_name(type->kind));
    }
}
