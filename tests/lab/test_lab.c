/*
 * test_lab.c: `tessera lab` as a user runs it, on the processor: all experiments at a 5000th of the papers' rows, whose
 * tables and report are checked. test_lab_runs.c has what is refused and what Ctrl-C leaves.
 *
 * The experiments themselves compare every decoded value and every answer.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/lab_tables.h" /* first: its functions have names that lab_shell.h has for files */
#include "tests/lab/lab_shell.h"
#include "tests/support/well_formed.h"

#include "ssb/data/generator.h"
#include "storage/codec/codec.h"

#include <math.h>

#define SCALE      "0.0002" /* 50000 rows where a paper has 250 million */
#define KEYS_BYTES 1024

/* ---- What `lab all` printed and wrote ---- */

static json_t *experiments;
static char *report;

static char *read_text(const char *file)
{
    FILE *const stream = fopen(file, "r");
    assert_non_null(stream);
    char *text = NULL;
    size_t bytes = 0;
    assert_true(getdelim(&text, &bytes, '\0', stream) > 0);
    fclose(stream);
    return text;
}

static int measure_all(void **state)
{
    char file[PATH_BYTES + 32], *text;
    setup(state);
    setenv("TESSERA_NVCOMP", "/nowhere", 1);
    assert_int_equal(shell("mkdir $D"), 0);
    const int code = shell("TMPDIR=$D \"$T\" lab all --device cpu --scale " SCALE
                           " --repeat 1 --format json --report $D.html > $D.json");
    assert_string_equal(run.errors, "");
    assert_int_equal(code, 0);
    assert_true(is_empty_folder());
    snprintf(file, sizeof file, "%s.html", path);
    report = read_text(file);
    snprintf(file, sizeof file, "%s.json", path);
    json_t *const result = json_loads(text = read_text(file), 0, NULL);
    assert_non_null(result);
    assert_true(fabs(lab_number(result, "scale") - strtod(SCALE, NULL)) < 1e-9);
    assert_int_equal(lab_number(result, "repeat"), 1);
    assert_true(lab_number(result, "read_ceiling") > 1e8);
    experiments = json_incref(json_object_get(result, "experiments"));
    json_decref(result);
    free(text);
    return 0;
}

static int forget_all(void **state)
{
    json_decref(experiments);
    free(report);
    return teardown(state);
}

static const char *text_of(json_t *object, const char *key)
{
    const char *const text = json_string_value(json_object_get(object, key));
    assert_non_null(text);
    return text;
}

static json_t *tables_of(const char *experiment)
{
    return json_object_get(lab_row_of(experiments, "name", experiment), "tables");
}

static void all_is_what_list_prints(void **state)
{
    char names[EXPERIMENTS_MAX][32];
    const uint32_t count = list_names(names);
    (void)state;
    assert_int_equal(json_array_size(experiments), count);
    for (uint32_t e = 0; e < count; e++)
        assert_string_equal(text_of(json_array_get(experiments, e), "name"), names[e]);
}

/* ---- Tables ---- */

/* A table: the experiment, how its caption begins, its columns. */
struct shape {
    const char *experiment, *caption, *keys;
    bool every_codec; /* each that a query can decode has a row */
};
static const struct shape shapes[] = {
    {"optimisations", "decoding 100000 values of U(0, 2^16)",
     "kernel,sum_ms,paper_ms,times_base,paper_times_base,memory_ms,memory_least_ms,memory_most_ms,"
     "memory_times_base,gb_per_second,percent_of_read",
     false},
    {"widths", "what the paper says of figure 7", "claim,paper,least,mean,most", false},
    {"distributions", "what the paper says of figure 8, D1", "claim,paper,least,mean,most", false},
    {"distributions", "what the paper says of figure 8, D2", "claim,paper,least,mean,most", false},
    {"distributions", "what the paper says of figure 8, D3", "claim,paper,least,mean,most", false},
    {"ssb-columns", "systems",
     "system,paper,bytes,ratio,paper_ratio,memory_ms,memory_to_gpu_star,paper_memory_to_gpu_star,sum_ms",
     false},
    {"ssb-columns", "figure 9: size of each column by system, MB",
     "column,plain_mb,gpu-star_mb,auto_mb,planner_mb,gpu-bp128_mb,cascades_mb", false},
    {"ssb-columns", "figure 10a: decoding to memory", "claim,paper,least,mean,most", false},
    {"ssb-columns", "decoding each column to memory by system, ms",
     "column,plain_ms,gpu-star_ms,auto_ms,planner_ms,gpu-bp128_ms,cascades_ms", false},
    {"ssb-columns", "which codec",
     "column,gpu-star,gpu-star_bits,smallest,smallest_bits,auto,auto_bits,cascades,cascades_bits", false},
    {"ssb-queries", "queries over",
     "system,ms_q1.1,ms_q1.2,ms_q1.3,ms_q2.1,ms_q2.2,ms_q2.3,ms_q3.1,ms_q3.2,ms_q3.3,ms_q3.4,ms_q4.1,ms_q4.2,"
     "ms_q4.3,"
     "mean_ms,to_plain",
     false},
    {"ssb-queries", "systems", "system,paper,mean_ms,to_plain,to_gpu_star,paper_to_gpu_star,sum_ms,stage_ms",
     false},
    {"inline-query", "queries decoded in their kernels",
     "query,method,bytes,ms,least_ms,most_ms,to_plain,to_d4,paper_to_d4,percent_of_read", false},
    {"coprocessor", "columns on the host",
     "system,q1.1_ms,q2.1_ms,q3.1_ms,q4.1_ms,mean_ms,times_none,paper_times_none,moved_bytes,gb_per_second",
     false},
    {"random-access", "whole tiles are decoded",
     "codec,ms_0,ms_1e-06,ms_1e-05,ms_0.0001,ms_0.001,ms_0.01,ms_0.03125,ms_0.1,ms_0.5,ms_1,paper_ms", true},
    {"random-access", "selected rows are read one by one",
     "codec,ms_0,ms_1e-06,ms_1e-05,ms_0.0001,ms_0.001,ms_0.01,ms_0.03125,ms_0.1,ms_0.5,ms_1,paper_ms", false},
    {"encode", "encoding 50000 uniform values of 16 bits",
     "codec,bits,seconds,values_per_second_1e9,values_per_second_and_thread_1e9,paper_seconds,"
     "paper_values_per_second_1e9,paper_values_per_second_and_core_1e9",
     true},
    {"posting-lists", "bits an integer: lists of 13 and 6710",
     "method,bits_uniform_sparse,paper_bits_uniform_sparse,bits_uniform_dense,paper_bits_uniform_dense,"
     "bits_clustered_sparse,paper_bits_clustered_sparse,bits_clustered_dense,paper_bits_clustered_dense",
     false},
    {"posting-lists", "clustered lists: the paper's",
     "integers,draws,method,least_bits,mean_bits,most_bits,paper_bits", false},
    {"posting-lists", "uniform lists: G integers/s",
     "integers,BP32_gintegers_per_second,SIMD-BP_gintegers_per_second,GPU-BP128_as_published_gintegers_per_"
     "second,GPU-BP128_ours_gintegers_per_second,GPU-BP256_as_published_gintegers_per_second,GPU-BP256_ours_"
     "gintegers_per_second,VarintGB_gintegers_per_second,StreamVByte_gintegers_per_second,GPU-VByte128_as_"
     "published_gintegers_per_second,GPU-VByte128_ours_gintegers_per_second,GPU-VByte1024_as_published_"
     "gintegers_per_second,GPU-VByte1024_ours_gintegers_per_second",
     false},
    {"posting-lists", "uniform lists: the paper's remarks", "remark,as_published,ours,paper", false},
    {"posting-lists", "uniform lists: speed-up over BP32 on",
     "integers,paper_integers,GPU-BP128_as_published,GPU-BP128_ours,GPU-BP128_paper,GPU-BP256_as_published,"
     "GPU-BP256_ours,GPU-BP256_paper",
     false},
    {"posting-lists", "uniform lists: speed-up over VarintGB on",
     "integers,paper_integers,GPU-VByte128_as_published,GPU-VByte128_ours,GPU-VByte128_paper,GPU-VByte1024_"
     "as_published,GPU-VByte1024_ours,GPU-VByte1024_paper",
     false},
    {"posting-lists", "uniform lists: speed-up over SIMD-BP on",
     "integers,paper_integers,GPU-BP128_as_published,GPU-BP128_ours,GPU-BP128_paper,GPU-BP256_as_published,"
     "GPU-BP256_ours,GPU-BP256_paper",
     false},
    {"posting-lists", "uniform lists: speed-up over StreamVByte on",
     "integers,paper_integers,GPU-VByte128_as_published,GPU-VByte128_ours,GPU-VByte128_paper,GPU-VByte1024_"
     "as_published,GPU-VByte1024_ours,GPU-VByte1024_paper",
     false},
    {"posting-queries", "queries over synthetic lists",
     "lists,shortest,longest,and_documents,or_documents,sum_cpu_ms,sum_gpu_ms,and_cpu_ms,and_gpu_ms,or_cpu_"
     "ms,"
     "or_gpu_ms,whole_and_simd_bp_ms,whole_and_published_ms,whole_and_ours_ms,whole_or_simd_bp_ms,"
     "whole_or_published_ms,whole_or_ours_ms",
     false},
    {"posting-queries", "decoding all lists of a query",
     "lists,shortest,longest,BP32_ms,SIMD-BP_ms,GPU-BP128_as_published_ms,GPU-BP128_ours_ms,"
     "GPU-BP256_as_published_ms,GPU-BP256_ours_ms,VarintGB_ms,StreamVByte_ms,GPU-VByte128_as_published_ms,"
     "GPU-VByte128_ours_ms,GPU-VByte1024_as_published_ms,GPU-VByte1024_ours_ms",
     false},
    {"posting-queries", "decoding the lists of all queries",
     "method,bits,paper_gov2_bits,paper_clueweb09_bits,published_mintegers_per_second,ours_mintegers_per_"
     "second,"
     "paper_gov2_mintegers_per_second,paper_clueweb09_mintegers_per_second,over,published_times,ours_times,"
     "paper_gov2_times,paper_clueweb09_times",
     false},
    {"pattern", "a pattern of 1024 values",
     "codec,way,level,ratio,io_ms,paper_io_ms,memory_ms,paper_memory_ms,computation_ms,computation_least_ms,"
     "computation_most_ms,paper_computation_ms,sum_ms,paper_sum_ms,computation_to_none,"
     "paper_computation_to_none,gb_per_second,times_read_ceiling",
     false},
    {"series-sizes", "ratio of 65536 values",
     "series,about,pfor_ratio,pfor_diff_ratio,lane_delta_ratio,lane_pfor_ratio,gzip_ratio,bzip2_ratio,"
     "gzip_text_ratio,bzip2_text_ratio,light_ratio,paper_light_ratio,light_to_gzip,light_to_gzip_text,"
     "paper_light_to_gzip,bzip2_to_gzip,bzip2_to_gzip_text,paper_bzip2_to_gzip",
     false},
    {"series-sizes", "all eight series",
     "method,ratio,compress_mb_per_second,restore_mb_per_second,restore_to_gzip,paper_restore_to_gzip",
     false},
    {"byte-streams", "data: sets of 0.11 MB in blocks of 128 KiB",
     "set,about,item_bytes,rle1_ratio,rle1_ratio_paper,rle2_ratio,rle2_ratio_paper,deflate_ratio,"
     "deflate_ratio_paper,rle1_symbol,rle1_run,rle1_symbol_paper,deflate_symbol,deflate_copy,"
     "deflate_symbol_paper",
     false},
    {"byte-streams", "RLE v1 on the processor", "set,ours_gb_per_second", false},
    {"byte-streams", "RLE v2 on the processor", "set,ours_gb_per_second", false},
    {"byte-streams", "Deflate on the processor", "set,libdeflate_gb_per_second,zlib_gb_per_second", false},
    {"decode-threads", "decoding by one lane and by all",
     "operations,accesses,one_ms,one_goperations_per_second,all_ms,all_goperations_per_second,difference_"
     "percent,paper_percent",
     false},
    {"bitmaps", "on the processor",
     "column,vectors,rows,compressed_bytes,pairs_ms,levels_ms,sequential_ms,pieces_ms,flat_ms,croaring_ms,"
     "croaring_bytes",
     false},
    {"bitmaps", "index against scan on one thread of the processor",
     "values,vectors,rows,index_bytes,index_ms,scan_bytes,scan_ms,speedup", false},
    {"bitmaps", "the ranges for which the index is faster than the scan", "values,cpu_vectors", false},
    {"pattern", "speed-up",
     "paper_megabytes,megabytes,codec,way,level,io_speedup,paper_io_speedup,computation_speedup,"
     "computation_speedup_all,paper_computation_speedup,speedup,speedup_all,paper_speedup",
     false},
};
#define SHAPES (sizeof shapes / sizeof *shapes)

/* Three tables, of sizes, of decoding to memory and to a sum, with a column for each point. */
static const struct grid_shape {
    const char *experiment, *title, *points;
    bool rates, peers; /* values a second instead of ms; with nvCOMP, whose figures are missing here */
    bool paper;        /* with the rows' names in the paper */
} grids[] = {
    {"widths", "uniform values", "2,4,6,8,10,12,14,16,18,20,22,24,26,28,30", false, true, true},
    {"distributions", "D1, sorted", "13,52,209,838,3355,13421,50000", false, false,
     true}, /* the paper's 2^16 .. 2^28 at this scale, and at most as many as there are values */
    {"distributions", "D2, normal", "64,1024,16384,262144,4194304,67108864,1073741824", false, false, true},
    {"distributions", "D3, Zipf", "1,2,3,4,5", false, false, true},
    {"ssb-columns", "columns of lineorder",
     "orderkey,linenumber,custkey,partkey,suppkey,orderdate,orderpriority,shippriority,quantity,"
     "extendedprice,ordtotalprice,discount,revenue,supplycost,tax,commitdate,shipmode",
     false, true, true},
    {"posting-lists", "lists of 13 and 6710 integers",
     "uniform_sparse,uniform_dense,clustered_sparse,clustered_dense", true, false, false},
    {"posting-lists", "uniform lists", "13,26,52,104,209,419,838,1677,3355,6710", true, false, false},
};
#define GRIDS (sizeof grids / sizeof *grids)

/* Writes the columns' names of the row, separated by commas. */
static void keys_of(json_t *row, char keys[KEYS_BYTES])
{
    const char *key;
    json_t *cell;
    size_t length = 0;
    *keys = '\0';
    json_object_foreach(row, key, cell)
    {
        length += (size_t)snprintf(keys + length, KEYS_BYTES - length, "%s%s", length ? "," : "", key);
        assert_true(length < KEYS_BYTES);
    }
}

static void assert_columns(json_t *rows, const char *wanted)
{
    char keys[KEYS_BYTES];
    size_t r;
    json_t *row;
    assert_true(json_array_size(rows) > 0);
    json_array_foreach(rows, r, row)
    {
        keys_of(row, keys);
        assert_string_equal(keys, wanted);
    }
}

/* Byte streams are only measured if --codecs names them. */
static bool is_measured(uint32_t id)
{
    return strcmp(codec_by_id(id)->family, "byte streams") != 0;
}

static void assert_every_codec(json_t *rows)
{
    for (uint32_t id = 1; id < CODEC_COUNT; id++)
        if (is_measured(id) && !codec_is_staged(codec_by_id(id), false))
            lab_row_of(rows, "codec", codec_by_id(id)->name);
}

static void tables_have_their_columns(void **state)
{
    (void)state;
    for (size_t s = 0; s < SHAPES; s++) {
        json_t *const rows = lab_rows_of(tables_of(shapes[s].experiment), shapes[s].caption);
        assert_columns(rows, shapes[s].keys);
        if (shapes[s].every_codec)
            assert_every_codec(rows);
    }
}

/* The name of a grid's column: "memory_ms_16". */
static void grid_key(const struct grid_shape *grid, uint32_t metric, const char *point, char key[64])
{
    static const char *const keys[2][3] = {{"bits", "memory_ms", "sum_ms"},
                                           {"bits", "memory_gvalues_per_second", "sum_gvalues_per_second"}};
    snprintf(key, 64, "%s_%.*s", keys[grid->rates][metric], (int)strcspn(point, ","), point);
}

static const char *next_point(const char *point)
{
    point += strcspn(point, ",");
    return *point ? point + 1 : NULL;
}

static void find_grid(const struct grid_shape *grid, json_t *rows[3])
{
    static const char *const metrics[] = {"size, bits a value", "decode to memory, ", "decode and sum, "};
    for (uint32_t m = 0; m < 3; m++) {
        char caption[128];
        snprintf(caption, sizeof caption, "%s: %s%s", grid->title, metrics[m],
                 m == 0        ? ""
                 : grid->rates ? "G values/s"
                               : "ms");
        rows[m] = lab_rows_of(tables_of(grid->experiment), caption);
    }
}

static void grids_have_their_columns(void **state)
{
    (void)state;
    for (const struct grid_shape *grid = grids; grid < grids + GRIDS; grid++) {
        json_t *rows[3];
        find_grid(grid, rows);
        for (uint32_t m = 0; m < 3; m++) {
            char keys[KEYS_BYTES], key[64];
            strcpy(keys, grid->paper ? "codec,paper" : "codec");
            for (const char *point = grid->points; point; point = next_point(point)) {
                grid_key(grid, m, point, key);
                strcat(strcat(keys, ","), key);
            }
            assert_columns(rows[m], grid->peers ? strcat(keys, ",note") : keys);
        }
    }
}

/* What a codec can hold, it was decoded from in both ways. */
static void grids_have_all_figures_of_a_codec(void **state)
{
    uint64_t missing = 0, codecs = CODEC_COUNT - 1, points = 0;
    (void)state;
    for (const struct grid_shape *grid = grids; grid < grids + GRIDS; grid++) {
        json_t *rows[3];
        find_grid(grid, rows);
        for (uint32_t id = 1; id < CODEC_COUNT; id++)
            for (const char *point = is_measured(id) ? grid->points : NULL; point;
                 point = next_point(point), points++)
                for (uint32_t m = 0, held = 0; m < 3; m++) {
                    char key[64];
                    grid_key(grid, m, point, key);
                    json_t *const cell =
                        json_object_get(lab_row_of(rows[m], "codec", codec_by_id(id)->name), key);
                    held = m == 0 ? json_is_number(cell) : held;
                    assert_true(json_is_number(cell) == held);
                    assert_true(!held || json_number_value(cell) > 0);
                    missing += !held;
                }
    }
    assert_true(missing < points * 3 / codecs); /* fewer than one codec's */
}

/* Times, sizes and rates. */
static void assert_numbers(json_t *row)
{
    const char *key;
    json_t *cell;
    json_object_foreach(row, key, cell)
    {
        const double number = json_is_number(cell) ? json_number_value(cell) : 0;
        assert_true(isfinite(number) && number >= 0);
    }
}

/* The unit of all figures of a table, as its caption has it and as keys have it. */
static const struct {
    const char *caption, *key;
} units[] = {{", ms", "ms"},
             {"milliseconds", "ms"},
             {", MB", "mb"},
             {"GB/s", "gb_per_second"},
             {"bits a", "bits"},
             {": bits", "bits"},
             {"G values/s", "gvalues_per_second"},
             {"G integers/s", "gintegers_per_second"}};
#define UNITS (sizeof units / sizeof *units)

/* Numbers that say what a row is of. */
static bool is_count(const char *key)
{
    static const char *const counts[] = {"integers", "draws",   "lists", "shortest",
                                         "longest",  "vectors", "rows"};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        if (strcmp(key, counts[c]) == 0)
            return true;
    return strstr(key, "bytes") != NULL;
}

static void assert_keys_have(json_t *table, const char *unit)
{
    const char *key;
    size_t r;
    json_t *row, *cell;
    json_array_foreach(json_object_get(table, "rows"), r, row)
    {
        json_object_foreach(row, key, cell)
        {
            if (json_is_number(cell) && !is_count(key) && !strstr(key, unit))
                fail_msg("%s: '%s' does not say %s", text_of(table, "table"), key, unit);
        }
    }
}

static void units_of_captions_are_in_keys(void **state)
{
    size_t e, t;
    uint32_t tables = 0;
    json_t *experiment, *table;
    (void)state;
    json_array_foreach(experiments, e, experiment)
    {
        json_array_foreach(json_object_get(experiment, "tables"), t, table)
        {
            for (size_t u = 0; u < UNITS; u++)
                if (strstr(text_of(table, "table"), units[u].caption)) {
                    assert_keys_have(table, units[u].key);
                    tables++;
                }
        }
    }
    assert_true(tables > 3 * GRIDS);
}

static void no_other_tables(void **state)
{
    size_t e;
    json_t *experiment;
    (void)state;
    json_array_foreach(experiments, e, experiment)
    {
        size_t wanted = 0;
        for (size_t s = 0; s < SHAPES; s++)
            wanted += strcmp(shapes[s].experiment, text_of(experiment, "name")) == 0;
        for (size_t g = 0; g < GRIDS; g++)
            wanted += 3u * (strcmp(grids[g].experiment, text_of(experiment, "name")) == 0);
        assert_int_equal(json_array_size(json_object_get(experiment, "tables")), wanted);
    }
}

static void numbers_are_not_negative(void **state)
{
    size_t e, t, r;
    json_t *experiment, *table, *row;
    (void)state;
    json_array_foreach(experiments, e, experiment)
    {
        json_array_foreach(json_object_get(experiment, "tables"), t, table)
        {
            json_array_foreach(json_object_get(table, "rows"), r, row)
            {
                assert_numbers(row);
            }
        }
    }
}

/* ---- Sizes ---- */

static double width_bits(json_t *rows, const char *codec, uint32_t width)
{
    char key[16];
    snprintf(key, sizeof key, "bits_%u", width);
    return lab_number(lab_row_of(rows, "codec", codec), key);
}

/* A value of b bits takes b bits and the format's share for each value; up to 0.14 bits more are the unused rows of
 * the last tile. */
static void sizes_of_uniform_values(void **state)
{
    json_t *const rows = lab_rows_of(tables_of("widths"), "uniform values: size");
    (void)state;
    for (uint32_t width = 2; width <= 30; width += 2) {
        const uint32_t bytes = width <= 8 ? 1 : width <= 16 ? 2 : 4;
        assert_float_equal(width_bits(rows, "plain", width), 32.25, 0.25);
        assert_float_equal(width_bits(rows, "nsf", width), 8 * bytes + 0.25, 0.25);
        assert_float_equal(width_bits(rows, "lane-for", width), width + 0.25, 0.25);
        assert_float_equal(width_bits(rows, "gpu-for", width), width + 0.85, 0.15);
        assert_float_equal(width_bits(rows, "for-bp", width), width_bits(rows, "gpu-for", width), 1e-6);
        assert_true(width_bits(rows, "rle", width) > width_bits(rows, "plain", width));
    }
}

static void sizes_of_sorted_values(void **state)
{
    json_t *const rows = lab_rows_of(tables_of("distributions"), "D1, sorted: size");
    (void)state;
    assert_true(width_bits(rows, "gpu-rfor", 13) < 1);
    assert_true(width_bits(rows, "rle", 13) < 1);
    assert_true(width_bits(rows, "gpu-dfor", 13421) < width_bits(rows, "gpu-for", 13421));
    json_t *const claims = lab_rows_of(tables_of("distributions"), "what the paper says of figure 8, D1");
    json_t *const claim = lab_row_of(claims, "claim", "GPU-DFOR, bits a value where all differ");
    assert_float_equal(lab_number(claim, "paper"), 1.8, 1e-9);
    assert_float_equal(lab_number(claim, "mean"), width_bits(rows, "gpu-dfor", 50000), 1e-6);
}

/* A claim's figures are those of its points alone: here the means above 2^16. */
static void claims_are_ratios_of_the_tables(void **state)
{
    static const char *const keys[] = {"bits_262144", "bits_4194304", "bits_67108864", "bits_1073741824"};
    json_t *const sizes = lab_rows_of(tables_of("distributions"), "D2, normal: size");
    json_t *const nsf = lab_row_of(sizes, "codec", "nsf"), *const dfor =
                                                               lab_row_of(sizes, "codec", "gpu-dfor");
    json_t *const claims = lab_rows_of(tables_of("distributions"), "what the paper says of figure 8, D2");
    json_t *const claim = lab_row_of(claims, "claim", "NSF / GPU-DFOR, size, mean above 2^16");
    double least = INFINITY, most = 0, product = 1;
    (void)state;
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        const double ratio = lab_number(nsf, keys[k]) / lab_number(dfor, keys[k]);
        least = fmin(least, ratio);
        most = fmax(most, ratio);
        product *= ratio;
    }
    assert_float_equal(lab_number(claim, "least"), least, 1e-6);
    assert_float_equal(lab_number(claim, "most"), most, 1e-6);
    assert_float_equal(lab_number(claim, "mean"), sqrt(sqrt(product)), 1e-6);
    assert_float_equal(lab_number(claim, "paper"), 3, 1e-9);
}

/* Both experiments encode the same values. */
static void encode_has_the_sizes_of_widths(void **state)
{
    json_t *const widths = lab_rows_of(tables_of("widths"), "uniform values: size");
    json_t *const encode = lab_rows_of(tables_of("encode"), "encoding");
    (void)state;
    for (uint32_t id = 1; id < CODEC_COUNT; id++)
        if (is_measured(id))
            assert_float_equal(lab_number(lab_row_of(encode, "codec", codec_by_id(id)->name), "bits"),
                               width_bits(widths, codec_by_id(id)->name, 16), 1e-6);
}

/* ---- Report and formats ---- */

/* A mark has a tooltip. */
static void every_chart_has_marks(void **state)
{
    uint32_t charts = 0;
    (void)state;
    for (const char *at = report; (at = strstr(at, "<svg ")); charts++) {
        const char *const end = strstr(at, "</svg>"), *const mark = strstr(at, "<title>");
        const char *const name = strstr(at, "aria-label=\"");
        assert_true(end && name);
        if (!mark || mark > end)
            fail_msg("nothing is drawn in %.80s", name);
        at = end;
    }
    assert_true(charts > EXPERIMENTS_MAX);
    assert_non_null(
        strstr(report, "aria-label=\"lists of 13 and 6710 integers: size\"")); /* empty ones are not shown */
}

static void the_report_has_every_section(void **state)
{
    static struct xml xml;
    const char *at = report;
    size_t e, t;
    json_t *experiment, *table;
    (void)state;
    if (!well_formed(report, &xml))
        fail_msg("%s", xml.why);
    json_array_foreach(experiments, e, experiment)
    {
        char heading[128];
        snprintf(heading, sizeof heading, "<h2>%s</h2>", text_of(experiment, "title"));
        at = strstr(at, heading);
        assert_non_null(at);
        json_array_foreach(json_object_get(experiment, "tables"), t, table)
        {
            at = strstr(at, text_of(table, "table"));
            assert_non_null(at);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_is_what_list_prints),        cmocka_unit_test(tables_have_their_columns),
        cmocka_unit_test(grids_have_their_columns),       cmocka_unit_test(grids_have_all_figures_of_a_codec),
        cmocka_unit_test(units_of_captions_are_in_keys),  cmocka_unit_test(no_other_tables),
        cmocka_unit_test(numbers_are_not_negative),       cmocka_unit_test(sizes_of_uniform_values),
        cmocka_unit_test(sizes_of_sorted_values),         cmocka_unit_test(claims_are_ratios_of_the_tables),
        cmocka_unit_test(encode_has_the_sizes_of_widths), cmocka_unit_test(every_chart_has_marks),
        cmocka_unit_test(the_report_has_every_section),
    };
    return cmocka_run_group_tests(tests, measure_all, forget_all);
}
