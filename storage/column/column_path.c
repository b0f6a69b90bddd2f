/* column_path.c: see column_path.h. */
#include "storage/column/column_path.h"

#include "storage/column/column_span.h"

#include <inttypes.h>

enum status table_path(const char *directory, const char *table, char **path, struct error *error)
{
    char name[NAME_FILE_BYTES];
    name_to_file(table, name);
    return path_format(path, error, "%s/" TABLES_NAME "/%s", directory, name);
}

static enum status path_of(const char *directory, const struct column *column, const char *word,
                           uint64_t generation, char **path, struct error *error)
{
    char table[NAME_FILE_BYTES], name[NAME_FILE_BYTES];
    name_to_file(column->table->name, table);
    name_to_file(column->schema.name, name);
    return path_format(path, error, "%s/" TABLES_NAME "/%s/%s.%s.%" PRIu64, directory, table, name, word,
                       generation);
}

enum status column_path(const char *directory, const struct column *column, enum codec_id codec,
                        uint64_t generation, char **path, struct error *error)
{
    const char *word = codec == CODEC_NONE ? SIDE_WORD : codec_by_id(codec)->name;
    return path_of(directory, column, word, generation, path, error);
}

struct column_file_identity column_identity(const struct column *column, enum codec_id codec,
                                            const struct column_span *span)
{
    return (struct column_file_identity){
        .kind = codec == CODEC_NONE ? COLUMN_FILE_SIDE : COLUMN_FILE_ENCODING,
        .codec = codec,
        .value_bytes = column->value_bytes,
        .rows = span_rows(column->table, span),
        .generation = span->generation,
        .table = column->table->name,
        .column = column->schema.name,
    };
}

enum status column_index_path(const char *directory, const struct column *column, uint64_t generation,
                              char **path, struct error *error)
{
    return path_of(directory, column, INDEX_WORD, generation, path, error);
}

struct column_file_identity column_index_identity(const struct column *column, enum index_format format,
                                                  const struct column_span *span)
{
    struct column_file_identity identity = column_identity(column, CODEC_NONE, span);
    identity.kind = COLUMN_FILE_INDEX;
    identity.codec = (enum codec_id)format;
    return identity;
}
