/*
 * calendar.h: days since 1970-01-01 and the Gregorian calendar, for loaders, queries and CUDA kernels.
 *
 * Days are counted in eras of 400 years (146,097 days) that begin on 1 March. So the leap day is the last day
 * of its year, and month and day follow from a linear formula. The results are right for every year that fits
 * 32 bits.
 */
#ifndef TESSERA_STORAGE_BASE_CALENDAR_H
#define TESSERA_STORAGE_BASE_CALENDAR_H

#ifdef TILE_CUDA
#define CALENDAR_INLINE __device__ __forceinline__
#else
#include <stdint.h>
#define CALENDAR_INLINE static inline
#endif

#define CALENDAR_DAY_MICROSECONDS 86400000000ll

enum calendar_field {
    CALENDAR_YEAR,
    CALENDAR_QUARTER,
    CALENDAR_MONTH,
    CALENDAR_DAY,
    CALENDAR_DAY_OF_WEEK, /* 0: Sunday */
    CALENDAR_DAY_OF_YEAR, /* from 1 */
    CALENDAR_HOUR,
    CALENDAR_MINUTE,
    CALENDAR_SECOND,
    CALENDAR_WEEK,    /* of ISO 8601: week 1 has the year's first Thursday */
    CALENDAR_ISO_DAY, /* 1: Monday */
    CALENDAR_ISO_YEAR /* the year that the week belongs to */
};

struct calendar_date {
    int64_t year;
    int32_t month, day; /* from 1 */
};

CALENDAR_INLINE int64_t calendar_floor(int64_t number, int64_t divisor)
{
    return number / divisor - (number % divisor < 0);
}

CALENDAR_INLINE struct calendar_date calendar_date_of(int64_t days)
{
    const int64_t shifted = days + 719468; /* from 0000-03-01 */
    const int64_t era = calendar_floor(shifted, 146097);
    const int32_t of_era = (int32_t)(shifted - era * 146097);
    const int32_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    const int32_t of_year = of_era - (365 * year + year / 4 - year / 100);
    const int32_t month = (5 * of_year + 2) / 153; /* 0: March */
    struct calendar_date date;
    date.year = year + era * 400 + (month >= 10);
    date.month = month < 10 ? month + 3 : month - 9;
    date.day = of_year - (153 * month + 2) / 5 + 1;
    return date;
}

/* Days since 1970-01-01. `month` is 1..12; `day` may be any number, and 0 is the day before the first. */
CALENDAR_INLINE int64_t calendar_days(int64_t year, int32_t month, int32_t day)
{
    const int64_t from_march = month > 2 ? year : year - 1;
    const int64_t era = calendar_floor(from_march, 400);
    const int32_t of_era = (int32_t)(from_march - era * 400);
    const int32_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

CALENDAR_INLINE int32_t calendar_month_days(int64_t year, int32_t month)
{
    return (int32_t)(month == 12 ? 31 : calendar_days(year, month + 1, 1) - calendar_days(year, month, 1));
}

CALENDAR_INLINE int64_t calendar_add_months(int64_t days, int64_t months)
{
    const struct calendar_date date = calendar_date_of(days);
    const int64_t total = date.year * 12 + (date.month - 1) + months;
    const int64_t year = calendar_floor(total, 12);
    const int32_t month = (int32_t)(total - year * 12) + 1, most = calendar_month_days(year, month);
    return calendar_days(year, month, date.day < most ? date.day : most);
}

/* 1: Monday, 7: Sunday. */
CALENDAR_INLINE int32_t calendar_iso_day(int64_t days)
{
    return (int32_t)(days + 3 - 7 * calendar_floor(days + 3, 7)) + 1;
}

/* A field of a date; hours, minutes and seconds are 0. */
CALENDAR_INLINE int64_t calendar_date_field(int64_t days, int field)
{
    const struct calendar_date date = calendar_date_of(days);
    switch (field) {
    case CALENDAR_YEAR:
        return date.year;
    case CALENDAR_QUARTER:
        return (date.month + 2) / 3;
    case CALENDAR_MONTH:
        return date.month;
    case CALENDAR_DAY:
        return date.day;
    case CALENDAR_DAY_OF_WEEK:
        return days + 4 - 7 * calendar_floor(days + 4, 7);
    case CALENDAR_DAY_OF_YEAR:
        return days - calendar_days(date.year, 1, 1) + 1;
    case CALENDAR_ISO_DAY:
        return calendar_iso_day(days);
    case CALENDAR_WEEK:
    case CALENDAR_ISO_YEAR: { /* a week belongs to the year of its Thursday */
        const int64_t thursday = days + 4 - calendar_iso_day(days), year = calendar_date_of(thursday).year;
        return field == CALENDAR_ISO_YEAR ? year : (thursday - calendar_days(year, 1, 1)) / 7 + 1;
    }
    default:
        return 0;
    }
}

/* The first day of the week (a Monday), month, quarter or year that a day is in. */
CALENDAR_INLINE int64_t calendar_date_truncate(int64_t days, int field)
{
    const struct calendar_date date = calendar_date_of(days);
    switch (field) {
    case CALENDAR_YEAR:
        return calendar_days(date.year, 1, 1);
    case CALENDAR_QUARTER:
        return calendar_days(date.year, (date.month - 1) / 3 * 3 + 1, 1);
    case CALENDAR_MONTH:
        return calendar_days(date.year, date.month, 1);
    case CALENDAR_WEEK:
        return days + 1 - calendar_iso_day(days);
    default:
        return days;
    }
}

/* A field of a time in microseconds since 1970-01-01 00:00:00. */
CALENDAR_INLINE int64_t calendar_timestamp_field(int64_t microseconds, int field)
{
    const int64_t days = calendar_floor(microseconds, CALENDAR_DAY_MICROSECONDS);
    const int64_t rest = microseconds % CALENDAR_DAY_MICROSECONDS;
    const int64_t second = (rest < 0 ? rest + CALENDAR_DAY_MICROSECONDS : rest) / 1000000;
    switch (field) {
    case CALENDAR_HOUR:
        return second / 3600;
    case CALENDAR_MINUTE:
        return second / 60 % 60;
    case CALENDAR_SECOND:
        return second % 60;
    default:
        return calendar_date_field(days, field);
    }
}

/* The beginning of the second, minute, hour, day, week, month, quarter or year that a time is in. */
CALENDAR_INLINE int64_t calendar_timestamp_truncate(int64_t microseconds, int field)
{
    const int64_t unit = field == CALENDAR_SECOND   ? 1000000ll
                         : field == CALENDAR_MINUTE ? 60000000ll
                         : field == CALENDAR_HOUR   ? 3600000000ll
                                                    : CALENDAR_DAY_MICROSECONDS;
    const int64_t units = calendar_floor(microseconds, unit);
    return unit == CALENDAR_DAY_MICROSECONDS ? calendar_date_truncate(units, field) * unit : units * unit;
}

#endif
