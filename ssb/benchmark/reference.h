/*
 * reference.h: SQLite as the judge of our answers.
 *
 * The reference is one SQLite file beside a database (DB/reference.sqlite). It is loaded from the raw rows,
 * generated or read from .tbl files, never from our columns, so that a fault in codecs, dictionaries or key
 * resolution cannot hide in it. It holds the 26 columns that the 13 queries use (docs/benchmark.md): at scale
 * factor 1 about 240 MB, at 10 ten times that. What SQLite answered is kept in the same file, so that a
 * second run is instant.
 */
#ifndef TESSERA_SSB_BENCHMARK_REFERENCE_H
#define TESSERA_SSB_BENCHMARK_REFERENCE_H

#include "engine/answer/rowset.h"
#include "ssb/data/generator.h"

#define REFERENCE_FILE "reference.sqlite"

/* Where the database's rows came from. */
struct reference_source {
    struct ssb_options options;
    const char *from;          /* the folder of the .tbl files; NULL: generated */
    uint64_t rows[SSB_TABLES]; /* of the database's tables; the reference must have as many */
};

struct reference;

/* Opens the reference in the folder `directory`. If there is none, or it was loaded from other rows, or it
 * cannot be read, a new one is loaded under a temporary name and renamed when complete. Raw rows that are not
 * as many as source->rows: STATUS_CHECK_FAILED. .tbl files that are gone: STATUS_BAD_INPUT, unless the
 * reference was loaded before. */
NODISCARD enum status reference_open(const char *directory, const struct reference_source *source,
                                     unsigned threads, struct progress *progress,
                                     struct reference **reference, struct error *error);
void reference_close(struct reference *reference);

/* Seconds that loading took (when it was loaded), and whether reference_open did it just now. */
double reference_load_seconds(const struct reference *reference);
bool reference_was_loaded(const struct reference *reference);

/* What SQLite answers to one statement. */
struct reference_answer {
    struct rowset rows;
    double sqlite_ms; /* processor time of one thread, prepared to last row, when it was computed */
    char made[32];    /* "2026-01-31 12:00:00" UTC */
    char sqlite[16];  /* version that computed it: "3.40.1" */
    bool kept;        /* computed by an earlier run */
};

/* Answers `count` statements (each the full text of a SELECT) in answers[0 .. count-1], those that are not
 * kept on `threads` connections at once (0: all processors); then keeps them. Free the rows of each
 * with rowset_free, also after a failure. A file that cannot be written keeps nothing. */
NODISCARD enum status reference_answers(struct reference *reference, const char *const *statements,
                                        uint32_t count, unsigned threads, struct progress *progress,
                                        struct reference_answer *answers, struct error *error);

#endif
