/* origin.c: see origin.h. */
#define _GNU_SOURCE
#include "ssb/data/origin.h"

#include "storage/base/file.h"
#include "storage/base/memory.h"
#include "storage/base/text/json_text.h"
#include "storage/base/words/utf8.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NEW_FILE SSB_ORIGIN_FILE ".new"

static const char *const dangling_words[] = {[false] = "error", [true] = "null"};

/* ---- Writing ---- */

static enum status path_of(const char *directory, const char *file, char path[PATH_MAX], struct error *error)
{
    if (snprintf(path, PATH_MAX, "%s/%s", directory, file) >= PATH_MAX)
        return error_set(error, STATUS_BAD_INPUT, "the path %s is too long", directory);
    return STATUS_OK;
}

enum status ssb_origin_prepare(const char *directory, const struct ssb_origin *origin, struct error *error)
{
    char path[PATH_MAX];
    RETURN_IF_ERROR(path_of(directory, NEW_FILE, path, error));
    const struct ssb_options *options = &origin->options;
    json_t *scale = options->scale_factor > 0 ? json_real(options->scale_factor) : json_null();
    json_t *object = json_pack("{s:o, s:s, s:s, s:s, s:b, s:s, s:s?}", "scale_factor", scale, "mode",
                               ssb_mode_words[options->mode], "variant", ssb_variant_words[options->variant],
                               "date_table", ssb_dates_words[options->dates], "skew", options->skew,
                               "dangling", dangling_words[origin->dangling_null], "from", origin->from);
    char *text = object ? json_print(object, JSON_INDENT(2)) : NULL;
    json_decref(object);
    if (!text && (!origin->from || utf8_is_valid(origin->from, strlen(origin->from))))
        return error_out_of_memory(error, PATH_MAX, SSB_ORIGIN_FILE);
    if (!text) /* jansson writes UTF-8 only, but a path may be any bytes */
        return error_set(error, STATUS_BAD_INPUT,
                         "the folder %s cannot be written down in %s: its name is not UTF-8",
                         origin->from ? origin->from : "of the rows", path);
    const size_t length = strlen(text);
    text[length] = '\n'; /* replaces the terminating zero */
    enum status status = file_write_whole(path, text, length + 1, error);
    free(text);
    return status;
}

enum status ssb_origin_publish(const char *directory, struct error *error)
{
    char from[PATH_MAX], to[PATH_MAX];
    RETURN_IF_ERROR(path_of(directory, NEW_FILE, from, error));
    RETURN_IF_ERROR(path_of(directory, SSB_ORIGIN_FILE, to, error));
    if (rename(from, to) != 0)
        return error_set_errno(error, errno, "the tables are loaded, and it remains to rename %s to %s", from,
                               to);
    struct error reason = {0};
    if (directory_sync(directory, &reason) != STATUS_OK)
        return error_set(error, STATUS_NOT_DURABLE,
                         "%s was changed, and the change is visible, but it may not survive a power cut: %s; "
                         "do not repeat it, and run `sync` or look at the disk",
                         directory, reason.text);
    return STATUS_OK;
}

void ssb_origin_discard(const char *directory)
{
    char path[PATH_MAX];
    if (path_of(directory, NEW_FILE, path, NULL) == STATUS_OK)
        unlink(path);
}

/* ---- Reading ---- */

/* Finds the position of the field's value in two words. */
static enum status field_word(const char *path, const json_t *object, const char *name,
                              const char *const words[2], unsigned *index, struct error *error)
{
    const char *word = json_string_value(json_object_get(object, name));
    for (*index = 0; *index < 2; ++*index)
        if (word && strcmp(words[*index], word) == 0)
            return STATUS_OK;
    return error_set(error, STATUS_BAD_INPUT,
                     "%s: \"%s\" must be \"%s\" or \"%s\"; load the benchmark again to write this file anew",
                     path, name, words[0], words[1]);
}

static enum status parse_object(const char *path, const json_t *object, struct ssb_origin *origin,
                                struct error *error)
{
    unsigned mode, variant, dates, dangling;
    RETURN_IF_ERROR(field_word(path, object, "mode", ssb_mode_words, &mode, error));
    RETURN_IF_ERROR(field_word(path, object, "variant", ssb_variant_words, &variant, error));
    RETURN_IF_ERROR(field_word(path, object, "date_table", ssb_dates_words, &dates, error));
    RETURN_IF_ERROR(field_word(path, object, "dangling", dangling_words, &dangling, error));
    const json_t *skew = json_object_get(object, "skew"); /* older files have none, and uniform data */
    if (skew && !json_is_boolean(skew))
        return error_set(
            error, STATUS_BAD_INPUT,
            "%s: \"skew\" must be true or false; load the benchmark again to write this file anew", path);
    const json_t *scale = json_object_get(object, "scale_factor"), *from = json_object_get(object, "from");
    bool known = json_is_number(scale) && isfinite(json_number_value(scale)) && json_number_value(scale) > 0;
    bool generated = json_is_null(from);
    if (!known && !(json_is_null(scale) && !generated))
        return error_set(error, STATUS_BAD_INPUT,
                         "%s: \"scale_factor\" must be a number above 0; load the benchmark again", path);
    if (!generated && (!json_is_string(from) || json_string_value(from)[0] != '/'))
        return error_set(error, STATUS_BAD_INPUT,
                         "%s: \"from\" must be null or an absolute path; load the benchmark again", path);
    *origin = (struct ssb_origin){
        .options = {.scale_factor = known ? json_number_value(scale) : 0,
                    .mode = (enum ssb_mode)mode,
                    .variant = (enum ssb_variant)variant,
                    .dates = (enum ssb_dates)dates,
                    .skew = json_is_true(skew)},
        .dangling_null = dangling == 1,
    };
    if (!generated && !(origin->from = strdup(json_string_value(from))))
        return error_out_of_memory(error, PATH_MAX, "a path");
    return STATUS_OK;
}

/* The file has less than a kilobyte, and a path. */
#define ORIGIN_BYTES_MAX (1u << 20)

static enum status read_object(const char *path, int descriptor, uint64_t size, json_t **object,
                               struct error *error)
{
    char *text;
    uint64_t got;
    struct json_fault fault;
    *object = NULL;
    if (size > ORIGIN_BYTES_MAX)
        return error_set(error, STATUS_BAD_INPUT,
                         "%s: is too large; load the benchmark again to write this file anew", path);
    RETURN_IF_ERROR(memory_take(&text, size, SSB_ORIGIN_FILE, error));
    const int reason = file_get(descriptor, text, size, 0, &got);
    enum status status = reason ? error_set_errno(error, reason, "cannot read %s", path)
                                : json_read(text, got, object, &fault, error);
    free(text);
    return status == STATUS_BAD_INPUT && !reason
               ? error_set(error, status, "%s:%u: %s; load the benchmark again to write this file anew", path,
                           fault.line, fault.what)
               : status;
}

enum status ssb_origin_read(const char *directory, struct ssb_origin *origin, struct error *error)
{
    char path[PATH_MAX];
    *origin = (struct ssb_origin){.from = NULL};
    RETURN_IF_ERROR(path_of(directory, SSB_ORIGIN_FILE, path, error));
    int descriptor;
    uint64_t size;
    bool missing;
    enum status status = file_open(path, &descriptor, &size, &missing, error);
    if (missing)
        return error_set(
            error, STATUS_BAD_INPUT,
            "%s is missing, so %s was not made by `tessera ssb load`; load the benchmark into it first", path,
            directory);
    RETURN_IF_ERROR(status);
    json_t *object;
    status = read_object(path, descriptor, size, &object, error);
    close(descriptor);
    status = AND_THEN(status, parse_object(path, object, origin, error));
    json_decref(object);
    return status;
}

void ssb_origin_free(struct ssb_origin *origin)
{
    free(origin->from);
    origin->from = NULL;
}
