/* lab.c: see lab.h. */
#include "lab/lab.h"

#include "lab/chart_text.h"
#include "storage/base/text/json_text.h"

#include <jansson.h>
#include <stdio.h>

uint64_t lab_rows(const struct lab *lab, uint64_t rows)
{
    const double scaled = (double)rows * lab->scale;
    return scaled < 1 ? 1 : (uint64_t)scaled;
}

void lab_key(char *key)
{
    char *to = key;
    for (const char *from = key; *from; from++) {
        const bool apart = *from == ' ' || *from == ',';
        if (!apart)
            *to++ = *from;
        else if (to > key && to[-1] != '_')
            *to++ = '_';
    }
    *to = '\0';
}

enum status lab_chart(struct lab *lab, struct chart *chart, struct error *error)
{
    const bool failed = chart->keep.failed;
    if (failed || chart_is_empty(chart)) {
        chart_destroy(chart);
        return failed ? error_out_of_memory(error, sizeof *chart, "a chart") : STATUS_OK;
    }
    if (lab->format == LAB_TABLE) {
        progress_report(lab->progress, "", "", 1, 1);
        putchar('\n');
        chart_text(chart, stdout);
    }
    page_chart(lab->page, chart);
    return STATUS_OK;
}

enum status lab_bars(struct lab *lab, const char *title, const char *const *systems, const double *ms,
                     uint32_t count, struct error *error)
{
    const struct chart_form form = {.kind = CHART_BARS,
                                    .title = title,
                                    .x.title = "system",
                                    .y = {.title = "geometric mean", .unit = "ms"},
                                    .categories = systems,
                                    .category_count = count};
    struct chart *chart;
    RETURN_IF_ERROR(chart_create(&form, &chart, error));
    chart_series(chart, "geometric mean");
    for (uint32_t i = 0; i < count; i++)
        chart_point(chart, (struct chart_point){.x = i, .y = ms[i]});
    return lab_chart(lab, chart, error);
}

static enum sheet_form form_of(const struct lab *lab)
{
    return lab->format == LAB_CSV ? SHEET_CSV : SHEET_TABLE;
}

static void print_caption(const struct lab *lab, const char *caption)
{
    progress_report(lab->progress, "", "", 1, 1); /* the bar leaves the line */
    printf(lab->format == LAB_CSV ? "# %s\n" : "\n%s\n\n", caption);
}

enum status lab_begin(struct lab *lab, const char *caption, struct sheet *sheet, struct error *error)
{
    if (lab->format == LAB_JSON)
        return STATUS_OK;
    lab->growing = sheet;
    lab->shown = 0;
    print_caption(lab, caption);
    RETURN_IF_ERROR(sheet_print_head(sheet, form_of(lab), stdout, error));
    return lab_row_done(lab, sheet, error);
}

enum status lab_row_done(struct lab *lab, struct sheet *sheet, struct error *error)
{
    if (!sheet || lab->growing != sheet)
        return STATUS_OK;
    progress_report(lab->progress, "", "", 1, 1);
    RETURN_IF_ERROR(sheet_print_rows(sheet, form_of(lab), lab->shown, stdout, error));
    lab->shown = sheet_rows(sheet);
    fflush(stdout); /* the next row may take minutes; main reports a failed write */
    return STATUS_OK;
}

void lab_forget(struct lab *lab)
{
    lab->growing = NULL;
    sheet_destroy(lab->log);
    lab->log = NULL;
}

enum status lab_log(struct lab *lab, const char *caption, const struct sheet_column *columns, uint32_t count,
                    struct sheet **sheet, struct error *error)
{
    *sheet = NULL;
    if (lab->format != LAB_TABLE)
        return STATUS_OK;
    lab_forget(lab);
    RETURN_IF_ERROR(sheet_create(columns, count, &lab->log, error));
    *sheet = lab->log;
    return lab_begin(lab, caption, *sheet, error);
}

static enum status print_sheet(struct lab *lab, const char *caption, const struct sheet *sheet,
                               struct error *error)
{
    if (lab->format == LAB_JSON) {
        json_t *const table = json_pack("{s:s, s:o?}", "table", caption, "rows", sheet_json(sheet));
        return json_array_append_new(lab->tables, table) == 0
                   ? STATUS_OK
                   : error_out_of_memory(error, BUFSIZ, "the figures as JSON");
    }
    if (lab->growing == sheet)
        return lab_row_done(lab, lab->growing, error);
    print_caption(lab, caption);
    RETURN_IF_ERROR(lab->format == LAB_CSV ? sheet_print_csv(sheet, stdout, error)
                                           : sheet_print_table(sheet, stdout, error));
    fflush(stdout); /* the next table may take minutes; main reports a failed write */
    return STATUS_OK;
}

enum status lab_sheet(struct lab *lab, const char *caption, struct sheet *sheet, struct error *error)
{
    const enum status status = print_sheet(lab, caption, sheet, error);
    lab_forget(lab);
    page_sheet(lab->page, caption, sheet);
    return status;
}

static void begin(struct lab *lab, const struct lab_experiment *experiment)
{
    page_section(lab->page, experiment->title);
    page_text(lab->page, experiment->source);
    if (lab->format == LAB_TABLE)
        printf("\n%s: %s\n%s\n", experiment->name, experiment->title, experiment->source);
}

static enum status run_one(struct lab *lab, const struct lab_experiment *experiment, json_t *list,
                           struct error *error)
{
    begin(lab, experiment);
    lab->tables = json_array();
    if (!lab->tables)
        return error_out_of_memory(error, BUFSIZ, "the figures as JSON");
    const enum status status = experiment->run(lab, error);
    lab_forget(lab);
    json_t *const object = json_pack("{s:s, s:s, s:o}", "name", experiment->name, "title", experiment->title,
                                     "tables", lab->tables);
    lab->tables = NULL;
    if (json_array_append_new(list, object) != 0 && status == STATUS_OK)
        return error_out_of_memory(error, BUFSIZ, "the figures as JSON");
    return status;
}

static enum status print_json(const struct lab *lab, json_t *list, struct error *error)
{
    json_t *const object =
        json_pack("{s:s, s:f, s:i, s:f, s:O}", "device", engine_device_text(lab->engine), "scale", lab->scale,
                  "repeat", (int)lab->repeat, "read_ceiling", lab->read_ceiling, "experiments", list);
    const enum status status =
        object ? json_write(object, JSON_INDENT(2) | JSON_REAL_PRECISION(9), stdout, error)
               : error_out_of_memory(error, BUFSIZ, "the figures as JSON");
    json_decref(object);
    return status; /* main reports a failed write */
}

enum status lab_run(struct lab *lab, const struct lab_experiment *const *experiments, struct error *error)
{
    json_t *const list = json_array();
    enum status status = list ? STATUS_OK : error_out_of_memory(error, BUFSIZ, "the figures as JSON");
    for (; status == STATUS_OK && *experiments; experiments++)
        status = run_one(lab, *experiments, list, error);
    if (status == STATUS_OK && lab->format == LAB_JSON)
        status = print_json(lab, list, error);
    json_decref(list);
    return status;
}
