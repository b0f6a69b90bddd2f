/* judge.c: see judge.h. */
#include "ssb/benchmark/judge.h"

#include "ssb/data/origin.h"
#include "ssb/benchmark/reference.h"

#include <inttypes.h>
#include <string.h>

/* A scale factor is about 6 million rows (5 998 000 to 6 002 000). Up to scale factor 10 SQLite is the
 * default judge. On 2 cores it takes half a minute to load the rows and half a minute for the 13 answers,
 * once. */
#define SQLITE_ROWS 60100000u

/* From scale factor 1 on every query finds rows; Q3.4 finds the fewest, 3. In smaller databases an answer may
 * be empty. */
#define NEVER_EMPTY_ROWS 5900000u

static enum status count_rows(struct database *database, bool whole, uint64_t rows[SSB_TABLES],
                              struct error *error)
{
    for (int t = 0; t < SSB_TABLES; t++) {
        const struct table *table;
        RETURN_IF_ERROR(database_table(database, ssb_table_info((enum ssb_table)t)->name, &table, error));
        rows[t] = whole ? table_whole_rows(table) : table->rows;
    }
    return STATUS_OK;
}

static enum status ask_sqlite(struct judge *judge, const struct benchmark_options *options,
                              const char *directory, const struct reference_source *source,
                              struct progress *progress, struct error *error)
{
    struct reference *reference;
    struct reference_answer answers[SSB_QUERIES];
    const char *statements[SSB_QUERIES];
    for (uint32_t q = 0; q < options->query_count; q++)
        statements[q] = options->queries[q]->sql;
    RETURN_IF_ERROR(reference_open(directory, source, options->threads, progress, &reference, error));
    enum status status = reference_answers(reference, statements, options->query_count, options->threads,
                                           progress, answers, error);
    for (uint32_t q = 0; q < options->query_count; q++) {
        judge->expected[q] = answers[q].rows; /* moved */
        judge->sqlite_ms[q] = answers[q].sqlite_ms;
    }
    if (status == STATUS_OK && reference_was_loaded(reference))
        fprintf(judge->notes, "SQLite was loaded from the raw rows in %.1f s; %s/%s keeps them\n",
                reference_load_seconds(reference), directory, REFERENCE_FILE);
    if (status == STATUS_OK)
        snprintf(judge->text, sizeof judge->text, "SQLite %s, answers of %s UTC%s", answers[0].sqlite,
                 answers[0].made, answers[0].kept ? ", kept" : "");
    reference_close(reference);
    return status;
}

static enum status ask_plain(struct judge *judge, const struct benchmark_options *options,
                             struct database *database, struct engine *engine, struct progress *progress,
                             struct error *error)
{
    struct sql_statement *statements[SSB_QUERIES] = {NULL};
    enum status status = STATUS_OK;
    snprintf(judge->text, sizeof judge->text, "the plain codec's answers on the same device");
    for (uint32_t q = 0; q < options->query_count && status == STATUS_OK; q++)
        status = benchmark_statement(engine, database, options->queries[q], codec_baseline()->name, false,
                                     PLAN_INDEX_OFF, &statements[q], error);
    status = AND_THEN(status, sql_compile(statements, options->query_count, false, progress, error));
    for (uint32_t q = 0; q < options->query_count; q++) {
        status = AND_THEN(status, sql_run(statements[q], &judge->expected[q], NULL, error));
        sql_statement_free(statements[q]);
        progress_report(progress, "answering with plain", "queries", q + 1, options->query_count);
    }
    return status;
}

/* SQLite is loaded from the raw rows, deleted ones among them. */
static enum status check_complete(struct database *database, struct error *error)
{
    for (int t = 0; t < SSB_TABLES; t++) {
        const struct table *table;
        RETURN_IF_ERROR(database_table(database, ssb_table_info((enum ssb_table)t)->name, &table, error));
        if (table_live(table))
            return error_set(error, STATUS_BAD_INPUT, "rows of %s were deleted, and SQLite has all rows",
                             table->name);
    }
    return STATUS_OK;
}

/* Chooses the judge if --verify is not given. If the origin cannot be read, only the plain codec can
 * judge. */
static enum benchmark_verify choose(const struct judge *judge, uint64_t fact_rows, enum status origin,
                                    const struct error *why)
{
    if (origin != STATUS_OK) {
        fprintf(judge->notes, "%s; so answers are compared with the plain codec's, not with SQLite's\n",
                why->text);
        return VERIFY_PLAIN;
    }
    if (fact_rows > SQLITE_ROWS) {
        fprintf(judge->notes,
                "%" PRIu64 " rows are many for SQLite, so answers are compared with the plain codec's; "
                "--verify sqlite insists\n",
                fact_rows);
        return VERIFY_PLAIN;
    }
    return VERIFY_SQLITE;
}

enum status judge_create(struct judge *judge, const struct benchmark_options *options,
                         struct database *database, struct engine *engine, FILE *notes,
                         struct progress *progress, struct error *error)
{
    *judge = (struct judge){.verify = options->verify, .notes = notes};
    struct reference_source source = {.from = NULL};
    struct ssb_origin origin = {.from = NULL};
    struct error why = {0};
    const bool whole = !database_is_part(database) || engine_cluster(engine);
    RETURN_IF_ERROR(count_rows(database, whole, source.rows, error));
    judge->never_empty = source.rows[SSB_LINEORDER] >= NEVER_EMPTY_ROWS;
    enum status known = ssb_origin_read(database_path(database), &origin, &why);
    if (known == STATUS_OK && !whole)
        known = error_set(&why, STATUS_BAD_INPUT, "%s is a part of a load, and SQLite has all rows",
                          database_path(database));
    known = AND_THEN(known, check_complete(database, &why));
    if (judge->verify == VERIFY_DEFAULT)
        judge->verify = choose(judge, source.rows[SSB_LINEORDER], known, &why);
    enum status status = STATUS_OK;
    source.options = origin.options;
    source.from = origin.from;
    judge->scale_factor = known == STATUS_OK ? origin.options.scale_factor : 0;
    const bool first = cluster_rank(engine_cluster(engine)) == 0;
    if (judge->verify == VERIFY_SQLITE && !first)
        judge->verify = VERIFY_NONE; /* the first process has the answers, asks SQLite and judges */
    if (judge->verify == VERIFY_NONE)
        snprintf(judge->text, sizeof judge->text, "nobody (--verify none)");
    else if (judge->verify == VERIFY_PLAIN)
        status = ask_plain(judge, options, database, engine, progress, error);
    else if (known == STATUS_OK)
        status = ask_sqlite(judge, options, database_path(database), &source, progress, error);
    else
        status = error_set(error, known, "%s; use --verify plain", why.text);
    ssb_origin_free(&origin);
    if (!first) {
        judge->verify = VERIFY_NONE;
        judge->never_empty = false;
    }
    return status;
}

void judge_destroy(struct judge *judge)
{
    for (uint32_t q = 0; q < SSB_QUERIES; q++)
        rowset_free(&judge->expected[q]);
}

enum answer_check judge_answer(const struct judge *judge, const struct ssb_query *query, uint32_t number,
                               const char *choice, const struct rowset *answer)
{
    struct error difference = {0};
    if (judge->never_empty && answer_is_empty(answer)) {
        fprintf(judge->notes,
                "%s is wrong with codec %s: it is empty, but from scale factor 1 on every query finds rows\n",
                query->name, choice);
        return ANSWER_WRONG;
    }
    if (judge->verify == VERIFY_NONE ||
        (judge->verify == VERIFY_PLAIN && strcmp(choice, codec_baseline()->name) == 0))
        return ANSWER_SKIPPED;
    if (answer_compare(query->name, judge->verify == VERIFY_SQLITE ? "SQLite" : codec_baseline()->name,
                       &judge->expected[number], answer, &difference) == STATUS_OK)
        return ANSWER_OK;
    fprintf(judge->notes, "codec %s: %s\n", choice, difference.text);
    return ANSWER_WRONG;
}
