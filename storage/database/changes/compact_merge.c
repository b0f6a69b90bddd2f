/* compact_merge.c: puts a table that was compacted without the writers' lock in the place of the rows that it had; see compact.c.
 *
 * Others may have appended segments meanwhile, which follow the compacted ones with their files, and have marked rows as
 * deleted, which are found in the compacted rows again. If they have written old rows again, because of strings between old
 * ones, keys that moved or another load, nothing is merged. */
#include "storage/database/writer_internal.h"

#include "storage/base/memory.h"
#include "storage/column/column_span.h"

#include <stdlib.h>
#include <string.h>

/* ---- Statistics of stored segments ---- */

static enum status part_of(const struct column_file *file, enum column_part_kind kind, uint32_t place,
                           uint64_t bytes, const void **part, struct error *error)
{
    const struct column_part *const found = column_file_part(file, kind, place);
    *part = NULL;
    if (!found && kind == PART_VALIDITY)
        return STATUS_OK;
    if (!found || found->bytes != bytes)
        return error_set(
            error, STATUS_BAD_INPUT,
            "%s: segment %u: its statistics are missing or of the wrong size; load the table again",
            file->path, place);
    RETURN_IF_ERROR(column_file_part_check(file, found, error));
    *part = file->map.bytes + found->offset;
    return STATUS_OK;
}

static enum status take_segment(const struct column_file *side, uint32_t place, uint32_t rows,
                                struct column_statistics *statistics, bool *nulls, struct error *error)
{
    const uint64_t tiles = (rows + TILE_ROWS - 1) / TILE_ROWS, words = tiles * TILE_LANES;
    struct column_statistics of = COLUMN_STATISTICS_NONE;
    const void *part;
    RETURN_IF_ERROR(part_of(side, PART_TILE_MIN_MAX, place, tiles * 2 * sizeof(int64_t), &part, error));
    for (uint64_t t = 0; t < tiles; t++) {
        const int64_t *const tile = (const int64_t *)part + 2 * t;
        of.min = tile[0] < of.min ? tile[0] : of.min;
        of.max = tile[1] > of.max ? tile[1] : of.max;
    }
    RETURN_IF_ERROR(part_of(side, PART_VALIDITY, place, words * sizeof(uint32_t), &part, error));
    of.nulls = part ? rows : 0;
    for (uint64_t w = 0; part && w < words; w++)
        of.nulls -= (uint64_t)__builtin_popcount(((const uint32_t *)part)[w]);
    *nulls |= of.min > of.max;
    statistics_merge(statistics, &of);
    return STATUS_OK;
}

enum status segments_statistics(const char *path, const struct column *column, uint32_t first, uint32_t count,
                                struct column_statistics *statistics, bool *nulls, struct error *error)
{
    const struct column_spans *const sides = &column->sides;
    enum status status = STATUS_OK;
    *statistics = COLUMN_STATISTICS_NONE;
    statistics->bits = column->statistics.bits;
    *nulls = false;
    for (uint32_t s = first; status == STATUS_OK && s < first + count;) {
        const struct column_span *const span = &sides->list[spans_find(sides, s)];
        struct column_file *side;
        status = span_open(path, column, CODEC_NONE, span, &side, error);
        for (; status == STATUS_OK && s < first + count && s < span->first + span->count; s++)
            status =
                take_segment(side, s - span->first, column->table->segment_rows[s], statistics, nulls, error);
        column_file_close(side);
    }
    return status;
}

/* ---- Whether rows are the same ---- */

struct merge {
    struct database_writer *writer;
    struct compacted_table *compacted;
    struct table *table;     /* compacted */
    const struct table *now; /* in the writer's state */
    uint32_t then;           /* the segments that were read */
    struct tail *tails;      /* of each column */
};

/* A column's segments after those that were read. */
struct tail {
    struct column_statistics statistics;
    struct column_span
        recoded; /* their file in the codec of compacted ones, if that is another; else of no segments */
};

static bool spans_begin(const struct column_spans *now, const struct column_spans *then)
{
    const struct column_spans first = {.count = then->count, .list = now->list};
    return now->count >= then->count && spans_equal(&first, then);
}

static bool has_tail(const struct merge *merge)
{
    return merge->now->segment_count > merge->then;
}

/* Whether a dictionary is the one that was read, or a later one, which has its codes. */
static bool strings_fit(const struct merge *merge, const struct column *now, const struct column *then)
{
    return now->strings_generation == then->strings_generation ||
           spans_of(&now->sides, now->strings_generation)->first >= merge->then;
}

/* The column's old files are those that were read, and appended segments fit compacted ones. */
static bool column_fits(const struct merge *merge, uint32_t c)
{
    const struct column *const now = &merge->now->columns[c], *const made = &merge->table->columns[c],
                               *const then = &merge->compacted->table->old->columns[c];
    const bool had_values = then->statistics.min <= then->statistics.max,
               has_values = made->statistics.min <= made->statistics.max;
    return spans_begin(&now->sides, &then->sides) && now->own == then->own &&
           spans_begin(&column_encoding(now, now->own)->files, &column_encoding(then, then->own)->files) &&
           strings_fit(merge, now, then) && (!has_tail(merge) || had_values == has_values);
}

static bool keeps_positions(const struct merge *merge)
{
    return catalogue_has_positions(&merge->writer->catalogue, merge->now);
}

/* Rows that have gone to other cells cannot be found again: not those that were deleted meanwhile, and not those that a table
 * references which was loaded meanwhile. */
static bool cells_fit(const struct merge *merge)
{
    const struct column *const now = table_live(merge->now), *const then =
                                                                 table_live(merge->compacted->table->old);
    return !merge->table->clustering.count ||
           (!keeps_positions(merge) && (!now || (then && spans_begin(&now->sides, &then->sides))));
}

static bool table_fits(const struct merge *merge)
{
    const struct table *const now = merge->now;
    bool fits =
        now && !now->levels && !now->part.of && now->segment_count >= merge->then &&
        now->column_count - (table_live(now) && !table_live(merge->table)) == merge->table->column_count &&
        !(merge->compacted->live.bits && keeps_positions(merge));
    for (uint32_t c = 0; fits && c < merge->table->column_count; c++)
        fits = column_fits(merge, c);
    /* A file of no segments comes before no others. */
    return fits && (merge->table->segment_count || !has_tail(merge)) && cells_fit(merge);
}

/* Encodes what is appended as the compacted rows are, whose chooser may have chosen anew. */
static enum status recode(const struct merge *merge, uint32_t c, bool *fits, struct error *error)
{
    const struct column *const now = &merge->now->columns[c], *const made = &merge->table->columns[c];
    bool possible;
    if (!*fits || made->own == now->own)
        return STATUS_OK;
    RETURN_IF_ERROR(column_encode_from(merge->writer->path, now, merge->then, made->own,
                                       merge->writer->generation, &merge->tails[c].recoded, &possible,
                                       error));
    merge->tails[c].recoded.first = merge->table->segment_count;
    *fits = possible;
    return STATUS_OK;
}

/* Reads what is appended; *fits becomes false if it has segments of NULLs, whose values may be those of deleted rows. */
static enum status read_tail(struct merge *merge, bool *fits, struct error *error)
{
    const uint32_t count = merge->now->segment_count - merge->then;
    const bool loses = merge->compacted->live.bits != NULL;
    RETURN_IF_ERROR(memory_zeros(&merge->tails, merge->table->column_count * sizeof *merge->tails,
                                 "a compaction", error));
    for (uint32_t c = 0; c < merge->table->column_count; c++) {
        bool nulls;
        RETURN_IF_ERROR(segments_statistics(merge->writer->path, &merge->now->columns[c], merge->then, count,
                                            &merge->tails[c].statistics, &nulls, error));
        *fits &= !(nulls && loses);
    }
    for (uint32_t c = 0; c < merge->table->column_count; c++)
        RETURN_IF_ERROR(recode(merge, c, fits, error));
    return STATUS_OK;
}

/* A program that does not know of compactions may have removed files, which it could not tell from those of a killed one. */
static enum status check_files(const struct merge *merge, struct error *error)
{
    enum status status = STATUS_OK;
    for (uint32_t c = 0; status == STATUS_OK && c < merge->table->column_count; c++) {
        const struct column *const column = &merge->table->columns[c];
        const struct column_spans *const sides = &column->sides;
        struct column_file *file;
        status =
            span_open(merge->writer->path, column, CODEC_NONE, &sides->list[sides->count - 1], &file, error);
        column_file_close(file);
        const struct column_spans *const files = &column->encodings[0].files;
        status = AND_THEN(status, span_open(merge->writer->path, column, column->own,
                                            &files->list[files->count - 1], &file, error));
        if (status == STATUS_OK)
            column_file_close(file);
    }
    return status;
}

/* ---- Merging ---- */

static enum status add_files(const struct merge *merge, const struct column_spans *now,
                             struct column_spans *spans, struct error *error)
{
    for (uint32_t i = 0; i < now->count; i++) {
        struct column_span span = now->list[i];
        if (span.first < merge->then)
            continue;
        span.first = span.first - merge->then + merge->table->segment_count;
        RETURN_IF_ERROR(spans_add(spans, &span, error));
    }
    return STATUS_OK;
}

/* Adds the statistics of appended rows. Appends have added theirs to the column's runs, and each at least its different
 * values. */
static void add_statistics(const struct merge *merge, uint32_t c, struct column *made)
{
    const struct column *const now = &merge->now->columns[c], *const then =
                                                                  &merge->compacted->table->old->columns[c];
    const uint64_t rows = merge->table->rows + merge->now->rows - merge->compacted->table->old->rows,
                   distinct = made->statistics.distinct + rows - merge->table->rows;
    merge->tails[c].statistics.runs = now->statistics.runs - then->statistics.runs;
    statistics_merge(&made->statistics, &merge->tails[c].statistics);
    made->statistics.distinct = statistics_plausible_distinct(
        &made->statistics, distinct < now->statistics.distinct ? distinct : now->statistics.distinct, rows);
}

static enum status add_column(const struct merge *merge, uint32_t c, struct error *error)
{
    const struct column *const now = &merge->now->columns[c];
    struct column *const made = (struct column *)&merge->table->columns[c];
    struct encoding_info *const encoding = (struct encoding_info *)made->encodings;
    RETURN_IF_ERROR(add_files(merge, &now->sides, &made->sides, error));
    RETURN_IF_ERROR(merge->tails[c].recoded.count
                        ? spans_add(&encoding->files, &merge->tails[c].recoded, error)
                        : add_files(merge, &column_encoding(now, now->own)->files, &encoding->files, error));
    encoding->bytes = spans_bytes(&encoding->files);
    if (spans_of(&made->sides, now->strings_generation) &&
        spans_of(&made->sides, now->strings_generation)->first >= merge->table->segment_count) {
        made->strings_generation = now->strings_generation;
        made->dictionary_blocks = now->dictionary_blocks;
    }
    add_statistics(merge, c, made);
    return STATUS_OK;
}

static enum status add_segments(const struct merge *merge, struct error *error)
{
    const uint32_t more = merge->now->segment_count - merge->then, count = merge->table->segment_count;
    uint32_t *rows = (uint32_t *)merge->table->segment_rows;
    RETURN_IF_ERROR(
        memory_grow(&rows, (count + more + UINT64_C(1)) * sizeof *rows, "a table's segments", error));
    memcpy(rows + count, merge->now->segment_rows + merge->then, more * sizeof *rows);
    merge->table->segment_rows = rows;
    merge->table->segment_count += more;
    merge->table->rows += merge->now->rows - merge->compacted->table->old->rows;
    return STATUS_OK;
}

/* The index that the column has now is built where the compacted column has not the same one, else continued. */
static enum status take_index(const struct merge *merge, uint32_t c, struct error *error)
{
    const struct column_index *const now = merge->now->columns[c].index;
    struct column *const made = (struct column *)&merge->table->columns[c];
    const struct column_index *const before = made->index;
    const bool same = now && before && memcmp(&now->wish, &before->wish, sizeof now->wish) == 0;
    enum status status = STATUS_OK;
    if (same && !has_tail(merge))
        return STATUS_OK;
    made->index = NULL;
    if (same)
        status = column_index_extend(merge->writer->path, made, before,
                                     made->statistics.nulls - merge->tails[c].statistics.nulls,
                                     merge->writer->generation, error);
    else if (now)
        status = column_index_build(merge->writer->path, made, now->wish, merge->writer->generation, 0, NULL,
                                    error);
    column_index_free(before);
    return status;
}

/* ---- Rows that were deleted meanwhile ---- */

/* The numbers of those among the rows that stayed and the appended ones. */
static enum status number_deleted(const struct merge *merge, const struct live_rows *now, uint64_t **rows,
                                  uint64_t *count, struct error *error)
{
    const uint64_t *const stayed = merge->compacted->live.bits;
    const uint64_t then = merge->compacted->table->old->rows;
    uint64_t number = 0;
    *count = 0;
    RETURN_IF_ERROR(memory_take(rows, (merge->now->rows - now->rows) * sizeof **rows, "deleted rows", error));
    for (uint64_t r = 0; r < merge->now->rows; r++) {
        if (r < then && stayed && !row_valid(stayed, r))
            continue;
        if (!row_valid(now->bits, r))
            (*rows)[(*count)++] = number;
        number++;
    }
    return STATUS_OK;
}

static enum status delete_again(const struct merge *merge, struct error *error)
{
    struct live_rows now;
    uint64_t *rows = NULL, count = 0;
    if (table_live(
            merge
                ->table)) /* its deleted rows stayed, and that none is one more was checked with its columns */
        return STATUS_OK;
    enum status status = live_rows_read(merge->writer->path, merge->now, &now, error);
    if (status == STATUS_OK && now.bits)
        status = number_deleted(merge, &now, &rows, &count, error);
    if (status == STATUS_OK && count)
        status = table_delete_rows(merge->writer, merge->table, rows, count, error);
    free(now.bits);
    free(rows);
    return status;
}

static enum status merge_table(const struct merge *merge, struct error *error)
{
    for (uint32_t c = 0; has_tail(merge) && c < merge->table->column_count; c++)
        RETURN_IF_ERROR(add_column(merge, c, error));
    RETURN_IF_ERROR(add_segments(merge, error));
    for (uint32_t c = 0; c < merge->table->column_count; c++)
        RETURN_IF_ERROR(take_index(merge, c, error));
    RETURN_IF_ERROR(delete_again(merge, error));
    /* An append meanwhile may have said how the rows after it are clustered. */
    merge->table->clustering = keeps_positions(merge) ? (struct clustering){0} : merge->now->clustering;
    merge->compacted->ready.table = merge->table;
    merge->compacted->ready.next = merge->writer->ready;
    merge->writer->ready = &merge->compacted->ready;
    return STATUS_OK;
}

enum status compaction_merge(struct database_writer *writer, struct compacted_table *compacted, bool *merged,
                             struct error *error)
{
    struct table_writer *const table = compacted->table;
    struct merge merge = {.writer = writer,
                          .compacted = compacted,
                          .table = &table->table,
                          .now = catalogue_table(&writer->catalogue, table->table.name),
                          .then = table->old->segment_count};
    enum status status = STATUS_OK;
    *merged = table_fits(&merge);
    if (*merged)
        status = check_files(&merge, error);
    if (*merged && has_tail(&merge))
        status = AND_THEN(status, read_tail(&merge, merged, error));
    if (*merged)
        status = AND_THEN(status, merge_table(&merge, error));
    free(merge.tails);
    return status;
}
