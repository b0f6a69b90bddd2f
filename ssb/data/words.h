/*
 * words.h: the word lists from which SSB's strings are drawn, in ssb-dbgen's order. The order must never
 * change, because it decides which word a draw gives.
 */
#ifndef TESSERA_SSB_DATA_WORDS_H
#define TESSERA_SSB_DATA_WORDS_H

#include <stdint.h>

#define COLOR_COUNT          92
#define NATION_COUNT         25
#define REGION_COUNT         5
#define MARKET_SEGMENT_COUNT 5
#define ORDER_PRIORITY_COUNT 5
#define SHIP_MODE_COUNT      7
#define TYPE_COUNT           150 /* 6 sizes x 5 finishes x 5 metals; the metal varies fastest */
#define CONTAINER_COUNT      40  /* 5 sizes x 8 shapes */
#define ADDRESS_CHARACTERS   64

struct nation {
    const char *name;
    uint8_t region; /* index into region_words */
};

extern const char *const color_words[COLOR_COUNT];
extern const struct nation nation_words[NATION_COUNT];
extern const char *const region_words[REGION_COUNT];
extern const char *const market_segment_words[MARKET_SEGMENT_COUNT];

/* Loading stores codes into sorted dictionaries, so both lists are sorted. ssb-dbgen's order priorities are
 * sorted already. Its ship modes are not: ship_mode_codes[draw] is the sorted code of the word drawn. */
extern const char *const order_priority_words[ORDER_PRIORITY_COUNT];
extern const char *const order_priority_words_crystal[ORDER_PRIORITY_COUNT];
extern const char *const ship_mode_words[SHIP_MODE_COUNT];
extern const uint8_t ship_mode_codes[SHIP_MODE_COUNT];

extern const char *const type_size_words[6];
extern const char *const type_finish_words[5];
extern const char *const type_metal_words[5];
extern const char *const container_size_words[5];
extern const char *const container_shape_words[8];

extern const char *const month_words[12];
extern const char *const weekday_words[7]; /* from Sunday */

extern const char address_characters[ADDRESS_CHARACTERS + 1];

#endif
