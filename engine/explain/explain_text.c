/*
 * explain_text.c: the tree of EXPLAIN as lines (explain.h). Each operator has a template:
 *
 *     {rows}          the field, with its unit
 *     {rows:row}      "1 row", "2 rows"
 *     {kind<10}       filled with blanks up to 10 characters
 *     {*column}       the parts of this operator, with commas between them
 *     [, {ms}]        only if the node has all fields in it
 */
#include "engine/explain/explain.h"
#include "storage/base/number/number_text.h"
#include "storage/base/text/text_stream.h"

#include <stdlib.h>
#include <string.h>

#define FIGURES "{bytes} in {ms}, {rate}"
#define MAXIMUM "[, {ceiling_share} of what this device reads at most]"
#define BELOW   "           " /* a line below a step begins where its condition does */

/* Of an operator that gives rows: what was expected, and what was. */
#define GAVE                                                                                                \
    "[, estimated {estimated_rows:row}][, gave {rows:row}][ in {ms}][, {bytes}][, {memory_bytes} of memory" \
    "][, {spilled_bytes} spilled][, after {after} is known]"

static const struct template
{
    const char *operator, * text;
}
templates[] = {
    /* operators */
    {"plan", "[device: {device}" GAVE "]"},
    {"select", "select over the rows below[, by {groups}][, where {condition}][, having {having}]" GAVE},
    {"item", "{expression}"},
    {"scan of tables", "scan of tables" GAVE},
    {"join",
     "{kind} join by {keys:key}[ ({condition})][ and {residual}][: {left_rows:row} with {right_rows}]" GAVE},
    {"set", "{kind}" GAVE},
    {"values", "values" GAVE},
    {"window", "{functions:window function}[ {place}]" GAVE},
    {"recursive", "recursive union[ {all}] {name}" GAVE},
    {"shared", "rows of {name}" GAVE},
    {"filter", "filter {condition}" GAVE},
    {"inner answer", "{name}:"},
    /* the parts of a plan */
    {"note", "{note}"},
    {"scan", "scan {table}[, part {part} of {parts}]: {table_rows:row}, {column_bytes} of {*column}[, keys "
             "of {keys}]"},
    {"column", "{name} ({codec}[ {decoded}], {bits} bits)"},
    {"waiting", "then       {condition}"},
    {"reference", "{kind} join {table}: {table_rows:row} by {column}"},
    {"index", "{use} of {column}: {vectors} of {vectors_of} vectors[, whose rows are {rows_are}][, "
              "{vector_bytes}][, about "
              "{expected_vector_bytes}]; the column has {column_bytes}; {index_cost} {cost_unit} a row "
              "instead of {step_cost}"},
    {"step", "{kind<10} {condition}[, {column_bytes}][, {vector_bytes} of vectors], expected to keep "
             "{estimated_share}[; kept {rows} of {rows_before:row}][\n" BELOW FIGURES "]" MAXIMUM "[\n" BELOW
             "{note}]"},
    {"result", "result: {shape}[, {slots}][, at most {groups_most}][, numbers of {key_words} words,][ by "
               "{groups}][, in the order of {in_order}]"},
    {"aggregate", "{function} of {argument}"},
    {"merge", "merged by ({groups})"},
    {"having", "having {condition}"},
    {"total", "added up: {function} of {argument}"},
    {"order", "order by {terms}"},
    {"limit", "limit {rows_most} from {offset}"},
    {"grouping", "{name}: " FIGURES MAXIMUM},
    {"tiles", "tiles: {tiles}, skipped by their minima and maxima: {tiles_skipped}"},
    {"whole scan", "whole scan: {million_rows_a_second} million rows a second, " FIGURES MAXIMUM},
    {"moves", "columns: {kept_bytes} kept on the GPU, {copied_bytes} copied to it in every run, {read_bytes} "
              "read from "
              "the host's memory by the kernel"},
    {"process",
     "process {number} of {of}: {segments:segment}, {tiles:tile}, {bytes}; scan {scan_ms}, total {total_ms}"},
    {"processes exchange", "processes exchange: {exchanged:byte} in {ms} of the total"},
    {"device", "device {number} of {of}, {device}: {segments:segment}, {tiles:tile}, {bytes}; scan "
               "{scan_ms}, total {total_ms}"},
    {"exchange", "exchange: {exchanged:byte}, {how} in {ms}"},
    {"time", "time: plan {plan_ms}, compile {compile_ms}, load {load_ms}; [decoding {decode_ms}, ]dimensions "
             "{dimensions_ms}, scan {scan_ms}, total {total_ms}; output {output_ms}[; kernel {kernel}]"},
    {"statement",
     "statement: parse {parse_ms}, bind {bind_ms}, plan {plan_ms}, compile {compile_ms}, load {load_ms}, run "
     "{run_ms}, fetch {fetch_ms}, operators {operators_ms}, output {output_ms}; sum {sum_ms}"},
    {"cold", "cold: plan {plan}; first run {first_run}"},
};

static const char *template_of(const struct explain_node *node)
{
    for (size_t t = 0; t < sizeof templates / sizeof *templates; t++)
        if (strcmp(templates[t].operator, node->operator) == 0)
            return templates[t].text;
    return "";
}

/* ---- One node ---- */

static void write_field(const struct explain_field *field, FILE *out)
{
    switch (field->unit) {
    case EXPLAIN_TEXT:
        fputs(field->text, out);
        break;
    case EXPLAIN_COUNT:
        number_write(out, "%.0f", field->number);
        break;
    case EXPLAIN_BYTES:
        number_write(out, "%.4g MB", 1e-6 * field->number);
        break;
    case EXPLAIN_MS:
        number_write(out, "%.4g ms", field->number);
        break;
    case EXPLAIN_SHARE:
        number_write(out, "%.3g %%", 100 * field->number);
        break;
    case EXPLAIN_RATE:
        number_write(out, "%.4g GB/s", 1e-9 * field->number);
        break;
    case EXPLAIN_NUMBER:
        number_write(out, "%.4g", field->number);
        break;
    }
}

/* The name in braces at `at`, which may be followed by a word or a width. */
static const struct explain_field *field_at(const struct explain_node *node, const char *at)
{
    const size_t length = strcspn(at, ":<}");
    const struct explain_field *field = node->fields;
    while (field && (strncmp(field->name, at, length) != 0 || field->name[length]))
        field = field->next;
    return field;
}

/* Where a text goes, and what stands before its second line. */
struct branch {
    const struct branch *above;
    bool drawn, last; /* whether its node is a branch of the one above it */
};

static void write_branches(const struct branch *at, bool head, FILE *out)
{
    if (!at)
        return;
    write_branches(at->above, false, out);
    if (at->drawn)
        fputs(head ? at->last ? "└─  " : "├─  " : at->last ? "    " : "│   ", out);
}

static void write_template(const struct explain_node *node, const char *from, const char *to,
                           const struct branch *branch, FILE *out);

static void write_parts(const struct explain_node *node, const char *name, size_t length,
                        const struct branch *branch, FILE *out)
{
    const char *comma = "";
    for (const struct explain_node *part = node->first; part; part = part->next) {
        const char *const text = template_of(part);
        if (strncmp(part->operator, name, length) != 0)
            continue;
        fputs(comma, out);
        write_template(part, text, text + strlen(text), branch, out);
        comma = ", ";
    }
}

static void write_named(const struct explain_node *node, const char *at, const struct branch *branch,
                        FILE *out)
{
    const struct explain_field *const field = field_at(node, at);
    const char *const after = at + strcspn(at, ":<}"), *const end = strchr(at, '}');
    if (*at == '*')
        write_parts(node, at + 1, (size_t)(end - at) - 1, branch, out);
    if (!field)
        return;
    write_field(field, out);
    if (*after == ':')
        fprintf(out, " %.*s%s", (int)(end - after) - 1, after + 1, field->number == 1 ? "" : "s");
    else if (*after == '<')
        fprintf(out, "%*s", (int)strtol(after + 1, NULL, 10) - (int)strlen(field->text), "");
}

/* The end of the optional piece that begins at `at`. */
static const char *end_of(const char *at)
{
    int depth = 1;
    for (at++; depth; at++)
        depth += (*at == '[') - (*at == ']');
    return at - 1;
}

/* True if the node has all fields of a piece, but for those of optional pieces in it. */
static bool has_all(const struct explain_node *node, const char *from, const char *to)
{
    for (; from < to; from++)
        if (*from == '[')
            from = end_of(from);
        else if (*from == '{' && from[1] != '*' && !field_at(node, from + 1))
            return false;
    return true;
}

static void write_template(const struct explain_node *node, const char *from, const char *to,
                           const struct branch *branch, FILE *out)
{
    while (from < to) {
        if (*from == '[') {
            const char *const end = end_of(from);
            if (has_all(node, from + 1, end))
                write_template(node, from + 1, end, branch, out);
            from = end + 1;
        } else if (*from == '{') {
            write_named(node, from + 1, branch, out);
            from = strchr(from, '}') + 1;
        } else {
            fputc(*from, out);
            if (*from++ == '\n')
                write_branches(branch, false, out);
        }
    }
}

/* ---- Lines ---- */

static const struct explain_node *next_shown(const struct explain_node *node)
{
    while (node && strcmp(node->operator, "column") == 0) /* these stand in the scan's line */
        node = node->next;
    return node;
}

static void write_node(const struct explain_node *node, const struct branch *branch, bool head, FILE *out)
{
    const char *const text = template_of(node), *const end = text + strlen(text);
    const bool is_plan = strcmp(node->operator, "plan") == 0;
    if (*text != '[' || has_all(node, text + 1, end - 1)) {
        write_branches(branch, head, out);
        write_template(node, text, end, branch, out);
        fputc('\n', out);
        head = false;
    }
    /* the parts of a plan stand under its line, and not as branches */
    for (const struct explain_node *part = next_shown(node->first), *next; part; part = next) {
        next = next_shown(part->next);
        const struct branch below = {branch, !is_plan, !next};
        write_node(part, is_plan ? branch : &below, is_plan ? head : true, out);
        head = false;
    }
}

enum status explain_text(const struct explain_node *root, char **text, struct error *error)
{
    size_t bytes = 0;
    FILE *const out = text_stream(text, &bytes);
    if (out)
        write_node(root, NULL, true, out);
    return out && fclose(out) == 0 ? STATUS_OK : error_out_of_memory(error, BUFSIZ, "a plan's text");
}
