/* ssb_databases.c: see ssb_databases.h. */
#define _GNU_SOURCE
#include "lab/ssb/ssb_databases.h"

#include "ssb/data/load.h"
#include "storage/base/file.h"
#include "storage/base/memory.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#define SCALE_FACTOR 20.0
#define FOLDERS_OPEN 16 /* that nftw keeps open */

static enum status make_folder(struct ssb_databases *own, struct error *error)
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

/* Loads one of the databases into the temporary folder and opens it. */
static enum status load(struct lab *lab, enum ssb_order order, struct error *error)
{
    static const char *const names[SSB_ORDERS] = {[SSB_FILE_ORDER] = "file-order", [SSB_LEVELS] = "levels"};
    struct ssb_load_options options = {.data.scale_factor = SCALE_FACTOR * lab->scale,
                                       .threads = lab->threads,
                                       .dimension_order =
                                           order == SSB_LEVELS ? DIMENSION_LEVELS : DIMENSION_FILE};
    char *directory;
    RETURN_IF_ERROR(path_format(&directory, error, "%s/%s.db", lab->ssb->folder, names[order]));
    options.directory = directory;
    enum status status = ssb_load(&options, lab->progress, error);
    if (status == STATUS_OK)
        status = database_open(directory, &lab->ssb->database[order], error);
    free(directory);
    return status;
}

enum status ssb_databases_open(struct lab *lab, struct error *error)
{
    if (lab->ssb && lab->ssb->database[SSB_LEVELS])
        return STATUS_OK;
    ssb_databases_close(lab);
    RETURN_IF_ERROR(memory_zeros(&lab->ssb, sizeof *lab->ssb, "a database", error));
    if (lab->database) {
        RETURN_IF_ERROR(database_open(lab->database, &lab->ssb->database[SSB_FILE_ORDER], error));
        lab->ssb->database[SSB_LEVELS] = lab->ssb->database[SSB_FILE_ORDER];
        return STATUS_OK;
    }
    RETURN_IF_ERROR(make_folder(lab->ssb, error));
    for (int order = 0; order < SSB_ORDERS; order++)
        RETURN_IF_ERROR(load(lab, (enum ssb_order)order, error));
    return STATUS_OK;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about, (void)kind, (void)place;
    remove(path); /* what cannot be removed stays in a folder for temporary files */
    return 0;
}

void ssb_databases_close(struct lab *lab)
{
    if (!lab->ssb)
        return;
    if (lab->ssb->database[SSB_LEVELS] != lab->ssb->database[SSB_FILE_ORDER])
        database_close(lab->ssb->database[SSB_LEVELS]);
    database_close(lab->ssb->database[SSB_FILE_ORDER]);
    if (lab->ssb->folder)
        nftw(lab->ssb->folder, remove_one, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
    free(lab->ssb->folder);
    free(lab->ssb);
    lab->ssb = NULL;
}
