/*
 * zones.c: timestamps with time zone, which are instants, and the local times that clocks show of them (functions.h).
 *
 * A local time is the instant and the zone's offset then. Offsets change twice a year or less, so that those between the
 * least and the greatest value of a column are a chain of CASE, or a table by the hour (or the minute) that the value is in:
 * both run on any device. Where the values are not known, or a table would be too large, the zone is asked for each row.
 */
#include "engine/sql/functions/functions.h"

#include "storage/base/calendar_text.h"
#include "storage/base/memory.h"
#include "storage/base/zone/zone.h"

#include <stdio.h>
#include <stdlib.h>

#define SECOND INT64_C(1000000)

/* The offsets of a zone by times of UTC, or by those that its clock shows. */
struct offsets {
    const struct zone *zone;
    bool of_local;
};

static int64_t offset_at(const struct offsets *offsets, int64_t second)
{
    return SECOND * (offsets->of_local ? zone_offset_of_local(offsets->zone, second)
                                       : zone_offset(offsets->zone, second));
}

/* No clock is so many seconds from UTC. */
#define FARTHEST 172800

/* The first second after a time from which another offset may count. */
static int64_t next_change(const struct offsets *offsets, int64_t second)
{
    if (!offsets->of_local)
        return zone_next_change(offsets->zone, second);
    for (int64_t change = second - FARTHEST;;) {
        change = zone_next_change(offsets->zone, change);
        if (change == INT64_MAX)
            return change;
        const int64_t local = change + zone_offset(offsets->zone, change);
        if (local > second)
            return local;
    }
}

/* Times of which a calendar is asked at once: the years -9999 to 19999. Others are not far from the ends of 64 bits. */
#define TIME_LEAST (INT64_C(-377705116800) * SECOND)
#define TIME_MOST  (INT64_C(568971820800) * SECOND)

/* ---- By row ---- */

void bind_keep_zone(void *zone)
{
    (void)zone;
}

/* The context is the zone; numbers[0]: of_local, numbers[1]: subtract. */
static void shift(const struct string_call *call, const struct string_value *none,
                  struct string_result *result)
{
    const struct offsets offsets = {call->context, call->numbers[0]};
    const int64_t time = call->numbers[2], offset = offset_at(&offsets, calendar_floor(time, SECOND));
    (void)none;
    result->null = __builtin_add_overflow(time, call->numbers[1] ? -offset : offset,
                                          &result->number); /* as good as none */
}

static enum status shift_rows(struct binder *binder, struct sql_position position,
                              const struct offsets *offsets, struct value_type type, uint32_t *node)
{
    const struct expression time = *bind_node(binder, *node);
    const int64_t farthest = FARTHEST * SECOND;
    const struct text_call made = {
        .call = {.body = shift,
                 .type = type,
                 .numbers = {offsets->of_local, offsets->of_local},
                 .wide = true,
                 .bounded = time.low > INT64_MIN + farthest && time.high < INT64_MAX - farthest,
                 .low = (int64_t)((uint64_t)time.low - (uint64_t)farthest),
                 .high = (int64_t)((uint64_t)time.high + (uint64_t)farthest),
                 .context = (void *)offsets->zone,
                 .release = bind_keep_zone},
        .number_count = 1,
        .first_number = 2,
        .arguments = {*node}};
    return bind_placed(binder, position, expression_text_call(binder->list, &made, node, binder->error));
}

/* ---- By known values ---- */

/* The most changes that are a chain, and the most places of a table. */
#define CHAIN_MAX 4u
#define TABLE_MAX (UINT64_C(1) << 20)

/* What is known of the changes between two times: how many, and the longest unit, from the hour down, that divides them all.
 * Those of the hour before count, too: a table begins with the unit that the least time is in. */
#define UNIT_MAX 3600
struct changes {
    uint64_t count;
    int64_t unit; /* seconds */
};

static struct changes changes_between(const struct offsets *offsets, int64_t low, int64_t high)
{
    struct changes changes = {.unit = UNIT_MAX};
    for (int64_t at = next_change(offsets, low - UNIT_MAX); at <= high && changes.count < TABLE_MAX;
         at = next_change(offsets, at)) {
        changes.count++;
        while (at % changes.unit)
            changes.unit /= 60;
    }
    return changes;
}

/* CASE WHEN time < change THEN ... ELSE ... END of each change. */
static enum status chain(struct binder *binder, struct sql_position position, const struct offsets *offsets,
                         int64_t low, int64_t high, struct value_type type, uint32_t time, uint32_t *node)
{
    const struct value_type of_time = bind_node(binder, time)->type;
    int64_t changes[CHAIN_MAX];
    uint32_t count = 0;
    for (int64_t at = next_change(offsets, low); at <= high; at = next_change(offsets, at))
        changes[count++] = at;
    const int64_t sign = offsets->of_local ? -1 : 1;
    RETURN_IF_ERROR(expression_constant(binder->list, type,
                                        sign * offset_at(offsets, count ? changes[count - 1] : low), node,
                                        binder->error));
    while (count-- > 0) {
        uint32_t change, before, test;
        RETURN_IF_ERROR(
            expression_constant(binder->list, of_time, changes[count] * SECOND, &change, binder->error));
        RETURN_IF_ERROR(expression_constant(binder->list, type,
                                            sign * offset_at(offsets, count ? changes[count - 1] : low),
                                            &before, binder->error));
        RETURN_IF_ERROR(bind_apply(binder, position, EXPRESSION_LESS, time, change, EXPRESSION_NONE, &test));
        RETURN_IF_ERROR(bind_apply(binder, position, EXPRESSION_CHOOSE, test, before, *node, node));
    }
    return STATUS_OK;
}

/* A table by the number of units since `low`. */
static enum status table(struct binder *binder, struct sql_position position, const struct offsets *offsets,
                         int64_t low, int64_t high, int64_t unit, struct value_type type, uint32_t time,
                         uint32_t *node)
{
    const int64_t first = calendar_floor(low, unit), count = calendar_floor(high, unit) - first + 1;
    int64_t *values, next = INT64_MIN, offset = 0;
    uint32_t least;
    RETURN_IF_ERROR(
        memory_take(&values, (size_t)count * sizeof *values, "the offsets of a time zone", binder->error));
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = (first + i) * unit;
        if (at >= next) {
            offset = offset_at(offsets, at);
            next = next_change(offsets, at);
        }
        values[i] = offsets->of_local ? -offset : offset;
    }
    enum status status = bind_time_units(binder, position, unit * SECOND, &time);
    status = AND_THEN(status, bind_integer(binder, first, 0, &least));
    status = AND_THEN(status,
                      bind_apply(binder, position, EXPRESSION_SUBTRACT, time, least, EXPRESSION_NONE, &time));
    if (status != STATUS_OK) {
        free(values);
        return status;
    }
    return bind_placed(
        binder, position,
        expression_lookup(binder->list, time, type, values, (uint64_t)count, node, binder->error));
}

/* Adds a zone's offsets to a time, or subtracts those of a local time; the result has that type. */
static enum status shift_by(struct binder *binder, struct sql_position position,
                            const struct offsets *offsets, struct value_type type, uint32_t *node)
{
    const struct expression time = *bind_node(binder, *node);
    uint32_t offset;
    if (bind_is_null(binder, *node) || time.low > time.high)
        return expression_null(binder->list, type, node, binder->error);
    if (!offsets->zone)
        return bind_relabel(binder, position, type, node);
    if (time.by_row || time.low < TIME_LEAST || time.high > TIME_MOST)
        return shift_rows(binder, position, offsets, type, node);
    const int64_t low = calendar_floor(time.low, SECOND), high = calendar_floor(time.high, SECOND);
    const struct changes changes = changes_between(offsets, low, high);
    if (changes.count <= CHAIN_MAX)
        RETURN_IF_ERROR(chain(binder, position, offsets, low, high, type, *node, &offset));
    else if ((uint64_t)(high / changes.unit - low / changes.unit) < TABLE_MAX - 2)
        RETURN_IF_ERROR(table(binder, position, offsets, low, high, changes.unit, type, *node, &offset));
    else
        return shift_rows(binder, position, offsets, type, node);
    return bind_apply(binder, position, EXPRESSION_ADD, offset, *node, EXPRESSION_NONE, node);
}

enum status bind_local_of(struct binder *binder, struct sql_position position, const struct zone *zone,
                          uint32_t *node)
{
    const struct offsets offsets = {.zone = zone};
    return shift_by(binder, position, &offsets, (struct value_type){.kind = VALUE_TIMESTAMP}, node);
}

enum status bind_instant_of(struct binder *binder, struct sql_position position, const struct zone *zone,
                            uint32_t *node)
{
    const struct offsets offsets = {.zone = zone, .of_local = true};
    return shift_by(binder, position, &offsets, (struct value_type){.kind = VALUE_TIMESTAMP, .zoned = true},
                    node);
}

bool bind_is_zoned(const struct binder *binder, uint32_t node)
{
    return bind_node(binder, node)->type.zoned;
}

enum status bind_local(struct binder *binder, struct sql_position position, uint32_t *node)
{
    return bind_is_zoned(binder, *node) && binder->zone ? bind_local_of(binder, position, binder->zone, node)
                                                        : STATUS_OK;
}

enum status bind_instant(struct binder *binder, struct sql_position position, uint32_t *node)
{
    RETURN_IF_ERROR(bind_timestamp_of_date(binder, position, node));
    return bind_kind(binder, *node) == VALUE_TIMESTAMP && !bind_is_zoned(binder, *node)
               ? bind_instant_of(binder, position, binder->zone, node)
               : STATUS_OK;
}

enum status bind_same_clock(struct binder *binder, struct sql_position position, uint32_t *left,
                            uint32_t *right)
{
    if (!bind_is_zoned(binder, *left) && !bind_is_zoned(binder, *right))
        return STATUS_OK;
    RETURN_IF_ERROR(bind_instant(binder, position, left));
    return bind_instant(binder, position, right);
}

bool bind_zoned_parse(const struct zone *zone, const char *text, size_t length, int64_t *microseconds)
{
    if (!bind_timestamp_parse(text, length, microseconds))
        return false;
    if (!calendar_has_offset(text, text + length))
        *microseconds = zone_instant(zone, *microseconds);
    return true;
}

/* timezone(zone, time), which is also written time AT TIME ZONE zone: the local time of an instant, or the instant of a
 * local time. */
enum status bind_timezone(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    const struct sql_position position = call->ast->position;
    const struct zone *zone;
    char name[64];
    uint32_t length;
    const char *const text = bind_string_of(binder, call->values[0], &length);
    *node = call->values[1];
    RETURN_IF_ERROR(bind_literal_time(binder, node));
    RETURN_IF_ERROR(bind_timestamp_of_date(binder, position, node));
    const bool zoned = bind_is_zoned(binder, *node);
    const struct value_type type = {.kind = VALUE_TIMESTAMP, .zoned = !zoned};
    if (bind_is_untyped(binder, *node) || bind_is_untyped(binder, call->values[0]) ||
        bind_may_be_constant(binder, call->values[0]))
        return expression_null(binder->list, type, node, binder->error);
    if (bind_kind(binder, *node) != VALUE_TIMESTAMP)
        return bind_refuse(binder, position, "AT TIME ZONE stands after a timestamp, not after %s",
                           bind_kind_name(bind_kind(binder, *node)));
    if (!text)
        return bind_refuse(binder, call->ast->children[0]->position,
                           "AT TIME ZONE takes a constant zone, such as 'Europe/Berlin'");
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), text);
    RETURN_IF_ERROR(
        bind_placed(binder, call->ast->children[0]->position, zone_find(name, &zone, binder->error)));
    return zoned ? bind_local_of(binder, position, zone, node)
                 : bind_instant_of(binder, position, zone, node);
}
