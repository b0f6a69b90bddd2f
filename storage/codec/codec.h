/*
 * codec.h: compressed column chunks, and what every codec must do.
 *
 * A chunk is one column of one segment: 1 .. 2^24 rows of int32 or int64, encoded by one codec as one run of
 * bytes, which is the same on disk, in host memory and on the GPU. It begins with a struct chunk_header; the
 * codec's file draws the rest. A tile is 1024 consecutive rows of a chunk; row r of a tile is item r/32 of
 * lane r%32.
 *
 *     chunk_header | directory | padding | data | padding | auxiliary | padding
 *
 * Padding goes to the next multiple of 128 bytes. `directory` has the place of each tile or block in `data`
 * (and in `auxiliary`, for codecs with two streams), so any tile can be decoded alone. The codec pads the
 * last tile of a chunk to 1024 rows; the decoded padding is initialised, but not specified. All numbers are
 * little-endian.
 */
#ifndef TESSERA_STORAGE_CODEC_CODEC_H
#define TESSERA_STORAGE_CODEC_CODEC_H

#include "storage/base/isa.h"
#include "storage/base/status.h"
#include "storage/codec/codec_list.h"
#include "storage/codec/position_cube.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TILE_ROWS         1024u
#define TILE_LANES        32u
#define SEGMENT_ROWS      (1u << 24) /* the most rows of a chunk: the unit of streaming */
#define CHUNK_ALIGNMENT   128u       /* of every section: one line of GPU memory */
#define CODEC_START_BYTES 32u        /* unit of tile starts in lane codecs: one sector of GPU memory */

/* CODEC_NAME for each line of the registry: numbers 1 .. CODEC_COUNT - 1, which column files contain. */
#define CODEC_NUMBER_(name, NAME) CODEC_##NAME,
enum codec_id { CODEC_NONE, CODECS(CODEC_NUMBER_) CODEC_COUNT };

/* The first 64 bytes of every encoded chunk. */
struct chunk_header {
    uint32_t codec;       /* enum codec_id */
    uint32_t rows;        /* 1 .. SEGMENT_ROWS */
    uint32_t value_bytes; /* 4: int32, 8: int64 */

    /* The narrowest and the widest packed width, in bits, of any tile (block) of the chunk. For codecs that
     * store all values with one width, both are that width. */
    uint32_t width_low;
    uint32_t width_high;
    uint32_t reserved; /* 0 */

    uint64_t directory_bytes; /* the directory begins at byte 64 */
    uint64_t data_bytes;      /* data begins at the next multiple of 128 */
    uint64_t auxiliary_bytes; /* begins at the next multiple of 128 after data; 0 for most codecs */
    uint64_t chunk_bytes;     /* of the whole chunk with padding: a multiple of 128 */
    uint64_t reserved2;       /* 0 */
};

/* The values of a chunk that is to be encoded. */
struct codec_input {
    const void *values;   /* int32_t[] or int64_t[] by value_bytes */
    uint32_t rows;        /* 1 .. SEGMENT_ROWS */
    uint32_t value_bytes; /* 4 or 8 */

    /* For positions in a table with levels (storage/column/levels.h): the bits of every position, 1 .. 31, and the
     * number of leading bits that a codec should keep apart. Both are 0 for other values. */
    uint32_t bits, planes;
};

/* A chunk that chunk_open has checked, so that decoding it cannot leave its bytes. It points into memory that
 * others own. */
struct chunk_view {
    const struct codec *codec;
    const uint8_t *bytes; /* the header; aligned to 128 in files and on the GPU, elsewhere at least to 8 */
    const uint8_t *directory;
    const uint8_t *data;
    const uint8_t *auxiliary;
    uint64_t size; /* chunk_bytes */
    uint32_t rows;
    uint32_t tiles; /* ceil(rows / 1024) */
    uint32_t value_bytes;
    uint32_t width_low, width_high;
    bool regular; /* codec.gpu.regular says so */

    const char *file; /* where the bytes come from, for errors; NULL: from memory */
    uint32_t segment; /* of the column in that file */
};

/* What `--codec` may name instead of a codec (storage/codec/chooser.c). */
enum chooser { CHOOSER_NONE = 0, CHOOSER_GPU_STAR, CHOOSER_SMALLEST, CHOOSER_AUTO };
#define CHOSEN_BY(CHOOSER) (1u << (CHOOSER))

/* What readers can do with a chunk's data without its codec. */
enum codec_layout {
    CODEC_LAYOUT_ENCODED = 0, /* nothing */
    CODEC_LAYOUT_VALUES,      /* read the values themselves, in row order */
    CODEC_LAYOUT_ARRAY /* read an array of unsigned numbers of width_high (8 .. 64) bits, in row order */
};

/* What the chunks of a column have in common, for which a GPU decoder is specialised. */
struct codec_shape {
    uint32_t value_bytes;           /* 4 or 8 */
    uint32_t width_low, width_high; /* of all chunks */
    uint32_t planes;                /* codec.planes of all chunks; 0 if the codec has none */
    bool regular;                   /* codec.gpu.regular holds for all chunks */
    uint32_t apart;                 /* of a codec with planes: the greatest codec.gpu.detail of all chunks */
};

/* Bytes of a section, from its beginning. */
struct chunk_part {
    uint64_t from, bytes;
};

/* How chunks are decoded on a GPU: by the kernel of a query, tile by tile; or by kernels that run before the
 * query's, which then reads plain values (engine/gpu/decode.h): layer by layer, if `passes` is set, or block
 * by block, if codec.decode_block is set. Each kernel of a layer decodes it for all tiles; what lies between
 * two of them is in temporary memory. */
struct codec_gpu {
    const char *header;     /* "operators/decode/NAME_cuda.h"; decode_cuda.h says what it must define */
    const char *decoder;    /* "decode_name", a template; its first argument is int32_t or int64_t */
    bool random_access;     /* the decoder's RANDOM_ACCESS */
    uint32_t scratch_bytes; /* the decoder's SCRATCH_BYTES, a multiple of 128 */
    bool copies; /* the decoder has copy() and copied(): a tile is as many lines of 128 bytes as its width */

    /* Writes the template's other arguments: ", 3, 7", or nothing. NULL: there are none. */
    void (*arguments)(const struct codec_shape *shape, char *text, size_t bytes);

    /* The most lines of 128 bytes that preload() loads into registers for a tile of int32. NULL: 0. */
    uint32_t (*lines)(const struct codec_shape *shape);

    /* Whether the chunk's directory follows from its widths, so that it need not be read; chunk_open asks, as it looks at
     * each tile. NULL: never. */
    bool (*regular)(const struct chunk_view *chunk);

    /* bound_chunk.detail, a number that the decoder needs for each chunk. NULL: 0. */
    uint64_t (*detail)(const struct chunk_view *chunk);

    /* Gives the parts of the directory, the data and the auxiliary section that a kernel reads to decode tiles first .. first +
     * tiles - 1, and the word after them. A decoder finds them from the beginnings of the sections, where other bytes may be
     * missing. NULL: it may read anything. */
    void (*cut)(const struct chunk_view *chunk, uint32_t first, uint32_t tiles, struct chunk_part parts[3]);

    /* Decoding layer by layer: the number of passes for the chunk, 1 .. CODEC_PASSES_MAX, and the bytes of
     * temporary memory between them, a multiple of 128. NULL: a query's kernel decodes the chunk. */
    uint32_t (*passes)(const struct chunk_view *chunk);
    uint64_t (*layer_bytes)(const struct chunk_view *chunk);
};
#define CODEC_PASSES_MAX      16u
#define CODEC_ARGUMENTS_BYTES 64 /* room for the text of `arguments` */

/* All that the rest of the program knows of a codec. */
struct codec {
    enum codec_id id;
    const char *name;    /* as on the command line; its files have the same name, with _ for - */
    const char *family;  /* as in the table in docs/codecs.md */
    const char *summary; /* one line for `tessera codecs` and docs */
    enum codec_layout layout;
    unsigned choosers;    /* CHOSEN_BY of each chooser that considers it */
    bool quick;           /* packs any column in one pass, and reads fast: of one codec (codec_quick) */
    bool random_access;   /* `value` is cheap, because it decodes no other row of the tile */
    bool holds_int64;     /* value_bytes may be 8 */
    double decode_cycles; /* CPU cycles a value, in addition to unpacking bits; orders a query's steps */
    struct codec_gpu gpu;

    /* CODEC_NONE, or the codec whose costs stand for this one's in a table of costs that has none of its own
     * (codec_costs_estimate_planes). */
    enum codec_id costs_like;

    /* The bytes that `encode` may need for any values; a multiple of 128. `rows` is 1 .. SEGMENT_ROWS. */
    size_t (*bound)(uint32_t rows, uint32_t value_bytes);

    /* Encodes the input into `out`, which has bound() bytes and is aligned to 8. Writes the whole chunk with header
     * and padding, and returns its size (chunk_bytes); 0 if this codec cannot hold these values (only if the
     * codec's file says so). Needs no memory except the stack. */
    size_t (*encode)(const struct codec_input *input, uint8_t *out);

    /* True if every start, width and count in the chunk stays inside its sections, so that decode_tile, value
     * and decode_block are safe. The caller has checked the header and the bounds of sections. */
    bool (*valid)(const struct chunk_view *chunk);

    /* Byte streams: block_tiles is the number of tiles that are decoded together, except for the last block of
     * a chunk, which may have fewer; decode_block decodes block 0 .. into `out`, all its rows in their order,
     * aligned to 64. It returns STATUS_BAD_INPUT if the stream is damaged (`out` is then undefined), or
     * STATUS_MACHINE without memory. A codec that has these two has none of the functions below, and its
     * columns are decoded before a query on both devices (plan_stages). Others have NULL here. struct
     * chunk_reader reads both kinds. */
    uint32_t (*block_tiles)(const struct chunk_view *chunk);
    enum status (*decode_block)(const struct chunk_view *chunk, uint32_t block, void *out);

    /* The packed bytes of a tile and their number (of its values, if lengths are separate). The bytes of the
     * next tile come directly after them, so a reader can prefetch the next tile while it works on this
     * one. */
    const uint8_t *(*tile_span)(const struct chunk_view *chunk, uint32_t tile, uint32_t *bytes);

    /* Decodes tile 0 .. tiles-1 into `out`: 1024 values of value_bytes each, in row order, aligned to 64. */
    void (*decode_tile)(const struct chunk_view *chunk, uint32_t tile, void *out);

    /* The value of row 0 .. rows-1 of the chunk (slow if random_access is false). */
    int64_t (*value)(const struct chunk_view *chunk, uint32_t row);

    /* Fetches some rows of a tile of an int32 chunk: writes out[row] for each of the `count` numbers below
     * 1024 in `rows`. It takes less time than decode_tile for up to `fetch_rows` rows. A codec for which that
     * is never so has 0 and NULL. */
    uint32_t fetch_rows;
    void (*fetch)(const struct chunk_view *chunk, uint32_t tile, const uint16_t *rows, uint32_t count,
                  int32_t *out);

    /* NULL, or decodes a tile of an int64 chunk whose values all fit int32, as these, in less time than decode_tile. Of
     * other values it gives the low halves. */
    void (*decode_narrow)(const struct chunk_view *chunk, uint32_t tile, int32_t *out);

    /* NULL, or finds the rows of a tile with low <= value <= high: bit r%64 of word r/64 for row r. The chunk is of int32,
     * or as for decode_narrow. It does not decode, and costs less than decoding and comparing. */
    void (*in_range)(const struct chunk_view *chunk, uint32_t tile, int32_t low, int32_t high,
                     uint64_t bits[TILE_ROWS / 64]);

    /* NULL, or the codec keeps the leading bits of values apart, so that conditions on some of them read these bits and no
     * others: gives their number, the first `planes` of width_high bits. All chunks of a column have the same two numbers
     * (column_data_read). A codec that has this function has the next two, too. */
    uint32_t (*planes)(const struct chunk_view *chunk);

    /* Finds the rows of a tile whose values are in one of `count` cubes, as in_range does. The care bits of the cubes must
     * be planes. */
    void (*in_cubes)(const struct chunk_view *chunk, uint32_t tile, const struct position_cube *cubes,
                     uint32_t count, uint64_t bits[TILE_ROWS / 64]);

    /* Writes out[row] = value & mask for each of the `count` rows of a tile. It may write all other rows of `out`, too,
     * which has room for a tile and is aligned to 64. Of the planes it reads those from the mask's highest to its
     * lowest bit; the mask may have other bits, too. */
    void (*fetch_bits)(const struct chunk_view *chunk, uint32_t tile, const uint16_t *rows, uint32_t count,
                       uint32_t mask, int32_t *out);
};

/* The codec with this number or name, for this machine's instruction set; NULL if there is none. */
const struct codec *codec_by_id(uint32_t id);
const struct codec *codec_by_name(const char *name);

/* The codec of columns that will be read once or twice: choosing takes longer than packing, as each candidate packs. */
const struct codec *codec_quick(void);

/* The same for another instruction set, for tests and benches; NULL if this build does not have it. */
const struct codec *codec_by_id_isa(uint32_t id, enum isa_level level);

/* codec_baseline is the codec of uncompressed values (CODEC_LAYOUT_VALUES): it holds any values, and others
 * are compared with it. codec_array is the codec whose data are an array (CODEC_LAYOUT_ARRAY), for columns
 * that are read by position. */
const struct codec *codec_baseline(void);
const struct codec *codec_array(void);

/* Whether columns in this codec are always decoded before a query: it decodes blocks, or, on a GPU, layers. */
bool codec_is_staged(const struct codec *codec, bool on_gpu);

/* Whether the codec can hold columns of value_bytes (4 or 8). */
bool codec_holds(const struct codec *codec, uint32_t value_bytes);

/* Whether the codec holds nothing but positions in tables with levels (codec_input.bits). */
bool codec_needs_levels(const struct codec *codec);

/* Writes the names of all codecs, separated by ", ", to `text` of CODEC_NAMES_BYTES; returns text. */
#define CODEC_NAMES_BYTES 512
const char *codec_names(char *text, size_t bytes);

/* Checks a chunk of exactly `size` bytes and opens it, in a few nanoseconds per 128 values; the caller checks
 * its checksum. Bytes that are not a valid chunk give STATUS_BAD_INPUT, with a sentence without the file's
 * name, which the caller knows. */
NODISCARD enum status chunk_open(const uint8_t *bytes, uint64_t size, struct chunk_view *chunk,
                                 struct error *error);

/* ---- Choosers (storage/codec/chooser.c) ---- */

/* A codec or a chooser: exactly one of them is set. codec_choice_parse finds it by its name; STATUS_BAD_INPUT
 * with a sentence that lists all names, or if TESSERA_COSTS does not name a table (codec_costs.h). */
struct codec_choice {
    const struct codec *codec;
    enum chooser chooser;
    const char *name;
    const struct codec_costs
        *costs;  /* CHOOSER_AUTO: the cost table; codec_costs_in_use unless the caller sets another */
    bool probed; /* CHOOSER_AUTO: the values are positions of another table; the caller sets it */
};
NODISCARD enum status codec_choice_parse(const char *name, struct codec_choice *choice, struct error *error);

/* Encodes the chunk with every candidate of `choice` and keeps the best one in `out`. `out` and `scratch`
 * have the largest bound of the candidates (codec_choice_bound). Returns the size; the header has the codec.
 * All segments of a column must have the same codec, so callers choose on the first segment (or a sample) and
 * use that codec for all. */
size_t codec_choice_bound(const struct codec_choice *choice, uint32_t rows, uint32_t value_bytes);
size_t codec_choose(const struct codec_choice *choice, const struct codec_input *input, uint8_t *out,
                    uint8_t *scratch);

/* The result of one codec on a chunk, and its cost for the choice: bytes for choosers by size, nanoseconds a
 * value for auto (codec_costs_estimate). */
struct codec_candidate {
    enum codec_id codec;
    uint64_t bytes;  /* 0: it cannot hold the values */
    bool considered; /* the choice's chooser compares it; only if it can hold the values */
    double cost;     /* if it is considered */
};

/* Tries all codecs on the chunk, as codec_choose tries those of its chooser; `scratch` has
 * codec_candidates_bound bytes. */
size_t codec_candidates_bound(uint32_t rows, uint32_t value_bytes);
void codec_candidates(const struct codec_choice *choice, const struct codec_input *input, uint8_t *scratch,
                      struct codec_candidate candidates[CODEC_COUNT - 1]);

#endif
