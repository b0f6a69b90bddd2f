/* ssb_database.c: see ssb_database.h. */
#define _GNU_SOURCE
#include "lab/bench/ssb_database.h"

#include "ssb/data/load.h"
#include "storage/base/file.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#define SCALE_FACTOR 20.0
#define FOLDERS_OPEN 16 /* that nftw keeps open */

static enum status make_folder(struct ssb_database *own, struct error *error)
{
    const char *const parent = getenv("TMPDIR");
    char *folder;
    RETURN_IF_ERROR(
        path_format(&folder, error, "%s/tessera-ssb-XXXXXX", parent && *parent ? parent : "/tmp"));
    if (mkdtemp(folder)) {
        own->folder = folder;
        return STATUS_OK;
    }
    const int number = errno;
    free(folder);
    return error_set_errno(error, number, "cannot make a temporary folder in %s (TMPDIR)",
                           parent && *parent ? parent : "/tmp");
}

static enum status load(struct lab *lab, const char *directory, struct error *error)
{
    const struct ssb_load_options options = {
        .data.scale_factor = SCALE_FACTOR * lab->scale, .directory = directory, .threads = lab->threads};
    return ssb_load(&options, lab->progress, error);
}

enum status ssb_database_open(struct lab *lab, struct ssb_database *own, struct error *error)
{
    char *directory;
    *own = (struct ssb_database){0};
    if (lab->database)
        return database_open(lab->database, &own->database, error);
    RETURN_IF_ERROR(make_folder(own, error));
    RETURN_IF_ERROR(path_format(&directory, error, "%s/ssb.db", own->folder));
    enum status status = load(lab, directory, error);
    if (status == STATUS_OK)
        status = database_open(directory, &own->database, error);
    free(directory);
    return status;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about, (void)kind, (void)place;
    remove(path); /* what cannot be removed stays in a folder for temporary files */
    return 0;
}

void ssb_database_close(struct ssb_database *own)
{
    if (own->database)
        database_close(own->database);
    if (own->folder)
        nftw(own->folder, remove_one, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
    free(own->folder);
    *own = (struct ssb_database){0};
}
