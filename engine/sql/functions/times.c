/* times.c: functions of dates and timestamps (functions.h). */
#include "engine/sql/functions/functions.h"

#include "storage/base/calendar_text.h"
#include "storage/base/words/word.h"
#include "storage/base/zone/zone.h"

/* The names of units of time; some are written in several ways. `field` is an enum calendar_field. */
static const struct {
    const char *name;
    int field;
} units[] = {{"year", CALENDAR_YEAR},        {"years", CALENDAR_YEAR},     {"quarter", CALENDAR_QUARTER},
             {"quarters", CALENDAR_QUARTER}, {"month", CALENDAR_MONTH},    {"months", CALENDAR_MONTH},
             {"week", CALENDAR_WEEK},        {"weeks", CALENDAR_WEEK},     {"day", CALENDAR_DAY},
             {"days", CALENDAR_DAY},         {"hour", CALENDAR_HOUR},      {"hours", CALENDAR_HOUR},
             {"minute", CALENDAR_MINUTE},    {"minutes", CALENDAR_MINUTE}, {"second", CALENDAR_SECOND},
             {"seconds", CALENDAR_SECOND}};

static const struct {
    const char *name;
    int field;
} fields[] = {{"year", CALENDAR_YEAR},
              {"quarter", CALENDAR_QUARTER},
              {"month", CALENDAR_MONTH},
              {"week", CALENDAR_WEEK},
              {"weekofyear", CALENDAR_WEEK},
              {"day", CALENDAR_DAY},
              {"dayofmonth", CALENDAR_DAY},
              {"dow", CALENDAR_DAY_OF_WEEK},
              {"weekday", CALENDAR_DAY_OF_WEEK},
              {"dayofweek", CALENDAR_DAY_OF_WEEK},
              {"isodow", CALENDAR_ISO_DAY},
              {"doy", CALENDAR_DAY_OF_YEAR},
              {"dayofyear", CALENDAR_DAY_OF_YEAR},
              {"isoyear", CALENDAR_ISO_YEAR},
              {"hour", CALENDAR_HOUR},
              {"minute", CALENDAR_MINUTE},
              {"second", CALENDAR_SECOND}};

enum status bind_literal_time(struct binder *binder, uint32_t *node)
{
    uint32_t length;
    int64_t time;
    RETURN_IF_ERROR(bind_date_of_string(binder, node));
    const char *const text = bind_literal_of(binder, *node, &length);
    if (!text || !bind_timestamp_parse(text, length, &time))
        return STATUS_OK;
    const struct value_type type = {.kind = VALUE_TIMESTAMP,
                                    .zoned = calendar_has_offset(text, text + length)};
    return expression_constant(binder->list, type, time, node, binder->error);
}

/* Takes a value as a date or timestamp, which may be with time zone. */
static enum status instant_of(struct binder *binder, const struct bound_call *call, uint32_t value,
                              uint32_t *node)
{
    *node = call->values[value];
    if (bind_is_untyped(binder, *node))
        return expression_null(binder->list, (struct value_type){.kind = VALUE_DATE}, node, binder->error);
    RETURN_IF_ERROR(bind_literal_time(binder, node));
    if (bind_kind(binder, *node) != VALUE_DATE && bind_kind(binder, *node) != VALUE_TIMESTAMP)
        return bind_refuse(binder, call->ast->position, "%s takes a date or timestamp, not %s",
                           call->ast->name, bind_kind_name(bind_kind(binder, *node)));
    return STATUS_OK;
}

/* The same as a clock shows it. */
static enum status time_of(struct binder *binder, const struct bound_call *call, uint32_t value,
                           uint32_t *node)
{
    RETURN_IF_ERROR(instant_of(binder, call, value, node));
    return bind_local(binder, call->ast->position, node);
}

/* Takes the first value as a unit of time. */
static enum status unit_of(struct binder *binder, const struct bound_call *call, int *field)
{
    uint32_t length;
    const char *const text = bind_string_of(binder, call->values[0], &length);
    for (size_t u = 0; text && u < sizeof units / sizeof *units; u++)
        if (strlen(units[u].name) == length && word_compare_bytes(units[u].name, text, length) == 0) {
            *field = units[u].field;
            return STATUS_OK;
        }
    return bind_refuse(
        binder, call->ast->children[0]->position,
        "%s begins with a unit: 'year', 'quarter', 'month', 'week', 'day', 'hour', 'minute' or "
        "'second'%s%.*s%s",
        call->ast->name, text ? ", not '" : "", text ? (int)(length < 60 ? length : 60) : 0, text ? text : "",
        text ? "'" : "");
}

static enum status truncate(struct binder *binder, struct sql_position position, int field, uint32_t *node)
{
    const bool is_date = bind_kind(binder, *node) == VALUE_DATE;
    if (is_date && (field == CALENDAR_DAY || (field >= CALENDAR_HOUR && field <= CALENDAR_SECOND)))
        return STATUS_OK;
    return bind_row_call(binder, position, is_date ? ROW_DATE_TRUNC : ROW_TIME_TRUNC, field, *node,
                         EXPRESSION_NONE, EXPRESSION_NONE, node);
}

/* Takes a date or a number as a whole number of the same digits. */
static enum status whole_of(struct binder *binder, struct sql_position position, uint8_t scale,
                            uint32_t *node)
{
    uint32_t zero;
    RETURN_IF_ERROR(bind_integer(binder, 0, scale, &zero)); /* a sum has the type of its first term */
    return bind_apply(binder, position, EXPRESSION_ADD, zero, *node, EXPRESSION_NONE, node);
}

enum status bind_time_units(struct binder *binder, struct sql_position position, int64_t unit, uint32_t *node)
{
    uint32_t size;
    if (unit == 1)
        return whole_of(binder, position, 0, node);
    const int field = unit == 1000000      ? CALENDAR_SECOND
                      : unit == 60000000   ? CALENDAR_MINUTE
                      : unit == 3600000000 ? CALENDAR_HOUR
                                           : CALENDAR_DAY;
    RETURN_IF_ERROR(truncate(binder, position, field, node)); /* so that the quotient is exact */
    RETURN_IF_ERROR(whole_of(binder, position, 0, node));
    RETURN_IF_ERROR(bind_integer(binder, unit, 0, &size));
    return bind_apply(binder, position, EXPRESSION_DIVIDE, *node, size, EXPRESSION_NONE, node);
}

/* By the clock of the statement's zone. Of hours and shorter units what is cut off is subtracted from the instant, because the
 * clock shows the hour before a change twice. */
static enum status truncate_instant(struct binder *binder, struct sql_position position, int field,
                                    uint32_t *node)
{
    const bool timed = field >= CALENDAR_HOUR && field <= CALENDAR_SECOND;
    uint32_t local = *node, cut;
    RETURN_IF_ERROR(bind_local(binder, position, &local));
    cut = local;
    RETURN_IF_ERROR(truncate(binder, position, field, &cut));
    if (!timed) {
        *node = cut;
        return bind_instant(binder, position, node);
    }
    RETURN_IF_ERROR(whole_of(binder, position, 0, &local));
    RETURN_IF_ERROR(bind_apply(binder, position, EXPRESSION_SUBTRACT, local, cut, EXPRESSION_NONE, &cut));
    return bind_apply(binder, position, EXPRESSION_SUBTRACT, *node, cut, EXPRESSION_NONE, node);
}

enum status bind_date_trunc(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    int field;
    RETURN_IF_ERROR(unit_of(binder, call, &field));
    RETURN_IF_ERROR(instant_of(binder, call, 1, node));
    return bind_is_zoned(binder, *node) && binder->zone
               ? truncate_instant(binder, call->ast->position, field, node)
               : truncate(binder, call->ast->position, field, node);
}

/* ---- Fields ---- */

static enum status epoch(struct binder *binder, struct sql_position position, uint32_t *node)
{
    uint32_t day;
    if (bind_kind(binder, *node) == VALUE_TIMESTAMP) /* microseconds are seconds with six decimals */
        return whole_of(binder, position, 6, node);
    RETURN_IF_ERROR(bind_integer(binder, 86400, 0, &day));
    return bind_apply(binder, position, EXPRESSION_MULTIPLY, day, *node, EXPRESSION_NONE, node);
}

static enum status field_of(struct binder *binder, int field, uint32_t value, uint32_t *node)
{
    const struct expression made = {
        .operation = EXPRESSION_EXTRACT, .field = (uint8_t)field, .children = 1, .child = {value, 0, 0}};
    return expression_add(binder->list, &made, node, binder->error);
}

static enum status with_number(struct binder *binder, struct sql_position position,
                               enum expression_operation operation, int64_t number, uint32_t *node)
{
    uint32_t constant;
    RETURN_IF_ERROR(bind_integer(binder, number, 0, &constant));
    return bind_apply(binder, position, operation, *node, constant, EXPRESSION_NONE, node);
}

/* (year + size - 1) / size, or year / 10. */
static enum status years_of(struct binder *binder, struct sql_position position, int64_t size, uint32_t *node)
{
    RETURN_IF_ERROR(field_of(binder, CALENDAR_YEAR, *node, node));
    if (size > 10)
        RETURN_IF_ERROR(with_number(binder, position, EXPRESSION_ADD, size - 1, node));
    return with_number(binder, position, EXPRESSION_DIVIDE, size, node);
}

static enum status year_and_week(struct binder *binder, struct sql_position position, uint32_t *node)
{
    uint32_t week;
    RETURN_IF_ERROR(field_of(binder, CALENDAR_WEEK, *node, &week));
    RETURN_IF_ERROR(field_of(binder, CALENDAR_ISO_YEAR, *node, node));
    RETURN_IF_ERROR(with_number(binder, position, EXPRESSION_MULTIPLY, 100, node));
    return bind_apply(binder, position, EXPRESSION_ADD, *node, week, EXPRESSION_NONE, node);
}

/* The microseconds since 1970, or since the minute began, in units of so many, rounded down. */
static enum status microseconds(struct binder *binder, struct sql_position position, bool of_minute,
                                int64_t unit, uint32_t *node)
{
    uint32_t minute, rest;
    RETURN_IF_ERROR(bind_timestamp_of_date(binder, position, node));
    minute = *node;
    RETURN_IF_ERROR(whole_of(binder, position, 0, node));
    if (of_minute) {
        RETURN_IF_ERROR(truncate(binder, position, CALENDAR_MINUTE, &minute));
        RETURN_IF_ERROR(whole_of(binder, position, 0, &minute));
        RETURN_IF_ERROR(
            bind_apply(binder, position, EXPRESSION_SUBTRACT, *node, minute, EXPRESSION_NONE, node));
    }
    if (unit == 1)
        return STATUS_OK;
    rest = *node; /* x - ((x % unit) + unit) % unit is a multiple */
    RETURN_IF_ERROR(with_number(binder, position, EXPRESSION_REMAINDER, unit, &rest));
    RETURN_IF_ERROR(with_number(binder, position, EXPRESSION_ADD, unit, &rest));
    RETURN_IF_ERROR(with_number(binder, position, EXPRESSION_REMAINDER, unit, &rest));
    RETURN_IF_ERROR(bind_apply(binder, position, EXPRESSION_SUBTRACT, *node, rest, EXPRESSION_NONE, node));
    return with_number(binder, position, EXPRESSION_DIVIDE, unit, node);
}

/* Fields that are made of others. *found: the name is one of them. */
static enum status composed(struct binder *binder, struct sql_position position, const char *name,
                            bool *found, uint32_t *node)
{
    *found = true;
    if (strcmp(name, "epoch") == 0)
        return epoch(binder, position, node);
    if (strcmp(name, "decade") == 0)
        return years_of(binder, position, 10, node);
    if (strcmp(name, "century") == 0)
        return years_of(binder, position, 100, node);
    if (strcmp(name, "millennium") == 0)
        return years_of(binder, position, 1000, node);
    if (strcmp(name, "yearweek") == 0)
        return year_and_week(binder, position, node);
    if (strcmp(name, "millisecond") == 0 || strcmp(name, "epoch_ms") == 0)
        return microseconds(binder, position, name[0] == 'm', 1000, node);
    if (strcmp(name, "microsecond") == 0 || strcmp(name, "epoch_us") == 0)
        return microseconds(binder, position, name[0] == 'm', 1, node);
    *found = false;
    return STATUS_OK;
}

static enum status extract(struct binder *binder, const struct bound_call *call, const char *name,
                           uint32_t value, uint32_t *node)
{
    struct expression made = {.operation = EXPRESSION_EXTRACT, .children = 1};
    const bool of_instant = strncmp(name, "epoch", 5) == 0;
    RETURN_IF_ERROR(of_instant ? instant_of(binder, call, value, &made.child[0])
                               : time_of(binder, call, value, &made.child[0]));
    *node = made.child[0];
    bool found;
    RETURN_IF_ERROR(composed(binder, call->ast->position, name, &found, node));
    if (found)
        return STATUS_OK;
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
        if (strcmp(fields[f].name, name) == 0) {
            made.field = (uint8_t)fields[f].field;
            return bind_placed(binder, call->ast->position,
                               expression_add(binder->list, &made, node, binder->error));
        }
    return bind_refuse(binder, call->ast->position,
                       "EXTRACT knows year, quarter, month, week, day, dow, isodow, doy, isoyear, decade, "
                       "century, millennium, "
                       "hour, minute, second, millisecond, microsecond and epoch, not '%s'",
                       name);
}

enum status bind_extract(struct binder *binder, const struct sql_expression *ast, enum bind_level level,
                         uint32_t *node)
{
    struct sql_expression named = *ast;
    named.name = "EXTRACT";
    struct bound_call call = {.ast = &named, .count = 1};
    RETURN_IF_ERROR(bind_expression(binder, ast->children[0], level, &call.values[0]));
    return extract(binder, &call, ast->name, 0, node);
}

/* week(d), dayofyear(d), ...: the function's name is the field's. */
enum status bind_time_field(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    return extract(binder, call, call->ast->name, 0, node);
}

/* date_part('year', d) */
enum status bind_date_part(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    char name[32];
    uint32_t length;
    const char *const text = bind_string_of(binder, call->values[0], &length);
    if (!text || length >= sizeof name)
        return bind_refuse(binder, call->ast->position, "date_part begins with a field, such as 'year'");
    for (uint32_t i = 0; i < length; i++)
        name[i] = (char)(text[i] + (text[i] >= 'A' && text[i] <= 'Z' ? 'a' - 'A' : 0));
    name[length] = '\0';
    return extract(binder, call, name, 1, node);
}

/* ---- Differences ---- */

/* The number of the unit that a time is in: years since the year 0, days since 1970, ... */
static enum status unit_number(struct binder *binder, struct sql_position position, int field, uint32_t *node)
{
    uint32_t number, size;
    if (field == CALENDAR_YEAR || field == CALENDAR_QUARTER || field == CALENDAR_MONTH) {
        RETURN_IF_ERROR(field_of(binder, CALENDAR_YEAR, *node, &number));
        if (field == CALENDAR_YEAR) {
            *node = number;
            return STATUS_OK;
        }
        RETURN_IF_ERROR(bind_integer(binder, field == CALENDAR_MONTH ? 12 : 4, 0, &size));
        RETURN_IF_ERROR(
            bind_apply(binder, position, EXPRESSION_MULTIPLY, number, size, EXPRESSION_NONE, &number));
        RETURN_IF_ERROR(field_of(binder, field, *node, node));
        return bind_apply(binder, position, EXPRESSION_ADD, number, *node, EXPRESSION_NONE, node);
    }
    if (bind_kind(binder, *node) == VALUE_TIMESTAMP)
        return bind_time_units(binder, position,
                               field == CALENDAR_SECOND   ? 1000000
                               : field == CALENDAR_MINUTE ? 60000000
                               : field == CALENDAR_HOUR   ? 3600000000
                                                          : CALENDAR_DAY_MICROSECONDS,
                               node);
    return whole_of(binder, position, 0, node); /* of a week its day, too */
}

/* date_diff(unit, a, b): how many beginnings of the unit lie after a, up to b; for weeks the whole weeks between
 * the days, as in DuckDB. */
enum status bind_date_diff(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    const struct sql_position position = call->ast->position;
    uint32_t ends[2], week;
    int field;
    RETURN_IF_ERROR(unit_of(binder, call, &field));
    const bool timed = field >= CALENDAR_HOUR && field <= CALENDAR_SECOND;
    for (uint32_t e = 0; e < 2; e++) {
        RETURN_IF_ERROR(timed ? instant_of(binder, call, 1 + e, &ends[e])
                              : time_of(binder, call, 1 + e, &ends[e]));
    }
    if (timed)
        RETURN_IF_ERROR(bind_same_clock(binder, position, &ends[0], &ends[1]));
    for (uint32_t e = 0; e < 2; e++) {
        if (timed)
            RETURN_IF_ERROR(bind_timestamp_of_date(binder, position, &ends[e]));
        if (timed && bind_is_zoned(binder, ends[e]) && binder->zone)
            RETURN_IF_ERROR(truncate_instant(binder, position, field, &ends[e]));
        RETURN_IF_ERROR(unit_number(binder, position, field, &ends[e]));
    }
    RETURN_IF_ERROR(
        bind_apply(binder, position, EXPRESSION_SUBTRACT, ends[1], ends[0], EXPRESSION_NONE, node));
    if (field != CALENDAR_WEEK)
        return STATUS_OK;
    RETURN_IF_ERROR(bind_integer(binder, 7, 0, &week));
    return bind_apply(binder, position, EXPRESSION_DIVIDE, *node, week, EXPRESSION_NONE, node);
}

/* ---- Others ---- */

/* The last day of the month: the day before the first of the next. */
enum status bind_last_day(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    const struct sql_position position = call->ast->position;
    uint32_t one;
    RETURN_IF_ERROR(time_of(binder, call, 0, node));
    if (bind_kind(binder, *node) == VALUE_TIMESTAMP)
        RETURN_IF_ERROR(
            bind_apply(binder, position, EXPRESSION_TO_DATE, *node, EXPRESSION_NONE, EXPRESSION_NONE, node));
    RETURN_IF_ERROR(truncate(binder, position, CALENDAR_MONTH, node));
    RETURN_IF_ERROR(bind_integer(binder, 1, 0, &one));
    RETURN_IF_ERROR(bind_apply(binder, position, EXPRESSION_ADD_MONTHS, *node, one, EXPRESSION_NONE, node));
    return bind_apply(binder, position, EXPRESSION_SUBTRACT, *node, one, EXPRESSION_NONE, node);
}

/* to_timestamp(seconds since 1970) is an instant. Digits after the sixth are rounded. */
enum status bind_to_timestamp(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    const struct sql_position position = call->ast->position;
    const struct value_type seconds = {.kind = VALUE_INTEGER, .scale = 6, .decimal = true},
                            type = {.kind = VALUE_TIMESTAMP, .zoned = true};
    uint32_t unit, most;
    *node = call->values[0];
    if (bind_is_untyped(binder, *node))
        return expression_null(binder->list, type, node, binder->error);
    RETURN_IF_ERROR(bind_number_of(binder, position, node));
    if (bind_kind(binder, *node) == VALUE_DOUBLE) {
        RETURN_IF_ERROR(bind_double_constant(binder, 1e6, &unit));
        RETURN_IF_ERROR(
            expression_constant(binder->list, seconds, INT64_C(1000000000000000000), &most, binder->error));
        RETURN_IF_ERROR(bind_row_call(binder, position, ROW_WHOLE, 0, *node, unit, most, node));
    } else if (bind_node(binder, *node)->type.scale > 6) {
        RETURN_IF_ERROR(bind_rounded(binder, position, ROUND_NEAREST, 6, node));
    } else {
        RETURN_IF_ERROR(bind_rescale(binder, position, node, 6));
    }
    return bind_relabel(binder, position, type, node);
}

/* date(t) is CAST(t AS DATE). */
enum status bind_date(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    struct sql_expression cast = *call->ast;
    cast.operation = SQL_CAST;
    return bind_cast(binder, &cast, call->level, node);
}

/* monthname(d) and dayname(d) */
enum status bind_time_name(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    struct bound_call named = *call;
    const char *const format = call->function->argument == CALENDAR_MONTH ? "%B" : "%A";
    RETURN_IF_ERROR(expression_string_constant(binder->list, format, 2, &named.values[1], binder->error));
    named.count = 2;
    return bind_strftime(binder, &named, node);
}

static bool is_one_of(const struct sql_expression *ast, const char *const *names, size_t count)
{
    for (size_t n = 0; n < count; n++)
        if (!ast->qualifier && ast->name && word_compare(ast->name, names[n]) == 0)
            return true;
    return false;
}

bool functions_is_current_time(const struct sql_expression *ast)
{
    static const char *const names[] = {"current_date", "current_timestamp", "localtimestamp"};
    return is_one_of(ast, names, sizeof names / sizeof *names);
}

bool functions_ask_time(const struct sql_expression *ast)
{
    static const char *const names[] = {"now", "today"}; /* those of bind_now */
    return ast->operation == SQL_FUNCTION ? is_one_of(ast, names, sizeof names / sizeof *names)
                                          : ast->operation == SQL_COLUMN && functions_is_current_time(ast);
}

/* The day or the time of the statement's run: an instant, or `local` what the clock shows. */
static enum status current_time(struct binder *binder, bool day, bool local, uint32_t *node)
{
    const struct value_type type = {.kind = day ? VALUE_DATE : VALUE_TIMESTAMP, .zoned = !day && !local};
    int64_t time = binder->now;
    if (day || local)
        time = zone_local(binder->zone, time);
    return expression_constant(binder->list, type,
                               day ? calendar_floor(time, CALENDAR_DAY_MICROSECONDS) : time, node,
                               binder->error);
}

enum status functions_current_time(struct binder *binder, const struct sql_expression *ast, uint32_t *node)
{
    return current_time(binder, word_compare(ast->name, "current_date") == 0,
                        word_compare(ast->name, "localtimestamp") == 0, node);
}

/* today() and now() */
enum status bind_now(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    return current_time(binder, call->function->argument, false, node);
}

/* A timestamp plus months: the days by which its date moves are added. */
enum status bind_add_months(struct binder *binder, struct sql_position position, uint32_t time,
                            uint32_t months, uint32_t *node)
{
    uint32_t day, moved;
    if (bind_kind(binder, time) == VALUE_DATE)
        return bind_apply(binder, position, EXPRESSION_ADD_MONTHS, time, months, EXPRESSION_NONE, node);
    RETURN_IF_ERROR(
        bind_apply(binder, position, EXPRESSION_TO_DATE, time, EXPRESSION_NONE, EXPRESSION_NONE, &day));
    RETURN_IF_ERROR(
        bind_apply(binder, position, EXPRESSION_ADD_MONTHS, day, months, EXPRESSION_NONE, &moved));
    RETURN_IF_ERROR(whole_of(binder, position, 0, &moved));
    RETURN_IF_ERROR(bind_apply(binder, position, EXPRESSION_SUBTRACT, moved, day, EXPRESSION_NONE, &moved));
    RETURN_IF_ERROR(bind_integer(binder, CALENDAR_DAY_MICROSECONDS, 0, &day));
    RETURN_IF_ERROR(bind_apply(binder, position, EXPRESSION_MULTIPLY, day, moved, EXPRESSION_NONE, &moved));
    return bind_apply(binder, position, EXPRESSION_ADD, time, moved, EXPRESSION_NONE, node);
}
