/*
 * byte_streams.h: a set cut into blocks that are compressed each on its own, as CODAG cuts files into chunks, on all
 * threads. Deflate by zlib at level 9, RLE as ORC's writers do. 512 MiB take 5 to 60 seconds in Deflate on 16 cores,
 * less than a second in RLE.
 */
#ifndef TESSERA_LAB_BYTES_BYTE_STREAMS_H
#define TESSERA_LAB_BYTES_BYTE_STREAMS_H

#include "lab/bytes/byte_set.h"

#define BYTE_STREAM_ALIGNMENT 4u /* streams begin at multiples of it, as nvCOMP wants */

struct byte_streams {
    const struct byte_set *set;
    enum byte_format format;
    uint32_t block_bytes; /* of output; the last block may have less */
    uint32_t block_count;
    uint64_t *starts; /* of each block's stream in `bytes` */
    uint32_t *lengths;
    uint8_t *bytes;
    uint64_t byte_count;   /* of the streams alone */
    uint64_t memory_bytes; /* with the gaps between them; a multiple of 128 */
};

/* Compresses the set, which must outlive the streams. Free with byte_streams_free, also after an error. */
NODISCARD enum status byte_streams_make(struct lab *lab, const struct byte_set *set, enum byte_format format,
                                        uint32_t block_bytes, struct byte_streams *streams,
                                        struct error *error);
void byte_streams_free(struct byte_streams *streams);

/* The bytes of a block's output. */
uint32_t byte_streams_block(const struct byte_streams *streams, uint32_t block);

/* The bytes of the streams by the bytes of the set. */
double byte_streams_ratio(const struct byte_streams *streams);

#endif
