/* columnar_inspect.c: see columnar_inspect.h. */
#include "loader/columnar/columnar_inspect.h"

#include "loader/columnar/columnar_file.h"
#include "storage/base/text/json_text.h"

#define SHOWN_BYTES 256 /* of text that is no UTF-8 */

json_t *columnar_json_text(const char *text)
{
    json_t *const string = json_string(text);
    if (string)
        return string;
    char shown[SHOWN_BYTES];
    snprintf(shown, sizeof shown, "%s", text);
    for (char *c = shown; *c; c++)
        *c = (unsigned char)*c < 128 ? *c : '?';
    return json_string(shown);
}

enum status columnar_json_print(json_t *root, FILE *out, struct error *error)
{
    if (!root)
        return error_out_of_memory(error, 4096, "the answer as JSON");
    const enum status status = json_write(root, JSON_INDENT(2), out, error);
    json_decref(root);
    return status; /* the caller reports a failed write */
}

enum status columnar_inspect(const char *path, bool json, FILE *out, struct error *error)
{
    const struct columnar_format *format;
    struct columnar_file *file;
    RETURN_IF_ERROR(columnar_format_find(path, &format, error));
    if (!format)
        return error_set(
            error, STATUS_BAD_INPUT,
            "%s: is no ORC file and no Parquet file, or is not whole: it does not begin and end as one",
            path);
    RETURN_IF_ERROR(columnar_file_open(format, path, &file, error));
    const enum status status = format->inspect(file, json, out, error);
    columnar_file_close(file);
    return status;
}
