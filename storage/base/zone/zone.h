/*
 * zone.h: the offset of a time zone's clock from UTC at any time, from the system's time zone database (TZif files,
 * RFC 8536, in /usr/share/zoneinfo or $TZDIR). ORC files name the zone whose wall clock their timestamps show; statements
 * have one for their timestamps with time zone, and name others. The C library has such a function for one zone at a time
 * only, which is that of the whole process.
 *
 * A zone is read once and lives until the process ends. NULL is UTC. Times are seconds since 1970; an offset is found by a
 * binary search among some hundred changes.
 */
#ifndef TESSERA_STORAGE_BASE_ZONE_ZONE_H
#define TESSERA_STORAGE_BASE_ZONE_ZONE_H

#include "storage/base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct zone;

/* Finds a zone by its name, as "Europe/Berlin", in any case of letters; "", "UTC", "GMT" and the like are NULL. Any thread may call it.
 * STATUS_BAD_INPUT if the system does not know it. */
NODISCARD enum status zone_find(const char *name, const struct zone **zone, struct error *error);
const char *zone_name(const struct zone *zone);

/* The seconds to add to UTC at a time. */
int32_t zone_offset(const struct zone *zone, int64_t second);
/* The first change of the clock after a time; INT64_MAX if none comes. */
int64_t zone_next_change(const struct zone *zone, int64_t second);

/* The seconds by which a clock that shows `local` is before UTC. A time that the clock skips counts as if it had not been
 * changed yet, and of one that it shows twice the second is meant, as in PostgreSQL: so from a change on, at the local
 * time that it leads to, the new offset counts. */
int32_t zone_offset_of_local(const struct zone *zone, int64_t local);

/* The microseconds of UTC of a time that the clock shows, and what it shows then. */
int64_t zone_instant(const struct zone *zone, int64_t local);
int64_t zone_local(const struct zone *zone, int64_t instant);

#endif
