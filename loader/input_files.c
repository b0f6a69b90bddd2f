/* input_files.c: see input_files.h. */
#define _GNU_SOURCE
#include "loader/input_files.h"

#include "storage/base/file.h"
#include "storage/base/memory.h"
#include "storage/base/sort/sort.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum status add_path(struct input_files *files, const char *path, struct error *error)
{
    if (files->count == INPUT_FILES_MAX)
        return error_set(error, STATUS_BAD_INPUT, "more than %u files", INPUT_FILES_MAX);
    files->paths[files->count++] = path;
    return STATUS_OK;
}

/* Adds the files that are called like a pattern. */
static enum status add_pattern(struct input_files *files, const char *pattern, struct error *error)
{
    glob_t *const found = &files->globs[files->glob_count];
    if (files->glob_count == INPUT_GLOBS_MAX)
        return error_set(error, STATUS_BAD_INPUT, "more than %u patterns", INPUT_GLOBS_MAX);
    const int failed = glob(pattern, GLOB_ERR, NULL, found);
    if (failed == GLOB_NOSPACE)
        return error_out_of_memory(error, strlen(pattern), "the names of files");
    if (failed == GLOB_ABORTED && errno != ENOENT)
        return error_set_errno(error, errno, "'%s': a folder cannot be listed", pattern);
    if (failed)
        return error_set(error, STATUS_BAD_INPUT, "no file is called like '%s'", pattern);
    files->glob_count++;
    for (size_t i = 0; i < found->gl_pathc; i++)
        RETURN_IF_ERROR(add_path(files, found->gl_pathv[i], error));
    return STATUS_OK;
}

/* ---- Folders ---- */

static enum status add_entry(struct input_files *files, const char *folder, const char *name,
                             struct error *error)
{
    const bool slash = folder[strlen(folder) - 1] == '/';
    struct stat facts;
    char *path;
    RETURN_IF_ERROR(memory_grow(&files->owned, (files->owned_count + 1ull) * sizeof *files->owned,
                                "the names of files", error));
    RETURN_IF_ERROR(path_format(&path, error, "%s%s%s", folder, slash ? "" : "/", name));
    files->owned[files->owned_count++] = path;
    if (stat(path, &facts) != 0)
        return error_set_errno(error, errno, "%s: cannot be opened", path);
    if (S_ISDIR(facts.st_mode))
        return error_set(error, STATUS_BAD_INPUT,
                         "%s: is a folder in a folder; name the files by a pattern, as '%s%s*/*'", path,
                         folder, slash ? "" : "/");
    return add_path(files, path, error);
}

static int by_name(const void *left, const void *right, const void *context)
{
    (void)context;
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static enum status add_folder(struct input_files *files, const char *folder, struct error *error)
{
    const uint32_t first = files->count;
    DIR *const entries = opendir(folder);
    enum status status = STATUS_OK;
    if (!entries)
        return error_set_errno(error, errno, "%s: the folder cannot be listed", folder);
    while (status == STATUS_OK) {
        errno = 0;
        const struct dirent *const entry = readdir(entries);
        if (!entry && errno)
            status = error_set_errno(error, errno, "%s: the folder cannot be listed", folder);
        if (!entry)
            break;
        if (entry->d_name[0] != '.' && entry->d_name[0] != '_')
            status = add_entry(files, folder, entry->d_name, error);
    }
    closedir(entries);
    RETURN_IF_ERROR(status);
    if (files->count == first)
        return error_set(error, STATUS_BAD_INPUT, "%s: there is no file in this folder", folder);
    sort_items(files->paths + first, files->count - first, sizeof *files->paths, by_name, NULL);
    return STATUS_OK;
}

enum status input_files_add(struct input_files *files, char *word, struct error *error)
{
    struct stat facts;
    const bool there = stat(word, &facts) == 0;
    if (!there && errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG)
        return error_set_errno(error, errno, "%s: cannot be opened", word);
    if (there && S_ISDIR(facts.st_mode))
        return add_folder(files, word, error);
    return there || !strpbrk(word, "*?[") ? add_path(files, word, error) : add_pattern(files, word, error);
}

void input_files_free(struct input_files *files)
{
    for (uint32_t g = 0; g < files->glob_count; g++)
        globfree(&files->globs[g]);
    for (uint32_t o = 0; o < files->owned_count; o++)
        free(files->owned[o]);
    free(files->owned);
}
