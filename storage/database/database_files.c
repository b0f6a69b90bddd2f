/* database_files.c: see database_files.h. */
#define _GNU_SOURCE
#include "storage/database/database_files.h"

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
    if (reason == EEXIST && stat(path, &stat_of) == 0 && S_ISDIR(stat_of.st_mode))
        return STATUS_OK;
    if (reason == EEXIST)
        return error_set(error, STATUS_BAD_INPUT, "%s is a file; name a directory that is new or empty",
                         path);
    return error_set_errno(error, reason, "cannot create directory %s%s", path,
                           reason == ENOENT ? " (create its parent first)" : "");
}

static enum status check_no_link(const char *path, struct error *error)
{
    struct stat stat_of;
    if (lstat(path, &stat_of) != 0 || !S_ISLNK(stat_of.st_mode))
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
    if (status == STATUS_OK)
        status = check_no_link(tables, error);
    if (status == STATUS_OK && table)
        status = table_path(directory, table, &path, error);
    if (status == STATUS_OK && table)
        status = check_no_link(path, error);
    free(tables);
    free(path);
    return status;
}

enum status database_lock(const char *directory, int *descriptor, struct error *error)
{
    char *path = NULL;
    *descriptor = -1;
    RETURN_IF_ERROR(path_format(&path, error, "%s/" LOCK_FILE, directory));
    enum status status = file_lock(path, descriptor, error);
    if (status == STATUS_OK && *descriptor < 0)
        status = error_set(
            error, STATUS_BAD_INPUT,
            "database %s is being changed by another writer (it holds %s); wait until that has ended "
            "and try again",
            directory, path);
    free(path);
    return status;
}

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
        return column->side_generation == generation ? FILE_CURRENT : FILE_STALE;
    if (index)
        return column->index && column->index->generation == generation ? FILE_CURRENT : FILE_STALE;
    const struct encoding_info *encoding = column_encoding(column, codec->id);
    return encoding && encoding->generation == generation ? FILE_CURRENT : FILE_STALE;
}

/* Opens a directory without following a link; NULL if it cannot be listed. */
static DIR *open_directory(const char *path)
{
    const int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *directory = descriptor >= 0 ? fdopendir(descriptor) : NULL;
    if (!directory && descriptor >= 0)
        close(descriptor);
    return directory;
}

void stored_files_visit(const char *directory, const struct catalogue *catalogue, stored_file_visit *visit,
                        void *context)
{
    char *tables_path = NULL;
    if (path_format(&tables_path, NULL, "%s/" TABLES_NAME, directory) != STATUS_OK)
        return;
    DIR *tables = open_directory(tables_path);
    struct dirent *entry;
    while (tables && (entry = readdir(tables)) != NULL) {
        char *table_path = NULL;
        if (entry->d_name[0] == '.' ||
            path_format(&table_path, NULL, "%s/%s", tables_path, entry->d_name) != STATUS_OK)
            continue;
        char name[NAME_BYTES] = "";
        const bool ours = name_of_file(entry->d_name, strlen(entry->d_name), name);
        const struct table *table = ours ? catalogue_table(catalogue, name) : NULL;
        DIR *files = open_directory(table_path);
        struct dirent *file;
        while (files && (file = readdir(files)) != NULL)
            if (strcmp(file->d_name, ".") != 0 && strcmp(file->d_name, "..") != 0)
                visit(context, table_path, table, file->d_name);
        if (files)
            closedir(files);
        visit(context, table_path, table, "");
        free(table_path);
    }
    if (tables)
        closedir(tables);
    free(tables_path);
}

/* ---- Cleaning up ---- */

/* The superseded catalogues that readers hold. `unknown`: one of them could not be read, so no file may be
 * removed. */
struct held_states {
    uint32_t count;
    struct catalogue *catalogues;
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

static void take_held(const char *path, struct held_states *held)
{
    int descriptor;
    uint64_t size;
    struct stat stat_of;
    if (lstat(path, &stat_of) != 0 || !S_ISREG(stat_of.st_mode))
        return; /* the file is not ours, despite its name */
    const bool open = file_open(path, &descriptor, &size, NULL, NULL) == STATUS_OK;
    if (open && flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
        unlink(path); /* no reader holds it */
    } else {
        struct catalogue *grown = realloc(held->catalogues, (held->count + 1) * sizeof *grown);
        held->catalogues = grown ? grown : held->catalogues;
        if (grown && catalogue_read_file(path, &grown[held->count], NULL) == STATUS_OK)
            held->count++;
        else
            held->unknown = true;
    }
    if (open)
        close(descriptor);
}

static void find_held(const char *directory, struct held_states *held)
{
    DIR *entries = opendir(directory);
    struct dirent *entry;
    held->unknown = !entries;
    while (entries && (entry = readdir(entries)) != NULL) {
        char *path = NULL;
        if (!is_superseded(entry->d_name))
            continue;
        if (path_format(&path, NULL, "%s/%s", directory, entry->d_name) == STATUS_OK)
            take_held(path, held);
        else
            held->unknown = true;
        free(path);
    }
    if (entries)
        closedir(entries);
}

static bool is_held(const struct held_states *held, const char *table, const char *name)
{
    bool found = held->unknown;
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
    char *path = NULL;
    find_held(directory, &held);
    stored_files_visit(directory, catalogue, remove_stale, &held);
    if (path_format(&path, NULL, "%s/" CATALOGUE_NEW_FILE, directory) == STATUS_OK) {
        unlink(path);
        free(path);
    }
    for (uint32_t h = 0; h < held.count; h++)
        catalogue_free(&held.catalogues[h]);
    free(held.catalogues);
}

/* Others that let go at the same moment have the lock for about a millisecond; a writer keeps it. */
#define RELEASE_TRIES   10
#define RELEASE_WAIT_NS 2000000

static bool is_superseded_state(const char *directory, int descriptor)
{
    char *path = NULL;
    const bool superseded = path_format(&path, NULL, "%s/" CATALOGUE_FILE, directory) == STATUS_OK &&
                            access(path, F_OK) == 0 && !file_is_at(path, descriptor);
    free(path);
    return superseded;
}

void state_release(const char *directory, int descriptor)
{
    const struct timespec wait = {.tv_nsec = RELEASE_WAIT_NS};
    struct catalogue catalogue;
    int lock = -1;
    if (descriptor < 0)
        return;
    const bool superseded = is_superseded_state(directory, descriptor);
    close(descriptor);
    for (int i = 0; superseded && i < RELEASE_TRIES && database_lock(directory, &lock, NULL) != STATUS_OK;
         i++)
        nanosleep(&wait, NULL);
    if (lock < 0)
        return;
    if (catalogue_read(directory, &catalogue, NULL) == STATUS_OK) {
        database_clean(directory, &catalogue);
        catalogue_free(&catalogue);
    }
    close(lock);
}
