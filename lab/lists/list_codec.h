/*
 * list_codec.h: the codecs for processors that the paper on integer lists compares its own with (Mallia et al., CIKM 2019, section 2):
 * BP32, SIMD-BP, VarintGB and StreamVByte, one file each. They are for the laboratory alone: no column is stored in them.
 *
 * A codec encodes a whole list of 32-bit integers and decodes it on one thread. It trusts its input: streams are decoded by the process
 * that encoded them. They are whole; nothing precedes or follows them but the spare bytes that a decoder may read.
 */
#ifndef TESSERA_LAB_LISTS_LIST_CODEC_H
#define TESSERA_LAB_LISTS_LIST_CODEC_H

#include "storage/base/isa.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes after a stream that a decoder may read. */
#define LIST_SPARE_BYTES 16u

/* Room for `count` values in every codec, with the spare bytes: no value takes more than 5 bytes, and the last group's selectors 16;
 * blocks are filled up to 128 values of 4 bytes. */
#define LIST_BYTES_MAX(count) (5 * (size_t)(count) + 1024)

struct list_codec {
    const char *name; /* as in the paper: "BP32" */
    bool
        vectors; /* decodes with vector instructions where the machine has them; false: serial, as in the paper */
    /* Gives the bytes of the stream; `out` has LIST_BYTES_MAX bytes. */
    size_t (*encode)(const uint32_t *values, uint32_t count, uint8_t *out);
    /* Writes `count` values; `in` is readable up to LIST_SPARE_BYTES after its end. */
    void (*decode)(const uint8_t *in, uint32_t count, uint32_t *out);
};

enum { LIST_BP32, LIST_SIMD_BP, LIST_VARINT_GB, LIST_STREAM_VBYTE, LIST_CODECS };

/* The codecs at an instruction set, which the machine must have (isa_level). */
void list_codecs_get(enum isa_level level, struct list_codec codecs[LIST_CODECS]);

/* ---- For list_codec.c ---- */

size_t list_bp32_encode(const uint32_t *values, uint32_t count, uint8_t *out);
void list_bp32_decode(const uint8_t *in, uint32_t count, uint32_t *out);
size_t list_varint_gb_encode(const uint32_t *values, uint32_t count, uint8_t *out);
void list_varint_gb_decode(const uint8_t *in, uint32_t count, uint32_t *out);

/* Those with vectors are compiled for each instruction set. */
#define LIST_VECTOR_CODEC(isa)                                                                             \
    size_t ISA_PASTE(list_simd_bp_encode, isa)(const uint32_t *values, uint32_t count, uint8_t *out);      \
    void ISA_PASTE(list_simd_bp_decode, isa)(const uint8_t *in, uint32_t count, uint32_t *out);            \
    size_t ISA_PASTE(list_stream_vbyte_encode, isa)(const uint32_t *values, uint32_t count, uint8_t *out); \
    void ISA_PASTE(list_stream_vbyte_decode, isa)(const uint8_t *in, uint32_t count, uint32_t *out);
LIST_VECTOR_CODEC(baseline)
#if defined(__x86_64__)
LIST_VECTOR_CODEC(avx2)
LIST_VECTOR_CODEC(avx512)
#endif

#endif
