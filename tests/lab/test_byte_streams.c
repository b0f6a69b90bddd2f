/*
 * test_byte_streams.c: the data of `tessera lab byte-streams` (lab/bytes): they are the same on any number of threads, their
 * ratios are near the paper's, every symbol is counted; damaged blocks are refused; the kernels compile without a GPU.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "lab/bytes/byte_host.h"
#include "lab/bytes/byte_kernel.h"
#include "lab/bytes/byte_symbols.h"
#include "tests/support/gpu/compile_targets.h"
#include "tests/support/lab_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KIB          1024u
#define SET_BYTES    (300u * KIB + 8) /* more than two blocks */
#define PIECE        (4u << 20)       /* of a set */
#define PIECES       (9u << 20)       /* more than two pieces */
#define PIECES_ALIKE 8u

static struct lab lab = {.threads = 2, .repeat = 2, .scale = 1};
static struct error error;

static void make_set(uint32_t kind, uint64_t bytes, unsigned threads, struct byte_set *set)
{
    struct lab other = lab;
    other.threads = threads;
    assert_int_equal(byte_set_make(&other, &byte_set_kinds[kind], bytes, set, &error), STATUS_OK);
}

static void make_streams(const struct byte_set *set, uint32_t format, uint32_t block,
                         struct byte_streams *streams)
{
    assert_int_equal(byte_streams_make(&lab, set, (enum byte_format)format, block, streams, &error),
                     STATUS_OK);
    assert_int_equal(streams->block_count, (set->byte_count + block - 1) / block);
}

/* ---- Sets ---- */

static void sets_do_not_depend_on_threads(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < BYTE_SETS; kind++) {
        struct byte_set one, three;
        make_set(kind, PIECES, 1, &one);
        make_set(kind, PIECES, 3, &three);
        assert_memory_equal(one.bytes, three.bytes, PIECES);
        byte_set_free(&one);
        byte_set_free(&three);
    }
}

static void sets_have_any_size(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < BYTE_SETS; kind++)
        for (uint64_t bytes = 8; bytes < SET_BYTES; bytes = bytes * 3 + 8) {
            struct byte_set set;
            make_set(kind, bytes, 1, &set);
            byte_set_free(&set);
        }
}

/* Beside sizes measured on an H200 with 512 MiB of such data (docs/reproduction/byte-streams.md). A few long runs decide the size of TC2:
 * 4 MiB of it have any. */
static void ratios_are_those_of_such_data(void **state)
{
    static const struct {
        const char *set;
        double ratios[BYTE_FORMATS];
    } wanted[] = {{"MC0", {.024, .026, .014}}, {"MC3", {.043, .044, .018}}, {"TPC", {.869, .645, .115}},
                  {"TPT", {1.40, 1.01, .043}}, {"CD2", {.278, .295, .329}}, {"HRG", {.989, .989, .294}}};
    static const char *const keys[] = {"rle1_ratio", "rle2_ratio", "deflate_ratio"};
    json_t *tables, *const result = lab_tables("byte-streams --scale 0.004 --repeat 1", &tables);
    json_t *const rows = lab_rows_of(tables, "data");
    (void)state;
    for (size_t w = 0; w < sizeof wanted / sizeof *wanted; w++)
        for (uint32_t f = 0; f < BYTE_FORMATS; f++) {
            const double ratio = lab_number(lab_row_of(rows, "set", wanted[w].set), keys[f]);
            assert_true(fabs(ratio / wanted[w].ratios[f] - 1) < 0.12);
        }
    assert_int_equal(json_array_size(rows), BYTE_SETS);
    json_decref(result);
}

/* Pieces of a set are alike, so that its ratios do not move with --scale. TC2's do: few long runs decide its size. */
static void ratios_are_those_of_every_piece(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < BYTE_PAPER_SETS; kind++)
        for (uint32_t f = 0; f < BYTES_DEFLATE;
             f++) { /* Deflate is slow, and its ratios follow from the same bytes */
            struct byte_set set;
            double least = INFINITY, most = 0;
            make_set(kind, PIECES_ALIKE * PIECE, 2, &set);
            for (uint32_t p = 0; p < PIECES_ALIKE; p++) {
                const struct byte_set piece = {set.kind, set.bytes + p * PIECE, PIECE};
                struct byte_streams streams;
                make_streams(&piece, f, 128 * KIB, &streams);
                least = fmin(least, byte_streams_ratio(&streams));
                most = fmax(most, byte_streams_ratio(&streams));
                byte_streams_free(&streams);
            }
            if (strcmp(set.kind->name, "TC2") != 0 && most > 1.05 * least)
                fail_msg("%s, %s: the ratio of a piece is %.4f .. %.4f", set.kind->name, byte_format_names[f],
                         least, most);
            byte_set_free(&set);
        }
}

static void sets_are_chosen_by_name(void **state)
{
    uint32_t left_out = 0;
    json_t *tables, *const result =
                        lab_tables("byte-streams --sets TPC,MC0 --scale 0.0002 --repeat 1", &tables);
    json_t *const rows = lab_rows_of(tables, "data");
    (void)state;
    assert_int_equal(json_array_size(rows), 2);
    lab_row_of(rows, "set", "MC0");
    lab_row_of(rows, "set", "TPC");
    assert_int_equal(json_array_size(lab_rows_of(tables, "Deflate")), 3); /* and the mean, which is missing */
    json_decref(result);
    assert_int_equal(byte_sets_choose("MC0,nowhere", &left_out, &error), STATUS_BAD_INPUT);
    assert_string_equal(error.text,
                        "--sets: there is no set 'nowhere'; there are MC0, MC3, TPC, TPT, CD2, TC2, HRG, "
                        "orderkey, custkey, orderdate, quantity, discount, revenue, lineorder.tbl");
    assert_int_equal(byte_sets_choose("MC", &left_out, &error), STATUS_BAD_INPUT);
}

/* ---- Streams ---- */

/* Runs and literals give all values, copies and literals all bytes. */
static void every_symbol_is_counted(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < BYTE_SETS; kind++) {
        struct byte_set set;
        make_set(kind, SET_BYTES, 2, &set);
        for (uint32_t f = BYTES_RLE1; f < BYTE_FORMATS; f += BYTES_DEFLATE) {
            struct byte_streams streams;
            struct byte_symbols symbols;
            const uint32_t unit = f == BYTES_RLE1 ? set.kind->item_bytes : 1;
            make_streams(&set, f, 64 * KIB, &streams);
            assert_int_equal(byte_symbols_count(&lab, &streams, &symbols, &error), STATUS_OK);
            assert_int_equal(symbols.run_length + symbols.literals, SET_BYTES / unit);
            byte_streams_free(&streams);
        }
        byte_set_free(&set);
    }
}

/* Random bytes, which zlib stores, and few bytes, for which it takes fixed codes. */
static void symbols_of_other_blocks_are_counted(void **state)
{
    static const uint32_t sizes[] = {8, 16, 40, SET_BYTES};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct byte_set set;
        struct byte_streams streams;
        struct byte_symbols symbols;
        uint64_t random = 7;
        make_set(3, sizes[i], 1, &set);
        for (uint32_t b = 0; sizes[i] == SET_BYTES && b < SET_BYTES; b++)
            set.bytes[b] = (uint8_t)random_next(&random);
        make_streams(&set, BYTES_DEFLATE, 128 * KIB, &streams);
        assert_int_equal(byte_symbols_count(&lab, &streams, &symbols, &error), STATUS_OK);
        assert_int_equal(symbols.run_length + symbols.literals, sizes[i]);
        byte_streams_free(&streams);
        byte_set_free(&set);
    }
}

static void known_symbols_are_counted(void **state)
{
    /* A run of 100, five literals, and a run of 8 from a base of three bytes (storage/codec/bytes/orc_rle1.c). */
    static uint8_t bytes[] = {0x61, 0x00, 0x07, 0xfb, 0x02, 0x03, 0x06,
                              0x07, 0x0b, 0x05, 0xff, 0x80, 0x80, 0x01};
    uint64_t start = 0;
    uint32_t length = sizeof bytes;
    const struct byte_streams streams = {
        .format = BYTES_RLE1, .block_count = 1, .starts = &start, .lengths = &length, .bytes = bytes};
    struct byte_symbols symbols;
    (void)state;
    assert_int_equal(byte_symbols_count(&lab, &streams, &symbols, &error), STATUS_OK);
    assert_int_equal(symbols.runs, 2);
    assert_int_equal(symbols.run_length, 108);
    assert_int_equal(symbols.literals, 5);
    assert_true(fabs(byte_symbols_length(&symbols) - 113.0 / 7) < 1e-9);
    assert_true(fabs(byte_symbols_run(&symbols) - 54) < 1e-9);
}

/* Counting reads nothing outside of damaged streams, which sanitizers see. */
static void damaged_symbols_are_counted(void **state)
{
    struct byte_set set;
    uint64_t random = 11;
    (void)state;
    make_set(4, 16 * KIB, 1, &set);
    for (uint32_t f = BYTES_RLE1; f < BYTE_FORMATS; f += BYTES_DEFLATE)
        for (uint32_t i = 0; i < 300; i++) {
            struct byte_streams streams;
            struct byte_symbols symbols;
            make_streams(&set, f, 64 * KIB, &streams);
            uint8_t *const copy = malloc(streams.lengths[0]);
            assert_non_null(copy);
            memcpy(copy, streams.bytes, streams.lengths[0]);
            free(streams.bytes);
            streams.bytes = copy;
            for (uint32_t d = 0; d < 5; d++)
                copy[random_next(&random) % (i % 2 ? 60 : streams.lengths[0])] =
                    (uint8_t)random_next(&random);
            assert_int_equal(byte_symbols_count(&lab, &streams, &symbols, &error), STATUS_OK);
            byte_streams_free(&streams);
        }
    byte_set_free(&set);
}

static void wrong_bytes_are_refused(void **state)
{
    (void)state;
    for (uint32_t f = 0; f < BYTE_FORMATS; f++)
        for (uint32_t host = 0; host < (f == BYTES_DEFLATE ? BYTE_HOSTS : 1); host++) {
            struct byte_set set;
            struct byte_streams streams;
            struct speed speed = {0};
            make_set(4, SET_BYTES, 2, &set);
            make_streams(&set, f, 128 * KIB, &streams);
            assert_int_equal(byte_host_measure(&lab, &streams, (enum byte_host)host, &speed, &error),
                             STATUS_OK);
            assert_true(speed.least > 0 && speed.median >= speed.least);
            set.bytes[SET_BYTES - 1] ^= 1;
            assert_int_equal(byte_host_measure(&lab, &streams, (enum byte_host)host, &speed, &error),
                             STATUS_CHECK_FAILED);
            assert_non_null(strstr(error.text, "decodes to other bytes"));
            streams.lengths[1] /= 2;
            assert_int_equal(byte_host_measure(&lab, &streams, (enum byte_host)host, &speed, &error),
                             STATUS_CHECK_FAILED);
            assert_non_null(strstr(error.text, "block 1 is not decoded"));
            byte_streams_free(&streams);
            byte_set_free(&set);
        }
}

/* ---- Kernels ---- */

static void compile(const char *name, char *source)
{
    if (compile_source(name, source, compile_sm_90->arch, NULL, &error) != STATUS_OK)
        fail_msg("%s: %s", name, error.text);
    free(source);
}

static void kernels_compile(void **state)
{
    char *source, name[64], kernel[BYTE_KERNEL_NAME_BYTES];
    (void)state;
    need_compile_targets();
    assert_int_equal(byte_kernel_compare(&source, &error), STATUS_OK);
    compile(BYTE_KERNEL_COMPARE, source);
    for (uint32_t d = 0; d < BYTE_DECODERS; d++)
        for (uint32_t f = 0; f < BYTE_FORMATS; f++)
            for (uint32_t bytes = 1; bytes <= (f == BYTES_DEFLATE ? 1 : 8); bytes *= 2) {
                snprintf(name, sizeof name, "%s, %s, %u", byte_decoder_names[d], byte_format_names[f], bytes);
                assert_int_equal(
                    byte_kernel_text((enum byte_decoder)d, (enum byte_format)f, bytes, &source, &error),
                    STATUS_OK);
                assert_non_null(
                    strstr(source, byte_kernel_name((enum byte_decoder)d, (enum byte_format)f, kernel)));
                compile(name, source);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_do_not_depend_on_threads),
        cmocka_unit_test(sets_have_any_size),
        cmocka_unit_test(ratios_are_those_of_such_data),
        cmocka_unit_test(ratios_are_those_of_every_piece),
        cmocka_unit_test(sets_are_chosen_by_name),
        cmocka_unit_test(every_symbol_is_counted),
        cmocka_unit_test(symbols_of_other_blocks_are_counted),
        cmocka_unit_test(known_symbols_are_counted),
        cmocka_unit_test(damaged_symbols_are_counted),
        cmocka_unit_test(wrong_bytes_are_refused),
        cmocka_unit_test(kernels_compile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
