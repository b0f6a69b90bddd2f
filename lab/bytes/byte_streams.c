/* byte_streams.c: see byte_streams.h. */
#include "lab/bytes/byte_streams.h"

#include "storage/base/memory.h"
#include "storage/codec/bytes/deflate.h"
#include "storage/codec/bytes/orc_rle.h"

#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 128u /* decoders may read the whole line of a stream's last byte */

static uint64_t align_up(uint64_t bytes, uint64_t alignment)
{
    return (bytes + alignment - 1) / alignment * alignment;
}

uint32_t byte_streams_block(const struct byte_streams *streams, uint32_t block)
{
    const uint64_t left = streams->set->byte_count - (uint64_t)block * streams->block_bytes;
    return left < streams->block_bytes ? (uint32_t)left : streams->block_bytes;
}

double byte_streams_ratio(const struct byte_streams *streams)
{
    return (double)streams->byte_count / (double)streams->set->byte_count;
}

/* ---- Formats ---- */

static size_t encode_bound(enum byte_format format, uint32_t bytes, struct orc_item item)
{
    return format == BYTES_RLE1   ? orc_rle1_bound(bytes / item.bytes, item)
           : format == BYTES_RLE2 ? orc_rle2_bound(bytes / item.bytes, item)
                                  : deflate_encode_bound(bytes);
}

static size_t encode(enum byte_format format, const uint8_t *in, uint32_t bytes, struct orc_item item,
                     uint8_t *out)
{
    return format == BYTES_RLE1   ? orc_rle1_encode(in, bytes / item.bytes, item, out)
           : format == BYTES_RLE2 ? orc_rle2_encode(in, bytes / item.bytes, item, out)
                                  : deflate_encode(in, bytes, out);
}

/* ---- Blocks ---- */

struct encoding {
    struct lab *lab;
    struct byte_streams *streams;
    struct orc_item item;
    uint64_t slot_bytes; /* blocks are first encoded into slots, whose unused pages are never touched */
    uint8_t *slots;
    _Atomic uint64_t done;
};

static enum status encode_block(void *context, uint64_t block, unsigned thread, struct error *error)
{
    struct encoding *const encoding = context;
    struct byte_streams *const streams = encoding->streams;
    const uint32_t bytes = byte_streams_block(streams, (uint32_t)block);
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    streams->lengths[block] =
        (uint32_t)encode(streams->format, streams->set->bytes + block * streams->block_bytes, bytes,
                         encoding->item, encoding->slots + block * encoding->slot_bytes);
    progress_report(encoding->lab->progress, byte_format_names[streams->format], "bytes",
                    encoding->done += bytes, streams->set->byte_count);
    return STATUS_OK;
}

/* Moves the streams from their slots to one after the other. */
static enum status gather(struct encoding *encoding, struct error *error)
{
    struct byte_streams *const streams = encoding->streams;
    uint64_t at = 0;
    for (uint32_t b = 0; b < streams->block_count; b++) {
        streams->starts[b] = at;
        streams->byte_count += streams->lengths[b];
        at += align_up(streams->lengths[b], BYTE_STREAM_ALIGNMENT);
    }
    streams->memory_bytes = align_up(at, LINE_BYTES);
    RETURN_IF_ERROR(memory_zeros(&streams->bytes, streams->memory_bytes, "compressed blocks", error));
    for (uint32_t b = 0; b < streams->block_count; b++)
        memcpy(streams->bytes + streams->starts[b], encoding->slots + b * encoding->slot_bytes,
               streams->lengths[b]);
    return STATUS_OK;
}

enum status byte_streams_make(struct lab *lab, const struct byte_set *set, enum byte_format format,
                              uint32_t block_bytes, struct byte_streams *streams, struct error *error)
{
    struct encoding encoding = {.lab = lab, .streams = streams, .item = {set->kind->item_bytes, false}};
    const uint64_t blocks = (set->byte_count + block_bytes - 1) / block_bytes;
    *streams = (struct byte_streams){
        .set = set, .format = format, .block_bytes = block_bytes, .block_count = (uint32_t)blocks};
    encoding.slot_bytes = encode_bound(format, block_bytes, encoding.item);
    RETURN_IF_ERROR(
        memory_take(&streams->starts, blocks * sizeof *streams->starts, "a list of blocks", error));
    RETURN_IF_ERROR(
        memory_take(&streams->lengths, blocks * sizeof *streams->lengths, "a list of blocks", error));
    RETURN_IF_ERROR(memory_take(&encoding.slots, blocks * encoding.slot_bytes, "compressed blocks", error));
    enum status status = parallel_for(lab->threads, blocks, encode_block, &encoding, error);
    if (status == STATUS_OK)
        status = gather(&encoding, error);
    free(encoding.slots);
    return status;
}

void byte_streams_free(struct byte_streams *streams)
{
    free(streams->starts);
    free(streams->lengths);
    free(streams->bytes);
    *streams = (struct byte_streams){0};
}
