/* parquet_text.c: texts, and other bytes, in all encodings (parquet_values.h). */
#include "loader/parquet/parquet_values.h"

#include <string.h>

/* ---- Fields ---- */

/* Memory for texts that are put together; it lasts as long as the values. */
static enum status take_block(const struct parquet_decoding *decoding, uint64_t bytes, char **memory)
{
    struct columnar_values *const values = decoding->values;
    if (bytes > decoding->most || values->block_bytes > decoding->most - bytes)
        return columnar_too_large(decoding->error, decoding->place, "its values take",
                                  bytes + values->block_bytes, decoding->most);
    return columnar_values_block(values, bytes, memory, decoding->error);
}

/* Fields with their length before them. */
static enum status plain(const struct parquet_decoding *decoding, struct parquet_bytes *bytes, uint32_t count,
                         struct text_field *fields)
{
    const uint8_t *at = bytes->at, *const end = bytes->end;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t length;
        if (end - at < (ptrdiff_t)sizeof length)
            return parquet_page_damaged(decoding, "ends before its last value");
        memcpy(&length, at, sizeof length);
        at += sizeof length;
        if (length > (uint64_t)(end - at) || length > INT32_MAX)
            return parquet_page_damaged(decoding, "has a value that goes past its end");
        fields[i] = (struct text_field){(const char *)at, length};
        at += length;
    }
    return STATUS_OK;
}

/* Fields of one length. */
static enum status fixed(const struct parquet_decoding *decoding, struct parquet_bytes *bytes, uint32_t count,
                         struct text_field *fields)
{
    const uint32_t length = decoding->leaf->length;
    if ((uint64_t)length * count > parquet_bytes_left(bytes))
        return parquet_page_damaged(decoding, "ends before its last value");
    for (uint32_t i = 0; i < count; i++)
        fields[i] = (struct text_field){(const char *)bytes->at + (uint64_t)i * length, length};
    return STATUS_OK;
}

static enum status read_lengths(const struct parquet_decoding *decoding, struct parquet_bytes *bytes,
                                enum parquet_room room, uint32_t count, int64_t **lengths)
{
    RETURN_IF_ERROR(parquet_take(decoding, room, 8ull * count, lengths));
    if (!parquet_deltas_decode(bytes, true, count, *lengths))
        return parquet_page_damaged(decoding, "does not have the lengths of its values");
    for (uint32_t i = 0; i < count; i++)
        if ((*lengths)[i] < 0)
            return parquet_page_damaged(decoding, "has a value of a negative length");
    return STATUS_OK;
}

static enum status delta_lengths(const struct parquet_decoding *decoding, struct parquet_bytes *bytes,
                                 uint32_t count, struct text_field *fields)
{
    int64_t *lengths;
    RETURN_IF_ERROR(read_lengths(decoding, bytes, PARQUET_ROOM_LENGTHS, count, &lengths));
    for (uint32_t i = 0; i < count; i++) {
        if ((uint64_t)lengths[i] > parquet_bytes_left(bytes))
            return parquet_page_damaged(decoding, "has a value that goes past its end");
        fields[i] = (struct text_field){(const char *)bytes->at, (uint32_t)lengths[i]};
        bytes->at += lengths[i];
    }
    return STATUS_OK;
}

/* Each value begins as the one before it in the page. They are put together in a block. */
static enum status delta_strings(const struct parquet_decoding *decoding, struct parquet_bytes *bytes,
                                 uint32_t count, struct text_field *fields)
{
    int64_t *prefixes;
    uint64_t all = 0;
    char *at;
    RETURN_IF_ERROR(read_lengths(decoding, bytes, PARQUET_ROOM_PREFIXES, count, &prefixes));
    RETURN_IF_ERROR(delta_lengths(decoding, bytes, count, fields));
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t before = i ? fields[i - 1].length + (uint64_t)prefixes[i - 1] : 0;
        if ((uint64_t)prefixes[i] > before || fields[i].length + (uint64_t)prefixes[i] > INT32_MAX)
            return parquet_page_damaged(decoding, "has a value that begins as more than the one before it");
        all += fields[i].length + (uint64_t)prefixes[i];
    }
    RETURN_IF_ERROR(take_block(decoding, all, &at));
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t prefix = (uint32_t)prefixes[i], suffix = fields[i].length;
        if (prefix)
            memcpy(at, fields[i - 1].text, prefix);
        memcpy(at + prefix, fields[i].text, suffix);
        fields[i] = (struct text_field){at, prefix + suffix};
        at += prefix + suffix;
    }
    return STATUS_OK;
}

enum status parquet_fields_decode(const struct parquet_decoding *decoding, uint32_t encoding,
                                  struct parquet_bytes *bytes, uint32_t count, struct text_field *fields)
{
    switch (encoding) {
    case PARQUET_PLAIN:
        return decoding->leaf->physical == PARQUET_FIXED ? fixed(decoding, bytes, count, fields)
                                                         : plain(decoding, bytes, count, fields);
    case PARQUET_DELTA_LENGTHS:
        return delta_lengths(decoding, bytes, count, fields);
    case PARQUET_DELTA_STRINGS:
        return delta_strings(decoding, bytes, count, fields);
    default:
        return parquet_page_damaged(decoding, "has an encoding that is not for its type");
    }
}

/* ---- Texts ---- */

#define UUID_TEXT_BYTES 36u

/* Writes the bytes of UUIDs as people know them, 123e4567-e89b-12d3-a456-426614174000, to a block. */
static enum status uuids_write(const struct parquet_decoding *decoding, uint32_t count,
                               struct text_field *fields)
{
    static const char digits[] = "0123456789abcdef";
    char *at;
    RETURN_IF_ERROR(take_block(decoding, (uint64_t)UUID_TEXT_BYTES * count, &at));
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *const from = (const uint8_t *)fields[i].text;
        if (fields[i].length != decoding->leaf->length)
            return parquet_page_damaged(decoding, "has values of other lengths than the schema says");
        fields[i] = (struct text_field){at, UUID_TEXT_BYTES};
        for (uint32_t b = 0; b < 16; b++) {
            if (b == 4 || b == 6 || b == 8 || b == 10)
                *at++ = '-';
            *at++ = digits[from[b] >> 4];
            *at++ = digits[from[b] & 15];
        }
    }
    return STATUS_OK;
}

/* Decodes texts in any encoding but a dictionary's. */
static enum status texts_decode(const struct parquet_decoding *decoding, uint32_t encoding,
                                struct parquet_bytes *bytes, uint32_t count, struct text_field *fields)
{
    RETURN_IF_ERROR(parquet_fields_decode(decoding, encoding, bytes, count, fields));
    return decoding->leaf->meaning == PARQUET_UUID ? uuids_write(decoding, count, fields) : STATUS_OK;
}

enum status parquet_text_dictionary(struct parquet_decoding *decoding, struct parquet_bytes *bytes)
{
    const uint32_t count = decoding->entry_count;
    if (count > parquet_bytes_left(bytes) / 4)
        return parquet_page_damaged(decoding, "ends before its last value");
    RETURN_IF_ERROR(parquet_take(decoding, PARQUET_ROOM_ENTRIES, sizeof(struct text_field) * (uint64_t)count,
                                 &decoding->entry_texts));
    RETURN_IF_ERROR(
        parquet_take(decoding, PARQUET_ROOM_NUMBERS, 8ull * decoding->values->rows, &decoding->into.numbers));
    return texts_decode(decoding, PARQUET_PLAIN, bytes, count, decoding->entry_texts);
}

/* Makes room for texts that are no entries of the dictionary: after the entries. */
static enum status texts_begin(struct parquet_decoding *decoding)
{
    const uint64_t left = decoding->values->rows - decoding->rows_done, all = decoding->entry_count + left;
    if (decoding->texts)
        return STATUS_OK;
    RETURN_IF_ERROR(
        parquet_take(decoding, PARQUET_ROOM_TEXTS, sizeof *decoding->texts * all, &decoding->texts));
    if (decoding->entry_count)
        memcpy(decoding->texts, decoding->entry_texts, sizeof *decoding->texts * decoding->entry_count);
    decoding->text_count = decoding->entry_count;
    return STATUS_OK;
}

enum status parquet_text_page(struct parquet_decoding *decoding, uint32_t encoding,
                              struct parquet_bytes *bytes, uint32_t count)
{
    int64_t *const into = decoding->into.numbers;
    const uint32_t *indices;
    if (encoding == PARQUET_DICTIONARY || encoding == PARQUET_PLAIN_DICTIONARY) {
        RETURN_IF_ERROR(parquet_indices_decode(decoding, bytes, count, &indices));
        for (uint32_t i = 0; i < count; i++)
            into[decoding->done + i] = indices[i];
        return STATUS_OK;
    }
    RETURN_IF_ERROR(texts_begin(decoding));
    RETURN_IF_ERROR(texts_decode(decoding, encoding, bytes, count, decoding->texts + decoding->text_count));
    for (uint32_t i = 0; decoding->has_dictionary && i < count; i++)
        into[decoding->done + i] = decoding->text_count + i;
    decoding->text_count += count;
    return STATUS_OK;
}
