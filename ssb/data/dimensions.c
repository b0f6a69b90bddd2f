/*
 * dimensions.c: generates single rows of part, supplier, customer and date.
 *
 * A row jumps to its place in each of its streams (about 10 ns a jump) and draws; that takes 0.1 to 0.5
 * microseconds. The largest dimension at SF 1000 is customer with 30 million rows.
 */
#include "ssb/data/generator.h"

#include "ssb/data/generator_internal.h"
#include "ssb/data/words.h"

#include <string.h>

static int64_t draw_next(uint32_t *state, int64_t low, int64_t high)
{
    *state = random_step(*state);
    return random_draw(*state, low, high - low + 1);
}

/* The number that `row` draws from `stream`, for streams with one draw a row. */
static int64_t draw_at(const struct ssb_generator *generator, enum stream stream, uint64_t row, int64_t low,
                       int64_t high)
{
    uint32_t state = stream_state(generator, stream, row);
    return draw_next(&state, low, high);
}

/* The same, uniform or skewed as the generator is asked. */
static int64_t draw_skewed(const struct ssb_generator *generator, enum stream stream, uint64_t row,
                           enum skew skew, int64_t low, int64_t high)
{
    if (!generator->options.skew)
        return draw_at(generator, stream, row, low, high);
    return low + skew_value(&generator->skews[skew], random_step(stream_state(generator, stream, row)));
}

/* ---- Text: each function appends at `at`, in a string of SSB_STRING_BYTES, and returns the new end ---- */

static char *append(char *at, const char *word)
{
    return stpcpy(at, word);
}

static char *append_number(char *at, uint64_t number, int digits_min)
{
    char digits[20];
    int count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    for (int pad = count; pad < digits_min; pad++)
        *at++ = '0';
    while (count)
        *at++ = digits[--count];
    *at = '\0';
    return at;
}

/* ---- part ---- */

/* For each part ssb-dbgen shuffles all colors; it swaps over the whole range, which is not Fisher-Yates. The
 * first three are used: the part's color, then the two words of its name. */
static void part_colors(const struct ssb_generator *generator, uint64_t row, struct ssb_row *out)
{
    uint8_t order[COLOR_COUNT];
    for (int i = 0; i < COLOR_COUNT; i++)
        order[i] = (uint8_t)i;
    uint32_t state = stream_state(generator, STREAM_PART_NAME, row);
    for (int i = 0; i < COLOR_COUNT; i++) {
        const int64_t other = draw_next(&state, 0, COLOR_COUNT - 1);
        const uint8_t moved = order[other];
        order[other] = order[i];
        order[i] = moved;
    }
    char *at = append(out->strings[1], color_words[order[1]]);
    at = append(at, " ");
    append(at, color_words[order[2]]);
    append(out->strings[5], color_words[order[0]]);
}

static void generate_part(const struct ssb_generator *generator, uint64_t row, struct ssb_row *out)
{
    const int64_t mfgr = draw_skewed(generator, STREAM_PART_MFGR, row, SKEW_MFGR, 1, 5);
    const int64_t category = draw_skewed(generator, STREAM_PART_CATEGORY, row, SKEW_MFGR, 1, 5);
    const int64_t brand = draw_skewed(generator, STREAM_PART_BRAND, row, SKEW_BRAND, 1, 40);
    const int64_t type = draw_at(generator, STREAM_PART_TYPE, row, 1, TYPE_COUNT) - 1;
    const int64_t container = draw_at(generator, STREAM_PART_CONTAINER, row, 1, CONTAINER_COUNT) - 1;

    out->numbers[0] = (int64_t)row + 1;
    part_colors(generator, row, out);
    append_number(append(out->strings[2], "MFGR#"), (uint64_t)mfgr, 1);
    append_number(append(out->strings[3], out->strings[2]), (uint64_t)category, 1);
    append_number(append(out->strings[4], out->strings[3]), (uint64_t)brand, 1);
    char *at = append(out->strings[6], type_size_words[type / 25]);
    at = append(append(at, " "), type_finish_words[type / 5 % 5]);
    append(append(at, " "), type_metal_words[type % 5]);
    out->numbers[7] = draw_at(generator, STREAM_PART_SIZE, row, 1, 50);
    at = append(out->strings[8], container_size_words[container / 8]);
    append(append(at, " "), container_shape_words[container % 8]);
}

/* ---- supplier and customer ---- */

/* Each drawn number gives five characters of six bits. */
static void person_address(uint32_t state, char *text)
{
    const int64_t length = draw_next(&state, 6, 24);
    int64_t bits = 0;
    for (int64_t i = 0; i < length; i++) {
        if (i % 5 == 0)
            bits = draw_next(&state, 0, RANDOM_MODULUS);
        text[i] = address_characters[bits & 63];
        bits >>= 6;
    }
    text[length] = '\0';
}

/* A city is the first nine characters of the nation's name, padded with spaces, and a digit. */
static void person_city(const char *nation, int64_t digit, char *text)
{
    const size_t length = strlen(nation);
    memset(text, ' ', 9);
    memcpy(text, nation, length < 9 ? length : 9);
    text[9] = (char)('0' + digit);
    text[10] = '\0';
}

static void person_phone(uint32_t state, int64_t nation, char *text)
{
    const int64_t area = draw_next(&state, 100, 999);
    const int64_t exchange = draw_next(&state, 100, 999);
    const int64_t number = draw_next(&state, 1000, 9999);
    char *at = append(append_number(text, (uint64_t)nation + 10, 2), "-");
    at = append(append_number(at, (uint64_t)area, 3), "-");
    at = append(append_number(at, (uint64_t)exchange, 3), "-");
    append_number(at, (uint64_t)number, 4);
}

struct person_streams {
    const char *title;
    enum stream address, nation, phone, city;
};

static const struct person_streams supplier_streams = {"Supplier#", STREAM_SUPPLIER_ADDRESS,
                                                       STREAM_SUPPLIER_NATION, STREAM_SUPPLIER_PHONE,
                                                       STREAM_SUPPLIER_CITY};
static const struct person_streams customer_streams = {"Customer#", STREAM_CUSTOMER_ADDRESS,
                                                       STREAM_CUSTOMER_NATION, STREAM_CUSTOMER_PHONE,
                                                       STREAM_CUSTOMER_CITY};

static void generate_person(const struct ssb_generator *generator, const struct person_streams *streams,
                            uint64_t row, struct ssb_row *out)
{
    const int64_t nation = draw_skewed(generator, streams->nation, row, SKEW_NATION, 0, NATION_COUNT - 1);
    const int64_t digit = draw_skewed(generator, streams->city, row, SKEW_CITY, 0, 9);

    out->numbers[0] = (int64_t)row + 1;
    append_number(append(out->strings[1], streams->title), row + 1, 9);
    person_address(stream_state(generator, streams->address, row), out->strings[2]);
    person_city(nation_words[nation].name, digit, out->strings[3]);
    append(out->strings[4], nation_words[nation].name);
    append(out->strings[5], region_words[nation_words[nation].region]);
    person_phone(stream_state(generator, streams->phone, row), nation, out->strings[6]);
}

static void generate_customer(const struct ssb_generator *generator, uint64_t row, struct ssb_row *out)
{
    generate_person(generator, &customer_streams, row, out);
    const int64_t segment = draw_at(generator, STREAM_CUSTOMER_SEGMENT, row, 1, MARKET_SEGMENT_COUNT);
    append(out->strings[7], market_segment_words[segment - 1]);
}

/* ---- date ---- */

struct calendar_date calendar_date(uint32_t day)
{
    static const int month_days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    struct calendar_date date = {.year = 1992, .month = 1};
    int left = (int)day;
    for (int days; left >= (days = date.year % 4 == 0 ? 366 : 365); left -= days)
        date.year++;
    date.day_of_year = left + 1;
    const int leap = date.year % 4 == 0;
    for (;; date.month++) {
        date.month_days = month_days[date.month - 1] + (leap && date.month == 2);
        if (left < date.month_days)
            break;
        left -= date.month_days;
    }
    date.day = left + 1;
    return date;
}

static const char *selling_season(int month)
{
    static const char *const seasons[12] = {"Winter", "Winter", "Winter", "Spring", "Summer",    "Summer",
                                            "Summer", "Summer", "Fall",   "Fall",   "Christmas", "Christmas"};
    return seasons[month - 1];
}

static bool holiday(int month, int day)
{
    /* One day of each month; 0: the month has no holiday. */
    static const uint8_t holidays[12] = {1, 20, 0, 20, 20, 0, 20, 20, 20, 20, 20, 24};
    return holidays[month - 1] == day;
}

static void generate_date(const struct ssb_generator *generator, uint64_t row, struct ssb_row *out)
{
    const struct calendar_date date = calendar_date((uint32_t)row);
    const bool crystal = generator->options.variant == SSB_VARIANT_CRYSTAL;
    const char *month = month_words[date.month - 1];
    if (crystal && date.month == 8)
        month = "Augest";
    if (crystal && date.month == 10)
        month = "Octorber";
    /* 1992-01-01 was a Wednesday, but ssb-dbgen counts from a Thursday. */
    const int weekday = (int)((row + 4) % 7);
    const bool last_of_month = date.day == date.month_days;

    out->numbers[0] = generator->date_keys[row];
    char *at = append(append(out->strings[1], month), " ");
    at = append(append_number(at, (uint64_t)date.day, 1), ", ");
    append_number(at, (uint64_t)date.year, 4);
    append(out->strings[2], weekday_words[weekday]);
    append(out->strings[3], month);
    out->numbers[4] = date.year;
    out->numbers[5] = date.year * 100 + date.month;
    memcpy(out->strings[6], month_words[date.month - 1], 3);
    append_number(out->strings[6] + 3, (uint64_t)date.year, 4);
    out->numbers[7] = weekday + 1;
    out->numbers[8] = date.day;
    out->numbers[9] = date.day_of_year;
    out->numbers[10] = date.month;
    out->numbers[11] = date.day_of_year / 7 + 1;
    append(out->strings[12], selling_season(date.month));
    out->numbers[13] = weekday == 6;
    out->numbers[14] = crystal ? !last_of_month : last_of_month; /* Crystal's variant has it inverted */
    out->numbers[15] = holiday(date.month, date.day);
    out->numbers[16] = weekday >= 1 && weekday <= 5;
}

void ssb_generate_row(const struct ssb_generator *generator, enum ssb_table table, uint64_t row,
                      struct ssb_row *out)
{
    switch (table) {
    case SSB_PART:
        generate_part(generator, row, out);
        break;
    case SSB_SUPPLIER:
        generate_person(generator, &supplier_streams, row, out);
        break;
    case SSB_CUSTOMER:
        generate_customer(generator, row, out);
        break;
    case SSB_DATE:
        generate_date(generator, row, out);
        break;
    case SSB_LINEORDER: /* generated by columns only, in ssb_generate_lineorder */
    case SSB_TABLES:
        break;
    }
}
