/* library.c: tessera.h over engine/library/statement.h and the loader. */
#define _POSIX_C_SOURCE 200809L
#include "engine/library/tessera.h"

#include "engine/library/arrow_export.h"
#include "engine/library/change/change.h"
#include "engine/library/library.h"
#include "engine/library/show.h"
#include "engine/library/state.h"
#include "storage/base/decimal.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"
#include "storage/base/zone/zone.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)TESSERA_INTERRUPTED == (int)STATUS_INTERRUPTED &&
                   (int)TESSERA_MACHINE == (int)STATUS_MACHINE &&
                   (int)TESSERA_NOT_DURABLE == (int)STATUS_NOT_DURABLE,
               "the numbers of tessera.h are those of status.h");
_Static_assert((int)TESSERA_INDEX_ON == (int)PLAN_INDEX_ON && (int)TESSERA_INDEX_OFF == (int)PLAN_INDEX_OFF,
               "the words of tessera.h are those of plan_index.h");
_Static_assert((int)TESSERA_DOUBLE == (int)VALUE_DOUBLE && (int)TESSERA_DATE == (int)VALUE_DATE,
               "the types of tessera.h are those of expression.h");

struct tessera_database {
    struct library_states states;
    enum plan_index_use _Atomic index;
    const struct zone *_Atomic zone;
};

struct tessera_statement {
    struct tessera_database *database;
    struct library_state *state; /* of `statement`; NULL: it writes a file or changes tables */
    struct sql_statement *statement;
    bool shows; /* it is `show` */
    struct show show;
    struct sql_change change;
    struct sql_parameter *values; /* of the parameters of `change`; they own their strings */
    struct sql_settings settings; /* of `change` */
    struct execution execution;
};

struct tessera_result {
    struct tessera_database *database;
    struct library_state *state; /* in which strings of the rows may be; NULL: none are */
    struct rowset rows;
    int64_t **bits; /* of each column of doubles, whose values are keys; else NULL */
    char text[ROWSET_TEXT_BYTES];
};

enum tessera_status library_give(enum status status, const struct error *from, struct tessera_error *to)
{
    if (to) {
        to->status = (enum tessera_status)status;
        memcpy(to->text, from->text, sizeof to->text);
        to->text[sizeof to->text - 1] = '\0';
        if (status == STATUS_OK)
            to->text[0] = '\0';
    }
    return (enum tessera_status)status;
}

/* ---- Threads ---- live as long as somebody needs them */

static atomic_uint users; /* open databases, and loads */

void library_threads_enter(void)
{
    atomic_fetch_add(&users, 1);
}

void library_threads_leave(void)
{
    if (atomic_fetch_sub(&users, 1) == 1)
        parallel_release();
}

int tessera_version(void)
{
    return TESSERA_API_VERSION;
}

/* The size of the options of the first version. */
#define OPTIONS_LEAST offsetof(struct tessera_options, memory)

static bool read_kernel(const char *word, enum kernel_choice *kernel)
{
    static const char *const words[] = {
        [KERNEL_AUTO] = "auto", [KERNEL_GENERAL] = "general", [KERNEL_SPECIALISED] = "specialised"};
    for (uint32_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strcmp(words[k], word ? word : "auto") == 0) {
            *kernel = (enum kernel_choice)k;
            return true;
        }
    return false;
}

/* Copies a text that may be NULL; false: no memory. */
static bool copy(const char *text, char **to)
{
    *to = text ? strdup(text) : NULL;
    return !text || *to;
}

static enum status open_states(struct tessera_database *database, const char *path,
                               const struct tessera_options *from, enum kernel_choice kernel,
                               struct error *error)
{
    struct library_options options = {.threads = from->threads, .kernel = kernel};
    bool copied = copy(path, &options.path);
    copied &= copy(from->device, &options.device);
    copied &= copy(from->gpu_memory, &options.gpu_memory);
    copied &= copy(from->memory, &options.memory);
    copied &= copy(from->spill, &options.spill);
    copied &= copy(from->plan_cache, &options.plan_cache);
    if (copied)
        return library_states_open(&database->states, options, error);
    database->states.options = options;
    return error_out_of_memory(error, path ? strlen(path) : 0, "a database");
}

enum tessera_status tessera_open_with(const char *path, const struct tessera_options *options,
                                      struct tessera_database **out, struct tessera_error *error)
{
    struct error inner = {0};
    struct tessera_options all = {.size = 0};
    if (options->size < OPTIONS_LEAST || options->size > sizeof *options)
        return library_give(
            error_set(&inner, STATUS_BAD_INPUT,
                      "options.size is %zu and should be %zu: the program was compiled for another "
                      "version of the library",
                      options->size, sizeof *options),
            &inner, error);
    memcpy(&all, options, options->size);
    enum kernel_choice kernel;
    if (!read_kernel(all.kernel, &kernel))
        return library_give(error_set(&inner, STATUS_BAD_INPUT,
                                      "options.kernel is '%.40s'; it may be auto, general or specialised",
                                      all.kernel),
                            &inner, error);
    library_threads_enter();
    struct execution call = {.outer = NULL};
    library_call_begin(&call);
    struct tessera_database *opened = calloc(1, sizeof *opened);
    const enum status status = opened ? open_states(opened, path, &all, kernel, &inner)
                                      : error_out_of_memory(&inner, sizeof *opened, "a database");
    execution_leave(&call);
    if (status == STATUS_OK)
        *out = opened;
    else if (opened)
        tessera_close(opened);
    else
        library_threads_leave();
    return library_give(status, &inner, error);
}

enum tessera_status tessera_open(const char *path, const char *device, unsigned threads,
                                 struct tessera_database **out, struct tessera_error *error)
{
    const struct tessera_options options = {.size = sizeof options, .device = device, .threads = threads};
    return tessera_open_with(path, &options, out, error);
}

void tessera_close(struct tessera_database *database)
{
    if (!database)
        return;
    library_states_close(&database->states);
    free(database);
    library_threads_leave();
}

struct database *library_database(const struct tessera_database *database)
{
    return database->states.now->database;
}

int tessera_changes(const struct tessera_statement *statement)
{
    return statement->change.arena != NULL;
}

void tessera_use_indexes(struct tessera_database *database, enum tessera_index_use use)
{
    database->index = use == TESSERA_INDEX_ON    ? PLAN_INDEX_ON
                      : use == TESSERA_INDEX_OFF ? PLAN_INDEX_OFF
                                                 : PLAN_INDEX_AUTO;
}

enum tessera_status tessera_use_time_zone(struct tessera_database *database, const char *zone,
                                          struct tessera_error *error)
{
    struct error inner = {0};
    const struct zone *found;
    const enum status status = zone_find(zone, &found, &inner);
    if (status == STATUS_OK)
        database->zone = found;
    return library_give(status, &inner, error);
}

/* A statement that writes is parsed, and enters a state when it is run; any other has the present one. */
static enum status prepare(struct tessera_statement *made, const char *sql, size_t *used, struct error *error)
{
    struct tessera_database *const database = made->database;
    const struct sql_settings settings = {.index = database->index, .zone = database->zone};
    struct sql_tokens tokens;
    struct sql_token first;
    sql_tokens_begin(&tokens, sql, strlen(sql));
    made->settings = settings;
    const bool any = sql_token_next(&tokens, &first, NULL) == STATUS_OK;
    if (any && show_begins(&first)) {
        RETURN_IF_ERROR(show_parse(sql, strlen(sql), &made->show, used, error));
        made->shows = true;
        return STATUS_OK;
    }
    if (any && sql_change_begins(&first)) {
        RETURN_IF_ERROR(sql_change_parse(sql, strlen(sql), &made->change, used, error));
        RETURN_IF_ERROR(memory_zeros(&made->values, (made->change.parameter_count + 1) * sizeof *made->values,
                                     "parameters", error));
        for (uint32_t p = 0; p < made->change.parameter_count; p++)
            made->values[p] = (struct sql_parameter){.is_null = true, .type = VALUE_UNTYPED};
        return STATUS_OK;
    }
    RETURN_IF_ERROR(library_enter(&database->states, LIBRARY_READS, &made->state, error));
    return sql_cache_take(made->state->cache, sql, strlen(sql), NULL, settings, &made->statement, used,
                          error);
}

enum tessera_status tessera_prepare(struct tessera_database *database, const char *sql,
                                    struct tessera_statement **out, struct tessera_error *error)
{
    struct error inner = {0};
    size_t used;
    struct tessera_statement *made = calloc(1, sizeof *made);
    if (made)
        made->database = database;
    enum status status =
        made ? prepare(made, sql, &used, &inner) : error_out_of_memory(&inner, sizeof *made, "a statement");
    const bool any = made && (made->statement || made->change.arena || made->shows);
    if (status == STATUS_OK && (!any || sql[used + strspn(sql + used, " \t\r\n;")]))
        status = error_set(&inner, STATUS_BAD_INPUT, "tessera_prepare takes one statement; there is %s",
                           any ? "more behind the first" : "none");
    if (status == STATUS_OK)
        *out = made;
    else
        tessera_finalize(made);
    return library_give(status, &inner, error);
}

void tessera_finalize(struct tessera_statement *statement)
{
    if (!statement)
        return;
    if (statement->state)
        sql_cache_give(statement->state->cache, statement->statement);
    library_leave(&statement->database->states, statement->state);
    for (uint32_t p = 0; statement->values && p < statement->change.parameter_count; p++)
        free((char *)statement->values[p].string);
    free(statement->values);
    sql_change_free(&statement->change);
    show_free(&statement->show);
    free(statement);
}

uint32_t tessera_parameters(const struct tessera_statement *statement)
{
    return statement->statement ? sql_parameter_count(statement->statement)
                                : statement->change.parameter_count;
}

/* Keeps a parameter of a statement that writes, until its query or condition is prepared. */
static enum status set_value(struct tessera_statement *statement, uint32_t index,
                             const struct sql_parameter *parameter, struct error *error)
{
    char *copied = NULL;
    if (index >= statement->change.parameter_count)
        return error_set(error, STATUS_BAD_INPUT, "there is no parameter %u; the statement has %u, from 0",
                         index, statement->change.parameter_count);
    if (parameter->string)
        RETURN_IF_ERROR(memory_take(&copied, parameter->length + 1, "a parameter", error));
    if (copied)
        memcpy(copied, parameter->string, parameter->length);
    free((char *)statement->values[index].string);
    statement->values[index] = *parameter;
    statement->values[index].string = copied;
    return STATUS_OK;
}

static enum tessera_status bind(struct tessera_statement *statement, uint32_t index,
                                const struct sql_parameter *parameter, struct tessera_error *error)
{
    struct error inner = {0};
    if (!statement->statement)
        return library_give(set_value(statement, index, parameter, &inner), &inner, error);
    return library_give(sql_parameter_set(statement->statement, index, parameter, &inner), &inner, error);
}

enum tessera_status tessera_bind_null(struct tessera_statement *statement, uint32_t index,
                                      struct tessera_error *error)
{
    return bind(statement, index, &(struct sql_parameter){.is_null = true, .type = VALUE_UNTYPED}, error);
}

static enum tessera_status bind_number(struct tessera_statement *statement, uint32_t index,
                                       struct value_type type, int64_t value, struct tessera_error *error)
{
    struct error inner = {0};
    if (type.scale > 18 || value == INT64_MIN)
        return library_give(
            error_set(&inner, STATUS_BAD_INPUT, "a parameter has a scale of 0 to 18 and a value above -2^63"),
            &inner, error);
    return bind(statement, index, &(struct sql_parameter){.type = type, .value = value}, error);
}

enum tessera_status tessera_bind_int64(struct tessera_statement *statement, uint32_t index, int64_t value,
                                       struct tessera_error *error)
{
    return bind_number(statement, index, (struct value_type){.kind = VALUE_INTEGER}, value, error);
}

enum tessera_status tessera_bind_decimal(struct tessera_statement *statement, uint32_t index, int64_t value,
                                         unsigned scale, struct tessera_error *error)
{
    const struct value_type type = {
        .kind = VALUE_INTEGER, .scale = (uint8_t)(scale > 18 ? 19 : scale), .decimal = true};
    return bind_number(statement, index, type, value, error);
}

enum tessera_status tessera_bind_double(struct tessera_statement *statement, uint32_t index, double value,
                                        struct tessera_error *error)
{
    return bind(statement, index,
                &(struct sql_parameter){.type = {.kind = VALUE_DOUBLE}, .value = double_key_of(value)},
                error);
}

enum tessera_status tessera_bind_text(struct tessera_statement *statement, uint32_t index, const char *text,
                                      size_t length, struct tessera_error *error)
{
    struct error inner = {0};
    if (length > INT32_MAX)
        return library_give(error_set(&inner, STATUS_BAD_INPUT, "a text parameter is longer than 2 GiB"),
                            &inner, error);
    return bind(
        statement, index,
        &(struct sql_parameter){.type = {.kind = VALUE_STRING}, .string = text, .length = (uint32_t)length},
        error);
}

/* Makes the bits of doubles, for tessera_column_values. */
static enum status make_bits(struct tessera_result *result, struct error *error)
{
    const struct rowset *rows = &result->rows;
    result->bits = calloc(rows->column_count + 1, sizeof *result->bits);
    if (!result->bits)
        return error_out_of_memory(error, rows->column_count * sizeof *result->bits, "an answer");
    for (uint32_t c = 0; c < rows->column_count; c++) {
        if (rows->columns[c].type.kind != VALUE_DOUBLE)
            continue;
        result->bits[c] = malloc((rows->rows + 1) * sizeof **result->bits);
        if (!result->bits[c])
            return error_out_of_memory(error, rows->rows * sizeof **result->bits, "an answer");
        for (uint64_t row = 0; row < rows->rows; row++)
            result->bits[c][row] = double_key_turn(rows->columns[c].values[row]);
    }
    return STATUS_OK;
}

/* One row: how many rows were written. */
static enum status answer_count(uint64_t count, struct rowset *rows, struct error *error)
{
    static const char *const name = "Count";
    const struct value_type type = {.kind = VALUE_INTEGER};
    const struct rowset_cell cell = {.number = (int64_t)count};
    struct rowset_builder *builder;
    RETURN_IF_ERROR(rowset_builder_create(1, &name, &type, &builder, error));
    const enum status status = rowset_builder_add(builder, &cell, error);
    if (status == STATUS_OK)
        rowset_builder_finish(builder, rows);
    rowset_builder_free(builder);
    return status;
}

static enum status try_change(struct tessera_statement *statement, struct change_report *report,
                              struct error *error)
{
    struct library_states *const states = &statement->database->states;
    const enum sql_change_kind kind = statement->change.kind;
    const enum library_use use = kind == SQL_CHANGE_ZONE     ? LIBRARY_SETS
                                 : kind == SQL_CHANGE_COPY   ? LIBRARY_READS
                                 : kind == SQL_CHANGE_CREATE ? LIBRARY_CREATES
                                                             : LIBRARY_CHANGES;
    const struct zone *zone = statement->settings.zone;
    struct library_state *state;
    *report = (struct change_report){0};
    RETURN_IF_ERROR(library_enter(states, use, &state, error));
    const struct change_task task = {.engine = state->engine,
                                     .database = state->database,
                                     .settings = statement->settings,
                                     .parameters = statement->values,
                                     .zone = &zone,
                                     .spill = states->options.spill};
    const enum status status = change_run(&task, &statement->change, report, error);
    if (status == STATUS_OK && statement->change.kind == SQL_CHANGE_ZONE)
        statement->database->zone = zone;
    library_leave(states, state);
    if (report->changed)
        library_renew(states);
    return status;
}

/* The answer is made before tables are changed, as nothing may fail after that. */
static enum status run_change(struct tessera_statement *statement, struct tessera_result *result,
                              struct error *error)
{
    struct change_report report;
    RETURN_IF_ERROR(answer_count(0, &result->rows, error));
    RETURN_IF_ERROR(make_bits(result, error));
    enum status status = try_change(statement, &report, error);
    for (uint32_t i = 1; report.superseded && i < CHANGE_TRIES; i++)
        status = try_change(statement, &report, error);
    result->rows.columns[0].values[0] = (int64_t)report.rows;
    return status;
}

static enum status run_show(struct tessera_statement *statement, struct rowset *rows, struct error *error)
{
    struct library_states *const states = &statement->database->states;
    struct library_state *state;
    RETURN_IF_ERROR(library_enter(states, LIBRARY_READS, &state, error));
    const struct show_task task = {
        .engine = state->engine, .database = state->database, .settings = statement->settings};
    const enum status status = show_run(&statement->show, &task, rows, error);
    library_leave(states, state);
    return status;
}

static enum status run(struct tessera_statement *statement, struct tessera_result *result,
                       struct error *error)
{
    result->database = statement->database;
    if (statement->shows)
        return run_show(statement, &result->rows, error);
    if (!statement->statement)
        return run_change(statement, result, error);
    result->state = statement->state;
    library_share(&statement->database->states, result->state);
    return sql_cache_run(statement->state->cache, statement->statement, &result->rows, NULL, error);
}

enum tessera_status tessera_run(struct tessera_statement *statement, struct tessera_result **out,
                                struct tessera_error *error)
{
    struct error inner = {0};
    struct tessera_result *result = calloc(1, sizeof *result);
    library_call_begin(&statement->execution);
    enum status status =
        result ? run(statement, result, &inner) : error_out_of_memory(&inner, sizeof *result, "an answer");
    status = AND_THEN(status, result->bits ? STATUS_OK : make_bits(result, &inner));
    execution_leave(&statement->execution);
    if (status == STATUS_OK)
        *out = result;
    else
        tessera_result_free(result);
    return library_give(status, &inner, error);
}

/* Before the rows have gone, which tell how many columns there are. */
static void free_bits(struct tessera_result *result)
{
    for (uint32_t c = 0; result->bits && c < result->rows.column_count; c++)
        free(result->bits[c]);
    free(result->bits);
    result->bits = NULL;
}

void tessera_result_free(struct tessera_result *result)
{
    if (!result)
        return;
    free_bits(result);
    rowset_free(&result->rows);
    if (result->state)
        library_leave(&result->database->states, result->state);
    free(result);
}

uint64_t tessera_rows(const struct tessera_result *result)
{
    return result->rows.rows;
}

uint32_t tessera_columns(const struct tessera_result *result)
{
    return result->rows.column_count;
}

const char *tessera_column_name(const struct tessera_result *result, uint32_t column)
{
    return result->rows.columns[column].name;
}

enum tessera_type tessera_column_type(const struct tessera_result *result, uint32_t column)
{
    return (enum tessera_type)result->rows.columns[column].type.kind;
}

unsigned tessera_column_scale(const struct tessera_result *result, uint32_t column)
{
    return result->rows.columns[column].type.scale;
}

int tessera_column_is_decimal(const struct tessera_result *result, uint32_t column)
{
    return value_is_decimal(result->rows.columns[column].type);
}

int tessera_column_has_time_zone(const struct tessera_result *result, uint32_t column)
{
    return result->rows.columns[column].type.zoned;
}

int tessera_is_null(const struct tessera_result *result, uint32_t column, uint64_t row)
{
    const uint8_t *const nulls = result->rows.columns[column].nulls;
    return nulls && nulls[row];
}

double tessera_double(const struct tessera_result *result, uint32_t column, uint64_t row)
{
    const struct rowset_column *from = &result->rows.columns[column];
    if (tessera_is_null(result, column, row) || !from->values)
        return 0;
    if (from->type.kind == VALUE_DOUBLE)
        return double_of_key(from->values[row]);
    return decimal_to_double(from->values[row], from->type.scale);
}

int64_t tessera_int64(const struct tessera_result *result, uint32_t column, uint64_t row)
{
    const struct rowset_column *from = &result->rows.columns[column];
    if (tessera_is_null(result, column, row) || !from->values)
        return 0;
    if (from->type.kind != VALUE_DOUBLE)
        return from->values[row];
    const double number = tessera_double(result, column, row);
    return number >= -9.2e18 && number <= 9.2e18 ? (int64_t)number : 0;
}

const char *tessera_text(struct tessera_result *result, uint32_t column, uint64_t row, uint32_t *length)
{
    return rowset_text(&result->rows.columns[column], row, result->text, length);
}

const int64_t *tessera_column_values(const struct tessera_result *result, uint32_t column,
                                     const uint8_t **nulls)
{
    *nulls = result->rows.columns[column].nulls;
    return result->bits[column] ? result->bits[column] : result->rows.columns[column].values;
}

/* ---- Arrow ---- */

enum tessera_status tessera_result_arrow(struct tessera_result *result, struct ArrowArrayStream *stream,
                                         struct tessera_error *error)
{
    struct error inner = {0};
    free_bits(result);
    const enum status status = arrow_export_rows(&result->rows, stream, &inner);
    tessera_result_free(result);
    return library_give(status, &inner, error);
}

enum tessera_status tessera_table_arrow(struct tessera_database *database, const char *name,
                                        struct ArrowArrayStream *stream, struct tessera_error *error)
{
    struct error inner = {0};
    struct library_states *const states = &database->states;
    struct library_state *state;
    const struct table *table;
    enum status status = library_enter(states, LIBRARY_READS, &state, &inner);
    if (status != STATUS_OK)
        return library_give(status, &inner, error);
    status = database_table(state->database, name, &table, &inner);
    if (status == STATUS_OK)
        status = arrow_export_table(state->database, table, engine_threads(state->engine), stream, &inner);
    if (status == STATUS_OK)
        library_keep(states, state); /* the stream may be used until the handle is closed */
    library_leave(states, state);
    return library_give(status, &inner, error);
}

/* ---- Stopping ---- */

static struct execution all_calls;

void library_call_begin(struct execution *call)
{
    call->outer = execution_current() ? execution_current() : &all_calls;
    execution_resume(call);
    execution_enter(call);
}

void tessera_cancel(struct tessera_statement *statement)
{
    execution_stop(&statement->execution);
}

void tessera_interrupt(void)
{
    execution_stop(&all_calls);
}

void tessera_resume(void)
{
    execution_resume(&all_calls);
}
