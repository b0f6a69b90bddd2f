/*
 * codec.h: how a column chunk is compressed, and what every codec must do.
 *
 * A chunk is one column of one segment: 1 .. 2^24 rows of int32 or int64, encoded by one codec into one run
 * of bytes that is the same on disk, in host memory and on the GPU. It begins with a struct chunk_header; the
 * codec's file draws the rest. A tile is 1024 consecutive rows of a chunk; row r of a tile is item r/32 of
 * lane r%32.
 *
 *     chunk_header | directory | padding to 128 bytes | data | padding to 128 bytes | auxiliary | padding to
 * 128 bytes
 *
 * `directory` says where each tile or block starts in `data` (and in `auxiliary`, for codecs with two
 * streams), so that any tile is decoded alone. The last tile of a chunk is padded to 1024 rows by the codec;
 * what the padding decodes to is not specified, but it is initialised. All numbers are little-endian.
 */
#ifndef TESSERA_STORAGE_CODEC_CODEC_H
#define TESSERA_STORAGE_CODEC_CODEC_H

#include "storage/base/isa.h"
#include "storage/base/status.h"
#include "storage/codec/codec_list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TILE_ROWS         1024u
#define TILE_LANES        32u
#define SEGMENT_ROWS      (1u << 24) /* the most rows of a chunk: the unit of streaming */
#define CHUNK_ALIGNMENT   128u       /* of every section: one line of GPU memory */
#define CODEC_START_BYTES 32u /* lane codecs count where tiles start in units of one GPU memory sector */

/* CODEC_NAME for each line of the registry: numbers 1 .. CODEC_COUNT - 1, which column files hold. */
#define CODEC_NUMBER_(name, NAME) CODEC_##NAME,
enum codec_id { CODEC_NONE, CODECS(CODEC_NUMBER_) CODEC_COUNT };

/* Head of every encoded chunk, 64 bytes. */
struct chunk_header {
    uint32_t codec;       /* enum codec_id */
    uint32_t rows;        /* 1 .. SEGMENT_ROWS */
    uint32_t value_bytes; /* 4: int32, 8: int64 */
    uint32_t width_low;   /* narrowest and widest packed width in bits of any tile (block) of the chunk; */
    uint32_t width_high;  /* the bits of a stored value for codecs that store all values alike */
    uint32_t reserved;    /* 0 */
    uint64_t directory_bytes; /* the directory begins at byte 64 */
    uint64_t data_bytes;      /* data begins at the next multiple of 128 */
    uint64_t auxiliary_bytes; /* begins at the next multiple of 128 behind data; 0 for most codecs */
    uint64_t chunk_bytes;     /* the whole, padding included: a multiple of 128 */
    uint64_t reserved2;       /* 0 */
};

/* A chunk that chunk_open has checked, so that decoding it cannot leave its bytes. Points into memory owned
 * elsewhere. */
struct chunk_view {
    const struct codec *codec;
    const uint8_t *bytes; /* the header; aligned to 128 in files and on the GPU, to 8 at least elsewhere */
    const uint8_t *directory;
    const uint8_t *data;
    const uint8_t *auxiliary;
    uint64_t size; /* chunk_bytes */
    uint32_t rows;
    uint32_t tiles; /* ceil(rows / 1024) */
    uint32_t value_bytes;
    uint32_t width_low, width_high;
};

/* What `--codec` may name beside a single codec (storage/codec/chooser.c). */
enum chooser { CHOOSER_NONE = 0, CHOOSER_GPU_STAR, CHOOSER_SMALLEST, CHOOSER_AUTO };
#define CHOSEN_BY(CHOOSER) (1u << (CHOOSER))

/* What a chunk's data are to readers that do not ask the codec. */
enum codec_layout {
    CODEC_LAYOUT_ENCODED = 0, /* nothing */
    CODEC_LAYOUT_VALUES,      /* the values as they are, in row order */
    CODEC_LAYOUT_ARRAY /* an array of unsigned numbers of width_high bits, 8, 16, 32 or 64, in row order */
};

/* A column for which a GPU decoder is written: what its chunks have in common. */
struct codec_shape {
    uint32_t value_bytes;           /* 4 or 8 */
    uint32_t width_low, width_high; /* of all chunks */
    bool regular;                   /* codec.gpu.regular holds for all chunks */
};

/* How chunks are decoded on a GPU. */
struct codec_gpu {
    const char *header;     /* "operators/decode/NAME_cuda.h"; decode_cuda.h says what it must offer */
    const char *decoder;    /* "decode_name", a template: its first argument is int32_t or int64_t ... */
    bool random_access;     /* the decoder's RANDOM_ACCESS */
    uint32_t scratch_bytes; /* the decoder's SCRATCH_BYTES, a multiple of 128 */

    /* ... and the others are written by this: ", 3, 7", or nothing. NULL: there are none. */
    void (*arguments)(const struct codec_shape *shape, char *text, size_t bytes);

    /* Lines of 128 bytes that preload() brings into registers for a tile of int32, at most. NULL or 0: none. */
    uint32_t (*lines)(const struct codec_shape *shape);

    /* Whether the chunk's directory says nothing that the chunk's widths do not. NULL: never. */
    bool (*regular)(const struct chunk_view *chunk);

    /* bound_chunk.detail, a number that the decoder wants of each chunk. NULL: 0. */
    uint64_t (*detail)(const struct chunk_view *chunk);
};
#define CODEC_ARGUMENTS_BYTES 64 /* room for what `arguments` writes */

/* All that the rest of the program knows of a codec. */
struct codec {
    enum codec_id id;
    const char *name;    /* as on the command line; what its files are called, with _ for - */
    const char *family;  /* of the table in docs/codecs.md */
    const char *summary; /* one line for `tessera codecs` and docs */
    enum codec_layout layout;
    unsigned choosers;    /* CHOSEN_BY each that considers it */
    bool random_access;   /* `value` is cheap: no other row of the tile has to be decoded */
    bool holds_int64;     /* value_bytes may be 8 */
    double decode_cycles; /* a value, beyond those of unpacking bits, on a CPU: orders a query's steps */
    struct codec_gpu gpu;

    /* Bytes that `encode` may need for any values at all; a multiple of 128. rows 1 .. SEGMENT_ROWS. */
    size_t (*bound)(uint32_t rows, uint32_t value_bytes);

    /* Encodes `rows` values (int32_t[] or int64_t[] by value_bytes) into `out`, which has bound() bytes,
     * aligned to 8; writes the whole chunk, header and padding included, and returns its size (chunk_bytes);
     * 0 if this codec cannot hold these values (only where the codec's file says so). Needs no memory of its
     * own beyond the stack. */
    size_t (*encode)(const void *values, uint32_t rows, uint32_t value_bytes, uint8_t *out);

    /* True if every start, width and count in the chunk stays inside its sections, so that decode_tile and
     * value are safe. The header and the section bounds have been checked already. */
    bool (*valid)(const struct chunk_view *chunk);

    /* Where the packed bytes of a tile lie (its values, where lengths lie apart), and how many they are; those of the
     * next tile lie right behind them. For readers that ask memory for the next tile while they work on this
     * one. */
    const uint8_t *(*tile_span)(const struct chunk_view *chunk, uint32_t tile, uint32_t *bytes);

    /* Decodes tile 0 .. tiles-1 into `out`: 1024 values of value_bytes each, row order, aligned to 64. */
    void (*decode_tile)(const struct chunk_view *chunk, uint32_t tile, void *out);

    /* The value of row 0 .. rows-1 of the chunk (slow where random_access is false). */
    int64_t (*value)(const struct chunk_view *chunk, uint32_t row);

    /* The values of some rows of a tile of an int32 chunk: out[row] for each of the `count` numbers below
     * 1024 in `rows`. Takes less time than decode_tile for up to `fetch_rows` rows; codecs that are never
     * faster so have 0 and NULL. */
    uint32_t fetch_rows;
    void (*fetch)(const struct chunk_view *chunk, uint32_t tile, const uint16_t *rows, uint32_t count,
                  int32_t *out);

    /* NULL, or: the rows of a tile of an int32 chunk whose value is at least low and at most high, bit r%64
     * of word r/64 for row r, found without decoding and for less than decoding and comparing costs. */
    void (*in_range)(const struct chunk_view *chunk, uint32_t tile, int32_t low, int32_t high,
                     uint64_t bits[TILE_ROWS / 64]);
};

/* The codec with this number or name, for this machine's instruction set; NULL if there is none. */
const struct codec *codec_by_id(uint32_t id);
const struct codec *codec_by_name(const char *name);

/* The same for another instruction set, for tests and benches; NULL where this build lacks it. */
const struct codec *codec_by_id_isa(uint32_t id, enum isa_level level);

/* The codec that holds any values as they are (CODEC_LAYOUT_VALUES): always possible, and what others are compared
 * with. The one whose data are an array (CODEC_LAYOUT_ARRAY), for columns that are read by position. */
const struct codec *codec_baseline(void);
const struct codec *codec_array(void);

/* Whether columns of value_bytes (4 or 8) can be in the codec at all. */
bool codec_holds(const struct codec *codec, uint32_t value_bytes);

/* The names of all codecs, separated by ", ", into `text` of CODEC_NAMES_BYTES; returns text. */
#define CODEC_NAMES_BYTES 512
const char *codec_names(char *text, size_t bytes);

/* The codec named, or STATUS_BAD_INPUT with a sentence that lists all names. */
NODISCARD enum status codec_find(const char *name, const struct codec **codec, struct error *error);

/* Checks everything about a chunk of exactly `size` bytes (its checksum is the caller's business) and opens
 * it: a few nanoseconds per 128 values. Bytes that are not a valid chunk give STATUS_BAD_INPUT and a sentence
 * without the file's name (the caller knows it). */
NODISCARD enum status chunk_open(const uint8_t *bytes, uint64_t size, struct chunk_view *chunk,
                                 struct error *error);

/* ---- Choosers (storage/codec/chooser.c) ---- */

/* A codec or a chooser by name: exactly one of them is set; STATUS_BAD_INPUT with a sentence that lists all
 * names, or if TESSERA_COSTS names no table (codec_costs.h). */
struct codec_choice {
    const struct codec *codec;
    enum chooser chooser;
    const char *name;
    const struct codec_costs
        *costs;  /* CHOOSER_AUTO: what it chooses by: codec_costs_in_use, until set otherwise */
    bool probed; /* CHOOSER_AUTO: the values are row positions of another table, to be set */
};
NODISCARD enum status codec_choice_parse(const char *name, struct codec_choice *choice, struct error *error);

/* Encodes the chunk with every candidate of `choice` and keeps the best in `out` (the largest bound of the
 * candidates: codec_choice_bound), using `scratch` of the same size. Returns the size; the codec is in the
 * header. A column must be of one codec in all its segments: callers choose on the first segment (or a
 * sample) and use that codec for all. */
size_t codec_choice_bound(const struct codec_choice *choice, uint32_t rows, uint32_t value_bytes);
size_t codec_choose(const struct codec_choice *choice, const void *values, uint32_t rows,
                    uint32_t value_bytes, uint8_t *out, uint8_t *scratch);

/* What a codec makes of a chunk, and what it costs by the choice: bytes for choosers that go by size, nanoseconds a
 * value for auto (codec_costs_estimate). */
struct codec_candidate {
    enum codec_id codec;
    uint64_t bytes;  /* 0: it cannot hold the values */
    bool considered; /* the choice's chooser compares it */
    double cost;     /* if it is considered and holds the values */
};

/* All codecs tried on the chunk, as codec_choose tries those of its chooser; `scratch` of codec_candidates_bound. */
size_t codec_candidates_bound(uint32_t rows, uint32_t value_bytes);
void codec_candidates(const struct codec_choice *choice, const void *values, uint32_t rows,
                      uint32_t value_bytes, uint8_t *scratch,
                      struct codec_candidate candidates[CODEC_COUNT - 1]);

#endif
