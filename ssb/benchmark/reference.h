/*
 * reference.h: SQLite's answers to the queries, which Tessera's answers are compared with.
 *
 * The reference is one SQLite file in the database's folder (DB/reference.sqlite). It is loaded from the raw
 * rows, generated or read from .tbl files, and never from Tessera's columns, so that a fault in codecs,
 * dictionaries or key resolution cannot hide in it. It has the 26 columns that the 13 queries use
 * (docs/benchmark.md): about 240 MB at scale factor 1, ten times as much at 10. SQLite's answers are kept in
 * the same file, so that a second run need not compute them.
 */
#ifndef TESSERA_SSB_BENCHMARK_REFERENCE_H
#define TESSERA_SSB_BENCHMARK_REFERENCE_H

#include "engine/answer/rowset.h"
#include "ssb/data/generator.h"

#define REFERENCE_FILE "reference.sqlite"

/* The origin of the database's rows. */
struct reference_source {
    struct ssb_options options;
    const char *from;          /* the folder of the .tbl files; NULL: generated */
    uint64_t rows[SSB_TABLES]; /* of the database's tables; the reference must have as many */
};

struct reference;

/* Opens the reference in the folder `directory`. If there is none, or it was loaded from other rows, or it
 * cannot be read, a new one is loaded under a temporary name and renamed when complete. STATUS_CHECK_FAILED
 * if the number of raw rows is not source->rows. STATUS_BAD_INPUT if .tbl files are missing and the reference
 * has not been loaded before. */
NODISCARD enum status reference_open(const char *directory, const struct reference_source *source,
                                     unsigned threads, struct progress *progress,
                                     struct reference **reference, struct error *error);
void reference_close(struct reference *reference);

/* The seconds that loading took, and whether this reference_open loaded it. */
double reference_load_seconds(const struct reference *reference);
bool reference_was_loaded(const struct reference *reference);

/* SQLite's answer to one statement. */
struct reference_answer {
    struct rowset rows;
    double sqlite_ms; /* processor time of one thread, from prepare to the last row, when it was computed */
    char made[32];    /* "2026-01-31 12:00:00" UTC */
    char sqlite[16];  /* the version that computed it: "3.40.1" */
    bool kept;        /* computed by an earlier run */
};

/* Answers `count` statements, each the full text of a SELECT, in answers[0 .. count-1]. Answers that are not
 * kept are computed on `threads` connections in parallel (0: all processors) and then kept in the file, if it
 * can be written. Free the rows of each answer with rowset_free, also after a failure. */
NODISCARD enum status reference_answers(struct reference *reference, const char *const *statements,
                                        uint32_t count, unsigned threads, struct progress *progress,
                                        struct reference_answer *answers, struct error *error);

#endif
