/* benchmark_options.c: the options that `ssb run` and `ssb compare` share. */
#include "ssb/benchmark/benchmark.h"

#include "ssb/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_MAX 1000000u /* of each query: 8 bytes a run are kept */

enum option_key {
    KEY_DATABASE = 'd',
    KEY_QUERY = 'q',
    KEY_THREADS = 'j',
    KEY_DEVICE = 0x100,
    KEY_VERIFY,
    KEY_REPEAT,
    KEY_WARMUP,
    KEY_FORMAT,
    KEY_ANSWERS,
    KEY_STAGED
};

static const struct argp_option option_list[] = {
    {"db", KEY_DATABASE, "DIR", 0, "The database, as `tessera ssb load` made it", 0},
    {"query", KEY_QUERY, "all|q1.1,...", 0, "Which of the 13 queries; all by default. q11 and Q1.1 are q1.1",
     0},
    {"queries", KEY_QUERY, NULL, OPTION_ALIAS, NULL, 0},
    {"device", KEY_DEVICE, "auto|cpu|cuda[:N]", 0,
     "Where; auto (the default) takes the first GPU that can be used, else the CPU", 0},
    {"verify", KEY_VERIFY, "sqlite|plain|none", 0,
     "What answers are compared with: SQLite's, those of the plain codec on the same device, or nothing. "
     "sqlite by default up to scale factor 10, plain beyond",
     0},
    {"staged", KEY_STAGED, NULL, 0,
     "Decode columns into scratch memory first and query them there, which decoding inside the query's scan, "
     "the "
     "default, is compared with; both parts are timed",
     0},
    {"repeat", KEY_REPEAT, "N", 0, "Timed runs of each query; 5 by default, the median is reported", 0},
    {"warmup", KEY_WARMUP, "N", 0, "Untimed runs before them; 1 by default", 0},
    {"threads", KEY_THREADS, "N", 0, "Threads of the CPU; all processors by default", 0},
    {"format", KEY_FORMAT, "table|csv|json", 0, "How to print the report; a table by default", 0},
    {"answers", KEY_ANSWERS, "DIR", 0, "Write each answer to DIR/q11.csv ... DIR/q43.csv", 0},
    {0}};

void benchmark_options_default(struct benchmark_options *options, struct error *error)
{
    *options = (struct benchmark_options){.device = "auto",
                                          .repeat = 5,
                                          .warmup = 1,
                                          .query_count = SSB_QUERIES,
                                          .write = report_table,
                                          .error = error};
    memcpy(options->queries, ssb_queries, sizeof options->queries);
}

/* The position of `text` in `names`. */
static enum status parse_word(const char *option, const char *text, const char *const names[3],
                              uint32_t *position, struct error *error)
{
    for (*position = 0; *position < 3; ++*position)
        if (strcmp(text, names[*position]) == 0)
            return STATUS_OK;
    return error_set(error, STATUS_BAD_INPUT, "%s '%.40s' does not exist; give %s, %s or %s", option, text,
                     names[0], names[1], names[2]);
}

static enum status parse_runs(const char *option, const char *text, uint32_t least, uint32_t *runs,
                              struct error *error)
{
    unsigned long value = strtoul(text, NULL, 10);
    if (*text == '\0' || strspn(text, "0123456789") != strlen(text) || value < least || value > RUNS_MAX)
        return error_set(error, STATUS_BAD_INPUT, "%s '%.40s' is not a number from %" PRIu32 " to %u", option,
                         text, least, RUNS_MAX);
    *runs = (uint32_t)value;
    return STATUS_OK;
}

static enum status add_query(struct benchmark_options *options, const char *name)
{
    const struct ssb_query *query = ssb_query_by_name(name);
    if (!query)
        return error_set(options->error, STATUS_BAD_INPUT,
                         "query '%.40s' does not exist; give all, or some of q1.1, q1.2, q1.3, q2.1, q2.2, "
                         "q2.3, q3.1, q3.2, q3.3, q3.4, q4.1, q4.2, q4.3",
                         name);
    for (uint32_t i = 0; i < options->query_count; i++)
        if (options->queries[i] == query)
            return STATUS_OK;
    options->queries[options->query_count++] = query;
    return STATUS_OK;
}

static enum status parse_queries(struct benchmark_options *options, const char *text)
{
    if (strcmp(text, "all") == 0) {
        options->query_count = SSB_QUERIES;
        memcpy(options->queries, ssb_queries, sizeof options->queries);
        return STATUS_OK;
    }
    options->query_count = 0;
    while (text) {
        const char *comma = strchr(text, ',');
        char name[64];
        snprintf(name, sizeof name, "%.*s", comma ? (int)(comma - text) : (int)sizeof name - 1, text);
        RETURN_IF_ERROR(add_query(options, name));
        text = comma ? comma + 1 : NULL;
    }
    return STATUS_OK;
}

static enum status parse_option(int key, const char *text, struct benchmark_options *options)
{
    const char *const verify_names[] = {"sqlite", codec_baseline()->name, "none"};
    static const enum benchmark_verify verify[] = {VERIFY_SQLITE, VERIFY_PLAIN, VERIFY_NONE};
    static const char *const format_names[] = {"table", "csv", "json"};
    static report_writer *const formats[] = {report_table, report_csv, report_json};
    uint32_t position;
    switch (key) {
    case KEY_DATABASE:
        options->database = text;
        return STATUS_OK;
    case KEY_QUERY:
        return parse_queries(options, text);
    case KEY_DEVICE:
        options->device = text;
        return STATUS_OK;
    case KEY_VERIFY:
        RETURN_IF_ERROR(parse_word("--verify", text, verify_names, &position, options->error));
        options->verify = verify[position];
        return STATUS_OK;
    case KEY_REPEAT:
        return parse_runs("--repeat", text, 1, &options->repeat, options->error);
    case KEY_STAGED:
        options->staged = true;
        return STATUS_OK;
    case KEY_WARMUP:
        return parse_runs("--warmup", text, 0, &options->warmup, options->error);
    case KEY_THREADS:
        return ssb_threads_parse(text, &options->threads, options->error);
    case KEY_FORMAT:
        RETURN_IF_ERROR(parse_word("--format", text, format_names, &position, options->error));
        options->write = formats[position];
        return STATUS_OK;
    default:
        options->answers = text;
        return STATUS_OK;
    }
}

static error_t parse_key(int key, char *argument, struct argp_state *state)
{
    struct benchmark_options *options = state->input;
    switch (key) {
    case KEY_DATABASE:
    case KEY_QUERY:
    case KEY_DEVICE:
    case KEY_VERIFY:
    case KEY_REPEAT:
    case KEY_WARMUP:
    case KEY_THREADS:
    case KEY_FORMAT:
    case KEY_ANSWERS:
    case KEY_STAGED:
        return parse_option(key, argument, options) == STATUS_OK ? 0 : EINVAL;
    case ARGP_KEY_SUCCESS:
        if (options->database)
            return 0;
        error_set(options->error, STATUS_BAD_INPUT,
                  "--db is missing; give the folder of a database, as in --db ssb1.db (`tessera ssb load` "
                  "makes one)");
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp benchmark_argp = {.options = option_list, .parser = parse_key};
