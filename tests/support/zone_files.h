/* zone_files.h: a folder with time zone files of the tests' own, so that they need none of the system's. */
#ifndef TESSERA_TESTS_SUPPORT_ZONE_FILES_H
#define TESSERA_TESTS_SUPPORT_ZONE_FILES_H

#include "tests/support/one_directory.h"

/* Writes a number, most significant byte first. */
static inline void put_number(FILE *file, int64_t number, int bytes)
{
    for (int b = bytes - 1; b >= 0; b--)
        putc((int)((uint64_t)number >> 8 * b & 255), file);
}

/* Writes a header and its block with these changes, all to the second of two types, offsets[0] and offsets[1]. */
static inline void put_block(FILE *file, int time_bytes, const int64_t *changes, uint32_t count,
                             const int32_t offsets[2])
{
    fputs("TZif2", file);
    for (int zero = 0; zero < 15; zero++)
        putc(0, file);
    const uint32_t counts[] = {0, 0, 0, count, 2, 4};
    for (int c = 0; c < 6; c++)
        put_number(file, counts[c], 4);
    for (uint32_t c = 0; c < count; c++)
        put_number(file, changes[c], time_bytes);
    for (uint32_t c = 0; c < count; c++)
        putc(c % 2 == 0, file);
    for (int type = 0; type < 2; type++) {
        put_number(file, offsets[type], 4);
        putc(0, file);
        putc(0, file);
    }
    fwrite("ABC", 1, 4, file);
}

/* Makes the folder of `path` the system's database, with one zone, and gives it a rule for the time after the last
 * change. */
static inline void zone_make(const char *name, const int64_t *changes, uint32_t count,
                             const int32_t offsets[2], const char *rule)
{
    char folder[PATH_BYTES], file[PATH_BYTES + 64];
    snprintf(folder, sizeof folder, "%.*s", (int)(strlen(path) - 3), path);
    snprintf(file, sizeof file, "%s/%s", folder, name);
    setenv("TZDIR", folder, 1);
    *strrchr(file, '/') = '\0';
    mkdir(file, 0777);
    file[strlen(file)] = '/';
    FILE *const out = fopen(file, "wb");
    assert_non_null(out);
    put_block(out, 4, NULL, 0, offsets);
    put_block(out, 8, changes, count, offsets);
    fprintf(out, "\n%s\n", rule);
    fclose(out);
}

#endif
