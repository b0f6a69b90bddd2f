/*
 * origin.h: what a database of the benchmark was made from, kept in it as the file ssb.json.
 *
 *     {"scale_factor": 1.0, "mode": "single", "variant": "eyalroz", "date_table": "full",
 *      "dangling": "error", "from": null}
 *
 * Checking answers starts from the raw rows, which are not in the database: later commands generate them
 * again, or read them where `from` (an absolute path) says they are. "scale_factor" is null if rows came from
 * files and nobody said which scale they have.
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

/* Writes the file under another name, fsynced; publishing renames it, discarding removes it. A load prepares
 * before it commits and publishes behind, so that whatever can fail fails while the database is as it was. */
NODISCARD enum status ssb_origin_prepare(const char *directory, const struct ssb_origin *origin,
                                         struct error *error);
NODISCARD enum status ssb_origin_publish(const char *directory, struct error *error);
void ssb_origin_discard(const char *directory);

/* A file that is missing or damaged: STATUS_BAD_INPUT. Free with ssb_origin_free. */
NODISCARD enum status ssb_origin_read(const char *directory, struct ssb_origin *origin, struct error *error);
void ssb_origin_free(struct ssb_origin *origin);

#endif
