/* parquet_page_write.c: pages, version 1: a header with a checksum, and bytes that are compressed together. */
#include "engine/answer/parquet/parquet_writing.h"
#include "engine/answer/parquet/snappy_write.h"
#include "engine/answer/parquet/thrift_write.h"
#include "storage/base/text/text_stream.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

/* A codec that does more takes more time than it saves bytes: pages of codes are small already. */
#define ZSTD_LEVEL 1

/* Makes the bytes that are in the file of `plain`; they are in one of the writer's two spaces. */
static enum status compress(enum parquet_codec codec, struct parquet_writer *own, const char **bytes,
                            size_t *count, struct error *error)
{
    const struct text_space *const plain = &own->plain;
    struct text_space *const packed = &own->packed;
    *bytes = plain->bytes;
    *count = plain->used;
    if (codec == PARQUET_UNCOMPRESSED)
        return STATUS_OK;
    const size_t bound =
        codec == PARQUET_SNAPPY ? snappy_write_bound(plain->used) : ZSTD_compressBound(plain->used);
    packed->used = 0;
    RETURN_IF_ERROR(text_space_reserve(packed, bound, error));
    *bytes = packed->bytes;
    *count = codec == PARQUET_SNAPPY
                 ? snappy_write(plain->bytes, plain->used, packed->bytes)
                 : ZSTD_compressCCtx(own->zstd, packed->bytes, bound, plain->bytes, plain->used, ZSTD_LEVEL);
    return codec == PARQUET_SNAPPY || !ZSTD_isError(*count)
               ? STATUS_OK
               : error_out_of_memory(error, bound, "a page to write");
}

static enum status make_header(enum parquet_page_kind kind, enum parquet_encoding encoding, uint32_t values,
                               size_t plain_bytes, const char *bytes, size_t count, char **text,
                               size_t *text_bytes, struct error *error)
{
    struct thrift_writer thrift = {.out = text_stream(text, text_bytes)};
    if (!thrift.out)
        return error_out_of_memory(error, BUFSIZ, "a page to write");
    thrift_put_number(&thrift, 1, THRIFT_I32, kind);
    thrift_put_number(&thrift, 2, THRIFT_I32, (int64_t)plain_bytes);
    thrift_put_number(&thrift, 3, THRIFT_I32, (int64_t)count);
    thrift_put_number(&thrift, 4, THRIFT_I32, (int32_t)libdeflate_crc32(0, bytes, count));
    thrift_begin(&thrift, kind == PARQUET_PAGE_DATA ? 5 : 7);
    thrift_put_number(&thrift, 1, THRIFT_I32, values);
    thrift_put_number(&thrift, 2, THRIFT_I32, encoding);
    if (kind == PARQUET_PAGE_DATA) {
        thrift_put_number(&thrift, 3, THRIFT_I32, PARQUET_RLE); /* of definition levels */
        thrift_put_number(&thrift, 4, THRIFT_I32,
                          PARQUET_RLE); /* of repetition levels, of which there are none */
    }
    thrift_end(&thrift);
    thrift_end(&thrift);
    return fclose(thrift.out) == 0 ? STATUS_OK : error_out_of_memory(error, BUFSIZ, "a page to write");
}

static enum status append(struct text_space *to, const char *bytes, size_t count, struct error *error)
{
    RETURN_IF_ERROR(text_space_reserve(to, count, error));
    memcpy(to->bytes + to->used, bytes, count);
    to->used += count;
    return STATUS_OK;
}

enum status parquet_put_page(const struct parquet_writing *writing, struct parquet_writer *own,
                             enum parquet_page_kind kind, enum parquet_encoding encoding, uint32_t values,
                             struct parquet_written_chunk *chunk, struct error *error)
{
    const char *bytes;
    size_t count, header_bytes;
    char *header = NULL;
    RETURN_IF_ERROR(text_space_reserve(&own->plain, 0, error)); /* an empty page has bytes to point to */
    RETURN_IF_ERROR(compress(writing->style->codec, own, &bytes, &count, error));
    RETURN_IF_ERROR(
        make_header(kind, encoding, values, own->plain.used, bytes, count, &header, &header_bytes, error));
    enum status status = append(&own->chunk, header, header_bytes, error);
    free(header);
    status = AND_THEN(status, append(&own->chunk, bytes, count, error));
    if (status != STATUS_OK)
        return status;
    chunk->bytes += header_bytes + count;
    chunk->plain_bytes += header_bytes + own->plain.used;
    own->plain.used = 0;
    return STATUS_OK;
}
