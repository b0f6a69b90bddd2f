/* report_plan.c: the charts and tables of an analysed statement (report.h), from the tree that EXPLAIN fills. */
#include "engine/program/shell/report.h"

#include <stdlib.h>
#include <string.h>

/* ---- Nodes ---- */

#define NODES_MAX 512u /* in one table or chart; there are at most some tens of steps */

struct nodes {
    uint32_t count;
    const struct explain_node *list[NODES_MAX];
};

static bool is_named(const char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

static const char *const parts[] = {"scan", "result", NULL};

/* Finds the parts of a plan, in their order. */
static void find_parts(const struct explain_node *node, const char *const *operators, struct nodes *nodes)
{
    for (const struct explain_node *part = node->first; part; part = part->next) {
        if (is_named(operators, part->operator) && nodes->count < NODES_MAX)
            nodes->list[nodes->count++] = part;
        if (is_named(parts, part->operator))
            find_parts(part, operators, nodes);
    }
}

static const struct explain_node *part_of(const struct explain_node *plan, const char *operator)
{
    struct nodes nodes = {0};
    find_parts(plan, (const char *const[]){operator, NULL}, &nodes);
    return nodes.count ? nodes.list[0] : NULL;
}

static const char *words_of(const struct explain_node *node, const char *name)
{
    const struct explain_field *const field = explain_find(node, name);
    return field ? field->text : "";
}

/* ---- Tables ---- */

#define WORDS(field, title)             \
    {                                   \
        field,                          \
        {                               \
            .name = title, .text = true \
        }                               \
    }
#define NUMBER(field, title)             \
    {                                    \
        field,                           \
        {                                \
            .name = title, .whole = true \
        }                                \
    }
#define PERCENT(field, title)                                     \
    {                                                             \
        field,                                                    \
        {                                                         \
            .name = title, .unit = "%", .digits = 1, .scale = 100 \
        }                                                         \
    }
#define BYTES(field, title)                                              \
    {                                                                    \
        field,                                                           \
        {                                                                \
            .name = title, .unit = "MB", .significant = 4, .scale = 1e-6 \
        }                                                                \
    }
#define MS(field, title)                                  \
    {                                                     \
        field,                                            \
        {                                                 \
            .name = title, .unit = "ms", .significant = 4 \
        }                                                 \
    }

struct table_column {
    const char *field;
    struct sheet_column column;
};

#define COLUMNS_MAX 12u

/* A row for each node; what it does not have is missing. No nodes: no table. */
static enum status add_table(struct page *page, const char *caption, const struct nodes *nodes,
                             const struct table_column *columns, uint32_t count, struct error *error)
{
    struct sheet_column heads[COLUMNS_MAX];
    struct sheet *sheet;
    if (nodes->count == 0)
        return STATUS_OK;
    for (uint32_t c = 0; c < count; c++)
        heads[c] = columns[c].column;
    RETURN_IF_ERROR(sheet_create(heads, count, &sheet, error));
    for (uint32_t n = 0; n < nodes->count; n++)
        for (uint32_t c = 0; c < count; c++) {
            const struct explain_field *const field = explain_find(nodes->list[n], columns[c].field);
            if (strcmp(columns[c].field, "operator") == 0)
                sheet_text(sheet, nodes->list[n]->operator);
            else if (columns[c].column.text)
                sheet_text(sheet, field ? field->text : "");
            else if (field)
                sheet_number(sheet, field->number);
            else
                sheet_missing(sheet, NULL);
        }
    page_sheet(page, caption, sheet);
    return STATUS_OK;
}
#define ADD_TABLE(page, caption, nodes, columns, error) \
    add_table(page, caption, nodes, columns, sizeof columns / sizeof *columns, error)

static enum status add_parts(struct page *page, const struct explain_node *plan, const char *caption,
                             const char *const *operators, const struct table_column *columns, uint32_t count,
                             struct error *error)
{
    struct nodes nodes = {0};
    find_parts(plan, operators, &nodes);
    return add_table(page, caption, &nodes, columns, count, error);
}

/* ---- Charts ---- */

/* A chart of bars, one for each step that has the field, and one for the grouping. */
static enum status add_bars(struct page *page, const struct nodes *steps, const char *field,
                            struct chart_form form, struct error *error)
{
    const char *categories[NODES_MAX];
    struct chart *chart;
    for (uint32_t s = 0; s < steps->count; s++)
        categories[s] = words_of(steps->list[s], "name");
    form.kind = CHART_BARS;
    form.categories = categories;
    form.category_count = steps->count;
    RETURN_IF_ERROR(chart_create(&form, &chart, error));
    chart_series(chart, form.y.title);
    for (uint32_t s = 0; s < steps->count; s++)
        if (explain_find(steps->list[s], field))
            chart_point(chart, (struct chart_point){.x = s, .y = explain_value(steps->list[s], field)});
    page_chart(page, chart);
    return STATUS_OK;
}

static void add_point(struct chart *chart, const struct explain_node *node)
{
    if (explain_find(node, "bytes"))
        chart_point(chart, (struct chart_point){.x = explain_value(node, "bytes"),
                                                .y = explain_value(node, "ms"),
                                                .label = words_of(node, "name")});
}

/* Bytes against time, with the line of the read ceiling, as in the benchmark's report. */
static enum status add_roofline(struct page *page, const struct nodes *steps,
                                const struct explain_node *whole, struct error *error)
{
    const double ceiling = explain_value(whole, "ceiling");
    struct chart *chart;
    char text[64];
    RETURN_IF_ERROR(
        chart_create(&(struct chart_form){.kind = CHART_POINTS,
                                          .title = "Time against bytes read",
                                          .x = {.title = "read", .unit = "bytes", .scale = CHART_LOG10},
                                          .y = {.title = "time", .unit = "ms", .scale = CHART_LOG10}},
                     &chart, error));
    chart_series(chart, "steps");
    for (uint32_t s = 0; s < steps->count; s++)
        add_point(chart, steps->list[s]);
    chart_series(chart, "whole scan");
    add_point(chart, whole);
    if (ceiling > 0) {
        snprintf(text, sizeof text, "read ceiling: %u GB/s", (unsigned)(ceiling / 1e9 + 0.5));
        chart_reference(chart, text, 0, 1e3 / ceiling);
    }
    page_chart(page, chart);
    return STATUS_OK;
}

/* ---- A plan ---- */

static const char *const step_operators[] = {"step", "grouping", NULL},
                         *const scan_operators[] = {"step", "grouping", "whole scan", NULL},
                         *const column_operators[] = {"column", NULL},
                         *const device_operators[] = {"device", NULL},
                         *const process_operators[] = {"process", NULL};

static const struct table_column step_columns[] = {
    WORDS("name", "step"),
    NUMBER("rows_before", "rows before"),
    NUMBER("rows", "rows after"),
    PERCENT("kept_share", "kept"),
    PERCENT("estimated_share", "expected"),
    BYTES("bytes", "read"),
    MS("ms", "time"),
    PERCENT("scan_share", "of scan"),
    {"rate", {.name = "rate", .unit = "GB/s", .significant = 4, .scale = 1e-9}},
    PERCENT("ceiling_share", "of max"),
    WORDS("condition", "condition")};

static const struct table_column column_columns[] = {WORDS("name", "column"),
                                                     WORDS("codec", "codec"),
                                                     WORDS("decoded", "decoded"),
                                                     {"bits", {.name = "bits a value", .digits = 1}},
                                                     BYTES("column_bytes", "size"),
                                                     BYTES("bytes", "read"),
                                                     WORDS("first_read_by", "first read by")};

static const struct table_column share_columns[] = {WORDS("name", "part"),    NUMBER("segments", "segments"),
                                                    NUMBER("tiles", "tiles"), BYTES("bytes", "read"),
                                                    MS("scan_ms", "scan"),    MS("total_ms", "total")};

static enum status add_times(struct page *page, const struct explain_node *time, const char *title,
                             struct error *error)
{
    static const struct {
        const char *field, *part, *what;
    } times[] = {
        {"parse_ms", "parse", "the text becomes a syntax tree"},
        {"bind_ms", "bind", "names and types are found, the tree of operators is rewritten"},
        {"plan_ms", "plan", "conditions of dimensions are answered, tiles found, steps put in order"},
        {"compile_ms", "compile", "the kernel, unless it is in the cache"},
        {"load_ms", "load", "kernel and columns to the GPU"},
        {"decode_ms", "decode", "columns into scratch memory"},
        {"dimensions_ms", "dimensions", "bitmaps of dimensions, indexes, cleared groups"},
        {"scan_ms", "scan", "the steps above"},
        {"merge_ms", "merge", "the results of threads and devices"},
        {"exchange_ms", "exchange", "the results of the processes"},
        {"total_ms", "total", "from the first operation until the result is complete"},
        {"run_ms", "run", "all scans, until their results are complete"},
        {"fetch_ms", "fetch", "around the scans: launches, waiting, reading the groups"},
        {"operators_ms", "operators", "joins, sorts, windows and sets above the scans"},
        {"output_ms", "output", "expressions over groups, HAVING, order, texts"},
        {"sum_ms", "sum", "from the text to the rows"}};
    const struct sheet_column columns[] = {{.name = "part", .text = true},
                                           {.name = "time", .unit = "ms", .digits = 3},
                                           {.name = "what is done", .text = true}};
    struct sheet *sheet;
    RETURN_IF_ERROR(sheet_create(columns, 3, &sheet, error));
    for (size_t t = 0; t < sizeof times / sizeof *times; t++)
        if (explain_find(time, times[t].field)) {
            sheet_text(sheet, times[t].part);
            sheet_number(sheet, explain_value(time, times[t].field));
            sheet_text(sheet, times[t].what);
        }
    page_sheet(page, title, sheet);
    return STATUS_OK;
}

/* Lines of the plan's text that say what no table has. */
static enum status add_lines(struct page *page, const struct explain_node *plan, const char *const *operators,
                             struct error *error)
{
    struct nodes nodes = {0};
    find_parts(plan, operators, &nodes);
    for (uint32_t n = 0; n < nodes.count; n++) {
        char *text;
        RETURN_IF_ERROR(explain_text(nodes.list[n], &text, error));
        page_text(page, text);
        free(text);
    }
    return STATUS_OK;
}

static const char scan_times[] =
    "Where the time of the scan goes. The total has what lies between dimensions and exchange.";

static enum status add_scan(struct page *page, const struct explain_node *plan, struct error *error)
{
    static const char *const before[] = {"note", "tiles", "moves", "cold", NULL}, *const after[] = {
                                                                                      "exchange",
                                                                                      "processes exchange",
                                                                                      NULL};
    const struct explain_node *const whole = part_of(plan, "whole scan"), *const time = part_of(plan, "time");
    struct nodes steps = {0};
    char heading[256];
    snprintf(heading, sizeof heading, "Scan of %s", words_of(part_of(plan, "scan"), "table"));
    page_section(page, heading);
    RETURN_IF_ERROR(add_lines(page, plan, before, error));
    if (!whole)
        return add_times(page, time, scan_times, error);
    find_parts(plan, step_operators, &steps);
    RETURN_IF_ERROR(add_bars(
        page, &steps, "ms",
        (struct chart_form){.title = "Time of each step", .y = {.title = "time", .unit = "ms"}}, error));
    if (steps.count > 1)
        RETURN_IF_ERROR(add_bars(
            page, &steps, "rows_before",
            (struct chart_form){.title = "Rows that reach each step", .y = {.title = "rows"}}, error));
    page_text(page, "The steps in their order. A step reads the columns that no step before it has read. Max "
                    "is the highest rate at which the device reads, measured in this run.");
    RETURN_IF_ERROR(add_parts(page, plan, NULL, scan_operators, step_columns,
                              sizeof step_columns / sizeof *step_columns, error));
    RETURN_IF_ERROR(add_roofline(page, &steps, whole, error));
    RETURN_IF_ERROR(add_parts(page, plan, "The columns of the scanned table that were read.",
                              column_operators, column_columns,
                              sizeof column_columns / sizeof *column_columns, error));
    RETURN_IF_ERROR(add_times(page, time, scan_times, error));
    RETURN_IF_ERROR(add_parts(page, plan, "The share of each device, in the last run.", device_operators,
                              share_columns, sizeof share_columns / sizeof *share_columns, error));
    RETURN_IF_ERROR(add_parts(page, plan, "The share of each process, in the last run.", process_operators,
                              share_columns, sizeof share_columns / sizeof *share_columns, error));
    return add_lines(page, plan, after, error);
}

/* ---- The statement ---- */

/* Operators that gave rows, each after its inputs. */
static void find_operators(const struct explain_node *node, struct nodes *nodes)
{
    for (const struct explain_node *input = node->first; input; input = input->next)
        find_operators(input, nodes);
    if (explain_find(node, "estimated_rows") && nodes->count < NODES_MAX)
        nodes->list[nodes->count++] = node;
}

static enum status add_scans(struct page *page, const struct explain_node *node, struct error *error)
{
    for (const struct explain_node *input = node->first; input; input = input->next)
        RETURN_IF_ERROR(add_scans(page, input, error));
    return part_of(node, "time") ? add_scan(page, node, error) : STATUS_OK;
}

enum status sql_report_plan(struct page *page, const struct explain_node *root, struct error *error)
{
    static const struct table_column columns[] = {WORDS("operator", "operator"),
                                                  WORDS("kind", "kind"),
                                                  NUMBER("estimated_rows", "expected rows"),
                                                  NUMBER("rows", "rows"),
                                                  MS("ms", "time"),
                                                  BYTES("bytes", "bytes"),
                                                  BYTES("memory_bytes", "memory"),
                                                  BYTES("spilled_bytes", "spilled"),
                                                  WORDS("device", "device")};
    struct nodes operators = {0};
    char *text;
    RETURN_IF_ERROR(explain_text(root, &text, error));
    page_section(page, "Plan");
    page_code(page, text);
    free(text);
    find_operators(root, &operators);
    RETURN_IF_ERROR(ADD_TABLE(page, "The operators, each after its inputs, whose time it does not have.",
                              &operators, columns, error));
    RETURN_IF_ERROR(add_times(page, part_of(root, "statement"), "The statement's first run.", error));
    return add_scans(page, root, error);
}
