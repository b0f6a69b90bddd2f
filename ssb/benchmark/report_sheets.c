/* report_sheets.c: the tables of a report, for people and for programs; see report.h. */
#include "ssb/benchmark/report.h"

#include <inttypes.h>
#include <string.h>

/* Columns of a sheet that depend on the report. The longest is a comparison of every choice. */
#define COLUMNS_MAX (4 * REPORT_CHOICES_MAX + 4)

struct columns {
    uint32_t count;
    struct sheet_column list[COLUMNS_MAX];
};

static void add(struct columns *columns, struct sheet_column column)
{
    columns->list[columns->count++] = column;
}

static enum status create(const struct columns *columns, struct sheet **sheet, struct error *error)
{
    return sheet_create(columns->list, columns->count, sheet, error);
}

/* ---- Queries ---- */

static struct sheet_column text_column(const char *word)
{
    return (struct sheet_column){.key = word, .name = word, .text = true};
}

/* A count for programs. */
static struct sheet_column count_column(const char *key)
{
    return (struct sheet_column){.key = key, .whole = true};
}

static struct sheet_column ms_column(const char *key, const char *name)
{
    return (struct sheet_column){.key = key, .name = name, .unit = "ms", .digits = 3};
}

/* Times as fast, or as small. */
static struct sheet_column ratio_column(const char *key, const char *name, uint32_t digits)
{
    return (struct sheet_column){.key = key, .name = name, .digits = digits, .suffix = "x"};
}

static struct sheet_column grouped(struct sheet_column column, const char *group)
{
    column.key = NULL;
    column.group = group;
    return column;
}

static void query_columns(const struct report *report, struct columns *columns)
{
    add(columns, text_column("query"));
    add(columns, text_column("codec"));
    add(columns, (struct sheet_column){.key = "device", .text = true});
    add(columns, count_column("rows"));
    add(columns, count_column("answer_rows"));
    add(columns, count_column("tiles"));
    add(columns, count_column("tiles_skipped"));
    add(columns, count_column("bytes_read"));
    add(columns, ms_column("total_median_ms", "total"));
    add(columns, ms_column("total_min_ms", "min"));
    add(columns, ms_column("text_to_rows_median_ms", "text to rows"));
    if (report->staged)
        add(columns, ms_column(NULL, "decode"));
    add(columns, ms_column("kernel_median_ms", "kernel"));
    add(columns, ms_column("kernel_min_ms", NULL));
    add(columns, (struct sheet_column){.name = "read", .unit = "MB", .digits = 2, .scale = 1e-6});
    add(columns, (struct sheet_column){.name = "rate", .unit = "GB/s", .digits = 2, .scale = 1e-9});
    add(columns, (struct sheet_column){.key = "percent_of_ceiling", .name = "% of max", .digits = 1});
    if (report->link_rate > 0) {
        add(columns, (struct sheet_column){
                         .key = "moved_bytes", .name = "moved", .unit = "MB", .digits = 2, .scale = 1e-6});
        add(columns, (struct sheet_column){.key = "percent_of_link", .name = "% of link", .digits = 1});
    }
    add(columns, ms_column("compile_ms", NULL));
    add(columns, ms_column("skip_ms", NULL));
    add(columns, ratio_column("speed", NULL, 0));
    add(columns, ms_column("sqlite_ms", NULL));
    add(columns, ratio_column(NULL, "vs SQLite", 1));
    add(columns, (struct sheet_column){.name = "rows"});
    add(columns, (struct sheet_column){.key = "result_hash", .name = "result hash", .text = true});
    add(columns, text_column("check"));
    if (report->indexed)
        add(columns, (struct sheet_column){.key = "indexes", .name = "indexes", .whole = true});
    if (report->staged) {
        add(columns, ms_column("decode_median_ms", NULL));
        add(columns, count_column("decode_bytes_read"));
    }
}

static void add_query(const struct report *report, const struct report_query *query, uint32_t choice,
                      struct sheet *sheet)
{
    const struct report_cell *const cell = &query->cells[choice];
    const double total = cell->total.median;
    sheet_text(sheet, query->name);
    sheet_text(sheet, report->choices[choice]);
    sheet_text(sheet, report->device);
    sheet_number(sheet, (double)cell->fact_rows);
    sheet_number(sheet, (double)cell->answer_rows);
    sheet_number(sheet, (double)cell->tiles);
    sheet_number(sheet, (double)cell->tiles_skipped);
    sheet_number(sheet, (double)cell->bytes_read);
    sheet_number(sheet, total);
    sheet_number(sheet, cell->total.min);
    sheet_known(sheet, cell->text.median);
    if (report->staged)
        sheet_number(sheet, cell->stage.median);
    sheet_number(sheet, cell->kernel.median);
    sheet_number(sheet, cell->kernel.min);
    sheet_number(sheet, (double)cell->bytes_read);
    sheet_number(sheet, report_rate(cell));
    sheet_number(sheet, report_share(report, cell));
    if (report->link_rate > 0) {
        sheet_number(sheet, (double)cell->moved_bytes);
        sheet_number(sheet, report_link_share(report, cell));
    }
    sheet_number(sheet, cell->compile_ms);
    sheet_number(sheet, cell->skip_ms);
    sheet_number(sheet, query->cells[0].total.median / total);
    sheet_known(sheet, query->sqlite_ms);
    sheet_known(sheet, query->sqlite_ms / total);
    sheet_number(sheet, (double)cell->answer_rows);
    sheet_text(sheet, cell->hash);
    sheet_text(sheet, answer_check_text(cell->check));
    if (report->indexed)
        sheet_number(sheet, cell->indexes);
    if (report->staged) {
        sheet_number(sheet, cell->stage.median);
        sheet_number(sheet, (double)cell->stage_bytes);
    }
}

enum status report_sheet_queries(const struct report *report, struct sheet **sheet, struct error *error)
{
    struct columns columns = {0};
    query_columns(report, &columns);
    RETURN_IF_ERROR(create(&columns, sheet, error));
    for (uint32_t q = 0; q < report->query_count; q++)
        for (uint32_t c = 0; c < report->choice_count; c++)
            add_query(report, &report->queries[q], c, *sheet);
    return STATUS_OK;
}

/* ---- Steps ---- */

enum status report_sheet_steps(const struct report *report, struct sheet **sheet, struct error *error)
{
    static const struct sheet_column columns[] = {
        {.key = "query", .name = "query", .text = true},
        {.key = "codec", .name = "codec", .text = true},
        {.key = "step", .name = "step", .text = true},
        {.key = "rows", .name = "rows", .whole = true},
        {.key = "bytes", .name = "read", .unit = "MB", .digits = 3, .scale = 1e-6, .whole = true},
        {.key = "median_ms", .name = "time", .unit = "ms", .digits = 4},
        {.key = "gb_per_second", .name = "rate", .unit = "GB/s", .digits = 2},
        {.key = "percent_of_ceiling", .name = "% of max", .digits = 1},
        {.name = "% of total", .digits = 1},
        {.name = "tiles skipped", .text = true}};
    RETURN_IF_ERROR(sheet_create(columns, sizeof columns / sizeof *columns, sheet, error));
    for (uint32_t i = 0; i < report->query_count * report->choice_count * report_step_count(report); i++) {
        const uint32_t s = i % report_step_count(report),
                       c = i / report_step_count(report) % report->choice_count;
        const struct report_query *const query =
            &report->queries[i / report_step_count(report) / report->choice_count];
        const struct report_cell *const cell = &query->cells[c];
        struct report_step step;
        char skipped[64];
        report_step_get(report, cell, s, &step);
        snprintf(skipped, sizeof skipped, "%" PRIu64 " of %" PRIu64, step.tiles_skipped, step.tiles);
        sheet_text(*sheet, query->name);
        sheet_text(*sheet, report->choices[c]);
        sheet_text(*sheet, step.name);
        sheet_number(*sheet, (double)step.rows);
        sheet_number(*sheet, (double)step.bytes);
        sheet_number(*sheet, step.ms);
        sheet_number(*sheet, step.rate / 1e9);
        sheet_number(*sheet, step.share);
        sheet_number(*sheet, 100 * step.ms / cell->total.median);
        sheet_text(*sheet, step.tiles ? skipped : "");
    }
    return STATUS_OK;
}

/* ---- Choices side by side ---- */

/* "ok", "skipped", "ok, skipped: plain", "wrong: gpu-star auto". */
static void add_check(const struct report *report, const struct report_query *query, struct sheet *sheet)
{
    uint32_t counts[] = {[ANSWER_SKIPPED] = 0, [ANSWER_OK] = 0, [ANSWER_WRONG] = 0};
    char text[REPORT_CHOICES_MAX * 64];
    for (uint32_t c = 0; c < report->choice_count; c++)
        counts[query->cells[c].check]++;
    const enum answer_check all = counts[ANSWER_WRONG] ? ANSWER_WRONG
                                  : counts[ANSWER_OK]  ? ANSWER_OK
                                                       : ANSWER_SKIPPED;
    const enum answer_check named = all == ANSWER_WRONG ? ANSWER_WRONG : ANSWER_SKIPPED;
    int used = snprintf(text, sizeof text, "%s%s", answer_check_text(all),
                        all == ANSWER_OK && counts[ANSWER_SKIPPED] ? ", skipped" : "");
    for (uint32_t c = 0; c < report->choice_count; c++)
        if (all != ANSWER_SKIPPED && query->cells[c].check == named && used < (int)sizeof text)
            used += snprintf(text + used, sizeof text - (size_t)used, " %s", report->choices[c]);
    sheet_text(sheet, text);
}

enum status report_sheet_comparison(const struct report *report, struct sheet **sheet, struct error *error)
{
    struct columns columns = {0};
    add(&columns, text_column("query"));
    for (uint32_t c = 0; c < report->choice_count; c++) {
        const char *const group = report->choices[c];
        add(&columns, grouped(ms_column(NULL, "total"), group));
        if (c)
            add(&columns, grouped(ratio_column(NULL, "speed", 2), group));
        add(&columns, grouped(ms_column(NULL, "text to rows"), group));
        add(&columns, grouped(ratio_column(NULL, "vs SQLite", 1), group));
    }
    add(&columns, (struct sheet_column){.name = "SQLite", .unit = "ms", .digits = 1});
    add(&columns, text_column("check"));
    RETURN_IF_ERROR(create(&columns, sheet, error));
    for (uint32_t q = 0; q < report->query_count; q++) {
        const struct report_query *const query = &report->queries[q];
        sheet_text(*sheet, query->name);
        for (uint32_t c = 0; c < report->choice_count; c++) {
            const double ms = query->cells[c].total.median;
            sheet_number(*sheet, ms);
            if (c)
                sheet_number(*sheet, query->cells[0].total.median / ms);
            sheet_known(*sheet, query->cells[c].text.median);
            sheet_known(*sheet, query->sqlite_ms / ms);
        }
        sheet_known(*sheet, query->sqlite_ms);
        add_check(report, query, *sheet);
    }
    return STATUS_OK;
}

enum status report_sheet_totals(const struct report *report, struct sheet **sheet, struct error *error)
{
    const bool sizes = report->compared && report->column_count;
    struct columns columns = {0};
    add(&columns, text_column("codec"));
    add(&columns, ms_column("total_ms", "sum"));
    add(&columns, ms_column("geometric_mean_ms", "geo. mean"));
    add(&columns, ms_column("text_to_rows_mean_ms", "text to rows, geo. mean"));
    add(&columns, ratio_column("speed", report->choice_count > 1 ? "mean speed" : NULL, 2));
    add(&columns, ratio_column("sqlite_ratio_mean", "mean vs SQLite", 1));
    add(&columns, ratio_column("sqlite_ratio_least", "least vs SQLite", 1));
    if (sizes) {
        add(&columns, count_column("plain_bytes"));
        add(&columns, (struct sheet_column){.key = "bytes",
                                            .name = "lineorder",
                                            .unit = "MB",
                                            .digits = 2,
                                            .scale = 1e-6,
                                            .whole = true});
        add(&columns, (struct sheet_column){.name = "row", .unit = "bits", .digits = 2});
        add(&columns, ratio_column(NULL, "ratio", 2));
    }
    RETURN_IF_ERROR(create(&columns, sheet, error));
    for (uint32_t c = 0; c < report->choice_count; c++) {
        struct report_totals totals;
        report_totals(report, c, &totals);
        sheet_text(*sheet, report->choices[c]);
        sheet_number(*sheet, totals.total_ms);
        sheet_number(*sheet, totals.mean_ms);
        sheet_known(*sheet, totals.mean_text_ms);
        sheet_number(*sheet, totals.speed);
        sheet_known(*sheet, totals.mean_sqlite);
        sheet_known(*sheet, totals.least_sqlite);
        if (sizes) {
            sheet_number(*sheet, (double)totals.plain_bytes);
            sheet_number(*sheet, (double)totals.bytes);
            sheet_number(*sheet, 8.0 * (double)totals.bytes / (double)report->fact_rows);
            sheet_number(*sheet, (double)totals.plain_bytes / (double)totals.bytes);
        }
    }
    return STATUS_OK;
}

/* ---- Columns ---- */

enum status report_sheet_columns(const struct report *report, struct sheet **sheet, struct error *error)
{
    static const struct sheet_column columns[] = {
        {.key = "column", .text = true}, {.key = "choice", .text = true}, {.key = "codec", .text = true},
        {.key = "bytes", .whole = true}, {.key = "bits_per_value"},       {.key = "ratio"}};
    RETURN_IF_ERROR(sheet_create(columns, sizeof columns / sizeof *columns, sheet, error));
    for (uint32_t i = 0; i < report->column_count; i++)
        for (uint32_t c = 0; c < report->choice_count; c++) {
            const struct report_column *const column = &report->columns[i];
            const struct report_encoding *const encoding = &column->encodings[c];
            sheet_text(*sheet, column->name);
            sheet_text(*sheet, report->choices[c]);
            sheet_text(*sheet, encoding->codec);
            sheet_number(*sheet, (double)encoding->bytes);
            sheet_number(*sheet, report_bits(report, encoding));
            sheet_number(*sheet, report_ratio(report, column, encoding));
        }
    return STATUS_OK;
}

enum status report_sheet_column_sizes(const struct report *report, struct sheet **sheet, struct error *error)
{
    struct columns columns = {0};
    add(&columns, text_column("column"));
    for (uint32_t c = 0; c < report->choice_count; c++) {
        const char *const group = report->choices[c];
        add(&columns, grouped(text_column("codec"), group));
        add(&columns, (struct sheet_column){.name = "bits", .group = group, .digits = 2});
        add(&columns, grouped(ratio_column(NULL, "ratio", 2), group));
    }
    RETURN_IF_ERROR(create(&columns, sheet, error));
    for (uint32_t i = 0; i < report->column_count; i++) {
        const struct report_column *const column = &report->columns[i];
        sheet_text(*sheet, column->name);
        for (uint32_t c = 0; c < report->choice_count; c++) {
            const struct report_encoding *const encoding = &column->encodings[c];
            sheet_text(*sheet, encoding->codec);
            sheet_number(*sheet, report_bits(report, encoding));
            sheet_number(*sheet, report_ratio(report, column, encoding));
        }
    }
    return STATUS_OK;
}
