/* parquet_format.c: see parquet_format.h. */
#include "loader/parquet/parquet_format.h"

#include "loader/parquet/parquet_values.h"

static enum status file_read(struct columnar_file *file, int descriptor, struct error *error)
{
    struct parquet_file *const own = (struct parquet_file *)file;
    RETURN_IF_ERROR(parquet_file_read(own, descriptor, error));
    own->base.schemes = 1u << BYTE_STORED;
    for (uint64_t c = 0; c < (uint64_t)own->leaf_count * own->base.part_count; c++)
        own->base.schemes |= parquet_codec_schemes(own->chunks[c].codec);
    return STATUS_OK;
}

static void file_end(struct columnar_file *file)
{
    parquet_file_free((struct parquet_file *)file);
}

static const struct parquet_chunk *chunk_of(const struct columnar_opened *opened, uint32_t column)
{
    return parquet_chunk_of(parquet_file_of(opened->file), opened->part,
                            opened->file->columns[column].number);
}

static enum status column_read(const struct columnar_opened *opened, uint32_t column, uint64_t most,
                               struct columnar_streams *streams, struct error *error)
{
    const struct columnar_place place = columnar_place_of(opened, column);
    return parquet_chunk_read(&place, opened->descriptor, chunk_of(opened, column),
                              opened->file->parts[opened->part].rows, most, &streams->streams[0], error);
}

static enum status column_decode(const struct columnar_opened *opened, uint32_t column, uint64_t most,
                                 struct columnar_streams *streams, struct columnar_values *values,
                                 struct error *error)
{
    const struct columnar_place place = columnar_place_of(opened, column);
    const struct parquet_leaf *const leaf =
        &parquet_file_of(opened->file)->leaves[opened->file->columns[column].number];
    return parquet_values_decode(&place, leaf, chunk_of(opened, column), &streams->streams[0],
                                 (uint32_t)opened->file->parts[opened->part].rows, most, values, error);
}

static enum status column_ends(const struct columnar_file *file, uint32_t part, uint32_t column,
                               struct columnar_values *values, int64_t *nulls, struct error *error)
{
    const struct columnar_place place = {file, part, file->columns[column].name};
    const uint32_t leaf = file->columns[column].number;
    const struct parquet_chunk *const chunk = parquet_chunk_of(parquet_file_of(file), part, leaf);
    *nulls = chunk->statistics.nulls;
    return parquet_ends_decode(&place, &parquet_file_of(file)->leaves[leaf], chunk, values, error);
}

const struct columnar_format parquet_format = {
    .name = "Parquet",
    .part = "row group",
    .ending = ".parquet",
    .first = PARQUET_MAGIC,
    .last = PARQUET_MAGIC,
    .file_bytes = sizeof(struct parquet_file),
    .file_read = file_read,
    .file_end = file_end,
    .column_read = column_read,
    .column_decode = column_decode,
    .column_ends = column_ends,
    .inspect = parquet_inspect,
};
