/*
 * orc_zone.h: the offset of a time zone's clock from UTC at any time, from the system's time zone database (TZif files,
 * RFC 8536, in /usr/share/zoneinfo or $TZDIR). ORC files name the zone whose wall clock their timestamps show. The C
 * library has such a function for one zone at a time only, which is that of the whole process.
 */
#ifndef TESSERA_LOADER_ORC_ORC_ZONE_H
#define TESSERA_LOADER_ORC_ORC_ZONE_H

#include "storage/base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* The day of a year when a clock changes, as POSIX writes it in TZ. */
struct orc_zone_rule {
    enum { ZONE_DAY_OF_YEAR, ZONE_DAY_WITHOUT_LEAP, ZONE_WEEKDAY } kind;
    int32_t day, week, month; /* of ZONE_WEEKDAY: 0 (Sunday) .. 6, 1 .. 5 (the last), 1 .. 12 */
    int32_t second;           /* of the day, by the clock before the change */
};

/* Zero-initialised is UTC. */
struct orc_zone {
    uint32_t change_count;
    int64_t *changes; /* seconds since 1970, ascending */
    int32_t
        *offsets; /* change_count + 1: seconds to add to UTC, before the first change and from each one on */

    /* After the last change, if `has_rules`. */
    bool has_rules, has_summer;
    int32_t standard, summer;
    struct orc_zone_rule begin, end; /* of summer time */
};

/* Opens a zone by its name, as "Europe/Berlin"; "" is UTC. Free it with orc_zone_free, also after an error.
 * STATUS_BAD_INPUT if the system does not know it. */
NODISCARD enum status orc_zone_open(const char *name, struct orc_zone *zone, struct error *error);
void orc_zone_free(struct orc_zone *zone);

/* The seconds to add to UTC at a time, in seconds since 1970. */
int32_t orc_zone_offset(const struct orc_zone *zone, int64_t second);

#endif
