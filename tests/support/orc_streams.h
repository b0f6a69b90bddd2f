/* orc_streams.h: checks of ORC's run-length encodings: what a stream must be, decode to, or be refused for. */
#ifndef TESSERA_TESTS_SUPPORT_ORC_STREAMS_H
#define TESSERA_TESTS_SUPPORT_ORC_STREAMS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/codec/bytes/orc_rle.h"
#include "storage/codec/codec.h"
#include "tests/support/codec/codec_input.h"

#include <stdlib.h>
#include <string.h>

/* A version of the encoding. */
struct orc_version {
    const char *name;
    size_t (*bound)(uint32_t count, struct orc_item item);
    size_t (*encode)(const void *items, uint32_t count, struct orc_item item, uint8_t *out);
    bool (*decode)(const uint8_t *in, size_t bytes, struct orc_item item, void *items, uint32_t count,
                   size_t *used);
};

__attribute__((unused)) static const struct orc_version orc_version1 = {"version 1", orc_rle1_bound,
                                                                        orc_rle1_encode, orc_rle1_decode},
                                                        orc_version2 = {"version 2", orc_rle2_bound,
                                                                        orc_rle2_encode, orc_rle2_decode};

#define UNSIGNED(size) ((struct orc_item){.bytes = (size)})
#define SIGNED(size)   ((struct orc_item){.bytes = (size), .is_signed = true})

/* A copy of exactly `bytes` bytes, so that a sanitizer sees each access outside of it. */
static inline uint8_t *exact_copy(const void *from, size_t bytes)
{
    uint8_t *const copy = malloc(bytes ? bytes : 1);
    assert_non_null(copy);
    memcpy(copy, from, bytes);
    return copy;
}

/* The stream decodes to the items, also when other bytes come after it. */
static inline void check_stream_decodes(const struct orc_version *version, const void *items, uint32_t count,
                                        struct orc_item item, const uint8_t *stream, size_t bytes)
{
    const size_t item_bytes = (size_t)count * item.bytes;
    uint8_t *const in = exact_copy(stream, bytes), *const more = calloc(1, bytes + 3);
    uint8_t *const out = malloc(item_bytes ? item_bytes : 1);
    memcpy(more, stream, bytes);
    assert_true(version->decode(in, bytes, item, out, count, NULL));
    assert_memory_equal(out, items, item_bytes);
    memset(out, 0xa5, item_bytes);
    size_t used = 0;
    assert_true(version->decode(more, bytes + 3, item, out, count, &used));
    assert_int_equal(used, bytes);
    assert_memory_equal(out, items, item_bytes);
    assert_false(version->decode(more, bytes + 3, item, out, count, NULL));
    free(in);
    free(more);
    free(out);
}

/* The items are encoded as the stream, which decodes to them. */
static inline void check_stream(const struct orc_version *version, const void *items, uint32_t count,
                                struct orc_item item, const uint8_t *stream, size_t bytes)
{
    uint8_t *const out = malloc(version->bound(count, item));
    assert_int_equal(version->encode(items, count, item, out), bytes);
    assert_memory_equal(out, stream, bytes);
    free(out);
    check_stream_decodes(version, items, count, item, stream, bytes);
}

static inline void check_refused(const struct orc_version *version, uint32_t count, struct orc_item item,
                                 const uint8_t *stream, size_t bytes)
{
    uint8_t *const in = exact_copy(stream, bytes), *const out = malloc((size_t)count * item.bytes);
    assert_false(version->decode(in, bytes, item, out, count, NULL));
    free(in);
    free(out);
}

/* The same with the stream's bytes as arguments. */
#define BYTES_(...) ((const uint8_t[]){__VA_ARGS__}), sizeof((const uint8_t[]){__VA_ARGS__})
#define CHECK_STREAM(version, items, count, item, ...) \
    check_stream(version, items, count, item, BYTES_(__VA_ARGS__))
#define CHECK_DECODES(version, items, count, item, ...) \
    check_stream_decodes(version, items, count, item, BYTES_(__VA_ARGS__))
#define CHECK_REFUSED(version, count, item, ...) check_refused(version, count, item, BYTES_(__VA_ARGS__))

/* Encodes a chunk of int32, of one block, and expects this stream, without which the chunk is refused. */
static inline void check_chunk_stream(enum codec_id id, const int32_t *values, uint32_t rows,
                                      const uint8_t *stream, size_t bytes)
{
    const struct codec *const codec = codec_by_id(id);
    uint8_t *const chunk = aligned_alloc(CHUNK_ALIGNMENT, codec->bound(rows, 4));
    int32_t *const out = aligned_alloc(CHUNK_ALIGNMENT, (size_t)128 << 10);
    struct chunk_view view;
    assert_non_null(chunk);
    assert_non_null(out);
    const size_t size = codec_encode(codec, values, rows, 4, chunk);
    assert_int_equal(chunk_open(chunk, size, &view, NULL), STATUS_OK);
    const uint32_t directory[] = {32, 1, 0, (uint32_t)bytes};
    assert_memory_equal(view.directory, directory, sizeof directory);
    assert_memory_equal(view.data, stream, bytes);
    assert_int_equal(codec->decode_block(&view, 0, out), STATUS_OK);
    assert_memory_equal(out, values, rows * sizeof *values);
    chunk[view.data - chunk] ^= 0x02; /* a run, or a repeat, of another length */
    assert_int_equal(codec->decode_block(&view, 0, out), STATUS_BAD_INPUT);
    free(chunk);
    free(out);
}

#endif
