/* parquet_page.c: see parquet_page.h. */
#include "loader/parquet/parquet_page.h"

#include "loader/parquet/thrift.h"

#include <libdeflate.h>
#include <string.h>

#define GZIP_HEAD_BYTES 10u
#define GZIP_TAIL_BYTES 8u

/* ---- Headers ---- */

struct header {
    int64_t kind, plain_bytes, bytes, values, encoding, level_encoding;
    int64_t definition_bytes, repetition_bytes; /* of v2 */
    bool has_crc, is_compressed;
    uint32_t crc;
};

/* Reads the struct of the page's own kind. Its first fields differ. */
static void read_kind(struct thrift *thrift, const struct thrift_field *outer, struct header *header)
{
    const bool v2 = outer->id == 8;
    thrift_struct(thrift, outer);
    for (struct thrift_field field = {0}; thrift_next(thrift, &field);) {
        if (field.id == 1)
            header->values = thrift_number(thrift, &field);
        else if (field.id == (v2 ? 4 : 2))
            header->encoding = thrift_number(thrift, &field);
        else if (outer->id == 5 && field.id == 3)
            header->level_encoding = thrift_number(thrift, &field);
        else if (v2 && field.id == 5)
            header->definition_bytes = thrift_number(thrift, &field);
        else if (v2 && field.id == 6)
            header->repetition_bytes = thrift_number(thrift, &field);
        else if (v2 && field.id == 7)
            header->is_compressed = thrift_truth(thrift, &field);
        else
            thrift_skip(thrift, &field);
    }
}

static void read_header(struct thrift *thrift, struct header *header)
{
    *header = (struct header){.kind = -1,
                              .plain_bytes = -1,
                              .bytes = -1,
                              .values = -1,
                              .encoding = -1,
                              .level_encoding = PARQUET_RLE,
                              .is_compressed = true};
    for (struct thrift_field field = {0}; thrift_next(thrift, &field);) {
        if (field.id == 1)
            header->kind = thrift_number(thrift, &field);
        else if (field.id == 2)
            header->plain_bytes = thrift_number(thrift, &field);
        else if (field.id == 3)
            header->bytes = thrift_number(thrift, &field);
        else if (field.id == 4) {
            header->has_crc = true;
            header->crc = (uint32_t)thrift_number(thrift, &field);
        } else if (field.id == 5 || field.id == 7 || field.id == 8)
            read_kind(thrift, &field, header);
        else
            thrift_skip(thrift, &field);
    }
}

static enum status damaged(const struct parquet_walk *walk, const char *what)
{
    return columnar_damaged(walk->error, walk->place, "page %u %s", walk->page + 1, what);
}

/* Reads the next page, whose bytes are as in the file. `check`: its checksum, if it has one, must be right. */
static enum status page_read(struct parquet_walk *walk, struct parquet_page *page, bool check)
{
    struct thrift thrift = {walk->at, walk->end, false};
    struct header header;
    read_header(&thrift, &header);
    const bool known = header.kind >= PARQUET_PAGE_DATA && header.kind <= PARQUET_PAGE_DATA_V2,
               index = header.kind == PARQUET_PAGE_INDEX;
    if (thrift.bad || !known || header.bytes < 0 || header.bytes > INT32_MAX || header.plain_bytes < 0 ||
        header.plain_bytes > INT32_MAX || header.values > INT32_MAX ||
        (!index && (header.values < 0 || header.encoding < 0)))
        return damaged(walk, "has a header that cannot be understood");
    if (header.bytes > walk->end - thrift.at)
        return damaged(walk, "goes past the end of its column");
    if (check && header.has_crc && libdeflate_crc32(0, thrift.at, (size_t)header.bytes) != header.crc)
        return damaged(walk, "has other bytes than its checksum says");
    const int64_t levels = header.definition_bytes;
    if (levels < 0 || levels > header.bytes || levels > header.plain_bytes || header.repetition_bytes != 0)
        return damaged(walk, "has levels that it cannot have");
    *page =
        (struct parquet_page){.kind = (uint32_t)header.kind,
                              .values = (uint32_t)header.values,
                              .encoding = (uint32_t)header.encoding,
                              .level_encoding = (uint32_t)header.level_encoding,
                              .levels = thrift.at,
                              .level_bytes = (uint32_t)levels,
                              .bytes = thrift.at + levels,
                              .byte_count = (uint32_t)(header.bytes - levels),
                              .is_compressed = walk->codec != PARQUET_UNCOMPRESSED && header.is_compressed,
                              .plain_bytes = (uint32_t)(header.plain_bytes - levels)};
    if (!index && !page->is_compressed && page->plain_bytes != page->byte_count)
        return damaged(walk, "is not compressed and has two lengths");
    walk->at = thrift.at + header.bytes;
    return STATUS_OK;
}

/* ---- Jobs ---- */

static enum byte_scheme scheme_of(uint32_t codec)
{
    static const enum byte_scheme schemes[PARQUET_CODECS] = {
        [PARQUET_UNCOMPRESSED] = BYTE_STORED, [PARQUET_SNAPPY] = BYTE_SNAPPY,
        [PARQUET_GZIP] = BYTE_DEFLATE,        [PARQUET_LZ4] = BYTE_LZ4,
        [PARQUET_ZSTD] = BYTE_ZSTD,           [PARQUET_LZ4_RAW] = BYTE_LZ4};
    return schemes[codec];
}

uint32_t parquet_codec_schemes(uint32_t codec)
{
    return codec < PARQUET_CODECS ? 1u << scheme_of(codec) : 0;
}

/* Skips gzip's header and trailer (RFC 1952). False: it is no gzip. */
static bool gzip_body(struct byte_job *job)
{
    enum { HEAD_CRC = 2, EXTRA = 4, NAME = 8, COMMENT = 16, RESERVED = 224 };
    const uint8_t *at = job->in, *const end = at + job->in_bytes;
    if (job->in_bytes < GZIP_HEAD_BYTES + GZIP_TAIL_BYTES || memcmp(at, "\x1f\x8b\x08", 3) != 0 ||
        (at[3] & RESERVED))
        return false;
    const uint8_t flags = at[3];
    at += GZIP_HEAD_BYTES;
    if (flags & EXTRA) {
        if (end - at < 2 || end - at - 2 < (at[0] | at[1] << 8))
            return false;
        at += 2 + (at[0] | at[1] << 8);
    }
    for (int texts = !!(flags & NAME) + !!(flags & COMMENT); texts > 0; texts--) {
        const uint8_t *const zero = memchr(at, 0, (size_t)(end - at));
        if (!zero)
            return false;
        at = zero + 1;
    }
    at += flags & HEAD_CRC ? 2 : 0;
    if (end - at < (ptrdiff_t)GZIP_TAIL_BYTES)
        return false;
    job->in = at;
    job->in_bytes = (uint32_t)(end - at) - GZIP_TAIL_BYTES;
    return true;
}

static uint32_t big_endian(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Hadoop's frames: 4 bytes for the length of what a block gives, 4 for its own, the greatest first, and the block. Finds
 * the number of frames, 0 if the page is not framed so; with `stream` adds their jobs. */
static enum status hadoop_frames(const struct byte_job *whole, struct columnar_stream *stream,
                                 uint32_t *frames, struct error *error)
{
    const uint8_t *at = whole->in, *const end = at + whole->in_bytes;
    uint32_t room = whole->out_room;
    *frames = 0;
    while (end - at > 8) {
        const uint32_t plain = big_endian(at), bytes = big_endian(at + 4);
        struct byte_job job = {.scheme = BYTE_LZ4, .in = at + 8, .in_bytes = bytes, .out_room = plain};
        if (plain == 0 || plain > room || bytes > (uint64_t)(end - at) - 8)
            break;
        if (stream)
            RETURN_IF_ERROR(columnar_stream_add_job(stream, &job, error));
        room -= plain;
        at += 8 + (size_t)bytes;
        ++*frames;
    }
    if (at != end || room)
        *frames = 0;
    return STATUS_OK;
}

static enum status add_jobs(const struct parquet_walk *walk, const struct parquet_page *page,
                            struct columnar_stream *stream)
{
    struct byte_job job = {.scheme = scheme_of(walk->codec),
                           .in = page->bytes,
                           .in_bytes = page->byte_count,
                           .out_room = page->plain_bytes};
    uint32_t frames = 0;
    if (walk->codec == PARQUET_GZIP && !gzip_body(&job))
        return damaged(walk, "is no gzip");
    if (walk->codec == PARQUET_LZ4)
        RETURN_IF_ERROR(hadoop_frames(&job, NULL, &frames, walk->error));
    return frames ? hadoop_frames(&job, stream, &frames, walk->error)
                  : columnar_stream_add_job(stream, &job, walk->error);
}

static enum status check_codec(const struct columnar_place *place, const struct parquet_chunk *chunk,
                               struct error *error)
{
    char text[COLUMNAR_PLACE_BYTES];
    columnar_place_text(place, text);
    if (chunk->elsewhere)
        return error_set(error, STATUS_BAD_INPUT, "%s: its values are in another file; load that one", text);
    if (chunk->codec < PARQUET_CODECS && chunk->codec != PARQUET_LZO && chunk->codec != PARQUET_BROTLI)
        return STATUS_OK;
    return error_set(
        error, STATUS_BAD_INPUT,
        "%s: its compression (%s, number %u) cannot be read; write it with none, snappy, gzip, zstd "
        "or lz4",
        text, parquet_codec_name(chunk->codec), chunk->codec);
}

/* ---- Walks ---- */

struct parquet_walk parquet_walk_begin(const struct columnar_place *place, const struct parquet_chunk *chunk,
                                       const struct columnar_stream *stream, struct error *error)
{
    return (struct parquet_walk){.place = place,
                                 .stream = stream,
                                 .at = stream->raw,
                                 .end = stream->raw + chunk->bytes,
                                 .codec = chunk->codec,
                                 .error = error};
}

enum status parquet_chunk_read(const struct columnar_place *place, int descriptor,
                               const struct parquet_chunk *chunk, uint64_t rows, uint64_t most,
                               struct columnar_stream *stream, struct error *error)
{
    uint64_t values = 0, room = 0;
    RETURN_IF_ERROR(check_codec(place, chunk, error));
    stream->job_count = 0;
    RETURN_IF_ERROR(columnar_stream_reserve_raw(stream, chunk->bytes, error));
    RETURN_IF_ERROR(
        columnar_file_bytes(place->file, descriptor, chunk->offset, chunk->bytes, stream->raw, error));
    struct parquet_walk walk = parquet_walk_begin(place, chunk, stream, error);
    for (struct parquet_page page; values < rows; walk.page++) {
        if (walk.at == walk.end)
            return columnar_damaged(error, place, "it has %llu values of %llu rows",
                                    (unsigned long long)values, (unsigned long long)rows);
        RETURN_IF_ERROR(page_read(&walk, &page, true));
        values += page.kind == PARQUET_PAGE_DATA || page.kind == PARQUET_PAGE_DATA_V2 ? page.values : 0;
        if (page.is_compressed && page.kind != PARQUET_PAGE_INDEX && page.plain_bytes) {
            RETURN_IF_ERROR(add_jobs(&walk, &page, stream));
            room += page.plain_bytes;
        }
    }
    if (room > most)
        return columnar_too_large(error, place, "decompressing it takes", room, most);
    RETURN_IF_ERROR(columnar_stream_reserve_out(stream, room, error));
    room = 0;
    for (uint32_t j = 0; j < stream->job_count; room += stream->jobs[j++].out_room)
        stream->jobs[j].out = stream->out + room;
    return STATUS_OK;
}

/* Takes a page's jobs, which must have given what its header says. */
static enum status take_jobs(struct parquet_walk *walk, struct parquet_page *page)
{
    const struct columnar_stream *const stream = walk->stream;
    const uint8_t *const in = page->bytes, *const end = in + page->byte_count;
    uint32_t left = page->plain_bytes;
    page->bytes = stream->out;
    page->byte_count = page->plain_bytes;
    for (bool first = true; left; first = false) {
        const struct byte_job *const job = &stream->jobs[walk->job++];
        if (job->bad || job->out_bytes != job->out_room)
            return columnar_damaged(walk->error, walk->place, "page %u is no %s of %u bytes", walk->page + 1,
                                    parquet_codec_name(walk->codec), page->plain_bytes);
        page->bytes = first ? job->out : page->bytes;
        left -= job->out_room;
    }
    if (walk->codec == PARQUET_GZIP && page->plain_bytes) {
        uint32_t crc;
        memcpy(&crc, end - GZIP_TAIL_BYTES, sizeof crc);
        if (libdeflate_crc32(0, page->bytes, page->byte_count) != crc)
            return damaged(walk, "has other bytes than gzip's checksum says");
    }
    return STATUS_OK;
}

enum status parquet_walk_next(struct parquet_walk *walk, struct parquet_page *page)
{
    if (walk->at == walk->end)
        return damaged(walk, "is missing");
    RETURN_IF_ERROR(page_read(walk, page, false));
    if (page->is_compressed && page->kind != PARQUET_PAGE_INDEX)
        RETURN_IF_ERROR(take_jobs(walk, page));
    walk->page++;
    return STATUS_OK;
}
