/* side_file.c: see side_file.h. */
#include "storage/column/side_file.h"

#include "storage/column/column_path.h"

#include <stdlib.h>

/* True if the offsets are ascending and end at the size of the strings: then every code less than `count` can
 * be looked up safely. The order of the strings is checked only by database_check: a dictionary that is not
 * sorted causes wrong answers, but no invalid reads. */
static bool offsets_valid(const uint64_t *starts, uint32_t count, uint64_t bytes)
{
    bool rising = starts[0] == 0 && starts[count] == bytes;
    for (uint32_t code = 0; code < count; code++)
        rising &= starts[code] <= starts[code + 1] && starts[code + 1] - starts[code] <= UINT32_MAX;
    return rising;
}

static enum status open_dictionary(const struct column_file *file, struct dictionary *dictionary,
                                   struct error *error)
{
    const struct column_part *starts = column_file_part(file, PART_DICTIONARY_STARTS, 0);
    const struct column_part *bytes = column_file_part(file, PART_DICTIONARY_BYTES, 0);
    if (starts && bytes) {
        RETURN_IF_ERROR(column_file_part_check(file, starts, error));
        RETURN_IF_ERROR(column_file_part_check(file, bytes, error));
        const uint64_t *offsets = (const uint64_t *)(file->map.bytes + starts->offset);
        if (starts->rows <= INT32_MAX && starts->bytes == ((uint64_t)starts->rows + 1) * sizeof *offsets &&
            offsets_valid(offsets, starts->rows, bytes->bytes)) {
            *dictionary = (struct dictionary){.count = starts->rows,
                                              .starts = offsets,
                                              .bytes = (const char *)(file->map.bytes + bytes->offset)};
            return STATUS_OK;
        }
    }
    return error_set(error, STATUS_BAD_INPUT,
                     "%s: the dictionary is missing or not valid; load the table again", file->path);
}

enum status side_file_open(const char *directory, const struct column *column, struct column_file **file,
                           struct dictionary *dictionary, struct error *error)
{
    char *path = NULL;
    *file = NULL;
    RETURN_IF_ERROR(column_path(directory, column, CODEC_NONE, column->side_generation, &path, error));
    struct column_file_identity identity = column_identity(column, CODEC_NONE, column->side_generation);
    enum status status = column_file_open(path, &identity, file, error);
    free(path);
    if (status == STATUS_OK && column_has_dictionary(&column->schema))
        status = open_dictionary(*file, dictionary, error);
    if (status != STATUS_OK) {
        column_file_close(*file);
        *file = NULL;
    }
    return status;
}
