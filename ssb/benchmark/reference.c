/*
 * reference.c: opens the reference's SQLite file if it is complete and current, and else loads a new one.
 *
 * The table `reference` of the file names its source: the generator's options, or the .tbl files with their
 * sizes and times; and the row counts. If they differ, or the file is not an SQLite database or has another
 * format, it is replaced. A load writes to a temporary name and locks it, so that two runs never load into
 * one file. If a load crashes, the next one overwrites its temporary file.
 */
#define _GNU_SOURCE
#include "ssb/benchmark/reference_internal.h"
#include "storage/base/clock.h"
#include "storage/base/file.h"
#include "storage/base/number/number_text.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORMAT         1 /* the version of SCHEMA; a file with another version is loaded again */
#define IDENTITY_BYTES (PATH_MAX + 1024)

static const char SCHEMA[] =
    "CREATE TABLE reference(format INTEGER, source TEXT, files TEXT, seconds REAL);CREATE TABLE answer(id "
    "INTEGER PRIMARY KEY, statement TEXT UNIQUE, milliseconds REAL, made TEXT, sqlite TEXT);CREATE TABLE "
    "answer_cell(answer INTEGER, row INTEGER, column INTEGER, value, PRIMARY KEY (answer, row, column)) "
    "WITHOUT ROWID;";

/* ---- SQLite's files and errors ---- */

/* Instructions of SQLite's virtual machine between two checks for Ctrl-C: about a millisecond. */
#define PROGRESS_INSTRUCTIONS 100000

/* What another process keeps takes milliseconds. */
#define WAIT_MS 10000

static int stop(void *context)
{
    (void)context;
    return cancel_requested();
}

int reference_connect(const char *path, int flags, sqlite3 **connection)
{
    const int code = sqlite3_open_v2(path, connection, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK) {
        sqlite3_busy_timeout(*connection, WAIT_MS);
        sqlite3_progress_handler(*connection, PROGRESS_INSTRUCTIONS, stop, NULL);
    }
    return code;
}

#define READ_BYTES (1u << 20)

static bool can_be_read(const char *path)
{
    int descriptor;
    uint64_t size, got = 1;
    unsigned char *const bytes = malloc(READ_BYTES);
    bool readable = bytes && file_open(path, &descriptor, &size, NULL, NULL) == STATUS_OK;
    if (readable) {
        for (uint64_t at = 0; readable && got; at += got)
            readable = file_get(descriptor, bytes, READ_BYTES, at, &got) == 0;
        close(descriptor);
    }
    free(bytes);
    return readable;
}

/* SQLite calls a file malformed, too, where the disk gave EIO (SQLITE_IOERR_CORRUPTFS), and forgets why. */
static bool is_damaged(const char *path)
{
    sqlite3 *connection = NULL;
    sqlite3_stmt *check = NULL;
    int code = reference_connect(path, SQLITE_OPEN_READONLY, &connection);
    bool right = false;
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(connection, "PRAGMA quick_check(1)", -1, &check, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(check);
    if (code == SQLITE_ROW)
        right = strcmp((const char *)sqlite3_column_text(check, 0), "ok") == 0;
    sqlite3_finalize(check);
    sqlite3_close(connection);
    return !right && (code == SQLITE_ROW || code == SQLITE_CORRUPT || code == SQLITE_NOTADB) &&
           can_be_read(path);
}

enum status reference_error(sqlite3 *connection, const char *path, const char *what, struct error *error)
{
    int code = connection ? sqlite3_errcode(connection) : SQLITE_NOMEM;
    const char *text = connection ? sqlite3_errmsg(connection) : sqlite3_errstr(code);
    if ((code == SQLITE_CORRUPT || code == SQLITE_NOTADB) && !is_damaged(path))
        code = SQLITE_IOERR;
    if (cancel_requested())
        return cancel_check(error);
    switch (code) {
    case SQLITE_FULL:
        return error_set(error, STATUS_MACHINE,
                         "%s: %s: SQLite says \"%s\"; make room, or use --verify plain", path, what, text);
    case SQLITE_NOMEM:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY: /* SQLite opens what it cannot write to read it, whatever the reason */
        return error_set(error, STATUS_MACHINE,
                         "%s: %s: SQLite says \"%s\"; see that the folder can be written and has room, or "
                         "use --verify plain",
                         path, what, text);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return error_set(error, STATUS_CHECK_FAILED,
                         "%s: %s: SQLite says \"%s\"; delete the file, it will be loaded again", path, what,
                         text);
    default:
        return error_set(error, STATUS_BAD_INPUT, "%s: %s: SQLite says \"%s\"", path, what, text);
    }
}

enum status reference_execute(sqlite3 *connection, const char *path, const char *statements, const char *what,
                              struct error *error)
{
    if (sqlite3_exec(connection, statements, NULL, NULL, NULL) != SQLITE_OK)
        return reference_error(connection, path, what, error);
    return STATUS_OK;
}

/* ---- The source of the rows ---- */

/* Writes options, folder and row counts. They are known even if the files have been removed. */
static void source_text(const struct reference_source *source, char *text, size_t size)
{
    int used;
    if (source->from)
        used = snprintf(text, size, "tbl %s", source->from);
    else
        used = number_print(text, size, "generated sf=%.17g mode=%s variant=%s dates=%s%s",
                            source->options.scale_factor, ssb_mode_words[source->options.mode],
                            ssb_variant_words[source->options.variant],
                            ssb_dates_words[source->options.dates], source->options.skew ? " skewed" : "");
    for (int t = 0; t < SSB_TABLES && used > 0 && (size_t)used < size; t++)
        used += snprintf(text + used, size - (size_t)used, " %s=%" PRIu64,
                         ssb_table_info((enum ssb_table)t)->name, source->rows[t]);
}

/* Writes size and time of every .tbl file; "" if one is missing, or the rows were generated. */
static void files_text(const struct reference_source *source, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (int t = 0; source->from && t < SSB_TABLES; t++) {
        char path[PATH_MAX];
        struct stat about;
        int length =
            snprintf(path, sizeof path, "%s/%s.tbl", source->from, ssb_table_info((enum ssb_table)t)->name);
        if (length < 0 || (size_t)length >= sizeof path || stat(path, &about) != 0) {
            text[0] = 0;
            return;
        }
        int wrote = snprintf(text + used, size - used, "%lld bytes, %lld.%09ld; ", (long long)about.st_size,
                             (long long)about.st_mtim.tv_sec, about.st_mtim.tv_nsec);
        if (wrote < 0 || (size_t)wrote >= size - used)
            return;
        used += (size_t)wrote;
    }
}

struct identity {
    char source[IDENTITY_BYTES];
    char files[IDENTITY_BYTES];
};

/* Whether the file is complete and was loaded from these rows. The table `reference` is written last. The file is opened to be
 * written, so that SQLite takes back what a run had not finished that was killed while it kept answers. */
static enum status find_current(const char *path, const struct identity *identity, bool *current,
                                double *seconds, struct error *error)
{
    sqlite3 *connection = NULL;
    sqlite3_stmt *select = NULL;
    int descriptor;
    uint64_t size;
    *current = false;
    /* file_open refuses a FIFO, for which SQLite would wait */
    const enum status there = file_open(path, &descriptor, &size, NULL, error);
    if (there != STATUS_OK)
        return there == STATUS_MACHINE ? there : STATUS_OK;
    close(descriptor);
    int code = reference_connect(path, SQLITE_OPEN_READWRITE, &connection);
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(
            connection,
            "SELECT seconds FROM reference WHERE format = ?1 AND source = ?2 AND (files = ?3 OR ?3 = '')", -1,
            &select, NULL);
    if (code == SQLITE_OK) {
        sqlite3_bind_int(select, 1, FORMAT);
        sqlite3_bind_text(select, 2, identity->source, -1, SQLITE_STATIC);
        sqlite3_bind_text(select, 3, identity->files, -1, SQLITE_STATIC);
        code = sqlite3_step(select);
        *current = code == SQLITE_ROW;
        *seconds = *current ? sqlite3_column_double(select, 0) : 0;
    }
    enum status status = STATUS_OK;
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        status = reference_error(connection, path, "opening", error);
        if (status == STATUS_CHECK_FAILED || code == SQLITE_ERROR)
            status = STATUS_OK; /* it is damaged, or has other tables */
    }
    sqlite3_finalize(select);
    sqlite3_close(connection);
    return status;
}

/* ---- Loading a new file ---- */

/* Opens and empties the temporary file and locks it for as long as the descriptor is open. */
static enum status lock_partial(const char *path, int *descriptor, struct error *error)
{
    int fd;
    RETURN_IF_ERROR(file_lock(path, &fd, error));
    if (fd < 0)
        return error_set(error, STATUS_BAD_INPUT,
                         "another process is loading %s; wait for it, or use --verify plain", path);
    const int reason = file_truncate(fd, 0);
    if (reason) {
        close(fd);
        return error_set_errno(error, reason, "cannot empty %s", path);
    }
    *descriptor = fd;
    return STATUS_OK;
}

static enum status write_identity(sqlite3 *connection, const char *path, const struct identity *identity,
                                  double seconds, struct error *error)
{
    RETURN_IF_ERROR(reference_execute(connection, path, SCHEMA, "creating tables", error));
    sqlite3_stmt *insert = NULL;
    enum status status = STATUS_OK;
    if (sqlite3_prepare_v2(connection, "INSERT INTO reference VALUES (?, ?, ?, ?)", -1, &insert, NULL) !=
        SQLITE_OK)
        return reference_error(connection, path, "finishing", error);
    sqlite3_bind_int(insert, 1, FORMAT);
    sqlite3_bind_text(insert, 2, identity->source, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 3, identity->files, -1, SQLITE_STATIC);
    sqlite3_bind_double(insert, 4, seconds);
    if (sqlite3_step(insert) != SQLITE_DONE)
        status = reference_error(connection, path, "finishing", error);
    sqlite3_finalize(insert);
    if (status != STATUS_OK)
        return status;
    return reference_execute(connection, path, "COMMIT", "finishing", error);
}

static enum status load_file(const char *path, const struct reference_source *source,
                             const struct identity *identity, unsigned threads, struct progress *progress,
                             double *seconds, struct error *error)
{
    double begun = clock_seconds();
    sqlite3 *connection = NULL;
    enum status status = STATUS_OK;
    if (reference_connect(path, SQLITE_OPEN_READWRITE, &connection) != SQLITE_OK)
        status = reference_error(connection, path, "opening", error);
    status = AND_THEN(status, reference_load(connection, path, source, threads, progress, error));
    *seconds = clock_seconds() - begun;
    status = AND_THEN(status, write_identity(connection, path, identity, *seconds, error));
    sqlite3_close(connection);
    return status;
}

/* Removes the file that another takes the place of, and then its journal, which SQLite would play back into that one. */
static int remove_old(const char *path)
{
    char journal[PATH_MAX];
    const int length = snprintf(journal, sizeof journal, "%s-journal", path);
    if (length < 0 || (size_t)length >= sizeof journal)
        return ENAMETOOLONG;
    if (unlink(path) != 0 && errno != ENOENT)
        return errno;
    return unlink(journal) != 0 && errno != ENOENT ? errno : 0;
}

static enum status load_and_rename(const char *directory, const char *path,
                                   const struct reference_source *source, const struct identity *identity,
                                   unsigned threads, struct progress *progress, double *seconds,
                                   struct error *error)
{
    char partial[PATH_MAX];
    int descriptor = -1, length = snprintf(partial, sizeof partial, "%s.partial", path);
    if (length < 0 || (size_t)length >= sizeof partial)
        return error_set(error, STATUS_BAD_INPUT, "the path %s is too long", path);
    RETURN_IF_ERROR(lock_partial(partial, &descriptor, error));
    enum status status = load_file(partial, source, identity, threads, progress, seconds, error);
    int reason = status == STATUS_OK ? file_sync(descriptor) : 0;
    if (status == STATUS_OK && !reason)
        reason = remove_old(path);
    if (status == STATUS_OK && !reason && rename(partial, path) != 0)
        reason = errno;
    if (reason)
        status = error_set_errno(error, reason, "cannot finish %s", path);
    if (status != STATUS_OK)
        unlink(partial);
    close(descriptor);
    if (status != STATUS_OK)
        return status;
    if (directory_sync(directory, NULL) != STATUS_OK) {
        /* if a crash loses the new name, the file is loaded once more */
    }
    return STATUS_OK;
}

enum status reference_open(const char *directory, const struct reference_source *source, unsigned threads,
                           struct progress *progress, struct reference **out, struct error *error)
{
    struct reference *reference = calloc(1, sizeof *reference);
    struct identity *identity = calloc(1, sizeof *identity);
    enum status status = STATUS_OK;
    if (!reference || !identity || asprintf(&reference->path, "%s/%s", directory, REFERENCE_FILE) < 0)
        status = error_out_of_memory(error, sizeof *reference + sizeof *identity, "the reference");
    if (status == STATUS_OK) {
        source_text(source, identity->source, sizeof identity->source);
        files_text(source, identity->files, sizeof identity->files);
        bool current;
        status = find_current(reference->path, identity, &current, &reference->load_seconds, error);
        if (status == STATUS_OK && !current) {
            status = load_and_rename(directory, reference->path, source, identity, threads, progress,
                                     &reference->load_seconds, error);
            reference->loaded = true;
        }
    }
    free(identity);
    if (status != STATUS_OK) {
        reference_close(reference);
        return status;
    }
    *out = reference;
    return STATUS_OK;
}

void reference_close(struct reference *reference)
{
    if (!reference)
        return;
    free(reference->path);
    free(reference);
}

double reference_load_seconds(const struct reference *reference)
{
    return reference->load_seconds;
}

bool reference_was_loaded(const struct reference *reference)
{
    return reference->loaded;
}
