/*
 * lab.h: the laboratory: the experiments of the papers, on one device.
 *
 * An experiment makes its data, encodes them, checks every decode against them, measures, and shows tables and charts.
 * Row counts are those of the papers times `scale`.
 */
#ifndef TESSERA_LAB_LAB_H
#define TESSERA_LAB_LAB_H

#include "engine/cuda/cuda.h"
#include "engine/report/page.h"
#include "engine/run/engine.h"
#include "storage/base/parallel.h"
#include "storage/base/status.h"
#include "storage/codec/codec.h"

enum lab_format { LAB_TABLE, LAB_CSV, LAB_JSON };

struct lab {
    struct engine *engine;
    const char *device; /* what the engine was opened with, for experiments that open another */
    struct cuda *cuda;  /* NULL: the processor */
    unsigned threads;
    double scale;         /* of row counts */
    uint32_t repeat;      /* timed runs of each measurement */
    double read_ceiling;  /* bytes a second that the device reads at most, measured in the same run */
    const char *database; /* of the Star Schema Benchmark, for ssb-queries; NULL: one is made and removed */
    struct ssb_databases *ssb;  /* the open ones of ssb-queries, until the engine is closed; or NULL */
    uint32_t block_bytes;       /* of output of a block of byte-streams: a power of two, 64 KiB .. 1 MiB */
    bool left_out[CODEC_COUNT]; /* codecs that --codecs does not name */
    uint32_t sets_left_out;     /* of byte-streams, a bit for each set that --sets does not name */
    struct progress *progress;
    enum lab_format format;
    struct page *page; /* gets all charts and tables */
    struct sheet
        *growing; /* the table whose rows are printed as they are measured, or NULL; `shown` of them were */
    uint32_t shown;
    struct sheet *log;     /* that of lab_log, which the laboratory owns */
    struct json_t *tables; /* LAB_JSON: those of the experiment that runs */
};

struct lab_experiment {
    const char *name;    /* "widths" */
    const char *title;   /* of its section of the report */
    const char *source;  /* the paper's figures and tables */
    const char *summary; /* one line for --list */
    enum status (*run)(struct lab *lab, struct error *error);
};
extern const struct lab_experiment lab_experiments[]; /* ends with an entry whose name is NULL */

/* A paper's row count times the scale, at least 1. */
uint64_t lab_rows(const struct lab *lab, uint64_t rows);

/* Makes a column's name of a table's key: blanks and commas become a single _. */
void lab_key(char *key);

/* Prints the caption and the head of a table now, and each row once it is complete and lab_row_done is called; then lab_sheet
 * ends it. JSON has all rows at the end. A table that cannot be ended after an error is only forgotten (lab_forget). */
NODISCARD enum status lab_begin(struct lab *lab, const char *caption, struct sheet *sheet,
                                struct error *error);
NODISCARD enum status lab_row_done(struct lab *lab, struct sheet *sheet, struct error *error);
void lab_forget(struct lab *lab);

/* Begins such a table for people alone: single measurements, where the experiment's tables are known at its end only. Add
 * cells and call lab_row_done; the next one, or the end of the experiment, ends it. *sheet is NULL unless tables are for people:
 * then add nothing. */
NODISCARD enum status lab_log(struct lab *lab, const char *caption, const struct sheet_column *columns,
                              uint32_t count, struct sheet **sheet, struct error *error);

/* Shows a table: prints it, or keeps it for the JSON object, and gives it to the page. lab_chart prints a chart with
 * LAB_TABLE only, shows none that has no points, and fails if memory was missing when it was made. Both take what they are
 * given, also after an error. */
NODISCARD enum status lab_sheet(struct lab *lab, const char *caption, struct sheet *sheet,
                                struct error *error);
NODISCARD enum status lab_chart(struct lab *lab, struct chart *chart, struct error *error);

/* Shows a bar of milliseconds for each system. */
NODISCARD enum status lab_bars(struct lab *lab, const char *title, const char *const *systems,
                               const double *ms, uint32_t count, struct error *error);

/* Runs the experiments; `names` ends with NULL. With LAB_JSON, prints one object at the end. */
NODISCARD enum status lab_run(struct lab *lab, const struct lab_experiment *const *experiments,
                              struct error *error);

#endif
