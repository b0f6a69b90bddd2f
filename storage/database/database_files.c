/* database_files.c: see database_files.h. */
#define _GNU_SOURCE
#include "storage/database/database_files.h"

#include "storage/column/column_span.h"
#include "storage/database/database.h"
#include "storage/base/clock.h"
#include "storage/base/file.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum status directory_create(const char *path, bool *created, struct error *error)
{
    struct stat stat_of;
    *created = mkdir(path, 0777) == 0;
    if (*created)
        return STATUS_OK;
    int reason = errno;
    const bool exists = reason == EEXIST;
    if (exists)
        reason = stat(path, &stat_of) == 0 ? 0 : errno;
    if (exists && !reason && S_ISDIR(stat_of.st_mode))
        return STATUS_OK;
    if (exists && !reason)
        return error_set(error, STATUS_BAD_INPUT, "%s is a file; name a directory that is new or empty",
                         path);
    return error_set_errno(error, reason, "cannot create directory %s%s", path,
                           reason == ENOENT ? " (create its parent first)" : "");
}

static enum status check_no_link(const char *path, struct error *error)
{
    struct stat stat_of;
    if (lstat(path, &stat_of) != 0)
        return errno == ENOENT ? STATUS_OK : error_set_errno(error, errno, "cannot read %s", path);
    if (!S_ISLNK(stat_of.st_mode))
        return STATUS_OK;
    return error_set(error, STATUS_BAD_INPUT,
                     "%s is a symbolic link, and a database is not changed through one; put the directory "
                     "there, or let the database itself be the link",
                     path);
}

enum status tables_check(const char *directory, const char *table, struct error *error)
{
    char *tables = NULL, *path = NULL;
    enum status status = path_format(&tables, error, "%s/" TABLES_NAME, directory);
    status = AND_THEN(status, check_no_link(tables, error));
    if (status == STATUS_OK && table)
        status = table_path(directory, table, &path, error);
    if (status == STATUS_OK && table)
        status = check_no_link(path, error);
    free(tables);
    free(path);
    return status;
}

enum status database_has(const char *directory, const char *name, bool *found, struct error *error)
{
    char *path;
    *found = false;
    RETURN_IF_ERROR(path_format(&path, error, "%s/%s", directory, name));
    const enum status status = file_found(path, found, error);
    free(path);
    return status;
}

/* ---- The lock ---- */

static void remove_file(const char *directory, const char *name)
{
    char *path = NULL;
    if (path_format(&path, NULL, "%s/%s", directory, name) == STATUS_OK)
        unlink(path);
    free(path);
}

#define HOLDER_BYTES 128u

/* Who holds the lock, in words for those who wait, and then `more`. Returns 0 or an errno value; on the words alone nothing
 * depends. */
static int name_holder(int descriptor, const char *more)
{
    char text[2 * HOLDER_BYTES], host[HOLDER_BYTES / 2] = "";
    if (gethostname(host, sizeof host - 1) != 0)
        snprintf(host, sizeof host, "this host");
    const int length = snprintf(text, sizeof text, "process %ld (%.32s) on %s%s", (long)getpid(),
                                program_invocation_short_name, host, more);
    const int reason = file_truncate(descriptor, 0);
    if (reason)
        return reason;
    return file_put(descriptor, text, (uint64_t)length < sizeof text ? (uint64_t)length : sizeof text - 1, 0);
}

static void get_holder(int descriptor, char text[HOLDER_BYTES])
{
    uint64_t length = 0;
    if (file_get(descriptor, text, HOLDER_BYTES - 1, 0, &length) != 0)
        length = 0;
    text[length] = '\0';
}

static void read_holder(const char *path, char text[HOLDER_BYTES])
{
    int descriptor;
    uint64_t size;
    text[0] = '\0';
    if (file_open(path, &descriptor, &size, NULL, NULL) == STATUS_OK) {
        get_holder(descriptor, text);
        close(descriptor);
    }
    for (char *c = text; *c; c++)
        *c = *c >= ' ' && *c <= '~' ? *c : '?';
    if (!text[0])
        snprintf(text, HOLDER_BYTES, "another process");
}

/* Between two tries; the first ones are closer, for those who have the lock for a moment. */
#define LOCK_POLL_MS 20u

/* `what` is done to the database by who has the lock. */
static enum status take_lock(const char *directory, const char *name, const char *what, unsigned wait_ms,
                             int *descriptor, struct error *error)
{
    const double end = clock_seconds() + 1e-3 * wait_ms;
    char *path = NULL, holder[HOLDER_BYTES];
    *descriptor = -1;
    RETURN_IF_ERROR(path_format(&path, error, "%s/%s", directory, name));
    enum status status = file_lock(path, descriptor, error);
    for (unsigned ms = 1; status == STATUS_OK && *descriptor < 0 && clock_seconds() < end;
         ms = 2 * ms < LOCK_POLL_MS ? 2 * ms : LOCK_POLL_MS) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000L * ms}, NULL);
        status = cancel_check(error);
        status = AND_THEN(status, file_lock(path, descriptor, error));
    }
    if (status == STATUS_OK && *descriptor >= 0) {
        if (name_holder(*descriptor, "") != 0) {
            /* those who wait are told less */
        }
    } else if (status == STATUS_OK) {
        read_holder(path, holder);
        status = error_set(error, STATUS_BAD_INPUT,
                           "database %s is being %s: %s holds %s; wait until that has ended and try again",
                           directory, what, holder, path);
    }
    free(path);
    return status;
}

enum status database_lock(const char *directory, unsigned wait_ms, int *descriptor, struct error *error)
{
    return take_lock(directory, LOCK_FILE, "changed by another writer", wait_ms, descriptor, error);
}

void database_unlock(int descriptor)
{
    if (descriptor < 0)
        return;
    if (ftruncate(descriptor, 0) != 0) {
        /* the next holder writes over it */
    }
    close(descriptor);
}

/* ---- The lock of a compaction ---- */

/* A compaction takes long, so another one hardly waits. */
#define COMPACTION_WAIT_MS 500u

/* Before the number of the generation, at the end of its file. */
#define OWNS ", generation "

enum status compaction_lock(const char *directory, int *descriptor, struct error *error)
{
    return take_lock(directory, COMPACTION_FILE, "compacted already", COMPACTION_WAIT_MS, descriptor, error);
}

enum status compaction_owns(const char *directory, int descriptor, uint64_t generation, struct error *error)
{
    char text[sizeof OWNS + 20];
    snprintf(text, sizeof text, OWNS "%" PRIu64, generation);
    const int reason = name_holder(descriptor, text);
    return reason ? error_set_errno(error, reason, "cannot write %s/" COMPACTION_FILE, directory) : STATUS_OK;
}

void compaction_unlock(const char *directory, int descriptor)
{
    if (descriptor < 0)
        return;
    remove_file(directory, COMPACTION_FILE);
    close(descriptor);
}

/* ---- The files of tables ---- */

enum stored_file stored_file_kind(const struct table *table, const char *name)
{
    char column_name[NAME_BYTES], word[NAME_BYTES];
    const char *first = strchr(name, '.');
    const char *second = first ? strchr(first + 1, '.') : NULL;
    if (!second || second - first > NAME_BYTES || !name_of_file(name, (size_t)(first - name), column_name))
        return FILE_UNKNOWN;
    snprintf(word, sizeof word, "%.*s", (int)(second - first - 1), first + 1);
    size_t digits = strspn(second + 1, "0123456789");
    bool side = strcmp(word, SIDE_WORD) == 0, index = strcmp(word, INDEX_WORD) == 0;
    const struct codec *codec = codec_by_name(word);
    if (digits == 0 || digits > 19 || second[1 + digits] || (!side && !index && !codec))
        return FILE_UNKNOWN;
    uint64_t generation = strtoull(second + 1, NULL, 10);
    const struct column *column = NULL;
    if (!table || table_column(table, column_name, &column, NULL) != STATUS_OK)
        return FILE_STALE;
    if (side)
        return spans_of(&column->sides, generation) ? FILE_CURRENT : FILE_STALE;
    if (index)
        return column->index && spans_of(&column->index->files, generation) ? FILE_CURRENT : FILE_STALE;
    const struct encoding_info *encoding = column_encoding(column, codec->id);
    return encoding && spans_of(&encoding->files, generation) ? FILE_CURRENT : FILE_STALE;
}

/* Opens a directory without following a link. *directory is NULL if there is none: another thing of that name is not
 * ours. */
static enum status open_directory(const char *path, DIR **directory, struct error *error)
{
    const int descriptor = file_descriptor(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    *directory = descriptor >= 0 ? fdopendir(descriptor) : NULL;
    const int reason = errno;
    if (*directory || (descriptor < 0 && (reason == ENOENT || reason == ENOTDIR || reason == ELOOP)))
        return STATUS_OK;
    if (descriptor >= 0)
        close(descriptor);
    return error_set_errno(error, reason, "cannot list %s", path);
}

/* Gets the next name, NULL at the end; "." and ".." are no names. */
static enum status next_name(const char *path, DIR *directory, const char **name, struct error *error)
{
    const struct dirent *entry;
    do {
        errno = 0;
        entry = readdir(directory);
    } while (entry && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
    *name = entry ? entry->d_name : NULL;
    return entry || errno == 0 ? STATUS_OK : error_set_errno(error, errno, "cannot list %s", path);
}

enum status directory_is_empty(const char *path, bool *empty, struct error *error)
{
    DIR *const directory = opendir(path);
    const char *name;
    *empty = true;
    if (!directory)
        return errno == ENOENT ? STATUS_OK : error_set_errno(error, errno, "cannot list %s", path);
    enum status status;
    do /* a writer that failed at once leaves its lock */
        status = next_name(path, directory, &name, error);
    while (status == STATUS_OK && name && strcmp(name, LOCK_FILE) == 0);
    *empty = !name;
    closedir(directory);
    return status;
}

/* Whether the directory in which something would be made is there. */
static enum status has_parent(const char *path, bool *has, struct error *error)
{
    struct stat facts;
    char *parent;
    size_t length = strlen(path);
    while (length && path[length - 1] == '/')
        length--;
    while (length && path[length - 1] != '/')
        length--;
    RETURN_IF_ERROR(path_format(&parent, error, "%.*s.", (int)length, path)); /* "." or "a/b/." */
    const int reason = stat(parent, &facts) == 0 ? 0 : errno;
    *has = !reason && S_ISDIR(facts.st_mode);
    free(parent);
    return !reason || reason == ENOENT || reason == ENOTDIR
               ? STATUS_OK
               : error_set_errno(error, reason, "cannot look at the directory of %s", path);
}

enum status database_is_new(const char *path, bool *is_new, struct error *error)
{
    struct stat facts;
    bool found;
    RETURN_IF_ERROR(file_found(path, &found, error));
    if (!found)
        return has_parent(path, is_new, error);
    *is_new = false;
    if (stat(path, &facts) != 0 || !S_ISDIR(facts.st_mode))
        return STATUS_OK;
    RETURN_IF_ERROR(directory_is_empty(path, is_new, error));
    if (*is_new)
        return STATUS_OK;
    RETURN_IF_ERROR(database_has(path, CATALOGUE_FILE, &found, error));
    return found ? STATUS_OK : database_has(path, FIRST_FILE, is_new, error);
}

/* Visits the files of one table's directory, then the directory itself. */
static enum status visit_table(const char *path, const struct table *table, stored_file_visit *visit,
                               void *context, struct error *error)
{
    DIR *files;
    const char *name = "";
    enum status status = open_directory(path, &files, error);
    while (files && status == STATUS_OK && name) {
        status = next_name(path, files, &name, error);
        if (status == STATUS_OK && name)
            visit(context, path, table, name);
    }
    if (files)
        closedir(files);
    if (status == STATUS_OK)
        visit(context, path, table, "");
    return status;
}

enum status stored_files_visit(const char *directory, const struct catalogue *catalogue,
                               stored_file_visit *visit, void *context, struct error *error)
{
    char *path = NULL, *table_directory;
    DIR *tables = NULL;
    const char *entry = "";
    enum status status = path_format(&path, error, "%s/" TABLES_NAME, directory);
    status = AND_THEN(status, open_directory(path, &tables, error));
    while (tables && status == STATUS_OK && entry) {
        char name[NAME_BYTES] = "";
        status = next_name(path, tables, &entry, error);
        if (status != STATUS_OK || !entry || entry[0] == '.')
            continue;
        const bool ours = name_of_file(entry, strlen(entry), name);
        status = path_format(&table_directory, error, "%s/%s", path, entry);
        status = AND_THEN(status, visit_table(table_directory, ours ? catalogue_table(catalogue, name) : NULL,
                                              visit, context, error));
        free(table_directory);
    }
    if (tables)
        closedir(tables);
    free(path);
    return status;
}

static void count_ours(void *context, const char *directory, const struct table *table, const char *name)
{
    (void)directory;
    *(uint64_t *)context += name[0] && stored_file_kind(table, name) != FILE_UNKNOWN;
}

enum status stored_files_count(const char *directory, uint64_t *files, struct error *error)
{
    const struct catalogue none = {0};
    *files = 0;
    return stored_files_visit(directory, &none, count_ours, files, error);
}

/* ---- Cleaning up ---- */

/* The superseded catalogues that readers hold, and the generation of a compaction at work, or 0. `unknown`: one of them could
 * not be read, so no file may be removed. */
struct held_states {
    uint32_t count;
    struct catalogue *catalogues;
    uint64_t compaction;
    bool unknown;
};

/* "catalogue.12" */
static bool is_superseded(const char *name)
{
    static const char prefix[] = CATALOGUE_FILE ".";
    const size_t length = sizeof prefix - 1;
    return strncmp(name, prefix, length) == 0 && name[length] &&
           strspn(name + length, "0123456789") == strlen(name + length);
}

/* Whether no reader holds the open catalogue. */
static bool is_free(int descriptor)
{
    return file_flock(descriptor, LOCK_EX | LOCK_NB) == 0;
}

static enum status keep_held(const char *path, struct held_states *held)
{
    RETURN_IF_ERROR(
        memory_grow(&held->catalogues, (held->count + 1) * sizeof *held->catalogues, "states", NULL));
    RETURN_IF_ERROR(catalogue_read_file(path, &held->catalogues[held->count], NULL));
    held->count++;
    return STATUS_OK;
}

/* Removes a superseded catalogue, or keeps what it names if a reader holds it, or if this cannot be told. */
static void take_held(const char *path, struct held_states *held)
{
    int descriptor = -1;
    uint64_t size;
    struct stat stat_of;
    if (lstat(path, &stat_of) != 0) {
        held->unknown |= errno != ENOENT;
        return;
    }
    if (!S_ISREG(stat_of.st_mode))
        return; /* the file is not ours, despite its name */
    if (file_open(path, &descriptor, &size, NULL, NULL) == STATUS_OK && is_free(descriptor))
        unlink(path);
    else if (keep_held(path, held) != STATUS_OK)
        held->unknown = true;
    if (descriptor >= 0)
        close(descriptor);
}

static void find_held(const char *directory, struct held_states *held)
{
    DIR *entries = opendir(directory);
    const char *name = "";
    held->unknown = !entries;
    while (entries && name) {
        char *path = NULL;
        if (next_name(directory, entries, &name, NULL) != STATUS_OK) {
            held->unknown = true;
            break;
        }
        if (!name || !is_superseded(name))
            continue;
        if (path_format(&path, NULL, "%s/%s", directory, name) == STATUS_OK)
            take_held(path, held);
        else
            held->unknown = true;
        free(path);
    }
    if (entries)
        closedir(entries);
}

/* Finds the compaction at work, or removes what a killed one left. One that has just begun has no generation yet. */
static void find_compaction(const char *directory, struct held_states *held)
{
    char *path = NULL, text[HOLDER_BYTES];
    int descriptor = -1;
    uint64_t size;
    bool missing = false;
    if (path_format(&path, NULL, "%s/" COMPACTION_FILE, directory) != STATUS_OK ||
        file_open(path, &descriptor, &size, &missing, NULL) != STATUS_OK) {
        held->unknown |= !missing;
    } else if (is_free(descriptor)) {
        unlink(path);
    } else {
        get_holder(descriptor, text);
        const char *const owns = strstr(text, OWNS);
        held->compaction = owns ? strtoull(owns + sizeof OWNS - 1, NULL, 10) : 0;
        held->unknown |= held->compaction == 0;
    }
    if (descriptor >= 0)
        close(descriptor);
    free(path);
}

/* `folder`: the name of the table's directory; `name` looks like ours. */
static bool is_held(const struct held_states *held, const char *folder, const char *name)
{
    char table[NAME_BYTES];
    bool found = held->unknown || !name_of_file(folder, strlen(folder), table) ||
                 (held->compaction && strtoull(strrchr(name, '.') + 1, NULL, 10) == held->compaction);
    for (uint32_t h = 0; h < held->count && !found; h++) {
        const struct table *as_it_was = catalogue_table(&held->catalogues[h], table);
        found = as_it_was && stored_file_kind(as_it_was, name) == FILE_CURRENT;
    }
    return found;
}

static void remove_stale(void *context, const char *directory, const struct table *table, const char *name)
{
    char *path = NULL;
    const char *const slash = strrchr(directory, '/');
    if (!name[0]) {
        if (!table)
            rmdir(directory); /* the system refuses this if the directory is not empty */
    } else if (stored_file_kind(table, name) == FILE_STALE && !is_held(context, slash + 1, name) &&
               path_format(&path, NULL, "%s/%s", directory, name) == STATUS_OK) {
        unlink(path);
        free(path);
    }
}

void database_clean(const char *directory, const struct catalogue *catalogue)
{
    struct held_states held = {0};
    const bool first = catalogue->generation == 0;
    if (!first && directory_sync(directory, NULL) != STATUS_OK)
        return;
    find_held(directory, &held);
    find_compaction(directory, &held);
    if (stored_files_visit(directory, catalogue, remove_stale, &held, NULL) != STATUS_OK) {
        /* what could not be listed stays for the next writer */
    }
    remove_file(directory, CATALOGUE_NEW_FILE);
    if (!first)
        remove_file(directory, FIRST_FILE);
    for (uint32_t h = 0; h < held.count; h++)
        catalogue_free(&held.catalogues[h]);
    free(held.catalogues);
}

/* Others that let go at the same moment have the lock for about a millisecond; a writer keeps it. */
#define RELEASE_WAIT_MS 20u

/* False if this cannot be told: then the next writer cleans up. */
static bool is_superseded_state(const char *directory, int descriptor)
{
    char *path = NULL;
    bool current = true;
    const bool known = path_format(&path, NULL, "%s/" CATALOGUE_FILE, directory) == STATUS_OK &&
                       access(path, F_OK) == 0 && file_is_at(path, descriptor, &current, NULL) == STATUS_OK;
    free(path);
    return known && !current;
}

void database_clean_current(const char *directory)
{
    struct catalogue catalogue;
    int lock = -1;
    if (database_lock(directory, RELEASE_WAIT_MS, &lock, NULL) != STATUS_OK)
        return;
    if (catalogue_read(directory, &catalogue, NULL) == STATUS_OK) {
        database_clean(directory, &catalogue);
        catalogue_free(&catalogue);
    }
    database_unlock(lock);
}

void state_release(const char *directory, int descriptor)
{
    if (descriptor < 0)
        return;
    const bool superseded = is_superseded_state(directory, descriptor);
    close(descriptor);
    if (superseded)
        database_clean_current(directory);
}
