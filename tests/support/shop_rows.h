/*
 * shop_rows.h: what tests of loads share: a star schema of three tables by name, folders for two databases that are
 * compared, and numbers from which rows are made. Included once by a test program, after cmocka.
 */
#ifndef TESSERA_TESTS_SUPPORT_SHOP_ROWS_H
#define TESSERA_TESTS_SUPPORT_SHOP_ROWS_H

#include "tests/support/two_directories.h"

enum { REGIONS, SHOPS, SALES, TABLES };
static const char *const names[TABLES] = {"regions", "shops", "sales"};

/* A number that depends on `number` alone. */
static uint32_t scramble(uint64_t number)
{
    number = (number + 1) * 0x9e3779b97f4a7c15ull;
    return (uint32_t)((number ^ number >> 29) * 0xbf58476d1ce4e5b9ull >> 33);
}

#endif
