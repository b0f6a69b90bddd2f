/*
 * test_cuda_index.c: the masks of index terms that a GPU makes (engine/gpu/index.h) have the rows of the vectors, bit by
 * bit, for all formats and mixtures of them, one to four terms, segments of odd sizes, vectors of every shape, and with
 * only some tiles selected; and statements whose plan has such a mask answer as those that scan. Needs a GPU; without one
 * it is skipped, unless TESSERA_REQUIRE_GPU is set.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/gpu/index.h"
#include "engine/library/statement.h"
#include "ssb/data/load.h"
#include "storage/index/wah.h"
#include "lab/bitmaps/wah/wah_many.h"
#include "tests/support/not_run.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SEGMENTS 4u
#define VECTORS  70u /* of each index */
#define TERMS    4u

static struct cuda *cuda;
static struct kernel_binary binary;

static void must(enum status status, const struct error *error)
{
    if (status != STATUS_OK)
        fail_msg("%s", error->text);
}

static int open_gpu(void **state)
{
    struct error error = {0};
    (void)state;
    if (cuda_open(0, &cuda, &error) == STATUS_OK) {
        const struct nvrtc_request request = {.source = cuda_index_source,
                                              .arch = cuda_properties(cuda)->arch};
        if (kernel_cache_get(&request, &binary, NULL, &error) == STATUS_OK)
            return 0;
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    fprintf(stderr, "no GPU: %s\n", error.text);
    return getenv("TESSERA_REQUIRE_GPU") ? 1 : 0;
}

static int close_gpu(void **state)
{
    (void)state;
    kernel_binary_free(&binary);
    cuda_close(cuda);
    return 0;
}

/* ---- Random rows ---- */

static uint64_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % below);
}

/* Runs of zeros and ones of random lengths up to `zeros` and `ones`. */
static void fill_runs(uint8_t *rows, uint32_t count, uint32_t zeros, uint32_t ones)
{
    for (uint32_t r = draw(zeros); r < count; r += 1 + draw(zeros))
        for (uint32_t end = r + 1 + draw(ones); r < end && r < count; r++)
            rows[r] = 1;
}

/* The rows of a vector: none, all, the last one, or runs that make literals, short and long fills. */
static void fill(uint8_t *rows, uint32_t count)
{
    static const uint32_t runs[][2] = {{3, 1},     {500, 1},       {40000, 1},      {1, 50},
                                       {900, 900}, {90000, 40000}, {20000, 200000}, {60, 60}};
    memset(rows, 0, count);
    const uint32_t kind = draw(11);
    if (kind < 8)
        fill_runs(rows, count, runs[kind][0], runs[kind][1]);
    else if (kind == 8)
        rows[count - 1] = 1;
    else if (kind == 9 && draw(4) == 0)
        memset(rows, 1, count);
}

/* ---- Indexes, as index_file.h has them, in memory ---- */

struct made_index {
    struct index_data data; /* the first member */
    struct column column;
    struct column_index index;
    struct index_segment segments[SEGMENTS];
    uint8_t *rows[SEGMENTS][VECTORS]; /* a byte a row */
};

static void *append(void **to, uint64_t *bytes, const void *from, uint64_t more)
{
    *to = realloc(*to, *bytes + more + 1);
    assert_non_null(*to);
    memcpy((uint8_t *)*to + *bytes, from, more);
    *bytes += more;
    return *to;
}

/* A vector in the index's format, and the starts of its pieces; the caller frees both. */
static void encode(const uint8_t *rows, uint32_t count, enum index_format format, void **words,
                   uint64_t *word_count, struct wah_start **starts, uint64_t *start_count)
{
    struct wah_builder wide = {0};
    struct wah32_builder narrow = {0};
    *starts = calloc(count / WAH32_PIECE_ROWS + 2, sizeof **starts);
    assert_non_null(*starts);
    if (format == INDEX_FLAT) {
        uint64_t *flat = calloc(count / 64 + 1, sizeof *flat);
        assert_non_null(flat);
        for (uint32_t r = 0; r < count; r++)
            flat[r / 64] |= (uint64_t)rows[r] << r % 64;
        *words = flat;
        *word_count = (count + 63) / 64;
        *start_count = 0;
        return;
    }
    for (uint32_t r = 0; r < count; r++)
        if (rows[r])
            assert_int_equal(format == INDEX_WAH64 ? wah_append_row(&wide, r, NULL)
                                                   : wah32_append_row(&narrow, r, NULL),
                             STATUS_OK);
    if (format == INDEX_WAH64) {
        assert_int_equal(wah_finish(&wide, count, NULL), STATUS_OK);
        wah_directory_build(wah_of(&wide), count, *starts);
        *start_count = wah_pieces(count);
    } else {
        assert_int_equal(wah32_finish(&narrow, count, NULL), STATUS_OK);
        wah32_directory_build(wah32_of(&narrow), count, *starts);
        *start_count = wah32_pieces(count);
    }
    *words = format == INDEX_WAH64 ? (void *)wide.words : (void *)narrow.words;
    *word_count = format == INDEX_WAH64 ? wide.count : narrow.count;
    if (*word_count <= INDEX_SHORT_WORDS)
        *start_count = 0;
}

static void make_segment(struct made_index *made, uint32_t s, uint32_t rows)
{
    const enum index_format format = made->index.wish.format;
    struct index_vector *vectors = calloc(VECTORS, sizeof *vectors);
    void *words = NULL, *pieces = NULL;
    uint64_t bytes = 0, piece_bytes = 0;
    assert_non_null(vectors);
    for (uint32_t v = 0; v < VECTORS; v++) {
        void *own;
        struct wah_start *starts;
        uint64_t starts_count;
        made->rows[s][v] = malloc(rows);
        assert_non_null(made->rows[s][v]);
        fill(made->rows[s][v], rows);
        encode(made->rows[s][v], rows, format, &own, &vectors[v].words, &starts, &starts_count);
        const uint32_t word_bytes = format == INDEX_WAH32 ? 4 : 8;
        vectors[v].first = bytes / word_bytes;
        vectors[v].pieces = starts_count ? piece_bytes / sizeof *starts : INDEX_NO_PIECES;
        for (uint32_t r = 0; r < rows; r++)
            vectors[v].rows += made->rows[s][v][r];
        append(&words, &bytes, own, vectors[v].words * word_bytes);
        append(&pieces, &piece_bytes, starts, starts_count * sizeof *starts);
        free(own);
        free(starts);
    }
    made->segments[s] = (struct index_segment){
        .rows = rows, .vectors = vectors, .words = words, .pieces = piece_bytes ? pieces : NULL};
    if (!piece_bytes)
        free(pieces);
}

static struct made_index *make_index(const struct table *fact, enum index_format format)
{
    struct made_index *made = calloc(1, sizeof *made);
    assert_non_null(made);
    made->index.wish.format = format;
    made->data = (struct index_data){.column = &made->column,
                                     .index = &made->index,
                                     .vector_count = VECTORS,
                                     .segment_count = fact->segment_count,
                                     .segments = made->segments};
    for (uint32_t s = 0; s < fact->segment_count; s++)
        make_segment(made, s, fact->segment_rows[s]);
    return made;
}

static void index_free(struct made_index *made)
{
    for (uint32_t s = 0; s < SEGMENTS; s++) {
        for (uint32_t v = 0; v < VECTORS; v++)
            free(made->rows[s][v]);
        free((void *)(uintptr_t)made->segments[s].vectors);
        free((void *)(uintptr_t)made->segments[s].words);
        free((void *)(uintptr_t)made->segments[s].pieces);
    }
    free(made);
}

/* ---- Masks ---- */

/* Runs of vectors with gaps between them: a few vectors, or all. */
static void choose_runs(struct plan_index_term *term, struct plan_index_run *runs)
{
    term->runs = runs;
    for (uint32_t v = draw(VECTORS); v < VECTORS && term->run_count < 4; v += 2 + draw(20)) {
        const uint32_t most = VECTORS - v, count = 1 + draw(most);
        runs[term->run_count++] = (struct plan_index_run){.first = v, .count = count};
        v += count;
    }
}

static bool passes(const struct plan_index *plan, uint32_t segment, uint32_t row)
{
    for (uint32_t t = 0; t < plan->term_count; t++) {
        const struct plan_index_term *term = &plan->terms[t];
        const struct made_index *made = (const struct made_index *)(const void *)term->index;
        bool any = false;
        for (uint32_t r = 0; r < term->run_count; r++)
            for (uint32_t v = 0; v < term->runs[r].count && !any; v++)
                any = made->rows[segment][term->runs[r].first + v][row];
        if (!any)
            return false;
    }
    return true;
}

/* Compares the tiles of `skip`, each word of a lane with its rows. */
static void compare(const struct plan_index *plan, const struct table *fact, const struct tile_skip *skip,
                    const uint32_t *mask, uint64_t drawn)
{
    for (uint64_t r = 0; r < skip->run_count; r++) {
        const struct tile_run *run = &skip->runs[r];
        uint64_t before = 0;
        for (uint32_t s = 0; s < run->segment; s++)
            before += (fact->segment_rows[s] + TILE_ROWS - 1) / TILE_ROWS;
        for (uint32_t t = run->first; t < run->first + run->tiles; t++)
            for (uint32_t lane = 0; lane < TILE_LANES; lane++) {
                uint32_t expected = 0, rows = 0;
                for (uint32_t j = 0; j < 32; j++)
                    if (t * TILE_ROWS + 32 * j + lane < fact->segment_rows[run->segment]) {
                        rows |= 1u << j;
                        expected |= (uint32_t)passes(plan, run->segment, t * TILE_ROWS + 32 * j + lane) << j;
                    }
                const uint32_t got = mask[(before + t) * TILE_LANES + lane] & rows;
                if (got != expected)
                    fail_msg("seed %llu, segment %u of %u rows, tile %u, lane %u: %08x, not %08x",
                             (unsigned long long)drawn, run->segment, fact->segment_rows[run->segment], t,
                             lane, got, expected);
            }
    }
}

/* Loads the plan's mask and makes it twice: for all tiles, and for those of every third run of up to 20 tiles. */
static void check(struct cuda_columns *columns, const struct plan_index *plan, const struct table *fact,
                  uint64_t drawn)
{
    struct error error = {0};
    struct cuda_index index = {.binary = binary};
    struct tile_run runs[4096];
    uint64_t tiles = 0;
    index.binary.cubin = malloc(binary.cubin_bytes);
    assert_non_null(index.binary.cubin);
    memcpy(index.binary.cubin, binary.cubin, binary.cubin_bytes);
    must(cuda_index_load(cuda, columns, plan, fact, &index, &error), &error);
    for (uint32_t s = 0; s < fact->segment_count; s++)
        tiles += (fact->segment_rows[s] + TILE_ROWS - 1) / TILE_ROWS;
    uint32_t *mask = malloc(tiles * TILE_LANES * sizeof *mask);
    assert_non_null(mask);
    for (int some = 0; some < 2; some++) {
        struct tile_skip skip = {.runs = runs};
        for (uint32_t s = 0; s < fact->segment_count; s++) {
            const uint32_t all = (fact->segment_rows[s] + TILE_ROWS - 1) / TILE_ROWS;
            for (uint32_t t = 0; t < all; t += runs[skip.run_count++].tiles + (some ? draw(40) + 1 : 0))
                runs[skip.run_count] = (struct tile_run){
                    .segment = s, .first = t, .tiles = !some || all - t < 20 ? all - t : 1 + draw(20)};
        }
        must(cuda_index_select(cuda, columns, fact, &skip, &index, &error), &error);
        must(cuda_set_bytes(cuda, index.mask, 0xa5, tiles * TILE_LANES * sizeof *mask, &error), &error);
        must(cuda_index_run(cuda, &index, &error), &error);
        must(cuda_copy_to_host(cuda, mask, index.mask, tiles * TILE_LANES * sizeof *mask, &error), &error);
        must(cuda_synchronize(cuda, &error), &error);
        compare(plan, fact, &skip, mask, drawn);
    }
    free(mask);
    cuda_index_free(cuda, columns, &index);
}

static void masks_have_the_rows_of_the_vectors(void **state)
{
    static const uint32_t sizes[] = {1,     31,        1023,          1024,      1025,  31744 - 1,
                                     31744, 31744 + 1, 63 * 1024 - 1, 63 * 1024, 64513, 3 * 64512 + 7,
                                     200003};
    (void)state;
    need_gpu(cuda);
    for (uint64_t drawn = 1; drawn <= 12; drawn++) {
        uint32_t rows[SEGMENTS];
        struct plan_index_run runs[8][4];
        struct made_index *made[INDEX_FORMAT_COUNT] = {NULL};
        struct cuda_columns *columns;
        struct error error = {0};
        seed = drawn;
        struct table fact = {.segment_count = 1 + draw(SEGMENTS), .segment_rows = rows};
        for (uint32_t s = 0; s < fact.segment_count; s++)
            rows[s] = sizes[draw(sizeof sizes / sizeof *sizes)];
        for (enum index_format format = INDEX_WAH64; format <= INDEX_FLAT; format++)
            made[format] = make_index(&fact, format);
        must(cuda_columns_create(cuda, UINT64_MAX, &columns, &error), &error);
        for (uint32_t round = 0; round < 8; round++) { /* each format alone, and mixtures */
            struct plan_index plan = {.term_count = 1 + draw(TERMS)};
            for (uint32_t t = 0; t < plan.term_count; t++) {
                const enum index_format format = round < 6 ? INDEX_WAH64 + round % 3 : INDEX_WAH64 + draw(3);
                plan.terms[t].index = &made[format]->data;
                choose_runs(&plan.terms[t], runs[t]);
            }
            check(columns, &plan, &fact, drawn);
        }
        cuda_columns_destroy(columns);
        for (enum index_format format = INDEX_WAH64; format <= INDEX_FLAT; format++)
            index_free(made[format]);
    }
}

/* ---- Statements ---- */

static const char *const statements[] = {
    "select count(*) from lineorder where lo_discount between 2 and 4",
    "select count(*) from lineorder where lo_discount between 2 and 4 and lo_quantity in (1, 7, 30)",
    "select count(*), count(lo_quantity), sum(lo_revenue) from lineorder where lo_quantity < 3",
    "select sum(lo_extendedprice * lo_discount) from lineorder join date on lo_orderdate = d_datekey where "
    "d_year = 1993 and lo_discount between 1 and 3 and lo_quantity < 25",
    "select sum(lo_extendedprice * lo_discount) from lineorder join date on lo_orderdate = d_datekey where "
    "d_weeknuminyear = 6 and d_year = 1994 and lo_discount between 5 and 7 and lo_quantity between 26 and 35",
    "select d_year, lo_discount, count(*), min(lo_tax), sum(lo_revenue) from lineorder join date on "
    "lo_orderdate = d_datekey where lo_quantity = 50 and lo_tax > 3 group by d_year, lo_discount order by "
    "d_year, lo_discount",
    "select lo_custkey, count(*) from lineorder where lo_quantity between 10 and 11 and lo_discount <> 0 "
    "group by lo_custkey order by lo_custkey limit 20",
    "select lo_orderkey, lo_linenumber from lineorder where lo_discount = 10 and lo_quantity = 1",
    "select count(*), sum(lo_tax) from lineorder where lo_discount = 1 and lo_quantity + lo_tax = 30",
    "explain analyze select sum(lo_revenue) from lineorder where lo_quantity = 13",
};

/* The answer as CSV; *uses: the plan has an index term. The caller frees the text. */
static char *answer(struct engine *engine, struct database *database, const char *sql,
                    enum plan_index_use use, bool *uses)
{
    struct error error = {0};
    struct sql_statement *statement;
    const struct plan *plan;
    struct rowset rows;
    size_t used, bytes = 0;
    char *text = NULL;
    must(sql_prepare(engine, database, sql, strlen(sql), NULL, &statement, &used, &error), &error);
    sql_statement_set(statement, (struct sql_settings){.index = use, .timed = true});
    must(sql_plan(statement, &plan, &error), &error);
    *uses = plan->index.term_count > 0;
    for (int again = 0; again < 2; again++) {
        must(sql_run(statement, &rows, NULL, &error), &error);
        FILE *out = open_memstream(&text, &bytes);
        assert_non_null(out);
        must(rowset_print(&rows, ROWSET_CSV, 1, out, &error), &error);
        fclose(out);
        rowset_free(&rows);
        if (!again)
            free(text);
    }
    sql_statement_free(statement);
    return text;
}

static void answer_alike(struct engine *engine, struct database *database)
{
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        bool with, without;
        char *const expected = answer(engine, database, statements[i], PLAN_INDEX_OFF, &without),
                    *const got = answer(engine, database, statements[i], PLAN_INDEX_ON, &with);
        assert_true(with && !without);
        if (strncmp(statements[i], "explain", 7) != 0)
            assert_string_equal(got, expected);
        else
            assert_non_null(strstr(got, "index"));
        free(expected);
        free(got);
    }
}

static void statements_answer_as_without_indexes(void **state)
{
    const char *const temporary = getenv("TMPDIR");
    const char *const indexes[] = {"lo_discount,lo_quantity,lo_orderdate", "lo_discount,lo_quantity"};
    (void)state;
    need_gpu(cuda);
    for (int i = 0; i < 2; i++) {
        struct error error = {0};
        struct engine *engine;
        struct database *database;
        char path[300], folder[280], command[340];
        snprintf(folder, sizeof folder, "%s/test_cuda_index.XXXXXX", temporary ? temporary : "/tmp");
        assert_non_null(mkdtemp(folder));
        snprintf(path, sizeof path, "%s/db", folder);
        const struct ssb_load_options options = {
            .data = {.scale_factor = 0.05}, .directory = path, .indexes = indexes[i]};
        must(ssb_load(&options, NULL, &error), &error);
        must(database_open(path, &database, &error), &error);
        must(engine_open(&(struct engine_options){.device = "cuda", .threads = 2}, &engine, &error), &error);
        answer_alike(engine, database);
        engine_close(engine);
        database_close(database);
        snprintf(command, sizeof command, "rm -rf '%s'", folder);
        assert_int_equal(system(command), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(masks_have_the_rows_of_the_vectors),
                                       cmocka_unit_test(statements_answer_as_without_indexes)};
    return cmocka_run_group_tests(tests, open_gpu, close_gpu);
}
