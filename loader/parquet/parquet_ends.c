/*
 * parquet_ends.c: the least and the greatest value of a chunk, as its footer has them (parquet_values.h).
 *
 * They are a page of two values in PLAIN, which is decoded as any other, but that texts have no lengths. Not all of them
 * are to be believed: the fields of old files were in an order that only signed numbers have, INT96 has none, and NaN is
 * no end. Texts may be cut: the least one is then less than all values, and the greatest one greater, which is enough.
 */
#include "loader/parquet/parquet_values.h"

#include "storage/base/double_key.h"

#include <string.h>

/* Longer numbers are no decimals that a column can have. */
#define NUMBER_BYTES_MAX 64u

#define ARRAYS_BYTES_MAX 1024u /* of two values in any form */

/* Whether the order by which the ends were found is that of values. */
static bool is_ordered(const struct parquet_leaf *leaf, const struct parquet_statistics *statistics)
{
    switch (leaf->meaning) {
    case PARQUET_TEXT: /* bytes without sign */
    case PARQUET_UNSIGNED:
        return leaf->ordered && !statistics->old;
    case PARQUET_DECIMAL:
        return statistics->old ? leaf->physical == PARQUET_INT32 || leaf->physical == PARQUET_INT64
                               : leaf->ordered;
    case PARQUET_TRUTH:
    case PARQUET_NUMBER:
    case PARQUET_REAL:
    case PARQUET_DATE:
    case PARQUET_MILLIS:
    case PARQUET_MICROS:
    case PARQUET_NANOS:
        return leaf->ordered || statistics->old;
    case PARQUET_JULIAN:
    case PARQUET_UUID:
    case PARQUET_NULLS:
    case PARQUET_NOTHING:
        break;
    }
    return false;
}

/* Writes a value as it stands in a page; 0: it is none of its type. */
static uint32_t put_number(const struct parquet_leaf *leaf, const char *bytes, uint32_t length, uint8_t *out)
{
    const uint32_t width = parquet_width_of(leaf);
    if (leaf->physical == PARQUET_BYTES) {
        memcpy(out, &length, sizeof length);
        out += sizeof length;
    } else if (length != width) {
        return 0;
    }
    if (length == 0 || length > NUMBER_BYTES_MAX)
        return 0;
    memcpy(out, bytes, length);
    return length + (leaf->physical == PARQUET_BYTES) * (uint32_t)sizeof length;
}

/* Truth values are bits of one byte. */
static uint32_t put_truths(const struct parquet_statistics *statistics, uint8_t *out)
{
    if (statistics->least_bytes != 1 || statistics->greatest_bytes != 1)
        return 0;
    *out = (uint8_t)((statistics->least[0] & 1) | (statistics->greatest[0] & 1) << 1);
    return 1;
}

static uint32_t put_both(const struct parquet_leaf *leaf, const struct parquet_statistics *statistics,
                         uint8_t *out)
{
    if (leaf->meaning == PARQUET_TRUTH)
        return put_truths(statistics, out);
    const uint32_t first = put_number(leaf, statistics->least, statistics->least_bytes, out),
                   second =
                       first ? put_number(leaf, statistics->greatest, statistics->greatest_bytes, out + first)
                             : 0;
    return second ? first + second : 0;
}

static enum status decode_numbers(struct parquet_decoding *decoding,
                                  const struct parquet_statistics *statistics)
{
    uint8_t page[2 * (NUMBER_BYTES_MAX + sizeof(uint32_t)) + COLUMNAR_SPARE_BYTES] = {0};
    struct columnar_values *const values = decoding->values;
    struct parquet_bytes bytes = {page, page};
    bytes.end += put_both(decoding->leaf, statistics, page);
    if (bytes.at == bytes.end)
        return STATUS_OK;
    RETURN_IF_ERROR(parquet_numbers_begin(decoding));
    RETURN_IF_ERROR(parquet_numbers_page(decoding, PARQUET_PLAIN, &bytes, 2));
    decoding->done = 2;
    parquet_values_give(decoding);
    if (decoding->leaf->meaning == PARQUET_REAL &&
        (values->numbers[0] == DOUBLE_KEY_NAN || values->numbers[1] == DOUBLE_KEY_NAN))
        values->count = 0;
    return STATUS_OK;
}

static enum status take_texts(struct parquet_decoding *decoding, const struct parquet_statistics *statistics)
{
    struct text_field *texts;
    RETURN_IF_ERROR(parquet_take(decoding, PARQUET_ROOM_TEXTS, 2 * sizeof *texts, &texts));
    texts[0] = (struct text_field){statistics->least, statistics->least_bytes};
    texts[1] = (struct text_field){statistics->greatest, statistics->greatest_bytes};
    decoding->values->texts = texts;
    decoding->values->text_count = decoding->values->count = 2;
    return STATUS_OK;
}

enum status parquet_ends_decode(const struct columnar_place *place, const struct parquet_leaf *leaf,
                                const struct parquet_chunk *chunk, struct columnar_values *values,
                                struct error *error)
{
    const struct parquet_statistics *const statistics = &chunk->statistics;
    struct parquet_decoding decoding = {
        .place = place, .leaf = leaf, .most = ARRAYS_BYTES_MAX, .values = values, .page = 1, .error = error};
    columnar_values_begin(values, 2);
    values->count = 0;
    if (!statistics->least || !statistics->greatest || !is_ordered(leaf, statistics))
        return STATUS_OK;
    return leaf->meaning == PARQUET_TEXT ? take_texts(&decoding, statistics)
                                         : decode_numbers(&decoding, statistics);
}
