/*
 * report.h: the figures of a benchmark, the three formats in which they are printed, and their page.
 *
 * `ssb run` measures the queries with one choice of codecs, `ssb compare` with several; both fill the same
 * report. It is small: 13 queries times a few codecs.
 */
#ifndef TESSERA_SSB_BENCHMARK_REPORT_H
#define TESSERA_SSB_BENCHMARK_REPORT_H

#include "engine/report/page.h"
#include "ssb/benchmark/answer.h"
#include "storage/base/disk/disk_reads.h"
#include "storage/codec/codec.h"

#include <stdio.h>

#define REPORT_CHOICES_MAX (CODEC_COUNT + 3u) /* all codecs, and the choosers */

/* Milliseconds of every timed run, in the order they ran. */
struct report_times {
    double *runs; /* owned by the report */
    double median, min;
};

/* One query with one choice of codecs. */
struct report_cell {
    struct report_times total, stage, filter, kernel, merge; /* the query and its steps: struct run_timing */
    struct report_times
        text; /* from the statement's text to its rows, when it comes again; 0: several processes */
    double compile_ms, skip_ms;
    uint64_t fact_rows, bytes_read, answer_rows; /* bytes_read: by the scan */
    uint64_t moved_bytes;                        /* of them to a GPU, over the bus */
    uint32_t indexes;                            /* columns whose conditions bitmap indexes decide */
    uint64_t stage_bytes; /* the bytes that decoding the columns first reads; 0 unless report.staged */
    uint64_t tiles, tiles_skipped, rows_skipped; /* of lineorder */

    /* The dimension filters: rows of the filtered dimensions; bytes of their condition columns as arrays, of
     * the bitmaps and of the cleared sums. */
    uint64_t filter_rows;
    uint64_t filter_bytes;

    /* The merge: groups of all threads but one, or of all GPUs but one; and the bytes of their sums. */
    uint64_t merge_rows;
    uint64_t merge_bytes;
    char hash[17];
    enum answer_check check;
};

struct report_query {
    const char *name;          /* "q1.1" */
    double sqlite_ms;          /* processor time of SQLite; 0: SQLite did not run the query */
    struct report_cell *cells; /* one for each choice */
};

/* A column of lineorder, encoded by each choice. */
struct report_encoding {
    const char *codec; /* name */
    uint64_t bytes;
};
struct report_column {
    const char *name;
    uint32_t value_bytes;
    struct report_encoding *encodings; /* one for each choice */
};

struct report {
    const char *device;  /* engine_device_text */
    const char *why_cpu; /* engine_why_cpu, or NULL */
    bool on_gpu;
    uint32_t devices;     /* that ran together; 1, or more */
    bool profile;         /* print the steps of each query, too */
    bool staged;          /* columns of some query are decoded into scratch memory before it */
    bool indexed;         /* bitmap indexes decide conditions of some query */
    bool staged_all;      /* ... of all queries, as --staged asks */
    bool compared;        /* choices are shown side by side, with the sizes of all columns */
    const char *database; /* its path */
    double scale_factor;  /* 0: not known */
    char judge[128];      /* "SQLite 3.40.1, answers of 2026-01-31 12:00:00 UTC"; a codec; "nobody" */
    uint64_t fact_rows;   /* of lineorder */
    double read_ceiling;  /* bytes a second that the device can read, measured in the same run */
    double
        link_rate; /* bytes a second that can be copied to it, likewise, if a query moves columns; else 0 */
    double launch_floor_ms;  /* the time of a query's launches without their work, likewise; 0: none */
    uint32_t repeat, warmup; /* timed and untimed runs of each query */
    struct disk_reads plan_reads,
        run_reads; /* from the disk: while queries were planned, and in all their runs */
    uint32_t choice_count;
    const char *const *choices; /* "auto", "gpu-star", ... */
    uint32_t query_count;
    struct report_query *queries;
    uint32_t column_count; /* 0: sizes were not measured; unless `compared`: columns that queries read */
    struct report_column *columns;
};

/* Sums and geometric means of the queries' medians for one choice. */
struct report_totals {
    double total_ms, mean_ms; /* sum, geometric mean */
    double mean_text_ms;      /* geometric mean of the times from text to rows; 0: not known */
    double speed;             /* geometric mean of (median of the first choice / median of this one) */
    double least_sqlite;      /* minimum and geometric mean of (SQLite / median); 0: not known */
    double mean_sqlite;
    uint64_t plain_bytes, bytes; /* of all columns: as arrays of 4 or 8 bytes, and encoded */
};
void report_totals(const struct report *report, uint32_t choice, struct report_totals *totals);

/* A step of a query: "decode" (of the columns into scratch memory, if the query is staged), "filter"
 * (dimension filters and clearing of sums), "scan" (of lineorder) and, on a CPU or on several devices, "merge" (of the
 * threads' or the devices' sums). */
struct report_step {
    const char *name;
    uint64_t rows, bytes;
    uint64_t tiles, tiles_skipped; /* of lineorder; 0 in steps that do not read it */
    double ms;                     /* median */
    double rate;                   /* bytes a second */
    double share; /* percent of the device's read bandwidth; may exceed 100 if data are in its caches */
};

/* The number of steps of the report's queries on its device, and the step at `index`. */
uint32_t report_step_count(const struct report *report);
void report_step_get(const struct report *report, const struct report_cell *cell, uint32_t index,
                     struct report_step *step);

/* The bytes a second that the cell's kernel read, and their percentage of the device's read bandwidth. */
double report_rate(const struct report_cell *cell);
double report_share(const struct report *report, const struct report_cell *cell);
/* The bytes that the cell's query moves to the GPU, in percent of what pinned copies move in its time. */
double report_link_share(const struct report *report, const struct report_cell *cell);

/* The bits per value, and the compression ratio to an array of the values. */
double report_bits(const struct report *report, const struct report_encoding *encoding);
double report_ratio(const struct report *report, const struct report_column *column,
                    const struct report_encoding *encoding);

/* Computes median and min from `count` runs. */
NODISCARD enum status report_times_finish(struct report_times *times, uint32_t count, struct error *error);

/* Tells what was measured, on what and how: "Device", "CPU, 2 threads, avx2"; "Times", "median of ...". */
typedef void report_fact(void *context, const char *name, const char *value);
void report_facts(const struct report *report, report_fact *tell, void *context);

#define REPORT_CPU_NOTE   "On a CPU the ratios count; the times depend on the machine and what else it does."
#define REPORT_SPEED_NOTE "Speed: times faster than %s. Means are geometric, over the queries."

/* Makes a table of the report, which the caller destroys:
 *
 *     queries        a row for each query and choice
 *     steps          a row for each query, choice and step
 *     comparison     a row for each query, the choices side by side; for people only
 *     totals         a row for each choice
 *     columns        a row for each column and choice; for programs only
 *     column_sizes   a row for each column, the choices side by side; for people only */
typedef enum status report_sheet_maker(const struct report *report, struct sheet **sheet,
                                       struct error *error);
report_sheet_maker report_sheet_queries, report_sheet_steps, report_sheet_comparison, report_sheet_totals,
    report_sheet_columns, report_sheet_column_sizes;

/* Makes the report's page, which the caller destroys. argc and argv are the command line. */
NODISCARD enum status report_page(const struct report *report, int argc, char *const *argv,
                                  struct page **page, struct error *error);

/* Writes the report to `file` (docs/benchmark.md lists the fields):
 *
 *     report_table   tables for people
 *     report_csv     a header line and one line for each query and choice; then an empty line, a header line
 *                    and one line for each column and choice
 *     report_json    one JSON object
 */
typedef enum status report_writer(const struct report *report, FILE *file, struct error *error);
report_writer report_table, report_csv, report_json;

enum report_format { REPORT_TABLE, REPORT_CSV, REPORT_JSON };

#endif
