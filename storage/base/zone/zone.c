/* zone.c: see zone.h. A TZif file has a header, a block of data with times of 4 bytes, and from version 2 on another
 * header, the same block with times of 8 bytes, and a line with the rule for the years after the last change. */
#include "storage/base/zone/zone.h"

#include "storage/base/calendar.h"
#include "storage/base/file.h"
#include "storage/base/memory.h"
#include "storage/base/words/word.h"

#include <ctype.h>
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADER_BYTES   44u
#define FILE_BYTES_MAX (1u << 20)
#define DAY            86400
#define CHANGE_MAX     (INT64_C(1) << 60) /* seconds: some files begin with the universe, -2^59 */

/* The day of a year when a clock changes, as POSIX writes it in TZ. */
struct zone_rule {
    enum { ZONE_DAY_OF_YEAR, ZONE_DAY_WITHOUT_LEAP, ZONE_WEEKDAY } kind;
    int32_t day, week, month; /* of ZONE_WEEKDAY: 0 (Sunday) .. 6, 1 .. 5 (the last), 1 .. 12 */
    int32_t second;           /* of the day, by the clock before the change */
};

struct zone {
    char *path; /* of its file */
    const char *name;
    struct zone *next; /* of all zones that were found */

    uint32_t change_count;
    int64_t *changes; /* seconds since 1970, ascending */
    int32_t
        *offsets; /* change_count + 1: seconds to add to UTC, before the first change and from each one on */

    /* After the last change, if `has_rules`. */
    bool has_rules, has_summer;
    int32_t standard, summer;
    struct zone_rule begin, end; /* of summer time */
};

/* ---- Rules: "CET-1CEST,M3.5.0,M10.5.0/3" ---- */

/* Skips a zone's abbreviation: letters, or anything in < and >. */
static bool skip_name(const char **at)
{
    const char *const begin = *at;
    if (**at == '<') {
        *at = strchr(*at, '>');
        return *at && (++*at, true);
    }
    while (isalpha((unsigned char)**at))
        ++*at;
    return *at - begin >= 3;
}

/* Reads [+-]h[:mm[:ss]] as seconds. */
static bool read_time(const char **at, int32_t *seconds)
{
    const int32_t sign = **at == '-' ? -1 : 1;
    *at += **at == '-' || **at == '+';
    *seconds = 0;
    for (int32_t unit = 3600; unit; unit /= 60) {
        char *end;
        if (!isdigit((unsigned char)**at))
            return false;
        const long number = strtol(*at, &end, 10);
        if (end - *at > 3)
            return false;
        *seconds += (int32_t)number * unit;
        *at = end;
        if (**at != ':')
            break;
        ++*at;
    }
    *seconds *= sign;
    return true;
}

static bool read_number(const char **at, int32_t low, int32_t high, int32_t *number)
{
    char *end;
    const long read = isdigit((unsigned char)**at) ? strtol(*at, &end, 10) : -1;
    if (read < low || read > high)
        return false;
    *number = (int32_t)read;
    *at = end;
    return true;
}

/* Reads ",M3.5.0/2", ",J60" or ",59". */
static bool read_rule(const char **at, struct zone_rule *rule)
{
    bool right = **at == ',';
    *at += right;
    *rule = (struct zone_rule){.second = 2 * 3600};
    if (right && **at == 'M') {
        ++*at;
        rule->kind = ZONE_WEEKDAY;
        right = read_number(at, 1, 12, &rule->month) && *(*at)++ == '.' &&
                read_number(at, 1, 5, &rule->week) && *(*at)++ == '.' && read_number(at, 0, 6, &rule->day);
    } else if (right && **at == 'J') {
        ++*at;
        rule->kind = ZONE_DAY_WITHOUT_LEAP;
        right = read_number(at, 1, 365, &rule->day);
    } else {
        rule->kind = ZONE_DAY_OF_YEAR;
        right = right && read_number(at, 0, 365, &rule->day);
    }
    if (!right || **at != '/')
        return right;
    ++*at;
    return read_time(at, &rule->second);
}

/* Whether a clock can be so many seconds from UTC. */
static bool is_offset(int32_t seconds)
{
    return seconds > -2 * DAY && seconds < 2 * DAY;
}

static bool read_rules(const char *at, struct zone *zone)
{
    if (!skip_name(&at) || !read_time(&at, &zone->standard))
        return false;
    zone->standard = -zone->standard; /* POSIX counts to the west */
    zone->has_rules = true;
    if (!*at)
        return is_offset(zone->standard);
    zone->has_summer = true;
    zone->summer = zone->standard + 3600;
    if (!skip_name(&at))
        return false;
    if (*at != ',') {
        if (!read_time(&at, &zone->summer))
            return false;
        zone->summer = -zone->summer;
    }
    return read_rule(&at, &zone->begin) && read_rule(&at, &zone->end) && !*at && is_offset(zone->standard) &&
           is_offset(zone->summer);
}

/* The second of the change in a year, by the clock before it. */
static int64_t change_of(const struct zone_rule *rule, int64_t year)
{
    int64_t day = calendar_days(year, 1, 1);
    if (rule->kind == ZONE_DAY_OF_YEAR) {
        day += rule->day;
    } else if (rule->kind == ZONE_DAY_WITHOUT_LEAP) {
        const bool is_leap = calendar_month_days(year, 2) == 29;
        day += rule->day - 1 + (is_leap && rule->day >= 60);
    } else {
        const int64_t first = calendar_days(year, rule->month, 1);
        const int64_t weekday = calendar_date_field(first, CALENDAR_DAY_OF_WEEK);
        day = first + (rule->day - weekday + 7) % 7 + (rule->week - 1) * 7;
        day -= day - first >= calendar_month_days(year, rule->month) ? 7 : 0;
    }
    return day * DAY + rule->second;
}

/* The seconds in UTC of the changes in a year. */
static void changes_of(const struct zone *zone, int64_t year, int64_t *begin, int64_t *end)
{
    *begin = change_of(&zone->begin, year) - zone->standard;
    *end = change_of(&zone->end, year) - zone->summer;
}

/* The year that a clock shows by standard time; false if no calendar of 32 bits has it. */
static bool year_of(const struct zone *zone, int64_t second, int64_t *year)
{
    const int64_t days = calendar_floor(second + zone->standard, DAY);
    if (days > INT32_MAX || days < INT32_MIN)
        return false;
    *year = calendar_date_of(days).year;
    return true;
}

static int32_t offset_by_rules(const struct zone *zone, int64_t second)
{
    int64_t year, begin, end;
    if (!zone->has_summer || !year_of(zone, second, &year))
        return zone->standard;
    changes_of(zone, year, &begin, &end);
    const bool is_summer = begin < end ? second >= begin && second < end : second >= begin || second < end;
    return is_summer ? zone->summer : zone->standard;
}

/* The number of listed changes that are not after a time. */
static uint32_t changes_until(const struct zone *zone, int64_t second)
{
    uint32_t low = 0, high = zone->change_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (zone->changes[middle] <= second)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_by_rules(const struct zone *zone, int64_t second)
{
    return zone->has_rules && (zone->change_count == 0 || second >= zone->changes[zone->change_count - 1]);
}

int32_t zone_offset(const struct zone *zone, int64_t second)
{
    if (!zone)
        return 0;
    return is_by_rules(zone, second) ? offset_by_rules(zone, second)
                                     : zone->offsets[changes_until(zone, second)];
}

int64_t zone_next_change(const struct zone *zone, int64_t second)
{
    int64_t year, begin, end, next = INT64_MAX;
    if (!zone)
        return next;
    if (!is_by_rules(zone, second)) {
        const uint32_t passed = changes_until(zone, second);
        return passed < zone->change_count ? zone->changes[passed] : next;
    }
    if (!zone->has_summer || !year_of(zone, second, &year))
        return next;
    for (int64_t y = year - 1; y <= year + 1; y++) {
        changes_of(zone, y, &begin, &end);
        next = begin > second && begin < next ? begin : next;
        next = end > second && end < next ? end : next;
    }
    return next;
}

int32_t zone_offset_of_local(const struct zone *zone, int64_t local)
{
    int64_t second = local - 2 * DAY; /* no clock is so far from UTC */
    int32_t offset = zone_offset(zone, second);
    for (;;) {
        const int64_t change = zone_next_change(zone, second);
        if (change == INT64_MAX || local < change + zone_offset(zone, change))
            return offset;
        offset = zone_offset(zone, change);
        second = change;
    }
}

/* ---- Files ---- */

static int64_t big_endian(const uint8_t *at, uint32_t bytes)
{
    uint64_t number = 0;
    for (uint32_t b = 0; b < bytes; b++)
        number = number << 8 | at[b];
    return bytes == 4 ? (int32_t)number : (int64_t)number;
}

/* The counts of a header, and the bytes of its block. */
struct block {
    uint64_t utc, standard, leaps, changes, types, letters, bytes;
};

static bool read_header(const uint8_t *at, uint64_t left, uint32_t time_bytes, struct block *block)
{
    if (left < HEADER_BYTES || memcmp(at, "TZif", 4) != 0)
        return false;
    uint64_t counts[6];
    for (uint32_t c = 0; c < 6; c++)
        counts[c] = (uint32_t)big_endian(at + 20 + 4 * c, 4);
    *block = (struct block){counts[0], counts[1], counts[2], counts[3], counts[4], counts[5], 0};
    block->bytes = block->changes * (time_bytes + 1) + block->types * 6 + block->letters +
                   block->leaps * (time_bytes + 4) + block->standard + block->utc;
    return block->bytes <= left - HEADER_BYTES;
}

static enum status read_changes(const uint8_t *at, const struct block *block, uint32_t time_bytes,
                                struct zone *zone, bool *right, struct error *error)
{
    const uint8_t *const kinds = at + block->changes * time_bytes, *const types = kinds + block->changes;
    *right = block->types > 0;
    RETURN_IF_ERROR(
        memory_take(&zone->changes, (block->changes + 1) * sizeof *zone->changes, "a time zone", error));
    RETURN_IF_ERROR(
        memory_take(&zone->offsets, (block->changes + 1) * sizeof *zone->offsets, "a time zone", error));
    zone->change_count = (uint32_t)block->changes;
    zone->offsets[0] = *right ? (int32_t)big_endian(types, 4) : 0;
    for (uint64_t c = 0; *right && c < block->changes; c++) {
        zone->changes[c] = big_endian(at + c * time_bytes, time_bytes);
        *right = kinds[c] < block->types && zone->changes[c] > (c ? zone->changes[c - 1] : -CHANGE_MAX) &&
                 zone->changes[c] < CHANGE_MAX;
        if (*right)
            zone->offsets[c + 1] = (int32_t)big_endian(types + 6 * kinds[c], 4);
    }
    for (uint64_t c = 0; *right && c <= block->changes; c++)
        *right = is_offset(zone->offsets[c]);
    return STATUS_OK;
}

/* Reads a whole file, which has a zero after its end. */
static enum status read_zone(const uint8_t *bytes, uint64_t size, struct zone *zone, bool *right,
                             struct error *error)
{
    struct block block;
    const uint8_t *at = bytes;
    *right = read_header(at, size, 4, &block);
    if (!*right || at[4] < '2')
        return *right ? read_changes(at + HEADER_BYTES, &block, 4, zone, right, error) : STATUS_OK;
    at += HEADER_BYTES + block.bytes;
    *right = read_header(at, size - (uint64_t)(at - bytes), 8, &block);
    if (!*right)
        return STATUS_OK;
    RETURN_IF_ERROR(read_changes(at + HEADER_BYTES, &block, 8, zone, right, error));
    char *const rules = (char *)at + HEADER_BYTES + block.bytes, *const end = rules[0] == '\n'
                                                                                  ? strchr(rules + 1, '\n')
                                                                                  : NULL;
    if (*right && end && end > rules + 1) {
        *end = '\0';
        *right = read_rules(rules + 1, zone);
    }
    return STATUS_OK;
}

static enum status read_file(const char *path, struct zone *zone, bool *right, struct error *error)
{
    int descriptor;
    uint64_t size, got;
    uint8_t *bytes;
    struct error reason = {0};
    enum status status = file_open(path, &descriptor, &size, NULL, &reason);
    *right = status == STATUS_OK;
    if (!*right && error_of_system(status, &reason))
        return error_set(error, status, "%s", reason.text);
    if (!*right)
        return STATUS_OK;
    *right = size <= FILE_BYTES_MAX;
    if (*right)
        status = memory_zeros(&bytes, size + 1, "a time zone", error);
    if (*right && status == STATUS_OK) {
        const int failed = file_get(descriptor, bytes, size, 0, &got);
        *right = got == size;
        if (failed)
            status = error_set_errno(error, failed, "cannot read %s", path);
        else if (*right)
            status = read_zone(bytes, size, zone, right, error);
        free(bytes);
    }
    close(descriptor);
    return status;
}

static void zone_free(struct zone *zone)
{
    free(zone->changes);
    free(zone->offsets);
    free(zone->path);
    free(zone);
}

/* ---- Names ---- */

/* Those that were found, until the process ends: some 600 of some kilobytes at most. */
static struct zone *found;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Takes over the path. *zone stays NULL if there is no such zone. */
static enum status find_path(char *path, size_t name_at, const struct zone **out, struct error *error)
{
    struct zone *zone = found;
    bool right = false;
    while (zone && strcmp(zone->path, path) != 0)
        zone = zone->next;
    *out = zone;
    if (zone) {
        free(path);
        return STATUS_OK;
    }
    enum status status = memory_zeros(&zone, sizeof *zone, "a time zone", error);
    if (status != STATUS_OK) {
        free(path);
        return status;
    }
    zone->path = path;
    zone->name = path + name_at;
    status = read_file(path, zone, &right, error);
    if (status != STATUS_OK || !right) {
        zone_free(zone);
        return status;
    }
    zone->next = found;
    *out = found = zone;
    return STATUS_OK;
}

/* Gives `part`, the rest of a path up to a '/' or its end, the letters of the file or folder that is there. */
static bool correct_part(const char *path, char *part)
{
    const size_t length = strlen(part);
    bool right = false;
    part[-1] = '\0';
    DIR *const folder = opendir(path);
    part[-1] = '/';
    for (const struct dirent *entry; folder && !right && (entry = readdir(folder));) {
        right = word_compare(entry->d_name, part) == 0;
        if (right)
            memcpy(part, entry->d_name, length);
    }
    if (folder)
        closedir(folder);
    return right;
}

/* Gives the names in a path after its first bytes, up to a '/', the letters of what is there, in any case. */
static void correct_letters(char *path, size_t at)
{
    struct stat facts;
    char *part = path + at;
    bool right = stat(path, &facts) != 0;
    while (right && part) {
        char *const end = strchr(part, '/');
        if (end)
            *end = '\0';
        right = correct_part(path, part);
        if (end)
            *end = '/';
        part = end ? end + 1 : NULL;
    }
}

enum status zone_find(const char *name, const struct zone **zone, struct error *error)
{
    static const char *const utc[] = {"", "UTC", "GMT", "Z", "Etc/UTC", "Etc/GMT"};
    const char *folder = getenv("TZDIR");
    char *path;
    bool right =
        name[0] != '/' && !strstr(name, "..") &&
        name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-_/")] == '\0';
    *zone = NULL;
    for (size_t u = 0; u < sizeof utc / sizeof *utc; u++)
        if (word_compare(name, utc[u]) == 0)
            return STATUS_OK;
    folder = folder && *folder ? folder : "/usr/share/zoneinfo";
    if (right) {
        RETURN_IF_ERROR(path_format(&path, error, "%s/%s", folder, name));
        correct_letters(path, strlen(folder) + 1);
        pthread_mutex_lock(&lock);
        const enum status status = find_path(path, strlen(folder) + 1, zone, error);
        pthread_mutex_unlock(&lock);
        RETURN_IF_ERROR(status);
        right = *zone;
    }
    return right ? STATUS_OK
                 : error_set(error, STATUS_BAD_INPUT,
                             "the time zone '%.64s' is not in this system's database (%.200s); names are as "
                             "Europe/Berlin",
                             name, folder);
}

int64_t zone_instant(const struct zone *zone, int64_t local)
{
    const int64_t offset = zone ? zone_offset_of_local(zone, calendar_floor(local, 1000000)) : 0;
    return (int64_t)((uint64_t)local - (uint64_t)(offset * 1000000));
}

int64_t zone_local(const struct zone *zone, int64_t instant)
{
    const int64_t offset = zone ? zone_offset(zone, calendar_floor(instant, 1000000)) : 0;
    return (int64_t)((uint64_t)instant + (uint64_t)(offset * 1000000));
}

const char *zone_name(const struct zone *zone)
{
    return zone ? zone->name : "UTC";
}
