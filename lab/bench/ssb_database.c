/* ssb_database.c: see ssb_database.h. */
#define _GNU_SOURCE
#include "lab/bench/ssb_database.h"

#include "ssb/data/load.h"
#include "storage/base/file.h"
#include "storage/base/memory.h"

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

enum status ssb_database_open(struct lab *lab, struct error *error)
{
    char *directory;
    if (lab->ssb && lab->ssb->database)
        return STATUS_OK;
    ssb_database_close(lab);
    RETURN_IF_ERROR(memory_zeros(&lab->ssb, sizeof *lab->ssb, "a database", error));
    if (lab->database)
        return database_open(lab->database, &lab->ssb->database, error);
    RETURN_IF_ERROR(make_folder(lab->ssb, error));
    RETURN_IF_ERROR(path_format(&directory, error, "%s/ssb.db", lab->ssb->folder));
    enum status status = load(lab, directory, error);
    if (status == STATUS_OK)
        status = database_open(directory, &lab->ssb->database, error);
    free(directory);
    return status;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about, (void)kind, (void)place;
    remove(path); /* what cannot be removed stays in a folder for temporary files */
    return 0;
}

void ssb_database_close(struct lab *lab)
{
    if (!lab->ssb)
        return;
    if (lab->ssb->database)
        database_close(lab->ssb->database);
    if (lab->ssb->folder)
        nftw(lab->ssb->folder, remove_one, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
    free(lab->ssb->folder);
    free(lab->ssb);
    lab->ssb = NULL;
}
