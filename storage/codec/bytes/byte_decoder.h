/*
 * byte_decoder.h: decompresses many small byte streams in one call: the chunks of a file in another program's format
 * (ORC: up to 256 KiB of output each by default), thousands a call.
 *
 * The interface has two implementations. byte_decoder_host calls the formats' own libraries on the calling thread. A
 * device's decoder is handed in by who owns the device; it may take some schemes only and leave the others to the
 * host, and it asks for large calls.
 */
#ifndef TESSERA_STORAGE_CODEC_BYTES_BYTE_DECODER_H
#define TESSERA_STORAGE_CODEC_BYTES_BYTE_DECODER_H

#include "storage/base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum byte_scheme {
    BYTE_STORED,  /* the bytes as they are; every decoder takes it */
    BYTE_DEFLATE, /* raw, RFC 1951 */
    BYTE_SNAPPY,
    BYTE_LZ4, /* a block without a frame */
    BYTE_ZSTD
};

/* One stream. Jobs do not depend on each other, and their outputs do not overlap. */
struct byte_job {
    enum byte_scheme scheme;
    const uint8_t *in;
    uint32_t in_bytes;
    uint32_t out_room;
    uint8_t *out;
    uint32_t
        out_bytes; /* result: what the stream gave; out[out_bytes] and later bytes may be overwritten, too */
    bool bad;      /* result: the stream is damaged, or gives more than out_room */
};

struct byte_decoder {
    void *context;
    uint32_t schemes; /* bit s: it decodes scheme s */

    /* The bytes of output, by the jobs' out_room, that a call should have, so that one call at a time keeps the device
     * busy. 0: calls of any size, from many threads at the same time. */
    uint64_t batch_bytes;

    /* Decodes all jobs and returns when all are done. A damaged stream is no error: its job is `bad`. STATUS_MACHINE if
     * there is no memory or the device fails. */
    enum status (*decode)(const struct byte_decoder *decoder, struct byte_job *jobs, uint64_t count,
                          struct error *error);
};

extern const struct byte_decoder byte_decoder_host;

/* A device that can be asked for a decoder, for those who know no devices, like the loader. */
struct byte_device {
    /* `device`: "cuda" or "cuda:N". `threads`: the most that move bytes; 0: any number. STATUS_MACHINE if there is no such device. */
    enum status (*open)(const char *device, unsigned threads, struct byte_decoder *decoder,
                        struct error *error);

    /* What it is: "NVIDIA H200 (cuda:0)". */
    const char *(*text)(const struct byte_decoder *decoder);

    /* The milliseconds that the device has decoded since it was opened, and the bytes that it gave. */
    void (*spent)(const struct byte_decoder *decoder, double *ms, uint64_t *bytes);
    void (*close)(struct byte_decoder *decoder);
};

#endif
