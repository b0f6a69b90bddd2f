/* disk_bytes.c: what a database's files take; see database.h. */
#include "storage/database/database_internal.h"

#include "storage/column/column_path.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

static enum status file_bytes(const char *path, uint64_t *bytes, struct error *error)
{
    struct stat stat_of;
    if (stat(path, &stat_of) != 0)
        return error_set_errno(error, errno, "cannot tell the size of %s", path);
    *bytes += (uint64_t)stat_of.st_size;
    return STATUS_OK;
}

static enum status column_files_bytes(const struct database *database, const struct column *column,
                                      enum codec_id codec, const struct column_spans *spans, uint64_t *bytes,
                                      struct error *error)
{
    enum status status = STATUS_OK;
    for (uint32_t i = 0; status == STATUS_OK && i < spans->count; i++) {
        char *path = NULL;
        RETURN_IF_ERROR(column_path(database->path, column, codec, spans->list[i].generation, &path, error));
        status = file_bytes(path, bytes, error);
        free(path);
    }
    return status;
}

static enum status add_column(const struct database *database, const struct column *column,
                              struct disk_bytes *bytes, struct error *error)
{
    uint64_t side = 0;
    RETURN_IF_ERROR(stored_dictionary_open(column->stored_dictionary, error));
    const uint64_t strings = column->stored_dictionary ? column->stored_dictionary->disk_bytes : 0;
    for (uint32_t e = 0; e < column->encoding_count; e++) {
        const struct encoding_info *info = &column->encodings[e];
        RETURN_IF_ERROR(column_files_bytes(
            database, column, info->codec, &info->files,
            info->codec == column->own ? &bytes->columns : &bytes->other_encodings, error));
    }
    RETURN_IF_ERROR(column_files_bytes(database, column, CODEC_NONE, &column->sides, &side, error));
    for (uint32_t i = 0; column->index && i < column->index->files.count; i++) {
        char *path = NULL;
        RETURN_IF_ERROR(
            column_index_path(database->path, column, column->index->files.list[i].generation, &path, error));
        const enum status status = file_bytes(path, &bytes->indexes, error);
        free(path);
        RETURN_IF_ERROR(status);
    }
    bytes->dictionaries += strings;
    bytes->side_files += side - strings;
    return STATUS_OK;
}

enum status database_disk_bytes(const struct database *database, const struct column *column,
                                struct disk_bytes *bytes, struct error *error)
{
    char *path = NULL;
    if (column)
        return add_column(database, column, bytes, error);
    RETURN_IF_ERROR(path_format(&path, error, "%s/" CATALOGUE_FILE, database->path));
    enum status status = file_bytes(path, &bytes->catalogue, error);
    free(path);
    return status;
}

uint64_t disk_bytes_total(const struct disk_bytes *bytes)
{
    return bytes->columns + bytes->other_encodings + bytes->dictionaries + bytes->indexes +
           bytes->side_files + bytes->catalogue;
}
