/* index_reader.c: reads and checks index files; see index_file.h.
 *
 * Each segment is checked by one item: checksums, then the directory, then every vector. So whoever walks the words
 * afterwards cannot leave the file or the segment's rows. */
#include "storage/index/index_encode.h"

#include "storage/base/disk/read_ahead.h"
#include "storage/base/memory.h"
#include "storage/column/column_path.h"
#include "storage/column/column_span.h"
#include "storage/index/bitset.h"
#include "storage/index/wah.h"
#include "storage/index/wah32.h"

#include <stdatomic.h>
#include <stdlib.h>

#define REPAIR "drop the index and create it again (`tessera index drop`, `tessera index create`)"

_Static_assert(sizeof(struct index_vector) == 32, "a vector of the directory is 32 bytes");
_Static_assert(sizeof(struct wah_start) == 8, "a piece is 8 bytes");

struct open_index {
    struct index_data data;     /* the caller's part; the first member */
    struct column_file **files; /* of index->files */
    uint32_t file_count;        /* that are open */
    struct read_ahead *reader;  /* of the first file, while segments are checked */
    struct index_segment *segments;
    atomic_uint_fast64_t words, bytes;
};

/* The file that has the segment; *place gets its number in it. */
static const struct column_file *file_of(const struct open_index *open, uint32_t segment, uint32_t *place)
{
    const struct column_spans *const files = &open->data.index->files;
    const uint32_t at = spans_find(files, segment);
    *place = segment - files->list[at].first;
    return open->files[at];
}

static const char *path_of(const struct open_index *open, uint32_t segment)
{
    uint32_t place;
    return file_of(open, segment, &place)->path;
}

static enum status part_wrong(const struct open_index *open, uint32_t segment, const char *what,
                              struct error *error)
{
    return error_set(error, STATUS_BAD_INPUT,
                     "%s: segment %u: the %s is missing or of the wrong size; " REPAIR,
                     path_of(open, segment), segment, what);
}

static enum status vector_wrong(const struct open_index *open, uint32_t segment, uint32_t vector,
                                const char *what, struct error *error)
{
    return error_set(error, STATUS_BAD_INPUT, "%s: segment %u, vector %u: %s; " REPAIR,
                     path_of(open, segment), segment, vector, what);
}

/* A part of whole items of `item_bytes`; *count gets their number. */
static enum status open_part(struct open_index *open, enum column_part_kind kind, const char *what,
                             uint32_t segment, uint64_t item_bytes, const void **items, uint64_t *count,
                             struct error *error)
{
    uint32_t place;
    const struct column_file *const file = file_of(open, segment, &place);
    const struct column_part *const part = column_file_part(file, kind, place);
    if (!part || part->rows != open->segments[segment].rows || part->bytes % item_bytes)
        return part_wrong(open, segment, what, error);
    if (kind == PART_INDEX_WORDS && file == open->files[0])
        read_ahead_reach_byte(open->reader, part->offset);
    RETURN_IF_ERROR(column_file_part_check(file, part, error));
    *items = file->map.bytes + part->offset;
    *count = part->bytes / item_bytes;
    atomic_fetch_add(&open->bytes, part->bytes);
    return STATUS_OK;
}

static enum status open_parts(struct open_index *open, uint32_t segment, struct error *error)
{
    struct index_segment *const to = &open->segments[segment];
    const void *items;
    uint64_t count = 0;
    RETURN_IF_ERROR(open_part(open, PART_INDEX_VECTORS, "directory of the index", segment,
                              sizeof(struct index_vector), &items, &count, error));
    if (count != open->data.vector_count)
        return part_wrong(open, segment, "directory of the index", error);
    to->vectors = items;
    RETURN_IF_ERROR(open_part(open, PART_INDEX_WORDS, "index", segment,
                              index_word_bytes(open->data.index->wish.format), &to->words, &to->word_count,
                              error));
    uint32_t place;
    const struct column_file *const file = file_of(open, segment, &place);
    if (column_file_part(file, PART_INDEX_PIECES, place)) {
        RETURN_IF_ERROR(open_part(open, PART_INDEX_PIECES, "directory of pieces", segment,
                                  sizeof(struct wah_start), &items, &to->piece_count, error));
        to->pieces = items;
    }
    return STATUS_OK;
}

/* What a format makes of a vector: whether its words are valid, its rows, and its pieces. */
struct vector_facts {
    bool valid, pieces_valid;
    uint64_t rows, pieces;
};

static struct vector_facts flat_facts(const struct index_segment *segment, const struct index_vector *vector)
{
    const uint64_t *const words = (const uint64_t *)segment->words + vector->first;
    const uint64_t count = bitset_words(segment->rows), rest = segment->rows % 64;
    struct vector_facts facts = {.valid = vector->words == count, .pieces_valid = true};
    if (facts.valid && rest)
        facts.valid = words[count - 1] >> rest == 0;
    facts.rows = facts.valid ? bitset_count(words, count) : 0;
    return facts;
}

#define DEFINE_FACTS(wah, word)                                                                   \
    static struct vector_facts wah##_facts(const struct index_segment *segment,                   \
                                           const struct index_vector *vector)                     \
    {                                                                                             \
        const struct wah##_vector words = {.words = (const word *)segment->words + vector->first, \
                                           .count = vector->words};                               \
        struct vector_facts facts = {.pieces_valid = true};                                       \
        facts.valid = wah##_valid(words.words, words.count, segment->rows);                       \
        if (!facts.valid)                                                                         \
            return facts;                                                                         \
        facts.rows = wah##_count(words);                                                          \
        facts.pieces = vector->words > INDEX_SHORT_WORDS ? wah##_pieces(segment->rows) : 0;       \
        if (facts.pieces)                                                                         \
            facts.pieces_valid =                                                                  \
                vector->pieces <= segment->piece_count &&                                         \
                facts.pieces <= segment->piece_count - vector->pieces &&                          \
                wah##_directory_valid(words, segment->rows, segment->pieces + vector->pieces);    \
        return facts;                                                                             \
    }

DEFINE_FACTS(wah, uint64_t)
DEFINE_FACTS(wah32, uint32_t)

static enum status check_vectors(struct open_index *open, uint32_t s, struct error *error)
{
    const struct index_segment *const segment = &open->segments[s];
    const enum index_format format = open->data.index->wish.format;
    uint64_t first = 0, pieces = 0, rows = 0;
    for (uint32_t v = 0; v < open->data.vector_count; v++) {
        const struct index_vector *const vector = &segment->vectors[v];
        if (vector->first != first || vector->words > segment->word_count - first)
            return vector_wrong(open, s, v, "its words do not follow those of the vector before", error);
        const struct vector_facts facts = (format == INDEX_WAH64   ? wah_facts
                                           : format == INDEX_WAH32 ? wah32_facts
                                                                   : flat_facts)(segment, vector);
        if (!facts.valid)
            return vector_wrong(open, s, v, "its words are no bit vector of the segment's rows", error);
        if (facts.rows != vector->rows)
            return vector_wrong(open, s, v, "its words have another number of rows than its directory",
                                error);
        if (vector->pieces != (facts.pieces ? pieces : INDEX_NO_PIECES) || !facts.pieces_valid)
            return vector_wrong(open, s, v, "its pieces are not those of its words", error);
        first += vector->words;
        pieces += facts.pieces;
        rows += facts.rows;
    }
    if (first != segment->word_count || pieces != segment->piece_count)
        return part_wrong(open, s, "index", error);
    if (rows != segment->rows)
        return error_set(error, STATUS_BAD_INPUT,
                         "%s: segment %u: its vectors have %llu rows together, the segment %u; " REPAIR,
                         path_of(open, s), s, (unsigned long long)rows, segment->rows);
    atomic_fetch_add(&open->words, first);
    return STATUS_OK;
}

static enum status open_segment(void *context, uint64_t item, unsigned thread, struct error *error)
{
    (void)thread;
    struct open_index *const open = context;
    RETURN_IF_ERROR(cancel_check(error));
    open->segments[item].rows = open->data.column->table->segment_rows[item];
    RETURN_IF_ERROR(open_parts(open, (uint32_t)item, error));
    return check_vectors(open, (uint32_t)item, error);
}

/* Most of a file is the words of all segments, which lie together; the first one is the largest. */
static enum status open_segments(struct open_index *open, unsigned threads, struct error *error)
{
    open->reader = read_ahead_bytes(open->files[0]->map.bytes, open->files[0]->map.size, READ_AHEAD_BYTES);
    const enum status status = parallel_for(threads, open->data.segment_count, open_segment, open, error);
    read_ahead_stop(open->reader);
    return status;
}

static enum status open_files(struct open_index *open, const char *directory, struct error *error)
{
    const struct column *const column = open->data.column;
    const struct column_spans *const files = &open->data.index->files;
    RETURN_IF_ERROR(memory_zeros(&open->files, files->count * sizeof *open->files, "an index", error));
    for (uint32_t i = 0; i < files->count; i++) {
        const struct column_file_identity identity =
            column_index_identity(column, open->data.index->wish.format, &files->list[i]);
        char *path = NULL;
        RETURN_IF_ERROR(column_index_path(directory, column, files->list[i].generation, &path, error));
        const enum status status = column_file_open(path, &identity, &open->files[i], error);
        free(path);
        RETURN_IF_ERROR(status);
        open->file_count++;
    }
    return STATUS_OK;
}

static enum status check_totals(const struct open_index *open, struct error *error)
{
    const struct column_index *const index = open->data.index;
    if (open->words == index->words && open->bytes == index->bytes)
        return STATUS_OK;
    return error_set(error, STATUS_BAD_INPUT,
                     "%s: the index has %llu words in %llu bytes, not the catalogue's %llu in %llu; " REPAIR,
                     path_of(open, 0), (unsigned long long)open->words, (unsigned long long)open->bytes,
                     (unsigned long long)index->words, (unsigned long long)index->bytes);
}

enum status index_file_read(const char *directory, const struct column *column, unsigned threads,
                            struct index_data **data, struct error *error)
{
    *data = NULL;
    if (!column->index)
        return error_set(error, STATUS_BAD_INPUT,
                         "column %s.%s has no index; create one with `tessera index create`",
                         column->table->name, column->schema.name);
    struct open_index *open;
    RETURN_IF_ERROR(memory_zeros(&open, sizeof *open, "an index", error));
    open->data = (struct index_data){.column = column,
                                     .index = column->index,
                                     .vector_count = index_vector_count(column, column->index),
                                     .segment_count = column->table->segment_count};
    enum status status = memory_zeros(
        &open->segments, (column->table->segment_count + 1ull) * sizeof *open->segments, "an index", error);
    open->data.segments = open->segments;
    status = AND_THEN(status, open_files(open, directory, error));
    status = AND_THEN(status, open_segments(open, threads, error));
    status = AND_THEN(status, check_totals(open, error));
    if (status == STATUS_OK)
        *data = &open->data;
    else
        index_data_free(&open->data);
    return status;
}

void index_data_free(struct index_data *data)
{
    struct open_index *const open = (struct open_index *)data; /* data is its first member */
    if (!open)
        return;
    for (uint32_t i = 0; i < open->file_count; i++)
        column_file_close(open->files[i]);
    free(open->files);
    free(open->segments);
    free(open);
}

/* ---- Comparing with the column ---- */

/* The vector of each row of a segment, and the first row that a vector has and should not have. */
struct segment_rows {
    uint16_t *vectors;
    uint32_t wrong;
};
_Static_assert(INDEX_BINS_MAX < UINT16_MAX, "the number of a vector fits 16 bits");

static bool rows_are(struct segment_rows *rows, uint64_t first, uint64_t count, uint32_t vector)
{
    for (uint64_t r = first; r < first + count; r++)
        if (rows->vectors[r] != vector) {
            rows->wrong = (uint32_t)r;
            return false;
        }
    return true;
}

static bool bits_are(struct segment_rows *rows, uint64_t first, uint64_t bits, uint32_t vector)
{
    for (; bits; bits &= bits - 1)
        if (!rows_are(rows, first + (uint64_t)__builtin_ctzll(bits), 1, vector))
            return false;
    return true;
}

/* Walks a vector of WAH words with groups of `group_rows` rows; the words are valid. */
static bool wah_matches(struct segment_rows *rows, const struct index_segment *segment, uint32_t v,
                        uint32_t word_bits)
{
    const struct index_vector *const vector = &segment->vectors[v];
    const uint32_t group_rows = word_bits - 1;
    const uint64_t fill = 1ull << (word_bits - 1), ones = fill >> 1;
    uint64_t row = 0;
    for (uint64_t w = vector->first; w < vector->first + vector->words; w++) {
        const uint64_t word =
            word_bits == 64 ? ((const uint64_t *)segment->words)[w] : ((const uint32_t *)segment->words)[w];
        const uint64_t length = word & fill ? (word & (ones - 1)) * group_rows : group_rows;
        if (word & fill ? word & ones && !rows_are(rows, row, length, v) : !bits_are(rows, row, word, v))
            return false;
        row += length;
    }
    return true;
}

static bool flat_matches(struct segment_rows *rows, const struct index_segment *segment, uint32_t v)
{
    const struct index_vector *const vector = &segment->vectors[v];
    for (uint64_t w = 0; w < vector->words; w++)
        if (!bits_are(rows, w * 64, ((const uint64_t *)segment->words)[vector->first + w], v))
            return false;
    return true;
}

struct compare_work {
    const struct open_index *open;
    const struct column_data *data;
    struct index_lookup lookup;
};

static enum status look_up_rows(const struct compare_work *work, uint32_t segment, uint16_t *vectors,
                                struct error *error)
{
    const struct segment_data *const data = &work->data->segments[segment];
    struct chunk_reader reader = {0};
    uint32_t codes[TILE_ROWS], rows;
    enum status status = STATUS_OK;
    for (uint32_t tile = 0; tile < data->chunk.tiles && status == STATUS_OK; tile++) {
        status = index_lookup_tile(&work->lookup, data, tile, &reader, codes, &rows, error);
        for (uint32_t r = 0; r < rows && status == STATUS_OK; r++)
            vectors[(uint64_t)tile * TILE_ROWS + r] = (uint16_t)codes[r];
    }
    chunk_reader_close(&reader);
    return status;
}

/* The vectors have as many rows as the segment (check_vectors); so if each of their rows is right, none is missing. */
static enum status compare_segment(void *context, uint64_t item, unsigned thread, struct error *error)
{
    (void)thread;
    const struct compare_work *const work = context;
    const struct index_data *const index = &work->open->data;
    const struct index_segment *const segment = &index->segments[item];
    const enum index_format format = index->index->wish.format;
    struct segment_rows rows = {0};
    RETURN_IF_ERROR(cancel_check(error));
    RETURN_IF_ERROR(
        memory_take(&rows.vectors, segment->rows * sizeof *rows.vectors, "a segment's bins", error));
    enum status status = look_up_rows(work, (uint32_t)item, rows.vectors, error);
    for (uint32_t v = 0; v < index->vector_count && status == STATUS_OK; v++)
        if (!(format == INDEX_FLAT ? flat_matches(&rows, segment, v)
                                   : wah_matches(&rows, segment, v, 8 * index_word_bytes(format))))
            status = error_set(
                error, STATUS_CHECK_FAILED,
                "%s: segment %u, vector %u: it has row %u of the segment, which is of vector %u; " REPAIR,
                path_of(work->open, (uint32_t)item), (unsigned)item, v, rows.wrong, rows.vectors[rows.wrong]);
    free(rows.vectors);
    return status;
}

enum status index_file_compare(const struct index_data *index, const struct column_data *data,
                               unsigned threads, struct error *error)
{
    struct compare_work work = {.open = (const struct open_index *)index, .data = data};
    RETURN_IF_ERROR(index_lookup_make(index->column, index->index, &work.lookup, error));
    const enum status status = parallel_for(threads, index->segment_count, compare_segment, &work, error);
    index_lookup_free(&work.lookup);
    return status;
}
