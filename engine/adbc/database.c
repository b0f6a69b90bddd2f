/* database.c: an ADBC database: where the files are, and on which device statements run. It opens nothing: each
 * connection opens the database in the state of its moment. */
#include "engine/adbc/driver.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define URI_SCHEME  "tessera:"
#define THREADS_MAX 4096

static const struct {
    const char *key;
    size_t place; /* in struct driver_options */
} texts[] = {{"path", offsetof(struct driver_options, path)},
             {"device", offsetof(struct driver_options, device)},
             {"gpu_memory", offsetof(struct driver_options, gpu_memory)},
             {"memory", offsetof(struct driver_options, memory)},
             {"spill", offsetof(struct driver_options, spill)},
             {"plan_cache", offsetof(struct driver_options, plan_cache)}};
#define TEXTS       (sizeof texts / sizeof *texts)
#define KEY_THREADS "threads"

static char **text_at(const struct driver_options *options, size_t t)
{
    return (char **)(void *)((char *)(uintptr_t)options + texts[t].place);
}

/* NULL: the option is no text. */
static char **text_of(const struct driver_options *options, const char *key)
{
    for (size_t t = 0; t < TEXTS; t++)
        if (strcmp(key, texts[t].key) == 0)
            return text_at(options, t);
    return NULL;
}

void driver_options_free(struct driver_options *options)
{
    for (size_t t = 0; t < TEXTS; t++)
        free(*text_at(options, t));
    *options = (struct driver_options){0};
}

AdbcStatusCode driver_options_copy(const struct driver_options *from, struct driver_options *to,
                                   struct AdbcError *error)
{
    to->threads = from->threads;
    for (size_t t = 0; t < TEXTS; t++)
        RETURN_IF_FAILED(driver_copy(*text_at(from, t), text_at(to, t), error));
    return ADBC_STATUS_OK;
}

static AdbcStatusCode set_threads(struct driver_options *options, const char *value, struct AdbcError *error)
{
    char *end;
    const long threads = strtol(value, &end, 10);
    if (end == value || *end || threads < 0 || threads > THREADS_MAX)
        return driver_error(error, ADBC_STATUS_INVALID_ARGUMENT, "threads is 0 (all) to %d, not '%s'",
                            THREADS_MAX, value);
    options->threads = (unsigned)threads;
    return ADBC_STATUS_OK;
}

/* Every option but "uri". */
static AdbcStatusCode set_option(struct driver_options *options, const char *key, const char *value,
                                 struct AdbcError *error)
{
    char **const text = text_of(options, key);
    if (text)
        return driver_copy(value, text, error);
    if (strcmp(key, KEY_THREADS) == 0)
        return set_threads(options, value, error);
    return driver_error(
        error, ADBC_STATUS_NOT_IMPLEMENTED,
        "there is no option '%s'; there are uri, path, device, threads, gpu_memory, memory, spill "
        "and plan_cache",
        key);
}

/* Replaces %20 and the like, in place. */
static void decode_percent(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++, to++) {
        unsigned byte;
        if (*from == '%' && isxdigit((unsigned char)from[1]) && isxdigit((unsigned char)from[2]) &&
            sscanf(from + 1, "%2x", &byte) == 1 && byte) {
            *to = (char)byte;
            from += 2;
        } else {
            *to = *from;
        }
    }
    *to = '\0';
}

/* "tessera:///data/shop.db?device=cpu&threads=4", "tessera:shop.db" (relative), or a path as it is. */
static AdbcStatusCode set_uri(struct driver_options *options, char *uri, struct AdbcError *error)
{
    if (strncmp(uri, URI_SCHEME, strlen(URI_SCHEME)) != 0)
        return driver_copy(uri, &options->path, error);
    char *path = uri + strlen(URI_SCHEME), *rest = strchr(path, '?');
    if (rest)
        *rest++ = '\0';
    if (strncmp(path, "//", 2) == 0)
        path += 2;
    decode_percent(path);
    RETURN_IF_FAILED(driver_copy(path, &options->path, error));
    while (rest && *rest) {
        char *const key = rest, *value;
        rest = strchr(rest, '&');
        if (rest)
            *rest++ = '\0';
        value = strchr(key, '=');
        if (!value)
            return driver_error(error, ADBC_STATUS_INVALID_ARGUMENT,
                                "'%s' in the URI has no value; write %s=...", key, key);
        *value++ = '\0';
        decode_percent(value);
        RETURN_IF_FAILED(set_option(options, key, value, error));
    }
    return ADBC_STATUS_OK;
}

/* ---- The functions of the table ---- */

AdbcStatusCode driver_database_new(struct AdbcDatabase *database, struct AdbcError *error)
{
    database->private_data = calloc(1, sizeof(struct driver_database));
    return database->private_data ? ADBC_STATUS_OK : driver_out_of_memory(error);
}

AdbcStatusCode driver_database_set(struct AdbcDatabase *database, const char *key, const char *value,
                                   struct AdbcError *error)
{
    struct driver_database *const of = database->private_data;
    char *copy = NULL;
    if (!of || !key || !value)
        return driver_error(error, ADBC_STATUS_INVALID_STATE,
                            "an option needs a database that is made, a key and a value");
    if (strcmp(key, ADBC_OPTION_URI) != 0)
        return set_option(&of->options, key, value, error);
    RETURN_IF_FAILED(driver_copy(value, &copy, error));
    const AdbcStatusCode code = set_uri(&of->options, copy, error);
    free(copy);
    return code;
}

AdbcStatusCode driver_database_set_int(struct AdbcDatabase *database, const char *key, int64_t value,
                                       struct AdbcError *error)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value);
    return driver_database_set(database, key, text, error);
}

AdbcStatusCode driver_database_get(struct AdbcDatabase *database, const char *key, char *value,
                                   size_t *length, struct AdbcError *error)
{
    const struct driver_database *const of = database->private_data;
    char threads[16];
    if (!of)
        return driver_error(error, ADBC_STATUS_INVALID_STATE, "the database is not made");
    snprintf(threads, sizeof threads, "%u", of->options.threads);
    char **const text = text_of(&of->options, strcmp(key, ADBC_OPTION_URI) == 0 ? "path" : key);
    return driver_give_option(key,
                              text                            ? *text
                              : strcmp(key, KEY_THREADS) == 0 ? threads
                                                              : NULL,
                              value, length, error);
}

AdbcStatusCode driver_database_init(struct AdbcDatabase *database, struct AdbcError *error)
{
    const struct driver_database *const of = database->private_data;
    if (!of)
        return driver_error(error, ADBC_STATUS_INVALID_STATE, "the database is not made");
    if (!of->options.path || !of->options.path[0])
        return driver_error(error, ADBC_STATUS_INVALID_ARGUMENT,
                            "no database is named; set the option uri or path to its directory");
    return ADBC_STATUS_OK;
}

AdbcStatusCode driver_database_release(struct AdbcDatabase *database, struct AdbcError *error)
{
    struct driver_database *const of = database->private_data;
    if (!of)
        return driver_error(error, ADBC_STATUS_INVALID_STATE, "the database is not made, or was released");
    driver_options_free(&of->options);
    free(of);
    database->private_data = NULL;
    return ADBC_STATUS_OK;
}
