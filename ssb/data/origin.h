/*
 * origin.h: what a database of the benchmark was loaded from; the database has it in the file ssb.json.
 *
 *     {"scale_factor": 1.0, "mode": "single", "variant": "eyalroz", "date_table": "full",
 *      "skew": false, "dangling": "error", "from": null}
 *
 * Answers are checked with the raw rows, which are not in the database. Later commands generate them again,
 * or read them from the folder `from` (an absolute path). A file without "skew" is of an older version, and its
 * data are uniform. "scale_factor" is null if the rows came from files and their scale is not known.
 */
#ifndef TESSERA_SSB_DATA_ORIGIN_H
#define TESSERA_SSB_DATA_ORIGIN_H

#include "ssb/data/generator.h"

#define SSB_ORIGIN_FILE "ssb.json"

struct ssb_origin {
    struct ssb_options options; /* scale_factor 0: not known */
    bool dangling_null;         /* keys without a row were stored as NULL */
    char *from;                 /* the folder of the .tbl files, or NULL: generated; owned */
};

/* ssb_origin_prepare writes the file under another name, synced to disk; publishing renames it, discarding
 * removes it. A load prepares it before its commit and publishes it after, so that failures leave the
 * database unchanged. STATUS_NOT_DURABLE of publishing: it is renamed, but could not be synced. */
NODISCARD enum status ssb_origin_prepare(const char *directory, const struct ssb_origin *origin,
                                         struct error *error);
NODISCARD enum status ssb_origin_publish(const char *directory, struct error *error);
void ssb_origin_discard(const char *directory);

/* Reads the file; free the result with ssb_origin_free. STATUS_BAD_INPUT if the file is missing or
 * damaged. */
NODISCARD enum status ssb_origin_read(const char *directory, struct ssb_origin *origin, struct error *error);
void ssb_origin_free(struct ssb_origin *origin);

#endif
