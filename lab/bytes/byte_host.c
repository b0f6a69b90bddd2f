/* byte_host.c: see byte_host.h. */
#include "lab/bytes/byte_host.h"

#include "storage/base/clock.h"
#include "storage/base/memory.h"
#include "storage/codec/bytes/deflate.h"
#include "storage/codec/bytes/orc_rle.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct decoding {
    const struct byte_streams *streams;
    enum byte_host host;
    uint8_t *out;
};

static bool inflate_block(const uint8_t *in, uint32_t in_bytes, uint8_t *out, uint32_t out_bytes)
{
    z_stream stream = {.next_out = out, .avail_out = out_bytes, .avail_in = in_bytes};
    stream.next_in = (z_const Bytef *)in;
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
        return false;
    const bool good = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_out == 0;
    inflateEnd(&stream);
    return good;
}

static bool decode(const struct decoding *decoding, const uint8_t *in, uint32_t in_bytes, uint8_t *out,
                   uint32_t out_bytes)
{
    const struct orc_item item = {decoding->streams->set->kind->item_bytes, false};
    switch (decoding->streams->format) {
    case BYTES_RLE1:
        return orc_rle1_decode(in, in_bytes, item, out, out_bytes / item.bytes, NULL);
    case BYTES_RLE2:
        return orc_rle2_decode(in, in_bytes, item, out, out_bytes / item.bytes, NULL);
    default:
        return decoding->host == BYTE_HOST_ZLIB ? inflate_block(in, in_bytes, out, out_bytes)
                                                : deflate_decode(in, in_bytes, out, out_bytes) == STATUS_OK;
    }
}

static enum status decode_block(void *context, uint64_t block, unsigned thread, struct error *error)
{
    const struct decoding *const decoding = context;
    const struct byte_streams *const streams = decoding->streams;
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    return decode(decoding, streams->bytes + streams->starts[block], streams->lengths[block],
                  decoding->out + block * streams->block_bytes, byte_streams_block(streams, (uint32_t)block))
               ? STATUS_OK
               : error_set(error, STATUS_CHECK_FAILED, "%s, %s: block %" PRIu64 " is not decoded",
                           streams->set->kind->name, byte_format_names[streams->format], block);
}

static enum status decode_once(struct lab *lab, struct decoding *decoding, double *ms, struct error *error)
{
    const double begin = clock_ms();
    RETURN_IF_ERROR(
        parallel_for(lab->threads, decoding->streams->block_count, decode_block, decoding, error));
    *ms = clock_ms() - begin;
    return STATUS_OK;
}

static enum status measure(struct lab *lab, struct decoding *decoding, double *times, struct speed *speed,
                           struct error *error)
{
    const struct byte_set *const set = decoding->streams->set;
    double ms;
    RETURN_IF_ERROR(decode_once(lab, decoding, &ms, error));
    if (memcmp(decoding->out, set->bytes, set->byte_count) != 0)
        return error_set(error, STATUS_CHECK_FAILED, "%s, %s decodes to other bytes on the processor",
                         set->kind->name, byte_format_names[decoding->streams->format]);
    for (uint32_t i = 0; i < lab->repeat; i++)
        RETURN_IF_ERROR(decode_once(lab, decoding, &times[i], error));
    *speed = speed_of(times, lab->repeat);
    return STATUS_OK;
}

enum status byte_host_measure(struct lab *lab, const struct byte_streams *streams, enum byte_host host,
                              struct speed *speed, struct error *error)
{
    struct decoding decoding = {.streams = streams, .host = host};
    double *times = NULL;
    enum status status = memory_take(&times, lab->repeat * sizeof *times, "a list of times", error);
    if (status == STATUS_OK)
        status = memory_zeros(&decoding.out, streams->set->byte_count, "decoded bytes", error);
    if (status == STATUS_OK)
        status = measure(lab, &decoding, times, speed, error);
    free(decoding.out);
    free(times);
    return status;
}
