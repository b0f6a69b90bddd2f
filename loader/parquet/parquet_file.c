/* parquet_file.c: the footer of a Parquet file (parquet_file.h). */
#define _GNU_SOURCE
#include "loader/parquet/parquet_file.h"

#include "loader/parquet/thrift.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define TAIL_BYTES 8u /* the footer's length and the magic bytes */

/* A footer of 10,000 row groups of 100 columns has about 100 MB; its decoded form may take as much. */
#define FOOTER_BYTES_MAX  (256u << 20)
#define DECODED_BYTES_MAX (1ull << 30)

/* ---- Names ---- */

const char *parquet_codec_name(uint32_t codec)
{
    static const char *const names[] = {"none", "snappy", "gzip", "lzo", "brotli", "lz4", "zstd", "lz4_raw"};
    return codec < PARQUET_CODECS ? names[codec] : "unknown";
}

const char *parquet_encoding_name(uint32_t encoding)
{
    static const char *const names[PARQUET_ENCODINGS] = {"PLAIN",
                                                         NULL,
                                                         "PLAIN_DICTIONARY",
                                                         "RLE",
                                                         "BIT_PACKED",
                                                         "DELTA_BINARY_PACKED",
                                                         "DELTA_LENGTH_BYTE_ARRAY",
                                                         "DELTA_BYTE_ARRAY",
                                                         "RLE_DICTIONARY",
                                                         "BYTE_STREAM_SPLIT"};
    return encoding < PARQUET_ENCODINGS && names[encoding] ? names[encoding] : "unknown";
}

/* ---- Row groups ---- */

struct footer {
    struct parquet_file *file;
    struct thrift thrift;
    int64_t rows, version;
    bool encrypted;
    struct error *error;
};

static uint32_t read_encodings(struct thrift *thrift, const struct thrift_field *field)
{
    struct thrift_field item;
    uint32_t count, encodings = 0;
    thrift_list(thrift, field, &item, &count);
    for (uint32_t e = 0; e < count && !thrift->bad; e++) {
        const int64_t encoding = thrift_number(thrift, &item);
        encodings |= encoding >= 0 && encoding < 32 ? 1u << encoding : 0;
    }
    return encodings;
}

/* The newer fields go before the older ones. */
static void read_statistics(struct thrift *thrift, const struct thrift_field *outer,
                            struct parquet_statistics *statistics)
{
    const char *ends[2][2] = {{NULL}}; /* of the older fields, and of the newer ones: greatest, least */
    uint32_t bytes[2][2] = {{0}};
    statistics->nulls = -1;
    thrift_struct(thrift, outer);
    for (struct thrift_field field = {0}; thrift_next(thrift, &field);) {
        const bool newer = field.id == 5 || field.id == 6;
        if (newer || field.id == 1 || field.id == 2)
            ends[newer][field.id % 2 == 0] = thrift_binary(thrift, &field, &bytes[newer][field.id % 2 == 0]);
        else if (field.id == 3)
            statistics->nulls = thrift_number(thrift, &field);
        else
            thrift_skip(thrift, &field);
    }
    const bool newer = ends[1][0] && ends[1][1];
    statistics->old = !newer;
    statistics->greatest = ends[newer][0];
    statistics->greatest_bytes = bytes[newer][0];
    statistics->least = ends[newer][1];
    statistics->least_bytes = bytes[newer][1];
}

/* Reads a chunk's own metadata. A dictionary, if there is one, comes first; some writers say 0 if there is none. */
static void read_chunk_metadata(struct thrift *thrift, const struct thrift_field *outer,
                                struct parquet_chunk *chunk, int64_t *physical)
{
    int64_t data = 0, dictionary = 0;
    thrift_struct(thrift, outer);
    for (struct thrift_field field = {0}; thrift_next(thrift, &field);) {
        switch (field.id) {
        case 1:
            *physical = thrift_number(thrift, &field);
            break;
        case 2:
            chunk->encodings = read_encodings(thrift, &field);
            break;
        case 4:
            chunk->codec = (uint32_t)thrift_number(thrift, &field);
            break;
        case 6:
            chunk->plain_bytes = (uint64_t)thrift_number(thrift, &field);
            break;
        case 7:
            chunk->bytes = (uint64_t)thrift_number(thrift, &field);
            break;
        case 9:
            data = thrift_number(thrift, &field);
            break;
        case 11:
            dictionary = thrift_number(thrift, &field);
            break;
        case 12:
            read_statistics(thrift, &field, &chunk->statistics);
            break;
        default:
            thrift_skip(thrift, &field);
        }
    }
    chunk->offset = (uint64_t)(dictionary > 0 && dictionary < data ? dictionary : data);
}

static enum status read_chunk(struct footer *footer, const struct thrift_field *outer, uint32_t group,
                              uint32_t leaf)
{
    struct parquet_file *const file = footer->file;
    struct thrift *const thrift = &footer->thrift;
    struct parquet_chunk *const chunk = parquet_chunk_of(file, group, leaf);
    const struct columnar_place place = {&file->base, group, file->leaves[leaf].name};
    int64_t physical = -1;
    uint32_t length;
    bool encrypted = false;
    chunk->statistics.nulls = -1;
    thrift_struct(thrift, outer);
    for (struct thrift_field field = {0}; thrift_next(thrift, &field);) {
        if (field.id == 1) {
            thrift_binary(thrift, &field, &length);
            chunk->elsewhere = length > 0;
        } else if (field.id == 3) {
            read_chunk_metadata(thrift, &field, chunk, &physical);
        } else {
            encrypted |= field.id == 8 || field.id == 9;
            thrift_skip(thrift, &field);
        }
    }
    footer->encrypted |= encrypted;
    if (thrift->bad || encrypted)
        return STATUS_OK;
    if (physical != file->leaves[leaf].physical)
        return columnar_damaged(footer->error, &place, "its values have another type than the schema says");
    if (!chunk->elsewhere &&
        (chunk->offset > file->base.size || chunk->bytes > file->base.size - chunk->offset))
        return columnar_damaged(footer->error, &place, "it goes past the end of the file");
    return STATUS_OK;
}

static enum status read_group(struct footer *footer, const struct thrift_field *outer, uint32_t group)
{
    struct parquet_file *const file = footer->file;
    struct thrift *const thrift = &footer->thrift;
    const struct columnar_place place = {.file = &file->base, .part = group};
    struct thrift_field item;
    uint32_t count = 0;
    int64_t rows = -1;
    thrift_struct(thrift, outer);
    for (struct thrift_field field = {0}; thrift_next(thrift, &field);) {
        if (field.id == 3) {
            rows = thrift_number(thrift, &field);
        } else if (field.id == 1 && count == 0) {
            thrift_list(thrift, &field, &item, &count);
            if (!thrift->bad && count != file->leaf_count)
                return columnar_damaged(footer->error, &place, "it has %u columns instead of %u", count,
                                        file->leaf_count);
            for (uint32_t c = 0; c < count && !thrift->bad; c++)
                RETURN_IF_ERROR(read_chunk(footer, &item, group, c));
        } else {
            thrift_skip(thrift, &field);
        }
    }
    if (thrift->bad)
        return STATUS_OK;
    if (count != file->leaf_count || rows < 0)
        return columnar_damaged(footer->error, &place, "it does not say its rows or columns");
    if (rows > INT32_MAX)
        return error_set(footer->error, STATUS_BAD_INPUT,
                         "%s, row group %u: it has %lld rows; this program reads groups of up to %d",
                         file->base.path, group + 1, (long long)rows, INT32_MAX);
    file->base.parts[group] = (struct columnar_part){.first_row = file->base.rows, .rows = (uint64_t)rows};
    file->base.rows += (uint64_t)rows;
    file->base.part_count++;
    return STATUS_OK;
}

static enum status read_groups(struct footer *footer, const struct thrift_field *field)
{
    struct parquet_file *const file = footer->file;
    struct thrift *const thrift = &footer->thrift;
    const struct columnar_place place = {.file = &file->base, .part = COLUMNAR_WHOLE_FILE};
    struct thrift_field item;
    uint32_t count;
    thrift_list(thrift, field, &item, &count);
    if (!file->leaves || file->base.parts)
        return columnar_damaged(footer->error, &place, "its row groups come before its schema, or twice");
    /* A group has a byte for each column at least, so a hostile count is not believed. */
    const uint64_t left = (uint64_t)(thrift->end - thrift->at), chunks = (uint64_t)count * file->leaf_count;
    if (thrift->bad || chunks > left || chunks * sizeof *file->chunks > DECODED_BYTES_MAX)
        return columnar_damaged(footer->error, &place, "its footer says that it has %u row groups", count);
    RETURN_IF_ERROR(memory_zeros(&file->base.parts, (count + 1ull) * sizeof *file->base.parts, "row groups",
                                 footer->error));
    RETURN_IF_ERROR(
        memory_zeros(&file->chunks, (chunks + 1) * sizeof *file->chunks, "row groups", footer->error));
    for (uint32_t g = 0; g < count && !thrift->bad; g++)
        RETURN_IF_ERROR(read_group(footer, &item, g));
    return STATUS_OK;
}

/* ---- The footer ---- */

static enum status read_software(struct footer *footer, const struct thrift_field *field)
{
    struct parquet_file *const file = footer->file;
    uint32_t length;
    const char *const text = thrift_binary(&footer->thrift, field, &length);
    free(file->software);
    file->software = strndup(text, length);
    return file->software ? STATUS_OK : error_out_of_memory(footer->error, length + 1ull, "a name");
}

/* By what order least and greatest values were found, of each leaf: a union, whose field 1 is that of the type. */
static void read_orders(struct footer *footer, const struct thrift_field *field)
{
    struct thrift *const thrift = &footer->thrift;
    struct thrift_field item;
    uint32_t count;
    thrift_list(thrift, field, &item, &count);
    for (uint32_t l = 0; l < count && !thrift->bad; l++) {
        thrift_struct(thrift, &item);
        for (struct thrift_field order = {0}; thrift_next(thrift, &order);) {
            if (l < footer->file->leaf_count)
                footer->file->leaves[l].ordered = order.id == 1;
            thrift_skip(thrift, &order);
        }
    }
}

static enum status read_fields(struct footer *footer)
{
    struct thrift *const thrift = &footer->thrift;
    for (struct thrift_field field = {0}; thrift_next(thrift, &field);) {
        enum status status = STATUS_OK;
        if (field.id == 1)
            footer->version = thrift_number(thrift, &field);
        else if (field.id == 2)
            status = parquet_schema_read(footer->file, thrift, &field, footer->error);
        else if (field.id == 3)
            footer->rows = thrift_number(thrift, &field);
        else if (field.id == 4)
            status = read_groups(footer, &field);
        else if (field.id == 6)
            status = read_software(footer, &field);
        else if (field.id == 7)
            read_orders(footer, &field);
        else
            thrift_skip(thrift, &field);
        footer->encrypted |= field.id == 8;
        RETURN_IF_ERROR(status);
    }
    return STATUS_OK;
}

static enum status take_footer(struct parquet_file *file, struct error *error)
{
    const struct columnar_place place = {.file = &file->base, .part = COLUMNAR_WHOLE_FILE};
    struct footer footer = {.file = file,
                            .thrift = {file->footer, file->footer + file->footer_bytes, false},
                            .rows = -1,
                            .error = error};
    RETURN_IF_ERROR(read_fields(&footer));
    if (footer.thrift.bad || !file->leaves)
        return columnar_damaged(error, &place, "its footer cannot be understood");
    if (footer.rows != (int64_t)file->base.rows)
        return columnar_damaged(error, &place, "its footer says %lld rows, its row groups have %llu",
                                (long long)footer.rows, (unsigned long long)file->base.rows);
    file->version = (uint32_t)footer.version;
    file->base.encrypted = footer.encrypted;
    if (!file->software)
        return memory_zeros(&file->software, 1, "a name", error);
    return STATUS_OK;
}

enum status parquet_file_read(struct parquet_file *file, int descriptor, struct error *error)
{
    uint8_t head[sizeof PARQUET_MAGIC - 1], tail[TAIL_BYTES];
    const uint64_t least = sizeof head + TAIL_BYTES, size = file->base.size;
    if (size >= least) {
        RETURN_IF_ERROR(columnar_file_bytes(&file->base, descriptor, 0, sizeof head, head, error));
        RETURN_IF_ERROR(
            columnar_file_bytes(&file->base, descriptor, size - TAIL_BYTES, TAIL_BYTES, tail, error));
    }
    if (size >= least && memcmp(tail + 4, "PARE", 4) == 0)
        return error_set(error, STATUS_BAD_INPUT, "%s: its footer is encrypted; write it without encryption",
                         file->base.path);
    if (size < least || memcmp(head, PARQUET_MAGIC, sizeof head) != 0 ||
        memcmp(tail + 4, PARQUET_MAGIC, sizeof head) != 0)
        return error_set(error, STATUS_BAD_INPUT,
                         "%s: is no Parquet file, or is not whole: it does not begin and end as one; write "
                         "or copy it again",
                         file->base.path);
    const struct columnar_place place = {.file = &file->base, .part = COLUMNAR_WHOLE_FILE};
    file->footer_bytes = tail[0] | (uint64_t)tail[1] << 8 | (uint64_t)tail[2] << 16 | (uint64_t)tail[3] << 24;
    if (file->footer_bytes > size - least || file->footer_bytes > FOOTER_BYTES_MAX)
        return columnar_damaged(error, &place, "its footer has %llu bytes where %llu are left",
                                (unsigned long long)file->footer_bytes, (unsigned long long)(size - least));
    RETURN_IF_ERROR(memory_take(&file->footer, file->footer_bytes, "a footer", error));
    RETURN_IF_ERROR(columnar_file_bytes(&file->base, descriptor, size - TAIL_BYTES - file->footer_bytes,
                                        file->footer_bytes, file->footer, error));
    return take_footer(file, error);
}

void parquet_file_free(struct parquet_file *file)
{
    for (uint32_t l = 0; l < file->leaf_count; l++)
        free(file->leaves[l].name);
    for (uint32_t i = 0; i < file->inner_count; i++)
        free(file->inner_names[i]);
    free(file->leaves);
    free(file->inner_names);
    free(file->chunks);
    free(file->footer);
    free(file->software);
}
