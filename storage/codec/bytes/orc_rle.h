/*
 * orc_rle.h: the integer run-length encodings of ORC files, versions 1 (file version 0.11) and 2 (0.12), on a CPU.
 *
 * orc_rle1.c and orc_rle2.c draw the two formats. The encoders write the bytes that ORC's own writers write (C++ and
 * Java, with their default strategy "speed"). The decoders take what any writer may write, and are the reference for
 * the decoders on the GPU (operators/decode/bytes/). Called once a block of 64 KiB .. 1 MiB of items, or once a stream of
 * a stripe.
 *
 * Numbers have 64 bits in both formats. An item is extended to 64 bits, with its sign if it is signed; arithmetic wraps,
 * bits beyond 64 are dropped, and what is decoded is cut to the item.
 */
#ifndef TESSERA_STORAGE_CODEC_BYTES_ORC_RLE_H
#define TESSERA_STORAGE_CODEC_BYTES_ORC_RLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The items of an array that is encoded or decoded. */
struct orc_item {
    uint32_t bytes; /* 1, 2, 4 or 8 */
    bool is_signed; /* numbers are zigzag-coded: 0, -1, 1, -2 ... are 0, 1, 2, 3 ... */
};

/* The bytes that encoding `count` items may need. */
size_t orc_rle1_bound(uint32_t count, struct orc_item item);
size_t orc_rle2_bound(uint32_t count, struct orc_item item);

/* Encodes `count` items into `out`, which has ..._bound() bytes; returns the size of the stream, 0 for no items. */
size_t orc_rle1_encode(const void *items, uint32_t count, struct orc_item item, uint8_t *out);
size_t orc_rle2_encode(const void *items, uint32_t count, struct orc_item item, uint8_t *out);

/* Decodes exactly `count` items from a stream of `bytes` bytes. `used` gets the bytes that they took; without it, these
 * must be all.
 *
 * False, with anything in `items`, if the stream ends early, has a run that goes past `count`, or a number of more than
 * 10 bytes in base 128; in version 2 also for
 *     a delta run of one item whose deltas have a width;
 *     a patched base without patches, or whose patches and gaps have more than 64 bits together;
 *     a patch at or after the end of its run, or with a gap of 0 that is not the first one.
 * Nothing outside of `in` is read and nothing outside of `items` is written, whatever the stream says. */
bool orc_rle1_decode(const uint8_t *in, size_t bytes, struct orc_item item, void *items, uint32_t count,
                     size_t *used);
bool orc_rle2_decode(const uint8_t *in, size_t bytes, struct orc_item item, void *items, uint32_t count,
                     size_t *used);

#endif
