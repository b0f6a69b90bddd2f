/* columnar_bounds.c: see columnar_bounds.h. */
#include "loader/columnar/columnar_bounds.h"

#include "loader/columnar/columnar_convert.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

struct columnar_parts {
    const struct columnar_format *format;
    uint32_t file_count;
    struct columnar_file **files;
    uint64_t *firsts; /* of each file the number of its first part; and how many there are */
    struct columnar_values values;
};

static enum status open_files(struct columnar_parts *parts, const char *const *paths, uint32_t count,
                              struct error *error)
{
    RETURN_IF_ERROR(memory_zeros(&parts->files, (count + 1ull) * sizeof *parts->files, "files", error));
    RETURN_IF_ERROR(memory_zeros(&parts->firsts, (count + 1ull) * sizeof *parts->firsts, "files", error));
    for (uint32_t f = 0; f < count; f++) {
        const struct columnar_format *format;
        RETURN_IF_ERROR(columnar_format_find(paths[f], &format, error));
        if (!format || !format->column_ends || (f && format != parts->format)) {
            parts->format = NULL;
            return STATUS_OK;
        }
        parts->format = format;
        RETURN_IF_ERROR(columnar_file_open(format, paths[f], &parts->files[f], error));
        parts->firsts[++parts->file_count] = parts->firsts[f] + parts->files[f]->part_count;
    }
    return STATUS_OK;
}

enum status columnar_parts_open(const char *const *paths, uint32_t count, struct columnar_parts **out,
                                struct error *error)
{
    struct columnar_parts *parts;
    *out = NULL;
    RETURN_IF_ERROR(memory_zeros(&parts, sizeof *parts, "files", error));
    const enum status status = open_files(parts, paths, count, error);
    if (status == STATUS_OK && parts->format)
        *out = parts;
    else
        columnar_parts_free(parts);
    return status;
}

void columnar_parts_free(struct columnar_parts *parts)
{
    if (!parts)
        return;
    for (uint32_t f = 0; f < parts->file_count; f++)
        columnar_file_close(parts->files[f]);
    columnar_values_free(&parts->values);
    free(parts->files);
    free(parts->firsts);
    free(parts);
}

uint64_t columnar_parts_count(const struct columnar_parts *parts)
{
    return parts->firsts[parts->file_count];
}

/* The file that has the part, whose number in it is *part then. */
static const struct columnar_file *file_of(const struct columnar_parts *parts, uint64_t *part)
{
    uint32_t first = 0;
    for (uint32_t end = parts->file_count; end - first > 1;) { /* it is in one of first .. end - 1 */
        const uint32_t middle = first + (end - first) / 2;
        if (parts->firsts[middle] <= *part)
            first = middle;
        else
            end = middle;
    }
    *part -= parts->firsts[first];
    return parts->files[first];
}

uint64_t columnar_parts_rows(const struct columnar_parts *parts, uint64_t part)
{
    const struct columnar_file *const file = file_of(parts, &part);
    return file->parts[part].rows;
}

const char *columnar_parts_name(const struct columnar_parts *parts)
{
    return parts->format->part;
}

/* ---- Bounds ---- */

/* Makes the two ends stored values. */
static void convert_ends(const struct columnar_type *type, const struct columnar_values *values,
                         const struct column_schema *want, struct columnar_bounds *bounds)
{
    const struct text_reading reading = {.cut_nanoseconds = true};
    struct columnar_range range = {0, 0, 1};
    int64_t *const ends[] = {&bounds->low, &bounds->high};
    if ((type->kind == COLUMNAR_TEXT) != (want->type == TYPE_STRING) ||
        !columnar_type_fits(type, want->type, false))
        return;
    bounds->known = true;
    if (type->kind == COLUMNAR_TEXT) {
        bounds->low_text = values->texts[0];
        bounds->high_text = values->texts[1];
        return;
    }
    (void)columnar_range_plan(type, values, want, &range);
    for (uint32_t e = 0; e < 2; e++)
        bounds->known &= !columnar_convert_number(type, values, e, want, &range, &reading, ends[e]);
    bounds->known &= bounds->low <= bounds->high;
    if (!bounds->known)
        bounds->low = bounds->high = 0;
}

enum status columnar_parts_bounds(struct columnar_parts *parts, uint64_t part,
                                  const struct column_schema *want, struct columnar_bounds *bounds,
                                  struct error *error)
{
    const struct columnar_file *const file = file_of(parts, &part);
    const uint64_t rows = file->parts[part].rows;
    const uint32_t column = columnar_column_find(file, want->name);
    int64_t nulls;
    *bounds = (struct columnar_bounds){.nulls = true, .values = true};
    if (column == file->column_count)
        return STATUS_OK;
    RETURN_IF_ERROR(parts->format->column_ends(file, (uint32_t)part, column, &parts->values, &nulls, error));
    if (nulls >= 0 && (uint64_t)nulls <= rows) {
        bounds->nulls = nulls > 0;
        bounds->values = (uint64_t)nulls < rows;
    }
    if (parts->values.count)
        convert_ends(&file->columns[column].type, &parts->values, want, bounds);
    return STATUS_OK;
}
