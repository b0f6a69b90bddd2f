/*
 * judge.h: decides whether an answer is right: by SQLite, by the plain codec, or not at all.
 */
#ifndef TESSERA_SSB_BENCHMARK_JUDGE_H
#define TESSERA_SSB_BENCHMARK_JUDGE_H

#include "engine/library/statement.h"
#include "ssb/benchmark/benchmark.h"

struct judge {
    enum benchmark_verify verify;        /* never VERIFY_DEFAULT */
    char text[128];                      /* "SQLite 3.40.1, which answered on 2026-01-31 12:00:00 UTC" */
    double scale_factor;                 /* of the database; 0: not known */
    bool never_empty;                    /* the database is so large that every query finds rows */
    struct rowset expected[SSB_QUERIES]; /* one for each of the options' queries, if there is a judge */
    double sqlite_ms[SSB_QUERIES];       /* 0: SQLite did not run the query */
    FILE *notes;                         /* messages for the user, one sentence a line; not owned */
};

/* Chooses the judge and lets it answer every query of `options`. Without --verify the judge is SQLite if the
 * origin of the database's rows is known and they are few enough; else it is the plain codec, and the notes
 * give the reason. Destroy with judge_destroy, also after a failure. */
NODISCARD enum status judge_create(struct judge *judge, const struct benchmark_options *options,
                                   struct database *database, struct engine *engine, FILE *notes,
                                   struct progress *progress, struct error *error);
void judge_destroy(struct judge *judge);

/* Judges the answer of `query`, which is the options' query `number`, with codec `choice`. If the answer is
 * wrong, the reason goes to the notes. With never_empty an empty answer is wrong, whoever judges. */
enum answer_check judge_answer(const struct judge *judge, const struct ssb_query *query, uint32_t number,
                               const char *choice, const struct rowset *answer);

#endif
