/*
 * byte_host.h: decodes the blocks of a set on all threads of the processor: RLE by our decoders, Deflate by libdeflate and
 * by zlib. A thread takes a block at a time.
 */
#ifndef TESSERA_LAB_BYTES_BYTE_HOST_H
#define TESSERA_LAB_BYTES_BYTE_HOST_H

#include "lab/bench/decode.h"
#include "lab/bytes/byte_streams.h"

/* What decodes a format on the processor: OURS is libdeflate for Deflate. */
enum byte_host { BYTE_HOST_OURS, BYTE_HOST_ZLIB, BYTE_HOSTS };

/* Decodes once, compares every byte with the set (STATUS_CHECK_FAILED), then times. ZLIB: Deflate only. */
NODISCARD enum status byte_host_measure(struct lab *lab, const struct byte_streams *streams,
                                        enum byte_host host, struct speed *speed, struct error *error);

#endif
