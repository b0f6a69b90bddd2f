/* side_file.c: see side_file.h. */
#include "storage/column/side_file.h"

#include "storage/column/column_path.h"

#include <stdlib.h>

enum status side_file_open(const char *directory, const struct column *column, struct column_file **file,
                           struct error *error)
{
    char *path = NULL;
    *file = NULL;
    RETURN_IF_ERROR(column_path(directory, column, CODEC_NONE, column->side_generation, &path, error));
    struct column_file_identity identity = column_identity(column, CODEC_NONE, column->side_generation);
    enum status status = column_file_open(path, &identity, file, error);
    free(path);
    return status;
}
