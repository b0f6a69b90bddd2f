/*
 * test_codec_names.c: a codec's name stands in its own files, in the registry, in tables of costs and in the docs, and
 * nowhere else: so a codec is added by writing its files and one line. Also what `tessera codecs` lists.
 *
 * Forbidden elsewhere are CODEC_NAME, decode_name and codec_name for every codec; its name as a word, with - or _, where
 * it is two words; where it is one, which may be plain English, that name in quotes.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/codec/codec.h"
#include "tests/support/run_program.h"

#include <ctype.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 512

/* Where codecs have their files, and the registry; and the papers' experiments and methods of decoding, which are those of the
 * schemes that the papers compare; and the kernel that is compiled ahead, which has a decoder of each codec in it. */
static const char *const own[] = {"storage/codec/codec_list.h",
                                  "storage/codec/costs/",
                                  "lab/experiments/",
                                  "lab/published/",
                                  "lab/kernels/published/",
                                  "lab/kernels/bytes_published/",
                                  "lab/bytes/",
                                  "storage/codec/integer/",
                                  "storage/codec/cascade/",
                                  "storage/codec/bytes/",
                                  "operators/decode/",
                                  "operators/general/"};
static const char *const searched[] = {
    "storage", "operators", "engine",       "loader",         "ssb",          "lab",
    "cmake",   "Makefile",  "tests/gpu.sh", "CMakeLists.txt", "tests/benches"};

struct pattern {
    char text[64];
    bool whole; /* a word, not a part of one */
};
static struct pattern patterns[5 * CODEC_COUNT];
static uint32_t pattern_count, files, offences;

static void pattern_add(const char *before, const char *name, char hyphen, bool upper, const char *after,
                        bool whole)
{
    struct pattern *pattern = &patterns[pattern_count++];
    snprintf(pattern->text, sizeof pattern->text, "%s%s%s", before, name, after);
    pattern->whole = whole;
    for (char *c = pattern->text + strlen(before); *c; c++)
        *c = *c == '-' ? hyphen : upper ? (char)toupper(*c) : *c;
}

static void patterns_make(void)
{
    for (uint32_t id = 1; id < CODEC_COUNT; id++) {
        const char *const name = codec_by_id(id)->name;
        pattern_add("CODEC_", name, '_', true, "", true);
        pattern_add("decode_", name, '_', false, "", true);
        pattern_add("codec_", name, '_', false, "", true);
        if (strchr(name, '-')) {
            pattern_add("", name, '-', false, "", true);
            pattern_add("", name, '_', false, "", true);
        } else {
            pattern_add("\"", name, '-', false, "\"", false);
        }
    }
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

static bool has(const char *line, const struct pattern *pattern)
{
    const size_t length = strlen(pattern->text);
    for (const char *at = line; (at = strstr(at, pattern->text)); at++)
        if (!pattern->whole || ((at == line || !is_word(at[-1])) && !is_word(at[length])))
            return true;
    return false;
}

static int visit(const char *path, const struct stat *stat, int type, struct FTW *where)
{
    const char *const file = path + strlen(TESSERA_SOURCE) + 1;
    char line[4096];
    (void)stat;
    (void)where;
    if (type != FTW_F)
        return 0;
    for (size_t o = 0; o < sizeof own / sizeof *own; o++)
        if (strncmp(file, own[o], strlen(own[o])) == 0)
            return 0;
    /* Benches measure two codecs against each other, and the script for GPUs leaves the one that needs levels to the keys that have
     * it; they may list none. */
    const bool bench = strncmp(file, "tests/benches/", 14) == 0 || strcmp(file, "tests/gpu.sh") == 0;
    FILE *stream = fopen(path, "re");
    assert_non_null(stream);
    files++;
    for (int number = 1; fgets(line, sizeof line, stream); number++) {
        uint32_t named = 0;
        for (uint32_t p = 0; p < pattern_count; p++)
            named += has(line, &patterns[p]);
        if (named > (bench ? 2 : 0)) {
            print_error("%s:%d: names a codec: %s", file, number, line);
            offences++;
        }
    }
    fclose(stream);
    return 0;
}

static void nobody_else_names_a_codec(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    patterns_make();
    for (size_t s = 0; s < sizeof searched / sizeof *searched; s++) {
        snprintf(path, sizeof path, "%s/%s", TESSERA_SOURCE, searched[s]);
        nftw(path, visit, 16, FTW_PHYS);
    }
    assert_true(files > 200);
    assert_int_equal(offences, 0);
}

static void patterns_find_names(void **state)
{
    (void)state;
    const struct pattern whole = {"lane-for", true}, part = {"\"plain\"", false};
    assert_true(has("of lane-for's", &whole));
    assert_true(has("lane-for", &whole));
    assert_false(has("lane-forward", &whole));
    assert_false(has("x-lane-for", &whole));
    assert_true(has("f(\"plain\")", &part));
    assert_false(has("in plain English", &part));
}

static struct program_run run; /* large, so not on the stack */

static void the_program_lists_them(void **state)
{
    (void)state;
    static const char *const formats[] = {"table", "csv", "json"};
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        char command[64];
        snprintf(command, sizeof command, "$T codecs --format %s", formats[f]);
        run_shell(command, &run);
        assert_int_equal(run.exit_code, 0);
        assert_string_equal(run.errors, "");
        for (uint32_t id = 1; id < CODEC_COUNT; id++) {
            assert_non_null(strstr(run.output, codec_by_id(id)->name));
            assert_non_null(strstr(run.output, codec_by_id(id)->family));
            assert_non_null(strstr(run.output, codec_by_id(id)->summary));
        }
    }
    run_shell("$T codecs --format xml", &run);
    assert_int_equal(run.exit_code, 2);
    run_shell("$T codecs all", &run);
    assert_int_equal(run.exit_code, 2);
}

/* Two codecs are found by what they are, whatever their names. */
static void layouts_have_a_codec(void **state)
{
    (void)state;
    const struct codec *baseline = codec_baseline(), *array = codec_array();
    assert_true(baseline->random_access && baseline->holds_int64 && array->random_access);
    for (uint32_t id = 1; id < CODEC_COUNT; id++) {
        const struct codec *codec = codec_by_id(id);
        assert_int_equal(codec->id, id);
        assert_ptr_equal(codec_by_name(codec->name), codec);
        assert_int_equal(codec->layout == CODEC_LAYOUT_VALUES, codec == baseline);
        assert_int_equal(codec->layout == CODEC_LAYOUT_ARRAY, codec == array);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_find_names),
        cmocka_unit_test(nobody_else_names_a_codec),
        cmocka_unit_test(the_program_lists_them),
        cmocka_unit_test(layouts_have_a_codec),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
