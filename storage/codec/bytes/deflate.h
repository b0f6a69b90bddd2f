/*
 * deflate.h: raw Deflate streams (RFC 1951) in memory, by the libraries: zlib compresses at level 9, as CODAG's
 * evaluation does, libdeflate decompresses, in half zlib's time.
 */
#ifndef TESSERA_STORAGE_CODEC_BYTES_DEFLATE_H
#define TESSERA_STORAGE_CODEC_BYTES_DEFLATE_H

#include "storage/base/status.h"

#include <stddef.h>
#include <stdint.h>

/* The most bytes that deflate_encode writes for `bytes`. */
size_t deflate_encode_bound(size_t bytes);

/* Compresses to `out`; returns the stream's bytes. It needs 280 KiB of the stack. */
size_t deflate_encode(const void *in, size_t bytes, uint8_t *out);

/* Decompresses exactly `out_bytes`, from a stream that ends within `bytes`; what follows it is not read. STATUS_BAD_INPUT
 * if the stream is damaged, STATUS_MACHINE without memory for a decompressor. */
NODISCARD enum status deflate_decode(const uint8_t *in, size_t bytes, void *out, size_t out_bytes);

#endif
