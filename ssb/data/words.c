/* words.c: see words.h. */
#include "ssb/data/words.h"

const char *const color_words[COLOR_COUNT] = {
    "almond",    "antique",    "aquamarine", "azure",     "beige",     "bisque",     "black",     "blanched",
    "blue",      "blush",      "brown",      "burlywood", "burnished", "chartreuse", "chiffon",   "chocolate",
    "coral",     "cornflower", "cornsilk",   "cream",     "cyan",      "dark",       "deep",      "dim",
    "dodger",    "drab",       "firebrick",  "floral",    "forest",    "frosted",    "gainsboro", "ghost",
    "goldenrod", "green",      "grey",       "honeydew",  "hot",       "indian",     "ivory",     "khaki",
    "lace",      "lavender",   "lawn",       "lemon",     "light",     "lime",       "linen",     "magenta",
    "maroon",    "medium",     "metallic",   "midnight",  "mint",      "misty",      "moccasin",  "navajo",
    "navy",      "olive",      "orange",     "orchid",    "pale",      "papaya",     "peach",     "peru",
    "pink",      "plum",       "powder",     "puff",      "purple",    "red",        "rose",      "rosy",
    "royal",     "saddle",     "salmon",     "sandy",     "seashell",  "sienna",     "sky",       "slate",
    "smoke",     "snow",       "spring",     "steel",     "tan",       "thistle",    "tomato",    "turquoise",
    "violet",    "wheat",      "white",      "yellow"};

const struct nation nation_words[NATION_COUNT] = {
    {"ALGERIA", 0},      {"ARGENTINA", 1},  {"BRAZIL", 1},  {"CANADA", 1},         {"EGYPT", 4},
    {"ETHIOPIA", 0},     {"FRANCE", 3},     {"GERMANY", 3}, {"INDIA", 2},          {"INDONESIA", 2},
    {"IRAN", 4},         {"IRAQ", 4},       {"JAPAN", 2},   {"JORDAN", 4},         {"KENYA", 0},
    {"MOROCCO", 0},      {"MOZAMBIQUE", 0}, {"PERU", 1},    {"CHINA", 2},          {"ROMANIA", 3},
    {"SAUDI ARABIA", 4}, {"VIETNAM", 2},    {"RUSSIA", 3},  {"UNITED KINGDOM", 3}, {"UNITED STATES", 1}};

const char *const region_words[REGION_COUNT] = {"AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"};

const char *const market_segment_words[MARKET_SEGMENT_COUNT] = {"AUTOMOBILE", "BUILDING", "FURNITURE",
                                                                "HOUSEHOLD", "MACHINERY"};

const char *const order_priority_words[ORDER_PRIORITY_COUNT] = {"1-URGENT", "2-HIGH", "3-MEDIUM",
                                                                "4-NOT SPECIFIED", "5-LOW"};

/* Crystal's generator truncates priorities to 11 characters. */
const char *const order_priority_words_crystal[ORDER_PRIORITY_COUNT] = {"1-URGENT", "2-HIGH", "3-MEDIUM",
                                                                        "4-NOT SPECI", "5-LOW"};

const char *const ship_mode_words[SHIP_MODE_COUNT] = {"AIR",     "FOB",  "MAIL", "RAIL",
                                                      "REG AIR", "SHIP", "TRUCK"};

/* ssb-dbgen's order is REG AIR, AIR, RAIL, TRUCK, MAIL, FOB, SHIP. */
const uint8_t ship_mode_codes[SHIP_MODE_COUNT] = {4, 0, 3, 6, 2, 1, 5};

const char *const type_size_words[6] = {"STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"};
const char *const type_finish_words[5] = {"ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"};
const char *const type_metal_words[5] = {"TIN", "NICKEL", "BRASS", "STEEL", "COPPER"};

const char *const container_size_words[5] = {"SM", "LG", "MED", "JUMBO", "WRAP"};
const char *const container_shape_words[8] = {"CASE", "BOX", "BAG", "JAR", "PACK", "PKG", "CAN", "DRUM"};

const char *const month_words[12] = {"January", "February", "March",     "April",   "May",      "June",
                                     "July",    "August",   "September", "October", "November", "December"};
const char *const weekday_words[7] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                      "Thursday", "Friday", "Saturday"};

const char address_characters[ADDRESS_CHARACTERS + 1] =
    "0123456789abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ,";
