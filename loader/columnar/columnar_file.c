/* columnar_file.c: see columnar_file.h. */
#define _GNU_SOURCE
#include "loader/columnar/columnar_file.h"

#include "storage/base/file.h"
#include "storage/base/memory.h"
#include "storage/base/number/number_text.h"
#include "storage/base/words/word.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Files ---- */

enum status columnar_file_open(const struct columnar_format *format, const char *path,
                               struct columnar_file **out, struct error *error)
{
    struct columnar_file *file;
    int descriptor;
    *out = NULL;
    RETURN_IF_ERROR(memory_zeros(&file, format->file_bytes, "a file", error));
    file->format = format;
    file->path = path;
    enum status status = file_open(path, &descriptor, &file->size, NULL, error);
    if (status == STATUS_OK) {
        status = format->file_read(file, descriptor, error);
        close(descriptor);
    }
    if (status == STATUS_OK)
        *out = file;
    else
        columnar_file_close(file);
    return status;
}

void columnar_file_close(struct columnar_file *file)
{
    if (!file)
        return;
    file->format->file_end(file);
    free(file->columns);
    free(file->parts);
    free(file);
}

uint32_t columnar_column_find(const struct columnar_file *file, const char *name)
{
    uint32_t found = file->column_count;
    for (uint32_t c = 0; c < file->column_count; c++)
        if (strcmp(file->columns[c].name, name) == 0 ||
            (found == file->column_count && word_compare(file->columns[c].name, name) == 0))
            found = c;
    return found;
}

/* ---- Parts and bytes ---- */

static enum status file_reopen(const struct columnar_file *file, int *descriptor, struct error *error)
{
    uint64_t size;
    RETURN_IF_ERROR(file_open(file->path, descriptor, &size, NULL, error));
    if (size == file->size)
        return STATUS_OK;
    close(*descriptor);
    *descriptor = -1;
    return error_set(error, STATUS_BAD_INPUT,
                     "%s: its size has changed since its footer was read; load again", file->path);
}

enum status columnar_part_open(const struct columnar_file *file, uint32_t part,
                               struct columnar_opened *opened, struct error *error)
{
    *opened = (struct columnar_opened){.file = file, .part = part, .descriptor = -1};
    RETURN_IF_ERROR(file_reopen(file, &opened->descriptor, error));
    return file->format->part_open ? file->format->part_open(opened, error) : STATUS_OK;
}

void columnar_part_close(struct columnar_opened *opened)
{
    if (opened->descriptor >= 0)
        close(opened->descriptor);
    opened->descriptor = -1;
    if (opened->own)
        opened->file->format->part_close(opened);
    opened->own = NULL;
}

enum status columnar_file_bytes(const struct columnar_file *file, int descriptor, uint64_t offset,
                                uint64_t bytes, void *into, struct error *error)
{
    uint64_t got;
    const int reason = file_get(descriptor, into, bytes, offset, &got);
    if (reason)
        return error_set_errno(error, reason, "%s: cannot be read", file->path);
    return got == bytes ? STATUS_OK
                        : error_set(error, STATUS_BAD_INPUT,
                                    "%s: it was made shorter while it was read; load again", file->path);
}

/* ---- Errors ---- */

void columnar_place_text(const struct columnar_place *place, char text[COLUMNAR_PLACE_BYTES])
{
    char part[48] = "";
    if (place->part != COLUMNAR_WHOLE_FILE)
        snprintf(part, sizeof part, ", %s %u", place->file->format->part, place->part + 1);
    snprintf(text, COLUMNAR_PLACE_BYTES, "%.400s%s%s%.128s", place->file->path, part,
             place->column ? ", column " : "", place->column ? place->column : "");
}

enum status columnar_damaged(struct error *error, const struct columnar_place *place, const char *what, ...)
{
    char text[COLUMNAR_PLACE_BYTES], why[256];
    va_list arguments;
    va_start(arguments, what);
    number_print_list(why, sizeof why, what, arguments);
    va_end(arguments);
    columnar_place_text(place, text);
    return error_set(error, STATUS_BAD_INPUT, "%s: %s; the file is damaged: write or copy it again", text,
                     why);
}

enum status columnar_too_large(struct error *error, const struct columnar_place *place, const char *what,
                               uint64_t bytes, uint64_t most)
{
    char text[COLUMNAR_PLACE_BYTES];
    columnar_place_text(place, text);
    return error_set(
        error, STATUS_MACHINE,
        "%s: %s %llu MB of memory, and --memory (or half of what is available) allows %llu; give more", text,
        what, (unsigned long long)(bytes >> 20) + 1, (unsigned long long)(most >> 20));
}
