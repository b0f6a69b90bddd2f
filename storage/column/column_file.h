/*
 * column_file.h: reads and writes column files. Such a file has checksummed parts and the names of its table
 * and column.
 *
 * There are three kinds. An encoding has the chunks of one column in one codec. A side file has the parts that
 * do not depend on the encoding: dictionary, validity, tile minima and maxima. An index file has the column's
 * bitmap index (storage/index/index_file.h). Numbers are little-endian. A file has up to about 200 000 parts of
 * up to 1 GiB. It is mapped, and kernels and copies to a GPU read its
 * parts as they are on disk.
 *
 *     header, one page
 *          0       8  magic "TSRACOLM"
 *          8       4  version, 1
 *         12       4  kind: 1 encoding, 2 side file, 3 index file
 *         16       8  generation, as in the file's name
 *         24       4  codec number (codec.h); 0 in a side file; the format of an index
 *         28       4  bytes of a stored value: 4 or 8
 *         32       8  rows of the column
 *         40       4  parts
 *         44       4  0
 *         48       8  byte at which the directory begins
 *         56       8  bytes of the file
 *         64      64  table's name, filled with zeros
 *        128      64  column's name, filled with zeros
 *        192    3896  0
 *       4088       8  XXH3-64 of bytes 0 .. 4087
 *     parts, from byte 4096, in any order, without gaps: each begins at a multiple of 128 and is filled with
 *     zeros to a multiple of 128
 *     directory, one entry of 40 bytes a part, ascending by (kind, segment)
 *          0       8  byte at which the part begins
 *          8       8  its bytes, the filling not counted
 *         16       8  XXH3-64 of its bytes, the filling included
 *         24       4  kind: 1 chunk; 2 dictionary starts, 3 dictionary bytes, 4 validity, 5 minima, maxima; of an index 6 vectors, 7 words, 8 pieces; 9 levels (levels_file.h); 10 directory, 11 blocks of a dictionary (dictionary/dictionary_blocks.h)
 *         28       4  segment; 0 for a dictionary
 *         32       4  rows of the segment; strings of a dictionary
 *         36       4  0
 *     trailer, 32 bytes, ends the file
 *          0       8  XXH3-64 of the directory
 *          8       8  the header's checksum again
 *         16       8  bytes of the file again
 *         24       8  magic "TSRAEND."
 */
#ifndef TESSERA_STORAGE_COLUMN_COLUMN_FILE_H
#define TESSERA_STORAGE_COLUMN_COLUMN_FILE_H

#include "storage/codec/codec.h"
#include "storage/base/file_map.h"
#include "storage/base/status.h"
#include "storage/column/column.h"

#include <stdint.h>

#define COLUMN_FILE_VERSION 1u
/* The parts begin on a page, which suits mapping and pinned copies to a GPU. */
#define COLUMN_FILE_HEADER_BYTES 4096u
#define COLUMN_FILE_ALIGNMENT    CHUNK_ALIGNMENT

/* The size of a part with its padding. */
static inline uint64_t part_padded(uint64_t bytes)
{
    return (bytes + COLUMN_FILE_ALIGNMENT - 1) / COLUMN_FILE_ALIGNMENT * COLUMN_FILE_ALIGNMENT;
}

enum column_file_kind { COLUMN_FILE_ENCODING = 1, COLUMN_FILE_SIDE = 2, COLUMN_FILE_INDEX = 3 };

enum column_part_kind {
    PART_CHUNK = 1,
    PART_DICTIONARY_STARTS = 2,
    PART_DICTIONARY_BYTES = 3,
    PART_VALIDITY = 4,
    PART_TILE_MIN_MAX = 5,
    PART_INDEX_VECTORS = 6,
    PART_INDEX_WORDS = 7,
    PART_INDEX_PIECES = 8,
    PART_LEVELS = 9,
    PART_DICTIONARY_DIRECTORY = 10,
    PART_DICTIONARY_BLOCKS = 11
};

/* A directory entry, as it is on disk. */
struct column_part {
    uint64_t offset;
    uint64_t bytes;
    uint64_t checksum;
    uint32_t kind; /* enum column_part_kind */
    uint32_t segment;
    uint32_t rows;
    uint32_t reserved;
};

/* The identity of a file: its header has it, and column_file_open compares it with the expected one. */
struct column_file_identity {
    enum column_file_kind kind;
    enum codec_id codec; /* CODEC_NONE in a side file; the enum index_format in an index file */
    uint32_t value_bytes;
    uint64_t rows;
    uint64_t generation;
    const char *table;
    const char *column;
};

/* ---- Reading ---- */

struct column_file {
    char *path;
    struct file_map map; /* the whole file */
    uint32_t part_count;
    const struct column_part *parts; /* in the map; every part is inside the file */
};

/* Maps the file and compares header, directory and trailer with each other and with `expected`. The checksums
 * of the parts are checked by column_file_part_check, which can run in parallel. STATUS_BAD_INPUT if the file
 * is missing, truncated, of a newer version, or another column's; STATUS_CHECK_FAILED if a checksum is
 * wrong. */
NODISCARD enum status column_file_open(const char *path, const struct column_file_identity *expected,
                                       struct column_file **file, struct error *error);
void column_file_close(struct column_file *file);

/* Finds a part by binary search; NULL if there is none. */
const struct column_part *column_file_part(const struct column_file *file, enum column_part_kind kind,
                                           uint32_t segment);

/* STATUS_CHECK_FAILED, naming file and part, if the part's bytes do not match its checksum. Thread-safe. */
NODISCARD enum status column_file_part_check(const struct column_file *file, const struct column_part *part,
                                             struct error *error);

/* ---- Writing ---- */

struct column_file_writer;

/* Creates the file. The header is written last, so that an incomplete file has no magic. `identity` and its
 * names must outlive the writer; the codec may still be set until the file is finished. */
NODISCARD enum status column_file_create(const char *path, const struct column_file_identity *identity,
                                         struct column_file_writer **writer, struct error *error);

/* Appends one part; thread-safe. After `size`, `bytes` must continue with zeros up to a multiple of 128. */
NODISCARD enum status column_file_add(struct column_file_writer *writer, enum column_part_kind kind,
                                      uint32_t segment, uint32_t rows, const void *bytes, uint64_t size,
                                      struct error *error);

/* Writes directory, trailer and header, and waits until the whole file is on disk. */
NODISCARD enum status column_file_finish(struct column_file_writer *writer, struct error *error);

/* Frees the writer, not the file. NULL is legal. */
void column_file_writer_free(struct column_file_writer *writer);

#endif
