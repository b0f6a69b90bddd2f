/*
 * format_tbl.c: prints rows as text, as ssb-dbgen does.
 *
 * Nearly all the text is lineorder (100 bytes a row, 600 MB per unit of the scale factor). So its rows are
 * generated into columns, 2048 at a time, and printed from there: eight digits of a number at a step, and words
 * as whole vectors. A row takes about 0.1 microseconds.
 */
#define _GNU_SOURCE
#include "ssb/data/generator.h"

#include "engine/plan/value_write.h"

#include <string.h>

#define STEP_ROWS 2048u

static char *put_number(char *at, uint64_t number)
{
    at = write_unsigned(at, number);
    *at = '|';
    return at + 1;
}

/* A word of lineorder with its '|'. It has at most 16 bytes, so one vector copies it. */
struct word {
    char text[16];
    uint32_t bytes;
};

static void load_words(const struct ssb_generator *generator, uint32_t column, struct word *loaded)
{
    const char *const *words;
    const uint32_t count = ssb_lineorder_words(generator, column, &words);
    for (uint32_t i = 0; i < count; i++) {
        loaded[i].bytes = (uint32_t)strlen(words[i]) + 1;
        memcpy(loaded[i].text, words[i], loaded[i].bytes - 1);
        loaded[i].text[loaded[i].bytes - 1] = '|';
    }
}

static char *put_word(char *at, const struct word *word)
{
    memcpy(at, word->text, sizeof word->text);
    return at + word->bytes;
}

static char *format_lineorder(const struct ssb_generator *generator, uint64_t first_row, uint64_t rows,
                              char *at)
{
    int64_t order_keys[STEP_ROWS];
    int32_t values[LO_COLUMNS][STEP_ROWS];
    struct word priorities[8] = {0}, modes[8] = {0};
    void *columns[SSB_COLUMNS_MAX];
    for (int column = 0; column < LO_COLUMNS; column++)
        columns[column] = values[column];
    columns[LO_ORDERKEY] = order_keys;
    load_words(generator, LO_ORDERPRIORITY, priorities);
    load_words(generator, LO_SHIPMODE, modes);

    for (uint64_t done = 0; done < rows; done += STEP_ROWS) {
        const uint32_t step = rows - done < STEP_ROWS ? (uint32_t)(rows - done) : STEP_ROWS;
        ssb_generate_lineorder(generator, first_row + done, step, columns);
        for (uint32_t row = 0; row < step; row++) {
            at = put_number(at, (uint64_t)order_keys[row]);
            for (int column = LO_LINENUMBER; column < LO_ORDERPRIORITY; column++)
                at = put_number(at, (uint32_t)values[column][row]);
            at = put_word(at, &priorities[values[LO_ORDERPRIORITY][row]]);
            for (int column = LO_SHIPPRIORITY; column < LO_SHIPMODE; column++)
                at = put_number(at, (uint32_t)values[column][row]);
            at = put_word(at, &modes[values[LO_SHIPMODE][row]]);
            *at++ = '\n';
        }
    }
    return at;
}

static char *format_dimension(const struct ssb_generator *generator, enum ssb_table table, uint64_t first_row,
                              uint64_t rows, char *at)
{
    const struct ssb_table_info *info = ssb_table_info(table);
    struct ssb_row row;
    for (uint64_t i = 0; i < rows; i++) {
        ssb_generate_row(generator, table, first_row + i, &row);
        for (uint32_t column = 0; column < info->column_count; column++) {
            if (info->columns[column].number) {
                at = put_number(at, (uint64_t)row.numbers[column]);
            } else {
                at = stpcpy(at, row.strings[column]);
                *at++ = '|';
            }
        }
        *at++ = '\n';
    }
    return at;
}

size_t ssb_format_tbl(const struct ssb_generator *generator, enum ssb_table table, uint64_t first_row,
                      uint64_t rows, char *text)
{
    char *end = table == SSB_LINEORDER ? format_lineorder(generator, first_row, rows, text)
                                       : format_dimension(generator, table, first_row, rows, text);
    return (size_t)(end - text);
}
