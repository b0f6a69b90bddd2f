/* orc_file.c: the postscript, the footers, and the places of streams (orc_file.h). It is the only file that knows the
 * metadata as protocol buffers. */
#define _GNU_SOURCE
#include "loader/orc/orc_file.h"

#include "loader/orc/orc_streams.h"
#include "storage/base/double_key.h"
#include "storage/base/memory.h"

#include <orc.pb-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC           "ORC"
#define MAGIC_BYTES     3u
#define BLOCK_BYTES_MAX (1u << 23) /* a chunk's header has 23 bits for its length */

/* The memory that the decoded metadata may take. Two bytes of a hostile footer can become a struct of 100. */
#define DECODED_BYTES_MAX (1ull << 30)

/* Writers before this version had least and greatest strings in another order than that of bytes (HIVE-8732). */
#define ORDERED_TEXTS 1u

/* ---- Names ---- */

#define NAME_OF(names, number) ((number) < sizeof(names) / sizeof *(names) ? (names)[number] : "unknown")

const char *orc_kind_name(uint32_t kind)
{
    static const char *const names[] = {"boolean",
                                        "tinyint",
                                        "smallint",
                                        "int",
                                        "bigint",
                                        "float",
                                        "double",
                                        "string",
                                        "binary",
                                        "timestamp",
                                        "list",
                                        "map",
                                        "struct",
                                        "union",
                                        "decimal",
                                        "date",
                                        "varchar",
                                        "char",
                                        "timestamp with local time zone"};
    return NAME_OF(names, kind);
}

const char *orc_compression_name(uint32_t compression)
{
    static const char *const names[] = {"none", "zlib", "snappy", "lzo", "lz4", "zstd"};
    return NAME_OF(names, compression);
}

void orc_type_text(const struct orc_type *type, char text[COLUMNAR_TYPE_BYTES])
{
    const char *const name = orc_kind_name(type->kind);
    if (type->kind == ORC_DECIMAL)
        snprintf(text, COLUMNAR_TYPE_BYTES, "%s(%u,%u)", name, type->precision, type->scale);
    else if (type->kind == ORC_VARCHAR || type->kind == ORC_CHAR)
        snprintf(text, COLUMNAR_TYPE_BYTES, "%s(%u)", name, type->maximum_length);
    else
        snprintf(text, COLUMNAR_TYPE_BYTES, "%s", name);
}

const char *orc_encoding_name(uint32_t encoding)
{
    static const char *const names[] = {"DIRECT", "DICTIONARY", "DIRECT_V2", "DICTIONARY_V2"};
    return NAME_OF(names, encoding);
}

const char *orc_stream_name(uint32_t kind)
{
    static const char *const names[] = {"PRESENT",          "DATA",      "LENGTH",    "DICTIONARY_DATA",
                                        "DICTIONARY_COUNT", "SECONDARY", "ROW_INDEX", "BLOOM_FILTER",
                                        "BLOOM_FILTER_UTF8"};
    return NAME_OF(names, kind);
}

enum byte_scheme orc_file_scheme(const struct orc_file *file)
{
    static const enum byte_scheme schemes[ORC_COMPRESSIONS] = {[ORC_NONE] = BYTE_STORED,
                                                               [ORC_ZLIB] = BYTE_DEFLATE,
                                                               [ORC_SNAPPY] = BYTE_SNAPPY,
                                                               [ORC_LZ4] = BYTE_LZ4,
                                                               [ORC_ZSTD] = BYTE_ZSTD};
    return schemes[file->compression];
}

/* ---- Protocol buffers ---- */

struct decoded_memory {
    uint64_t bytes;
    bool missing; /* the machine has no more; else what cannot be decoded is wrong or too large */
};

static void *decoded_take(void *context, size_t bytes)
{
    struct decoded_memory *const memory = context;
    memory->bytes += bytes + 16;
    if (memory->bytes > DECODED_BYTES_MAX)
        return NULL;
    void *const taken = malloc(bytes);
    memory->missing |= !taken;
    return taken;
}

static enum status no_footer(const struct columnar_place *place, const struct decoded_memory *memory,
                             struct error *error)
{
    return memory->missing ? error_out_of_memory(error, memory->bytes, "a footer of an ORC file")
                           : columnar_damaged(error, place, "its footer cannot be understood");
}

static void decoded_free(void *context, void *memory)
{
    (void)context;
    free(memory);
}

/* ---- The postscript ---- */

static enum status take_postscript(struct orc_file *file, const Orc__PostScript *postscript, uint64_t room,
                                   struct error *error)
{
    const struct columnar_place place = {.file = &file->base, .part = COLUMNAR_WHOLE_FILE};
    const uint64_t block = postscript->has_compression_block_size ? postscript->compression_block_size : 0;
    file->compression = (enum orc_compression)postscript->compression;
    file->footer_bytes = postscript->footer_length;
    file->metadata_bytes = postscript->metadata_length;
    file->writer_version = postscript->writer_version;
    file->block_bytes = (uint32_t)block;
    for (size_t v = 0; v < 2 && v < postscript->n_version; v++)
        file->version[v] = postscript->version[v];
    if (postscript->compression >= ORC_COMPRESSIONS || postscript->compression == ORC_LZO)
        return error_set(error, STATUS_BAD_INPUT,
                         "%s: its compression (%s, number %u) cannot be read; write it with none, zlib, "
                         "snappy, lz4 or zstd",
                         file->base.path, orc_compression_name(postscript->compression),
                         postscript->compression);
    if (file->version[0] > 0 || file->version[1] > 12)
        return error_set(error, STATUS_BAD_INPUT,
                         "%s: its format's version is %u.%u, and this program reads 0.11 and 0.12",
                         file->base.path, file->version[0], file->version[1]);
    if (file->compression != ORC_NONE && (block == 0 || block > BLOCK_BYTES_MAX))
        return columnar_damaged(error, &place, "its compression block has %llu bytes",
                                (unsigned long long)block);
    if (file->footer_bytes > room)
        return columnar_damaged(error, &place, "its footer has %llu bytes where %llu are left",
                                (unsigned long long)file->footer_bytes, (unsigned long long)room);
    return STATUS_OK;
}

/* Reads the postscript; *end gets where the footer ends. */
static enum status read_postscript(struct orc_file *file, int descriptor, uint64_t *end, struct error *error)
{
    uint8_t tail[256] = {0}, head[MAGIC_BYTES] = {0};
    const uint64_t bytes = file->base.size < sizeof tail ? file->base.size : sizeof tail;
    RETURN_IF_ERROR(
        columnar_file_bytes(&file->base, descriptor, file->base.size - bytes, bytes, tail, error));
    RETURN_IF_ERROR(columnar_file_bytes(&file->base, descriptor, 0,
                                        file->base.size < MAGIC_BYTES ? 0 : MAGIC_BYTES, head, error));
    const uint32_t length = bytes ? tail[bytes - 1] : 0;
    struct decoded_memory memory = {0};
    ProtobufCAllocator allocator = {decoded_take, decoded_free, &memory};
    Orc__PostScript *const postscript =
        length && length < bytes && memcmp(head, MAGIC, MAGIC_BYTES) == 0
            ? orc__post_script__unpack(&allocator, length, tail + bytes - 1 - length)
            : NULL;
    if (memory.missing)
        return error_out_of_memory(error, memory.bytes, "the end of an ORC file");
    if (!postscript || (postscript->magic && strcmp(postscript->magic, MAGIC) != 0)) {
        if (postscript)
            orc__post_script__free_unpacked(postscript, &allocator);
        return error_set(
            error, STATUS_BAD_INPUT,
            "%s: is no ORC file, or is not whole: it does not begin and end as one; write or copy it again",
            file->base.path);
    }
    *end = file->base.size - 1 - length;
    const enum status status = take_postscript(file, postscript, *end, error);
    orc__post_script__free_unpacked(postscript, &allocator);
    return status;
}

/* ---- The footer ---- */

static enum status take_stripes(struct orc_file *file, const Orc__Footer *footer, uint64_t end,
                                struct error *error)
{
    RETURN_IF_ERROR(
        memory_zeros(&file->stripes, (footer->n_stripes + 1) * sizeof *file->stripes, "stripes", error));
    RETURN_IF_ERROR(memory_zeros(&file->base.parts, (footer->n_stripes + 1) * sizeof *file->base.parts,
                                 "stripes", error));
    for (size_t s = 0; s < footer->n_stripes; s++) {
        const Orc__StripeInformation *const from = footer->stripes[s];
        struct orc_stripe *const stripe = &file->stripes[s];
        const struct columnar_place place = {.file = &file->base, .part = (uint32_t)s};
        *stripe = (struct orc_stripe){.offset = from->offset,
                                      .index_bytes = from->index_length,
                                      .data_bytes = from->data_length,
                                      .footer_bytes = from->footer_length};
        file->base.parts[s] =
            (struct columnar_part){.first_row = file->base.rows, .rows = from->number_of_rows};
        uint64_t left = end;
        bool inside = true;
        for (size_t part = 0; part < 4; part++) {
            const uint64_t bytes[] = {stripe->offset, stripe->index_bytes, stripe->data_bytes,
                                      stripe->footer_bytes};
            inside &= bytes[part] <= left;
            left -= inside ? bytes[part] : 0;
        }
        if (!inside)
            return columnar_damaged(error, &place, "it goes past the end of the file");
        if (from->number_of_rows > INT32_MAX)
            return error_set(error, STATUS_BAD_INPUT,
                             "%s, stripe %zu: it has %llu rows; this program reads stripes of up to %d",
                             file->base.path, s + 1, (unsigned long long)from->number_of_rows, INT32_MAX);
        file->base.rows += from->number_of_rows;
        file->base.part_count++;
    }
    return STATUS_OK;
}

static enum status take_type(struct orc_file *file, const Orc__Footer *footer, uint32_t t,
                             struct error *error)
{
    const struct columnar_place place = {.file = &file->base, .part = COLUMNAR_WHOLE_FILE};
    const Orc__Type *const from = footer->types[t];
    struct orc_type *const type = &file->types[t];
    type->kind = from->kind;
    type->precision = from->precision;
    type->scale = from->scale;
    type->maximum_length = from->maximum_length;
    if (type->kind == ORC_DECIMAL && (type->precision > 38 || type->scale > 38))
        return columnar_damaged(error, &place, "type %u is a decimal of %u digits, %u after the point", t,
                                type->precision, type->scale);
    RETURN_IF_ERROR(
        memory_take(&type->children, (from->n_subtypes + 1) * sizeof *type->children, "types", error));
    if (type->kind == ORC_STRUCT && from->n_field_names != from->n_subtypes)
        return columnar_damaged(error, &place, "type %u has %zu names for %zu fields", t, from->n_field_names,
                                from->n_subtypes);
    for (size_t c = 0; c < from->n_subtypes; c++) {
        const uint32_t child = from->subtypes[c];
        if (child <= t || child >= footer->n_types || file->types[child].name)
            return columnar_damaged(error, &place, "type %u has type %u in it", t, child);
        file->types[child].name = strdup(c < from->n_field_names ? from->field_names[c] : "");
        if (!file->types[child].name)
            return error_out_of_memory(error, 64, "a name");
        type->children[type->child_count++] = child;
    }
    return STATUS_OK;
}

static enum status take_footer(struct orc_file *file, const Orc__Footer *footer, uint64_t end,
                               struct error *error)
{
    const struct columnar_place place = {.file = &file->base, .part = COLUMNAR_WHOLE_FILE};
    file->writer = footer->writer;
    file->row_index_stride = footer->row_index_stride;
    file->base.encrypted = footer->encryption != NULL;
    file->software = strdup(footer->software_version ? footer->software_version : "");
    if (!file->software)
        return error_out_of_memory(error, 64, "a name");
    if (footer->n_types == 0 || footer->types[0]->kind != ORC_STRUCT || footer->n_types > INT32_MAX ||
        footer->n_stripes > INT32_MAX)
        return columnar_damaged(error, &place, "its root is no struct of columns");
    RETURN_IF_ERROR(memory_zeros(&file->types, footer->n_types * sizeof *file->types, "types", error));
    file->type_count = (uint32_t)footer->n_types;
    for (uint32_t t = 0; t < file->type_count; t++)
        RETURN_IF_ERROR(take_type(file, footer, t, error));
    RETURN_IF_ERROR(take_stripes(file, footer, end, error));
    if (file->base.rows != footer->number_of_rows)
        return columnar_damaged(error, &place, "its footer says %llu rows, its stripes have %llu",
                                (unsigned long long)footer->number_of_rows,
                                (unsigned long long)file->base.rows);
    return STATUS_OK;
}

/* ---- Statistics ---- */

/* Reads those of stripes, which stand before the footer. A file without right ones is read as one that has none. */
static enum status read_statistics(struct orc_file *file, int descriptor, uint64_t end, struct error *error)
{
    const struct columnar_place place = {.file = &file->base, .part = COLUMNAR_WHOLE_FILE};
    struct columnar_stream bytes = {0};
    struct decoded_memory memory = {0};
    ProtobufCAllocator allocator = {decoded_take, decoded_free, &memory};
    struct error own;
    if (file->metadata_bytes == 0 || file->metadata_bytes > end)
        return STATUS_OK;
    const enum status status =
        orc_metadata_read(&place, descriptor, end - file->metadata_bytes, file->metadata_bytes, &bytes, &own);
    if (status == STATUS_OK)
        file->statistics = orc__metadata__unpack(&allocator, bytes.count, bytes.bytes);
    columnar_stream_free(&bytes);
    if (memory.missing)
        return error_out_of_memory(error, memory.bytes, "a footer of an ORC file");
    if (status == STATUS_OK || status == STATUS_BAD_INPUT)
        return STATUS_OK;
    if (error)
        *error = own;
    return status;
}

static void set_texts(const struct orc_file *file, const Orc__StringStatistics *from,
                      struct orc_statistics *statistics)
{
    const ProtobufCBinaryData least = from->has_minimum ? from->minimum : from->lower_bound,
                              greatest = from->has_maximum ? from->maximum : from->upper_bound;
    statistics->known = (from->has_minimum || from->has_lower_bound) &&
                        (from->has_maximum || from->has_upper_bound) && least.len <= INT32_MAX &&
                        greatest.len <= INT32_MAX && file->writer_version >= ORDERED_TEXTS;
    statistics->texts[0] =
        (struct text_field){least.len ? (const char *)least.data : "", (uint32_t)least.len};
    statistics->texts[1] =
        (struct text_field){greatest.len ? (const char *)greatest.data : "", (uint32_t)greatest.len};
}

static void set_ends(struct orc_statistics *statistics, bool known, int64_t least, int64_t greatest)
{
    statistics->known = known;
    statistics->ends[0] = least;
    statistics->ends[1] = greatest;
}

void orc_statistics_find(const struct orc_file *file, uint32_t stripe, uint32_t type,
                         struct orc_statistics *statistics)
{
    const Orc__Metadata *const all = file->statistics;
    *statistics = (struct orc_statistics){.values = UINT64_MAX};
    if (!all || stripe >= all->n_stripes || type >= all->stripes[stripe]->n_columns)
        return;
    const Orc__ColumnStatistics *const from = all->stripes[stripe]->columns[type];
    const Orc__IntegerStatistics *const whole = from->int_statistics;
    const Orc__DoubleStatistics *const real = from->double_statistics;
    const Orc__DateStatistics *const day = from->date_statistics;
    statistics->values = from->has_number_of_values ? from->number_of_values : UINT64_MAX;
    switch (file->types[type].kind) {
    case ORC_BYTE:
    case ORC_SHORT:
    case ORC_INT:
    case ORC_LONG:
        if (whole)
            set_ends(statistics, whole->has_minimum && whole->has_maximum, whole->minimum, whole->maximum);
        break;
    case ORC_FLOAT:
    case ORC_DOUBLE:
        if (real)
            set_ends(statistics,
                     real->has_minimum && real->has_maximum && real->minimum == real->minimum &&
                         real->maximum == real->maximum,
                     double_key_of(real->minimum), double_key_of(real->maximum));
        break;
    case ORC_DATE:
        if (day)
            set_ends(statistics, day->has_minimum && day->has_maximum, day->minimum, day->maximum);
        break;
    case ORC_STRING:
    case ORC_VARCHAR: /* of char it is not said whether blanks count */
        if (from->string_statistics)
            set_texts(file, from->string_statistics, statistics);
        break;
    default:
        break;
    }
}

/* ---- The whole file ---- */

enum status orc_file_read(struct orc_file *file, int descriptor, struct error *error)
{
    const struct columnar_place place = {.file = &file->base, .part = COLUMNAR_WHOLE_FILE};
    struct columnar_stream bytes = {0};
    struct decoded_memory memory = {0};
    ProtobufCAllocator allocator = {decoded_take, decoded_free, &memory};
    uint64_t end = 0;
    RETURN_IF_ERROR(read_postscript(file, descriptor, &end, error));
    enum status status =
        orc_metadata_read(&place, descriptor, end - file->footer_bytes, file->footer_bytes, &bytes, error);
    if (status == STATUS_OK) {
        Orc__Footer *const footer = orc__footer__unpack(&allocator, bytes.count, bytes.bytes);
        status = footer ? take_footer(file, footer, end - file->footer_bytes, error)
                        : no_footer(&place, &memory, error);
        if (footer)
            orc__footer__free_unpacked(footer, &allocator);
    }
    columnar_stream_free(&bytes);
    return AND_THEN(status, read_statistics(file, descriptor, end - file->footer_bytes, error));
}

void orc_file_free(struct orc_file *file)
{
    ProtobufCAllocator allocator = {decoded_take, decoded_free, NULL};
    if (file->statistics)
        orc__metadata__free_unpacked(file->statistics, &allocator);
    for (uint32_t t = 0; t < file->type_count; t++) {
        free(file->types[t].children);
        free(file->types[t].name);
    }
    free(file->types);
    free(file->stripes);
    free(file->software);
}

/* ---- Stripe footers ---- */

static enum status take_stripe_footer(const struct columnar_place *place, const Orc__StripeFooter *from,
                                      struct orc_stripe_footer *footer, struct error *error)
{
    const struct orc_file *const file = orc_file_of(place->file);
    const struct orc_stripe *const stripe = &file->stripes[place->part];
    const uint64_t room = stripe->index_bytes + stripe->data_bytes;
    uint64_t at = 0;
    RETURN_IF_ERROR(
        memory_zeros(&footer->streams, (from->n_streams + 1) * sizeof *footer->streams, "streams", error));
    RETURN_IF_ERROR(
        memory_zeros(&footer->encodings, file->type_count * sizeof *footer->encodings, "encodings", error));
    footer->timezone = strdup(from->writer_timezone ? from->writer_timezone : "");
    if (!footer->timezone)
        return error_out_of_memory(error, 64, "a name");
    if (from->n_columns != file->type_count)
        return columnar_damaged(error, place, "its footer has the encodings of %zu columns, not of %u",
                                from->n_columns, file->type_count);
    for (size_t c = 0; c < from->n_columns; c++)
        footer->encodings[c] =
            (struct orc_column_encoding){from->columns[c]->kind, from->columns[c]->dictionary_size};
    for (size_t s = 0; s < from->n_streams; s++) {
        const Orc__Stream *const stream = from->streams[s];
        if (stream->length > room - at || stream->column >= file->type_count)
            return columnar_damaged(error, place, "its stream %zu, of column %u, goes past its end", s + 1,
                                    stream->column);
        footer->streams[footer->stream_count++] = (struct orc_stream){.kind = stream->kind,
                                                                      .column = stream->column,
                                                                      .offset = stripe->offset + at,
                                                                      .bytes = stream->length};
        at += stream->length;
    }
    return STATUS_OK;
}

enum status orc_stripe_footer_read(const struct orc_file *file, int descriptor, uint32_t stripe,
                                   struct orc_stripe_footer *footer, struct error *error)
{
    const struct columnar_place place = {.file = &file->base, .part = stripe};
    const struct orc_stripe *const where = &file->stripes[stripe];
    struct columnar_stream bytes = {0};
    struct decoded_memory memory = {0};
    ProtobufCAllocator allocator = {decoded_take, decoded_free, &memory};
    *footer = (struct orc_stripe_footer){0};
    enum status status =
        orc_metadata_read(&place, descriptor, where->offset + where->index_bytes + where->data_bytes,
                          where->footer_bytes, &bytes, error);
    if (status == STATUS_OK) {
        Orc__StripeFooter *const decoded = orc__stripe_footer__unpack(&allocator, bytes.count, bytes.bytes);
        status =
            decoded ? take_stripe_footer(&place, decoded, footer, error) : no_footer(&place, &memory, error);
        if (decoded)
            orc__stripe_footer__free_unpacked(decoded, &allocator);
    }
    columnar_stream_free(&bytes);
    return status;
}

void orc_stripe_footer_free(struct orc_stripe_footer *footer)
{
    free(footer->streams);
    free(footer->encodings);
    free(footer->timezone);
    *footer = (struct orc_stripe_footer){0};
}
