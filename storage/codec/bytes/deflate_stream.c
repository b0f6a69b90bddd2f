/* deflate_stream.c: see deflate.h. */
#include "storage/codec/bytes/deflate.h"

#include <libdeflate.h>
#include <zlib.h>

#define WINDOW_BITS  15 /* negative: a raw stream */
#define MEMORY_LEVEL 8  /* zlib's default */
#define STATE_BYTES  (280u << 10)
#define ROOM_ALIGN   64u

/* zlib's state, which is taken from the stack: 268 KiB at this window and level. */
struct room {
    _Alignas(ROOM_ALIGN) uint8_t bytes[STATE_BYTES];
    size_t used;
};

static voidpf take(voidpf opaque, uInt items, uInt size)
{
    struct room *const room = opaque;
    const size_t bytes = ((size_t)items * size + ROOM_ALIGN - 1) / ROOM_ALIGN * ROOM_ALIGN;
    if (bytes > sizeof room->bytes - room->used)
        return Z_NULL;
    room->used += bytes;
    return room->bytes + room->used - bytes;
}

static void give_back(voidpf opaque, voidpf address)
{
    (void)opaque;
    (void)address;
}

size_t deflate_encode_bound(size_t bytes)
{
    /* zlib's bound for any window and level: stored blocks of 16383 bytes, and the end */
    return bytes + (bytes >> 12) + (bytes >> 14) + (bytes >> 25) + 32;
}

size_t deflate_encode(const void *in, size_t bytes, uint8_t *out)
{
    struct room room;
    room.used = 0;
    z_stream stream = {.zalloc = take, .zfree = give_back, .opaque = &room};
    stream.next_in = (Bytef *)(uintptr_t)in;
    stream.avail_in = (uInt)bytes;
    stream.next_out = out;
    stream.avail_out = (uInt)deflate_encode_bound(bytes);
    size_t written = 0;
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -WINDOW_BITS, MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) == Z_OK &&
        deflate(&stream, Z_FINISH) == Z_STREAM_END)
        written = stream.total_out;
    deflateEnd(&stream);
    return written;
}

enum status deflate_decode(const uint8_t *in, size_t bytes, void *out, size_t out_bytes)
{
    struct libdeflate_decompressor *const decompressor = libdeflate_alloc_decompressor();
    if (!decompressor)
        return STATUS_MACHINE;
    const enum libdeflate_result result =
        libdeflate_deflate_decompress(decompressor, in, bytes, out, out_bytes, NULL);
    libdeflate_free_decompressor(decompressor);
    return result == LIBDEFLATE_SUCCESS ? STATUS_OK : STATUS_BAD_INPUT;
}
