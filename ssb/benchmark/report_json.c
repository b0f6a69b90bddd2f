/* report_json.c: the report as one JSON object; see report.h. */
#include "ssb/benchmark/report.h"
#include "storage/base/text/json_text.h"

#include <errno.h>
#include <jansson.h>

static json_t *times_json(const struct report_times *times, uint32_t count)
{
    json_t *runs = json_array();
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(runs, json_real(times->runs[i]));
    return json_pack("{s:f, s:f, s:o}", "median", times->median, "min", times->min, "runs", runs);
}

static json_t *known(double number)
{
    return number > 0 ? json_real(number) : json_null();
}

static json_t *steps_json(const struct report *report, const struct report_cell *cell)
{
    json_t *steps = json_array();
    for (uint32_t s = 0; s < report_step_count(report); s++) {
        struct report_step step;
        report_step_get(report, cell, s, &step);
        json_array_append_new(steps, json_pack("{s:s, s:I, s:I, s:f, s:f, s:f}", "step", step.name, "rows",
                                               (json_int_t)step.rows, "bytes", (json_int_t)step.bytes,
                                               "median_ms", step.ms, "gb_per_second", step.rate / 1e9,
                                               "percent_of_ceiling", step.share));
    }
    return steps;
}

static json_t *cell_json(const struct report *report, const struct report_query *query, uint32_t choice)
{
    const struct report_cell *cell = &query->cells[choice];
    json_t *json = json_pack(
        "{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:o, s:o, s:f, s:f, s:I, s:f, s:f, s:o, s:s, s:s}", "query",
        query->name, "codec", report->choices[choice], "device", report->device, "rows",
        (json_int_t)cell->fact_rows, "answer_rows", (json_int_t)cell->answer_rows, "tiles",
        (json_int_t)cell->tiles, "tiles_skipped", (json_int_t)cell->tiles_skipped, "total_ms",
        times_json(&cell->total, report->repeat), "kernel_ms", times_json(&cell->kernel, report->repeat),
        "compile_ms", cell->compile_ms, "skip_ms", cell->skip_ms, "bytes_read", (json_int_t)cell->bytes_read,
        "gb_per_second", report_rate(cell) / 1e9, "percent_of_ceiling", report_share(report, cell),
        "sqlite_ms", known(query->sqlite_ms), "result_hash", cell->hash, "check",
        answer_check_text(cell->check));
    if (json && cell->text.median > 0)
        json_object_set_new(json, "text_to_rows_ms", times_json(&cell->text, report->repeat));
    if (json && report->staged) {
        json_object_set_new(json, "decode_ms", times_json(&cell->stage, report->repeat));
        json_object_set_new(json, "decode_bytes_read", json_integer((json_int_t)cell->stage_bytes));
    }
    if (json && report->link_rate > 0) {
        json_object_set_new(json, "moved_bytes", json_integer((json_int_t)cell->moved_bytes));
        json_object_set_new(json, "percent_of_link", json_real(report_link_share(report, cell)));
    }
    if (json && report->indexed)
        json_object_set_new(json, "indexes", json_integer(cell->indexes));
    if (json && report->profile)
        json_object_set_new(json, "steps", steps_json(report, cell));
    return json;
}

/* NULL: as sheet_json. */
static json_t *rows_json(const struct report *report, report_sheet_maker *make)
{
    struct sheet *sheet;
    if (make(report, &sheet, NULL) != STATUS_OK)
        return NULL;
    json_t *const rows = sheet_json(sheet);
    sheet_destroy(sheet);
    return rows;
}

enum status report_json(const struct report *report, FILE *file, struct error *error)
{
    json_t *queries = json_array();
    for (uint32_t q = 0; q < report->query_count; q++)
        for (uint32_t c = 0; c < report->choice_count; c++)
            json_array_append_new(queries, cell_json(report, &report->queries[q], c));
    json_t *root = json_pack(
        "{s:s, s:s?, s:s, s:o, s:f, s:f, s:s, s:i, s:i, s:b, s:o, s:o}", "device", report->device, "why_cpu",
        report->why_cpu, "database", report->database, "scale_factor", known(report->scale_factor),
        "read_ceiling_gb_per_second", report->read_ceiling / 1e9, "launch_floor_ms", report->launch_floor_ms,
        "judge", report->judge, "repeat", (int)report->repeat, "warmup", (int)report->warmup, "staged",
        report->staged, "queries", queries, "totals", rows_json(report, report_sheet_totals));
    if (root && report->link_rate > 0)
        json_object_set_new(root, "link_gb_per_second", json_real(report->link_rate / 1e9));
    if (root && report->compared &&
        json_object_set_new(root, "columns", rows_json(report, report_sheet_columns)) != 0) {
        json_decref(root);
        root = NULL;
    }
    if (!root || json_array_size(queries) != report->query_count * report->choice_count) {
        json_decref(root);
        return error_set(
            error, STATUS_BAD_INPUT,
            "the report cannot be written as JSON: the path of the database is not UTF-8, or memory ran out");
    }
    const enum status status = json_write(root, JSON_INDENT(1) | JSON_REAL_PRECISION(9), file, error);
    json_decref(root);
    return status == STATUS_OK && ferror(file) ? error_set_errno(error, errno, "cannot write the report")
                                               : status;
}
