/*
 * benchmark.h: options, measurements and checks that `ssb run` and `ssb compare` share.
 */
#ifndef TESSERA_SSB_BENCHMARK_BENCHMARK_H
#define TESSERA_SSB_BENCHMARK_BENCHMARK_H

#include "engine/library/statement.h"
#include "ssb/benchmark/report.h"
#include "ssb/queries/queries.h"
#include "storage/base/command/command_line.h"
#include "storage/database/database.h"

#define BENCHMARK_CHOICES_MAX REPORT_CHOICES_MAX

enum benchmark_verify { VERIFY_SQLITE, VERIFY_PLAIN, VERIFY_NONE, VERIFY_DEFAULT };

struct benchmark_options {
    const char *database;
    const char *device;
    const char *gpu_memory, *memory, *spill; /* as in struct engine_options */
    enum late_transfer late;
    const char *cluster; /* as for cluster_open, or NULL */
    const char *answers; /* a folder, or NULL */
    enum benchmark_verify verify;
    unsigned threads; /* 0: all */
    uint32_t repeat, warmup;
    bool profile; /* print each query's steps */
    bool staged;  /* columns are decoded first */
    enum plan_index_use index;
    uint32_t query_count;
    const struct ssb_query *queries[SSB_QUERIES]; /* each at most once */
    enum report_format format;
    const char *page; /* a file for the report as a page, or NULL */
    int argc;         /* the command line, for the page; argv belongs to the caller */
    char *const *argv;
};

struct benchmark_options benchmark_options_default(void);

/* To be shared: a struct benchmark_options is the first field of the command's arguments. */
extern const struct command_option benchmark_option_list[];

/* Prepares a query as a timed statement that the query's hand-written kernel answers; if rows of lineorder were deleted, which
 * it knows nothing of, a generated one. `codec` is as for sql_prepare, `staged` and `index` as in struct sql_settings. */
NODISCARD enum status benchmark_statement(struct engine *engine, struct database *database,
                                          const struct ssb_query *query, const char *codec, bool staged,
                                          enum plan_index_use index, struct sql_statement **statement,
                                          struct error *error);

/* Measures every query with every choice of codecs and checks the answers. The report goes to stdout and to
 * the page, notes on wrong answers to stderr. A choice is a `codec` as for sql_prepare; NULL: the columns' own codecs. With
 * `sizes` all columns of lineorder are encoded in every choice; then all choices must be names of codecs or
 * choosers. If an answer is wrong: STATUS_CHECK_FAILED, after the report is printed. */
NODISCARD enum status benchmark(const struct benchmark_options *options, const char *const *choices,
                                uint32_t choice_count, bool sizes, struct progress *progress,
                                struct error *error);

#endif
