/*
 * test_columnar_fuzz.c: damaged ORC and Parquet files are refused with a sentence, or give rows, and never read or
 * write outside of what is theirs: build with TESSERA_SANITIZE, as `make check` does. Three kinds of damage are done to
 * the files of tests/data/orc and tests/data/parquet: to the bytes of the file, which mostly hits the metadata and what
 * is not compressed; to the metadata's numbers, which are made large; and to streams and pages after they were
 * decompressed. And each byte of a small file is wrong once, and is missing once with all after it.
 *
 * Without arguments it does the same rounds every time, about a minute with sanitizers. `test_columnar_fuzz SECONDS
 * SEED` does more of the same; a SEED of 0 takes it from the clock.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "loader/columnar/columnar_bounds.h"
#include "loader/infer/infer.h"
#include "storage/base/clock.h"
#include "tests/fuzz/fuzz_random.h"
#include "tests/loader/orc/orc_cases.h"
#include "tests/loader/parquet/parquet_cases.h"

#define FILE_ROUNDS   400u
#define STREAM_ROUNDS 400u
#define FILE_BYTES    (1u << 16)
#define MEMORY        (64u << 20) /* hostile numbers ask for more */

/* A format's files, and those without compression and checksums, which are hit more deeply. */
struct kind {
    const struct columnar_files *files;
    const char *plain[6];
};
static const struct kind kinds[] = {
    {&orc_files, {"pyorc-chunks-none", "pyarrow-rows-0.12-uncompressed"}},
    {&parquet_files,
     {"hand-old", "pyarrow-full-plain", "pyarrow-rows-v2-none", "duckdb-rows-v2-uncompressed",
      "duckdb-rows-v1-uncompressed", "pyarrow-types"}}};

static uint64_t seed = 20261122, loads;
static double seconds; /* of each test; 0: the rounds above */

static bool goes_on(double begin, uint64_t round, uint64_t rounds)
{
    return seconds > 0 ? clock_seconds() - begin < seconds : round < rounds;
}

static const char *any_name(const struct kind *kind)
{
    const uint32_t plain = kind->plain[2] ? 6 : 2;
    return chance(60) ? kind->plain[below(plain)] : kind->files->names[below((uint32_t)kind->files->count)];
}

static size_t read_whole(const struct kind *kind, const char *name, uint8_t bytes[FILE_BYTES])
{
    char whole[PATH_BYTES];
    snprintf(whole, sizeof whole, "%s%s%s", kind->files->folder, name, kind->files->ending);
    FILE *const file = fopen(whole, "rb");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, FILE_BYTES, file);
    assert_true(size > 0 && size < FILE_BYTES);
    fclose(file);
    return size;
}

/* What went wrong is told; what the file asked of memory may be more than there is. */
static void load_or_refuse(const char *script, const char *file, const struct load_options *options,
                           uint64_t round)
{
    const char *const files[] = {file};
    struct load_report report;
    struct error why = {0};
    const enum status status = columnar_load(script, files, 1, *options, &report, &why);
    loads++;
    if (status != STATUS_OK && status != STATUS_BAD_INPUT && status != STATUS_MACHINE)
        fail_msg("round %llu: status %d", (unsigned long long)round, (int)status);
    if (status != STATUS_OK && strlen(why.text) < 10)
        fail_msg("round %llu: status %d, \"%s\"", (unsigned long long)round, (int)status, why.text);
}

/* A schema is inferred from the file, or it is refused. */
static void infer_or_refuse(const char *file, uint64_t round)
{
    const struct load_input input = {.table = "t", .paths = &file, .path_count = 1};
    struct error why = {0};
    FILE *const out = fopen("/dev/null", "w");
    assert_non_null(out);
    const enum status status = schema_infer(
        &(struct load_options){.inputs = &input, .input_count = 1, .memory = MEMORY}, NULL, out, &why);
    fclose(out);
    if (status != STATUS_OK &&
        ((status != STATUS_BAD_INPUT && status != STATUS_MACHINE) || strlen(why.text) < 10))
        fail_msg("round %llu: infer: status %d, \"%s\"", (unsigned long long)round, (int)status, why.text);
}

/* What the file says of its columns is taken or not; its texts can be read. */
static void ask_or_refuse(const char *script, const char *file, uint64_t round)
{
    struct schema_script tables;
    struct columnar_parts *parts;
    struct columnar_bounds bounds;
    struct error why = {0};
    uint64_t sum = 0;
    assert_int_equal(schema_script_parse("t.sql", script, strlen(script), &tables, &why), STATUS_OK);
    const enum status status = columnar_parts_open(&file, 1, &parts, &why);
    if (status != STATUS_OK &&
        ((status != STATUS_BAD_INPUT && status != STATUS_MACHINE) || strlen(why.text) < 10))
        fail_msg("round %llu: parts: status %d, \"%s\"", (unsigned long long)round, (int)status, why.text);
    for (uint64_t p = 0; parts && p < columnar_parts_count(parts) && p < 1000; p++)
        for (uint32_t c = 0; c < tables.tables[0].column_count; c++) {
            assert_int_equal(columnar_parts_bounds(parts, p, &tables.tables[0].columns[c], &bounds, &why),
                             STATUS_OK);
            assert_true(bounds.low <= bounds.high);
            for (uint32_t b = 0; b < bounds.low_text.length; b++)
                sum += (uint8_t)bounds.low_text.text[b];
            for (uint32_t b = 0; b < bounds.high_text.length; b++)
                sum += (uint8_t)bounds.high_text.text[b];
        }
    assert_true(sum < UINT64_MAX);
    columnar_parts_free(parts);
    schema_script_free(&tables);
}

/* Makes one byte large, or a number in base 128 long, somewhere in the last bytes, where the metadata is. */
static void enlarge(uint8_t *bytes, size_t size)
{
    const uint32_t last = size < 1200 ? (uint32_t)size : 1200;
    const size_t at = size - 1 - below(last);
    const uint32_t count = 1 + below(9);
    for (size_t i = at; i < size && i < at + count; i++)
        bytes[i] |= 0x80;
}

/* Writes damaged bytes to a file whose name has its format's ending, and loads it. */
static void load_bytes(const struct kind *kind, const char *script, const uint8_t *bytes, size_t size,
                       const struct load_options *options, uint64_t round)
{
    char file[PATH_BYTES + 64];
    snprintf(file, sizeof file, "%.*s/damaged%s", (int)(strlen(path) - 3), path, kind->files->ending);
    FILE *const out = fopen(file, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, size, out), size);
    fclose(out);
    load_or_refuse(script, file, options, round);
    ask_or_refuse(script, file, round);
    if (chance(20))
        infer_or_refuse(file, round);
}

static const char *script_of(const char *name)
{
    return strcmp(name, "hand-old") == 0
               ? "CREATE TABLE t (number INT, again INT, word TEXT, price DECIMAL(9,2))"
           : strcmp(name, "pyarrow-types") == 0
               ? "CREATE TABLE t (u8 INT, u32 BIGINT, u64 DOUBLE, none INT, raw TEXT, single DOUBLE, ratio "
                 "DOUBLE, "
                 "milli TIMESTAMP, utc TIMESTAMP, nano TIMESTAMP, wide DOUBLE)"
               : columnar_script;
}

static void damaged_files_are_refused_or_read(void **state)
{
    static uint8_t bytes[FILE_BYTES];
    const double begin = clock_seconds();
    (void)state;
    random_state = seed * 2 + 1;
    for (uint64_t round = 0; goes_on(begin, round, FILE_ROUNDS); round++) {
        const struct kind *const kind = &kinds[below(2)];
        const char *const name = any_name(kind);
        size_t size = read_whole(kind, name, bytes);
        if (chance(30))
            enlarge(bytes, size);
        else
            size = mutate(bytes, size);
        load_bytes(
            kind, script_of(name), bytes, size,
            &(struct load_options){.memory = MEMORY, .codecs = "plain", .max_errors = chance(50) ? 1000 : 0},
            round);
    }
}

static void every_byte_may_be_wrong_or_missing(void **state)
{
    static uint8_t bytes[FILE_BYTES];
    const struct load_options options = {.memory = MEMORY, .codecs = "plain", .threads = 1};
    const size_t size = read_whole(&kinds[1], "hand-old", bytes);
    (void)state;
    for (size_t at = 0; at < size; at++) {
        bytes[at] ^= 0xff;
        load_bytes(&kinds[1], script_of("hand-old"), bytes, size, &options, at);
        bytes[at] ^= 0xff;
        load_bytes(&kinds[1], script_of("hand-old"), bytes, at, &options, at);
    }
}

/* ---- Streams that are damaged after they were decompressed ---- */

static enum status damaging(const struct byte_decoder *decoder, struct byte_job *jobs, uint64_t count,
                            struct error *why)
{
    (void)decoder;
    const enum status status = byte_decoder_host.decode(&byte_decoder_host, jobs, count, why);
    for (uint64_t j = 0; j < count; j++)
        if (!jobs[j].bad && jobs[j].out_bytes && chance(15))
            jobs[j].out_bytes = (uint32_t)mutate(jobs[j].out, jobs[j].out_bytes);
    return status;
}

static void damaged_streams_are_refused_or_read(void **state)
{
    const struct byte_decoder decoder = {
        .schemes = byte_decoder_host.schemes, .batch_bytes = 1u << 20, .decode = damaging};
    const double begin = clock_seconds();
    (void)state;
    random_state = seed * 2 + 3;
    for (uint64_t round = 0; goes_on(begin, round, STREAM_ROUNDS); round++) {
        const struct columnar_files *const files = kinds[below(2)].files;
        char file[PATH_BYTES];
        snprintf(file, sizeof file, "%s%s%s", files->folder, files->names[below((uint32_t)files->count)],
                 files->ending);
        load_or_refuse(columnar_script, file,
                       &(struct load_options){.memory = MEMORY,
                                              .codecs = "plain",
                                              .decoder = &decoder,
                                              .max_errors = chance(50) ? 1000 : 0},
                       round);
    }
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(damaged_files_are_refused_or_read, setup, teardown),
        cmocka_unit_test_setup_teardown(every_byte_may_be_wrong_or_missing, setup, teardown),
        cmocka_unit_test_setup_teardown(damaged_streams_are_refused_or_read, setup, teardown),
    };
    seconds = count > 1 ? atof(arguments[1]) / 2 : 0;
    seed = count > 2 ? strtoull(arguments[2], NULL, 10) : seed;
    seed = seed ? seed : (uint64_t)(clock_seconds() * 1e6);
    print_message("seed %llu\n", (unsigned long long)seed);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    print_message("%llu damaged files\n", (unsigned long long)loads);
    return failed;
}
