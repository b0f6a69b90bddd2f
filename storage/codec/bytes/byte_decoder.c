/* byte_decoder.c: the decoder on the host (byte_decoder.h), by libdeflate, snappy, lz4 and zstd. */
#include "storage/codec/bytes/byte_decoder.h"

#include <libdeflate.h>
#include <lz4.h>
#include <snappy-c.h>
#include <string.h>
#include <zstd.h>

/* What a call needs for its streams; each is made when the first stream of its scheme comes. */
struct tools {
    struct libdeflate_decompressor *deflate;
    ZSTD_DCtx *zstd;
};

static enum status decode_stored(struct tools *tools, struct byte_job *job, struct error *error)
{
    (void)tools;
    (void)error;
    job->bad = job->in_bytes > job->out_room;
    job->out_bytes = job->bad ? 0 : job->in_bytes;
    memcpy(job->out, job->in, job->out_bytes);
    return STATUS_OK;
}

static enum status decode_deflate(struct tools *tools, struct byte_job *job, struct error *error)
{
    size_t bytes = 0;
    if (!tools->deflate && !(tools->deflate = libdeflate_alloc_decompressor()))
        return error_out_of_memory(error, 1u << 14, "libdeflate");
    job->bad = libdeflate_deflate_decompress(tools->deflate, job->in, job->in_bytes, job->out, job->out_room,
                                             &bytes) != LIBDEFLATE_SUCCESS;
    job->out_bytes = job->bad ? 0 : (uint32_t)bytes;
    return STATUS_OK;
}

static enum status decode_zstd(struct tools *tools, struct byte_job *job, struct error *error)
{
    if (!tools->zstd && !(tools->zstd = ZSTD_createDCtx()))
        return error_out_of_memory(error, 1u << 18, "zstd");
    const size_t bytes = ZSTD_decompressDCtx(tools->zstd, job->out, job->out_room, job->in, job->in_bytes);
    job->bad = ZSTD_isError(bytes);
    job->out_bytes = job->bad ? 0 : (uint32_t)bytes;
    return STATUS_OK;
}

static enum status decode_snappy(struct tools *tools, struct byte_job *job, struct error *error)
{
    size_t bytes = job->out_room, whole;
    (void)tools;
    (void)error;
    job->bad = snappy_uncompressed_length((const char *)job->in, job->in_bytes, &whole) != SNAPPY_OK ||
               whole > job->out_room ||
               snappy_uncompress((const char *)job->in, job->in_bytes, (char *)job->out, &bytes) != SNAPPY_OK;
    job->out_bytes = job->bad ? 0 : (uint32_t)bytes;
    return STATUS_OK;
}

static enum status decode_lz4(struct tools *tools, struct byte_job *job, struct error *error)
{
    const bool fits = job->in_bytes <= INT32_MAX && job->out_room <= INT32_MAX;
    const int bytes = fits ? LZ4_decompress_safe((const char *)job->in, (char *)job->out, (int)job->in_bytes,
                                                 (int)job->out_room)
                           : -1;
    (void)tools;
    (void)error;
    job->bad = bytes < 0;
    job->out_bytes = job->bad ? 0 : (uint32_t)bytes;
    return STATUS_OK;
}

static enum status decode(const struct byte_decoder *decoder, struct byte_job *jobs, uint64_t count,
                          struct error *error)
{
    static enum status (*const schemes[])(struct tools *, struct byte_job *, struct error *) = {
        [BYTE_STORED] = decode_stored, [BYTE_DEFLATE] = decode_deflate, [BYTE_SNAPPY] = decode_snappy,
        [BYTE_LZ4] = decode_lz4,       [BYTE_ZSTD] = decode_zstd,
    };
    struct tools tools = {0};
    enum status status = STATUS_OK;
    (void)decoder;
    for (uint64_t j = 0; j < count && status == STATUS_OK; j++)
        status = schemes[jobs[j].scheme](&tools, &jobs[j], error);
    libdeflate_free_decompressor(tools.deflate);
    ZSTD_freeDCtx(tools.zstd);
    return status;
}

const struct byte_decoder byte_decoder_host = {
    .schemes = 1u << BYTE_STORED | 1u << BYTE_DEFLATE | 1u << BYTE_SNAPPY | 1u << BYTE_LZ4 | 1u << BYTE_ZSTD,
    .decode = decode,
};
