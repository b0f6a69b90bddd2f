/* statement.c: an ADBC statement: SQL that is prepared once and run for each row of what is bound, or an ingest. */
#define _POSIX_C_SOURCE 200809L
#include "engine/adbc/driver.h"
#include "engine/library/arrow_export.h"
#include "engine/library/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void forget_prepared(struct driver_statement *statement)
{
    tessera_finalize(statement->prepared);
    driver_state_leave(statement->state);
    statement->prepared = NULL;
    statement->state = NULL;
}

static void forget_bound(struct driver_statement *statement)
{
    if (statement->bound.release)
        statement->bound.release(&statement->bound);
    statement->bound.release = NULL;
}

static AdbcStatusCode made_of(const struct AdbcStatement *statement, struct driver_statement **of,
                              struct AdbcError *error)
{
    *of = statement->private_data;
    return *of ? ADBC_STATUS_OK
               : driver_error(error, ADBC_STATUS_INVALID_STATE, "the statement is not made, or was released");
}

/* Prepares the SQL in the connection's present state, unless it is. */
static AdbcStatusCode prepare(struct driver_statement *statement, struct AdbcError *error)
{
    struct tessera_error inner;
    struct driver_state *state;
    if (!statement->sql)
        return driver_error(error, ADBC_STATUS_INVALID_STATE,
                            "the statement has no SQL; set the query first");
    RETURN_IF_FAILED(driver_state_enter(statement->connection, &state, error));
    if (statement->prepared && statement->state == state) {
        driver_state_leave(state);
        return ADBC_STATUS_OK;
    }
    forget_prepared(statement);
    statement->state = state;
    if (tessera_prepare(state->database, statement->sql, &statement->prepared, &inner) == TESSERA_OK)
        return ADBC_STATUS_OK;
    forget_prepared(statement);
    return driver_failed(error, &inner);
}

/* ---- Answers: of one run, or of one for each bound row, one after the other ---- */

struct answer {
    struct ArrowArrayStream stream;
    struct tessera_values count; /* of a change: the only column, and its only row */
    int64_t changed;
};

struct answers {
    struct answer **answers;
    size_t count, room, at;
    int64_t rows;
};

static int answers_schema(struct ArrowArrayStream *stream, struct ArrowSchema *schema)
{
    const struct answers *const of = stream->private_data;
    return of->answers[0]->stream.get_schema(&of->answers[0]->stream, schema);
}

static int answers_next(struct ArrowArrayStream *stream, struct ArrowArray *batch)
{
    struct answers *const of = stream->private_data;
    *batch = (struct ArrowArray){0};
    for (; of->at < of->count; of->at++) {
        struct ArrowArrayStream *const one = &of->answers[of->at]->stream;
        const int code = one->get_next(one, batch);
        if (code || batch->release)
            return code;
    }
    return 0;
}

static const char *answers_error(struct ArrowArrayStream *stream)
{
    const struct answers *const of = stream->private_data;
    struct ArrowArrayStream *const one = of->at < of->count ? &of->answers[of->at]->stream : NULL;
    return one ? one->get_last_error(one) : NULL;
}

static void answer_free(struct answer *answer)
{
    if (answer->stream.release)
        answer->stream.release(&answer->stream);
    free(answer);
}

static void answers_free(struct answers *answers)
{
    for (size_t i = 0; answers && i < answers->count; i++)
        answer_free(answers->answers[i]);
    if (answers)
        free(answers->answers);
    free(answers);
}

static void answers_release(struct ArrowArrayStream *stream)
{
    answers_free(stream->private_data);
    stream->release = NULL;
}

/* The types of an answer may depend on parameters ("select ?"). One stream has one schema. */
static AdbcStatusCode compare_types(struct ArrowArrayStream *one, struct ArrowArrayStream *other,
                                    struct AdbcError *error)
{
    struct ArrowSchema a, b;
    bool same = true;
    if (one->get_schema(one, &a))
        return driver_out_of_memory(error);
    const bool given = other->get_schema(other, &b) == 0;
    if (given) {
        for (int64_t c = 0; same && c < a.n_children; c++)
            same = strcmp(a.children[c]->format, b.children[c]->format) == 0;
        b.release(&b);
    }
    a.release(&a);
    if (!given)
        return driver_out_of_memory(error);
    return same ? ADBC_STATUS_OK
                : driver_error(error, ADBC_STATUS_INVALID_DATA,
                               "the answers to the bound rows differ in their types; CAST what comes from "
                               "parameters");
}

/* Adds an answer, to which a run then gives its rows; NULL: no memory. */
static struct answer *add_answer(struct answers *answers)
{
    if (answers->count == answers->room) {
        const size_t room = 2 * answers->room + 4;
        struct answer **const more = realloc(answers->answers, room * sizeof *more);
        if (!more)
            return NULL;
        answers->answers = more;
        answers->room = room;
    }
    struct answer *const made = calloc(1, sizeof *made);
    if (made)
        answers->answers[answers->count++] = made;
    return made;
}

/* The answer of a change is its number of rows. It is made before, as nothing may fail after it. */
static AdbcStatusCode run_change(struct driver_statement *statement, struct answers *answers,
                                 struct AdbcError *error)
{
    struct tessera_error inner;
    struct error why;
    struct tessera_result *result = NULL;
    struct answer *const answer = add_answer(answers);
    if (!answer)
        return driver_out_of_memory(error);
    answer->count = (struct tessera_values){.name = "Count", .numbers = &answer->changed};
    if (arrow_export_values(&answer->count, 1, 1, &answer->stream, &why) != STATUS_OK)
        return driver_out_of_memory(error);
    const enum tessera_status status = tessera_run(statement->prepared, &result, &inner);
    if (status == TESSERA_OK || status == TESSERA_NOT_DURABLE) {
        driver_state_renew(statement->connection);
        statement->connection->changed = true;
    }
    if (status != TESSERA_OK)
        return driver_failed(error, &inner);
    answer->changed = tessera_int64(result, 0, 0);
    answers->rows += answer->changed;
    tessera_result_free(result);
    return ADBC_STATUS_OK;
}

static AdbcStatusCode run_query(struct driver_statement *statement, struct answers *answers,
                                struct AdbcError *error)
{
    struct tessera_error inner;
    struct tessera_result *result;
    struct answer *const answer = add_answer(answers);
    if (!answer)
        return driver_out_of_memory(error);
    if (tessera_run(statement->prepared, &result, &inner) != TESSERA_OK)
        return driver_failed(error, &inner);
    answers->rows += (int64_t)tessera_rows(result);
    if (tessera_result_arrow(result, &answer->stream, &inner) != TESSERA_OK)
        return driver_failed(error, &inner);
    return answers->count > 1 ? compare_types(&answers->answers[0]->stream, &answer->stream, error)
                              : ADBC_STATUS_OK;
}

static AdbcStatusCode run_once(struct driver_statement *statement, struct answers *answers,
                               struct AdbcError *error)
{
    return tessera_changes(statement->prepared) ? run_change(statement, answers, error)
                                                : run_query(statement, answers, error);
}

static AdbcStatusCode run_batch(struct driver_statement *statement, const struct ArrowSchema *schema,
                                const struct ArrowArray *batch, struct answers *answers,
                                struct AdbcError *error)
{
    for (int64_t row = 0; row < batch->length; row++) {
        RETURN_IF_FAILED(bind_row(statement->prepared, schema, batch, row, error));
        RETURN_IF_FAILED(run_once(statement, answers, error));
    }
    return ADBC_STATUS_OK;
}

static AdbcStatusCode bound_failed(struct ArrowArrayStream *bound, struct AdbcError *error)
{
    const char *const text = bound->get_last_error(bound);
    return driver_error(error, ADBC_STATUS_IO, "the stream of parameters failed: %s",
                        text ? text : "it does not say why");
}

static AdbcStatusCode run_bound(struct driver_statement *statement, const struct ArrowSchema *schema,
                                struct answers *answers, struct AdbcError *error)
{
    RETURN_IF_FAILED(bind_check(schema, tessera_parameters(statement->prepared), error));
    for (;;) {
        struct ArrowArray batch = {0};
        if (statement->bound.get_next(&statement->bound, &batch))
            return bound_failed(&statement->bound, error);
        if (!batch.release)
            return ADBC_STATUS_OK;
        const AdbcStatusCode code = run_batch(statement, schema, &batch, answers, error);
        batch.release(&batch);
        RETURN_IF_FAILED(code);
    }
}

/* Without anything bound, parameters keep what was bound for the run before, or NULL. */
static AdbcStatusCode run_all(struct driver_statement *statement, struct answers *answers,
                              struct AdbcError *error)
{
    struct ArrowSchema schema;
    if (!statement->bound.release)
        return run_once(statement, answers, error);
    if (statement->bound.get_schema(&statement->bound, &schema))
        return bound_failed(&statement->bound, error);
    const AdbcStatusCode code = run_bound(statement, &schema, answers, error);
    schema.release(&schema);
    forget_bound(statement);
    RETURN_IF_FAILED(code);
    return answers->count
               ? ADBC_STATUS_OK
               : driver_error(error, ADBC_STATUS_INVALID_ARGUMENT, "no row of parameters was bound");
}

static AdbcStatusCode answer(struct driver_statement *statement, struct answers **out,
                             struct AdbcError *error)
{
    RETURN_IF_FAILED(prepare(statement, error));
    struct answers *const answers = calloc(1, sizeof *answers);
    if (!answers)
        return driver_out_of_memory(error);
    const AdbcStatusCode code = run_all(statement, answers, error);
    if (code == ADBC_STATUS_OK)
        *out = answers;
    else
        answers_free(answers);
    return code;
}

/* ---- The functions of the table ---- */

AdbcStatusCode driver_statement_new(struct AdbcConnection *connection, struct AdbcStatement *statement,
                                    struct AdbcError *error)
{
    struct driver_connection *of;
    RETURN_IF_FAILED(driver_connection_of(connection, &of, error));
    struct driver_statement *const made = calloc(1, sizeof *made);
    if (!made)
        return driver_out_of_memory(error);
    made->connection = of;
    statement->private_data = made;
    return ADBC_STATUS_OK;
}

AdbcStatusCode driver_statement_release(struct AdbcStatement *statement, struct AdbcError *error)
{
    struct driver_statement *of;
    RETURN_IF_FAILED(made_of(statement, &of, error));
    forget_prepared(of);
    forget_bound(of);
    free(of->sql);
    free(of->target);
    free(of->script);
    free(of);
    statement->private_data = NULL;
    return ADBC_STATUS_OK;
}

AdbcStatusCode driver_statement_set_sql(struct AdbcStatement *statement, const char *sql,
                                        struct AdbcError *error)
{
    struct driver_statement *of;
    RETURN_IF_FAILED(made_of(statement, &of, error));
    forget_prepared(of);
    RETURN_IF_FAILED(driver_copy(NULL, &of->target, error));
    return driver_copy(sql, &of->sql, error);
}

AdbcStatusCode driver_statement_prepare(struct AdbcStatement *statement, struct AdbcError *error)
{
    struct driver_statement *of;
    RETURN_IF_FAILED(made_of(statement, &of, error));
    pthread_mutex_lock(&of->connection->mutex);
    const AdbcStatusCode code = prepare(of, error);
    pthread_mutex_unlock(&of->connection->mutex);
    return code;
}

static AdbcStatusCode set_mode(struct driver_statement *statement, const char *value, struct AdbcError *error)
{
    static const char *const modes[] = {[INGEST_CREATE] = ADBC_INGEST_OPTION_MODE_CREATE,
                                        [INGEST_APPEND] = ADBC_INGEST_OPTION_MODE_APPEND,
                                        [INGEST_REPLACE] = ADBC_INGEST_OPTION_MODE_REPLACE,
                                        [INGEST_CREATE_APPEND] = ADBC_INGEST_OPTION_MODE_CREATE_APPEND};
    for (int mode = INGEST_CREATE; mode <= INGEST_CREATE_APPEND; mode++)
        if (strcmp(value, modes[mode]) == 0) {
            statement->mode = (enum ingest_mode)mode;
            return ADBC_STATUS_OK;
        }
    return driver_error(error, ADBC_STATUS_NOT_IMPLEMENTED, "there is no mode of ingest '%s'", value);
}

AdbcStatusCode driver_statement_set(struct AdbcStatement *statement, const char *key, const char *value,
                                    struct AdbcError *error)
{
    struct driver_statement *of;
    RETURN_IF_FAILED(made_of(statement, &of, error));
    if (!value)
        return driver_error(error, ADBC_STATUS_INVALID_ARGUMENT, "the option '%s' needs a value", key);
    if (strcmp(key, ADBC_INGEST_OPTION_TARGET_TABLE) == 0) {
        forget_prepared(of);
        RETURN_IF_FAILED(driver_copy(NULL, &of->sql, error));
        return driver_copy(value, &of->target, error);
    }
    if (strcmp(key, ADBC_INGEST_OPTION_MODE) == 0)
        return set_mode(of, value, error);
    if (strcmp(key, OPTION_INGEST_SCHEMA) == 0)
        return driver_copy(value, &of->script, error);
    const bool place = strcmp(key, ADBC_INGEST_OPTION_TARGET_CATALOG) == 0 ||
                       strcmp(key, ADBC_INGEST_OPTION_TARGET_DB_SCHEMA) == 0;
    if (place && !*value)
        return ADBC_STATUS_OK;
    if (strcmp(key, ADBC_INGEST_OPTION_TEMPORARY) == 0 && strcmp(value, ADBC_OPTION_VALUE_DISABLED) == 0)
        return ADBC_STATUS_OK;
    return driver_error(error, ADBC_STATUS_NOT_IMPLEMENTED, "a statement has no option '%s' that can be '%s'",
                        key, value);
}

/* ---- Binding ---- one batch becomes a stream of one batch */

struct one_batch {
    struct ArrowSchema schema;
    struct ArrowArray batch;
};

static void release_lent(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

/* The schema is lent until the stream is released: only this file and the loader read such streams, and both release it
 * before. */
static int batch_schema(struct ArrowArrayStream *stream, struct ArrowSchema *schema)
{
    const struct one_batch *const of = stream->private_data;
    *schema = of->schema;
    schema->release = release_lent;
    return 0;
}

static int batch_next(struct ArrowArrayStream *stream, struct ArrowArray *batch)
{
    struct one_batch *const of = stream->private_data;
    *batch = of->batch;
    of->batch.release = NULL;
    return 0;
}

static const char *batch_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return NULL;
}

static void batch_release(struct ArrowArrayStream *stream)
{
    struct one_batch *const of = stream->private_data;
    if (of->schema.release)
        of->schema.release(&of->schema);
    if (of->batch.release)
        of->batch.release(&of->batch);
    free(of);
    stream->release = NULL;
}

AdbcStatusCode driver_statement_bind(struct AdbcStatement *statement, struct ArrowArray *values,
                                     struct ArrowSchema *schema, struct AdbcError *error)
{
    struct driver_statement *of;
    RETURN_IF_FAILED(made_of(statement, &of, error));
    struct one_batch *const made = calloc(1, sizeof *made);
    if (!made)
        return driver_out_of_memory(error);
    forget_bound(of);
    *made = (struct one_batch){.schema = *schema, .batch = *values};
    schema->release = NULL;
    values->release = NULL;
    of->bound = (struct ArrowArrayStream){.get_schema = batch_schema,
                                          .get_next = batch_next,
                                          .get_last_error = batch_error,
                                          .release = batch_release,
                                          .private_data = made};
    return ADBC_STATUS_OK;
}

AdbcStatusCode driver_statement_bind_stream(struct AdbcStatement *statement, struct ArrowArrayStream *stream,
                                            struct AdbcError *error)
{
    struct driver_statement *of;
    RETURN_IF_FAILED(made_of(statement, &of, error));
    forget_bound(of);
    of->bound = *stream;
    stream->release = NULL;
    return ADBC_STATUS_OK;
}

/* ---- Running ---- */

static AdbcStatusCode execute(struct driver_statement *statement, struct ArrowArrayStream *out, int64_t *rows,
                              struct AdbcError *error)
{
    struct answers *answers = NULL;
    if (statement->target) {
        const AdbcStatusCode code = ingest_run(statement, rows, error);
        forget_bound(statement);
        return code;
    }
    RETURN_IF_FAILED(answer(statement, &answers, error));
    if (rows)
        *rows = answers->rows;
    if (!out) {
        answers_free(answers);
        return ADBC_STATUS_OK;
    }
    *out = (struct ArrowArrayStream){.get_schema = answers_schema,
                                     .get_next = answers_next,
                                     .get_last_error = answers_error,
                                     .release = answers_release,
                                     .private_data = answers};
    return ADBC_STATUS_OK;
}

AdbcStatusCode driver_statement_execute(struct AdbcStatement *statement, struct ArrowArrayStream *out,
                                        int64_t *rows, struct AdbcError *error)
{
    struct driver_statement *of;
    RETURN_IF_FAILED(made_of(statement, &of, error));
    if (out)
        *out = (struct ArrowArrayStream){0};
    driver_begin(of);
    const AdbcStatusCode code = execute(of, out, rows, error);
    driver_end(of);
    return code;
}

/* The types follow from the plan, which a run makes; so the statement runs. What is bound stays bound, and is not used:
 * parameters are those of the run before, or NULL. */
AdbcStatusCode driver_statement_schema(struct AdbcStatement *statement, struct ArrowSchema *schema,
                                       struct AdbcError *error)
{
    struct driver_statement *of;
    struct answers *answers = NULL;
    RETURN_IF_FAILED(made_of(statement, &of, error));
    driver_begin(of);
    const struct ArrowArrayStream bound = of->bound;
    of->bound.release = NULL;
    const AdbcStatusCode code = answer(of, &answers, error);
    of->bound = bound;
    driver_end(of);
    RETURN_IF_FAILED(code);
    struct ArrowArrayStream *const first = &answers->answers[0]->stream;
    const int given = first->get_schema(first, schema);
    answers_free(answers);
    return given == 0 ? ADBC_STATUS_OK : driver_out_of_memory(error);
}

/* Any type may be bound to a parameter, which Arrow calls the type of NULL. */
AdbcStatusCode driver_statement_parameter_schema(struct AdbcStatement *statement, struct ArrowSchema *schema,
                                                 struct AdbcError *error)
{
    struct driver_statement *of;
    RETURN_IF_FAILED(made_of(statement, &of, error));
    RETURN_IF_FAILED(driver_statement_prepare(statement, error));
    const uint32_t count = tessera_parameters(of->prepared);
    *schema = (struct ArrowSchema){.format = "+s", .name = "", .release = arrow_schema_release};
    schema->children = calloc(count + 1, sizeof *schema->children);
    for (uint32_t c = 0; schema->children && c < count; c++) {
        struct ArrowSchema *const child = calloc(1, sizeof *child);
        char *const name = malloc(16);
        if (!child || !name) {
            free(child);
            free(name);
            schema->release(schema);
            return driver_out_of_memory(error);
        }
        snprintf(name, 16, "%u", c);
        *child = (struct ArrowSchema){.format = "n",
                                      .name = name,
                                      .flags = ARROW_FLAG_NULLABLE,
                                      .release = arrow_schema_release,
                                      .private_data = name};
        schema->children[schema->n_children++] = child;
    }
    return schema->children ? ADBC_STATUS_OK : driver_out_of_memory(error);
}

AdbcStatusCode driver_statement_cancel(struct AdbcStatement *statement, struct AdbcError *error)
{
    struct driver_statement *of;
    RETURN_IF_FAILED(made_of(statement, &of, error));
    driver_cancel(&of->calls);
    return ADBC_STATUS_OK;
}
