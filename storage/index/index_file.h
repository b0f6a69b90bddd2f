/*
 * index_file.h: writes, reads and checks the files of a bitmap index.
 *
 * Each is a column file (storage/column/column_file.h) of kind 3 with up to three parts a segment. A vector has all rows of
 * its segment; vector b is that of bin b, and the NULLs' is the last.
 *
 *     vectors (part 6): 32 bytes a vector
 *          0       8  the first of its words in part 7; its words follow those of the vector before
 *          8       8  its words
 *         16       8  its rows: bits that are set
 *         24       8  the first of its pieces in part 8; 2^64 - 1 if it has none
 *     words (part 7): of 8 bytes (wah64, flat) or 4 (wah32); wah_format.h draws them
 *     pieces (part 8): 8 bytes a piece of 1024 groups, struct wah_start; absent if no vector has any
 *
 * A vector of at most INDEX_SHORT_WORDS words has no pieces: a warp finds its place in them with one load a lane, and
 * on clustered data, where a vector is a few fills, the pieces would be larger than the words. Flat vectors have none.
 *
 * Building takes memory for the words of a segment a thread: at most 16 bytes a row, or a bit a vector and row.
 */
#ifndef TESSERA_STORAGE_INDEX_INDEX_FILE_H
#define TESSERA_STORAGE_INDEX_INDEX_FILE_H

#include "storage/base/parallel.h"
#include "storage/column/column.h"
#include "storage/index/wah_format.h"

#define INDEX_SHORT_WORDS 32u
#define INDEX_NO_PIECES   UINT64_MAX

/* A flat index with more bytes a segment is refused: parts are written as a whole. */
#define INDEX_SEGMENT_BYTES_MAX (1ull << 30)

/* A vector of a segment, as it is on disk. */
struct index_vector {
    uint64_t first, words;
    uint64_t rows;
    uint64_t pieces;
};

struct index_segment {
    uint32_t rows;
    const struct index_vector *vectors;
    const void *words;              /* uint64_t, or uint32_t of INDEX_WAH32; aligned to 128 bytes */
    const struct wah_start *pieces; /* NULL: no vector has any */
    uint64_t word_count, piece_count;
};

struct index_data {
    const struct column *column;
    const struct column_index *index;
    uint32_t vector_count; /* index->bin_count, and one more for NULLs if the column has any */
    uint32_t segment_count;
    const struct index_segment *segments;
};

/* Builds the index of an open column and writes its file, on disk when the call returns. *index is for the catalogue;
 * free it with column_index_free. */
NODISCARD enum status index_file_write(const char *directory, const struct column_data *data,
                                       struct index_wish wish, uint64_t generation, unsigned threads,
                                       struct progress *progress, struct column_index **index,
                                       struct error *error);

/* Writes a file more for the index of a column of which `data` has only the segments after those of `before`. */
NODISCARD enum status index_file_extend(const char *directory, const struct column_data *data,
                                        const struct column_index *before, uint64_t generation,
                                        unsigned threads, struct progress *progress,
                                        struct column_index **index, struct error *error);

/* Maps the files of column->index and checks them: checksums, then the directory, and of every vector that its words are
 * valid, that its rows and its pieces are those of the words. `column` must outlive *data. STATUS_BAD_INPUT or
 * STATUS_CHECK_FAILED, with file, segment and vector. */
NODISCARD enum status index_file_read(const char *directory, const struct column *column, unsigned threads,
                                      struct index_data **data, struct error *error);
/* NULL is legal. */
void index_data_free(struct index_data *data);

/* STATUS_CHECK_FAILED unless the vectors have exactly the rows of the column's bins and NULLs. */
NODISCARD enum status index_file_compare(const struct index_data *index, const struct column_data *data,
                                         unsigned threads, struct error *error);

#endif
