/*
 * judge.h: who says whether an answer is right: SQLite, the plain codec, or nobody.
 */
#ifndef TESSERA_SSB_BENCHMARK_JUDGE_H
#define TESSERA_SSB_BENCHMARK_JUDGE_H

#include "engine/library/statement.h"
#include "ssb/benchmark/benchmark.h"

struct judge {
    enum benchmark_verify verify;        /* never VERIFY_DEFAULT */
    char text[128];                      /* "SQLite 3.40.1, which answered on 2026-01-31 12:00:00 UTC" */
    double scale_factor;                 /* of the database; 0: not known */
    bool never_empty;                    /* enough rows that every query finds some */
    struct rowset expected[SSB_QUERIES]; /* one for each of the options' queries, if there is a judge */
    double sqlite_ms[SSB_QUERIES];       /* 0: SQLite was not asked */
    FILE *notes;                         /* one sentence a line: what a person should know; not owned */
};

/* Decides who judges, and has every query of `options` answered. Without --verify that is SQLite if the
 * database's raw rows are known and few enough, else the plain codec; the notes then say why. Destroy with
 * judge_destroy, also after a failure. */
NODISCARD enum status judge_create(struct judge *judge, const struct benchmark_options *options,
                                   struct database *database, struct engine *engine, FILE *notes,
                                   struct progress *progress, struct error *error);
void judge_destroy(struct judge *judge);

/* Judges what query number `query` of the options answered with `choice`; why it is wrong goes to the notes.
 * An answer that is empty although no query's can be is wrong whoever judges. */
enum answer_check judge_answer(const struct judge *judge, const struct ssb_query *query, uint32_t number,
                               const char *choice, const struct rowset *answer);

#endif
