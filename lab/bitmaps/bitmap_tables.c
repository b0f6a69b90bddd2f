/* bitmap_tables.c: see bitmap_tables.h. */
#include "lab/bitmaps/bitmap_tables.h"

#include <stdio.h>

#define CAPTION_BYTES (ERROR_TEXT_BYTES + 128u)

/* The paper's claims, of its abstract: in 98.8 % of its tests the GPU is faster than the processor, 11.5 times in the mean, 54.1 at most. */
#define PAPER_FASTER_PERCENT 98.8
#define PAPER_MEAN           11.5
#define PAPER_MOST           54.1

/* The strategy that its table 2 recommends for a range. */
static enum bitmap_step paper_strategy(uint32_t vectors)
{
    return vectors <= 1024 ? BITMAP_BY_IDEAL : vectors <= 2048 ? BITMAP_BY_ROA : BITMAP_BY_HYBRID;
}

void bitmap_add_set(struct sheet *sheet, const struct bitmap_record *record)
{
    sheet_text(sheet, record->name);
    sheet_number(sheet, record->vectors);
    sheet_number(sheet, (double)record->rows);
    sheet_number(sheet, (double)record->compressed_bytes);
}

double bitmap_bound_ms(const struct lab *lab, uint64_t bytes)
{
    return (double)bytes / lab->read_ceiling * 1e3;
}

static enum bitmap_step fastest_strategy(const struct bitmap_times *times)
{
    enum bitmap_step fastest = BITMAP_BY_COA; /* which does any number of vectors */
    for (uint32_t step = BITMAP_BY_COA; step <= BITMAP_BY_IDEAL; step++)
        if (times->steps[step].median > 0 && times->steps[step].median < times->steps[fastest].median)
            fastest = (enum bitmap_step)step;
    return fastest;
}

/* Decompression and a strategy; NaN if the strategy does not do so many vectors. */
static double whole_ms(const struct bitmap_record *record, enum bitmap_step strategy, bool transfer)
{
    const struct speed *const steps = record->gpu.steps;
    if (!(steps[strategy].median > 0))
        return NAN;
    return steps[BITMAP_DECOMPRESS].median + steps[strategy].median +
           (transfer ? steps[BITMAP_TRANSFER].median : 0);
}

/* ---- Whole queries ---- */

static void add_query(const struct bitmap_records *records, const struct bitmap_record *record,
                      struct sheet *sheet)
{
    const struct speed *const steps = record->gpu.steps;
    const enum bitmap_step fastest = fastest_strategy(&record->gpu);
    const double published = whole_ms(record, fastest, false), moved = whole_ms(record, fastest, true);
    const double by_inline = steps[BITMAP_BY_INLINE].median, transfer = steps[BITMAP_TRANSFER].median;
    bitmap_add_set(sheet, record);
    sheet_text(sheet, bitmap_step_names[fastest]);
    sheet_text(sheet, bitmap_step_names[paper_strategy(record->vectors)]);
    sheet_number(sheet, published);
    sheet_number(sheet, by_inline);
    sheet_number(sheet, published / by_inline);
    sheet_number(sheet, moved);
    sheet_number(sheet, by_inline + transfer);
    sheet_number(sheet, moved / (by_inline + transfer));
    sheet_number(sheet, whole_ms(record, BITMAP_BY_IDEAL, false) / by_inline);
    sheet_number(sheet, steps[BITMAP_BY_FLAT].median / by_inline);
    sheet_number(sheet, bitmap_bound_ms(records->lab, record->gpu.inline_bytes) / by_inline);
    bitmap_number_or_missing(sheet, record->host[BITMAP_HOST_PAIRS].median / moved);
    bitmap_number_or_missing(sheet, record->host[BITMAP_HOST_LEVELS].median / moved);
}

/* As the paper counts them, vectors are decompressed, and with transfer they come from the host. */
static enum status show_queries(const struct bitmap_records *records, struct error *error)
{
    static const struct sheet_column columns[] = {
        BITMAP_SET_COLUMNS,
        {.key = "fastest", .name = "fastest", .group = "strategy", .text = true},
        {.key = "paper_fastest", .name = "paper", .group = "strategy", .text = true},
        {.key = "published_ms", .name = "published", .group = "in memory, ms", .significant = 3},
        {.key = "inline_ms", .name = "inline", .group = "in memory, ms", .significant = 3},
        {.key = "speedup", .name = "speed-up", .group = "in memory, ms", .suffix = "x", .digits = 2},
        {.key = "published_transfer_ms", .name = "published", .group = "with transfer, ms", .significant = 3},
        {.key = "inline_transfer_ms", .name = "inline", .group = "with transfer, ms", .significant = 3},
        {.key = "speedup_transfer",
         .name = "speed-up",
         .group = "with transfer, ms",
         .suffix = "x",
         .digits = 2},
        {.key = "ideal_to_inline", .name = "ideal", .group = "of inline: times", .suffix = "x", .digits = 2},
        {.key = "flat_to_inline", .name = "flat", .group = "of inline: times", .suffix = "x", .digits = 2},
        {.key = "inline_percent_of_read",
         .name = "ceiling",
         .group = "of inline: times",
         .suffix = "%",
         .scale = 100,
         .digits = 0},
        {.key = "pairs_to_published", .name = "pairs", .group = "OpenMP: times", .suffix = "x", .digits = 1},
        {.key = "levels_to_published",
         .name = "levels",
         .group = "OpenMP: times",
         .suffix = "x",
         .digits = 1},
    };
    struct sheet *sheet;
    RETURN_IF_ERROR(sheet_create(columns, sizeof columns / sizeof *columns, &sheet, error));
    for (uint32_t r = 0; r < records->count; r++)
        add_query(records, &records->of[r], sheet);
    return lab_sheet(records->lab, "queries: decompression and the fastest strategy as published, or inline",
                     sheet, error);
}

/* ---- The paper's claims ---- */

struct claim {
    uint32_t tests, faster;
    double sum, sum_of_logs, most;
};

/* Counts a set's tests: decompression and a strategy against each of the paper's two methods on the processor. */
static void count_tests(const struct bitmap_record *record, enum bitmap_step strategy, bool transfer,
                        struct claim *claim)
{
    static const enum bitmap_host methods[] = {BITMAP_HOST_PAIRS, BITMAP_HOST_LEVELS};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        const double times = record->host[methods[m]].median / whole_ms(record, strategy, transfer);
        if (!(times > 0)) /* also if one of them was not measured */
            continue;
        claim->tests++;
        claim->faster += times > 1;
        claim->sum += times;
        claim->sum_of_logs += log(times);
        claim->most = times > claim->most ? times : claim->most;
    }
}

/* A row for each strategy, for the fastest one of each set, and for all, which has the paper's. */
enum { CLAIM_OF_FASTEST = BITMAP_BY_IDEAL - BITMAP_BY_COA + 1, CLAIM_OF_ALL, CLAIMS };

static const char *claim_name(uint32_t claim)
{
    return claim == CLAIM_OF_ALL       ? "all"
           : claim == CLAIM_OF_FASTEST ? "the fastest"
                                       : bitmap_step_names[BITMAP_BY_COA + claim];
}

static void count_claims(const struct bitmap_records *records, bool transfer, struct claim claims[CLAIMS])
{
    for (uint32_t r = 0; r < records->count; r++) {
        const struct bitmap_record *const record = &records->of[r];
        for (uint32_t step = BITMAP_BY_COA; step <= BITMAP_BY_IDEAL; step++) {
            count_tests(record, (enum bitmap_step)step, transfer, &claims[step - BITMAP_BY_COA]);
            count_tests(record, (enum bitmap_step)step, transfer, &claims[CLAIM_OF_ALL]);
        }
        count_tests(record, fastest_strategy(&record->gpu), transfer, &claims[CLAIM_OF_FASTEST]);
    }
}

static void add_claim(struct sheet *sheet, uint32_t number, bool transfer, const struct claim *claim)
{
    const bool all = number == CLAIM_OF_ALL, any = claim->tests != 0;
    const double tests = claim->tests;
    sheet_text(sheet, claim_name(number));
    sheet_text(sheet, transfer ? "host" : "GPU");
    sheet_number(sheet, tests);
    sheet_number(sheet, any ? claim->faster / tests : NAN);
    sheet_number(sheet, all ? PAPER_FASTER_PERCENT / 100 : NAN);
    sheet_number(sheet, any ? claim->sum / tests : NAN);
    sheet_number(sheet, all ? PAPER_MEAN : NAN);
    sheet_number(sheet, any ? exp(claim->sum_of_logs / tests) : NAN);
    sheet_number(sheet, any ? claim->most : NAN);
    sheet_number(sheet, all ? PAPER_MOST : NAN);
}

static enum status show_claims(const struct bitmap_records *records, struct error *error)
{
    static const struct sheet_column columns[] = {
        {.key = "strategy", .name = "strategy", .text = true},
        {.key = "vectors_in", .name = "vectors in", .text = true},
        {.key = "tests", .name = "tests", .whole = true},
        {.key = "faster", .name = "here", .group = "faster in", .suffix = "%", .scale = 100, .digits = 1},
        {.key = "paper_faster",
         .name = "paper",
         .group = "faster in",
         .suffix = "%",
         .scale = 100,
         .digits = 1},
        {.key = "mean", .name = "here", .group = "mean", .suffix = "x", .digits = 1},
        {.key = "paper_mean", .name = "paper", .group = "mean", .suffix = "x", .digits = 1},
        {.key = "geometric_mean", .name = "geometric", .group = "mean", .suffix = "x", .digits = 1},
        {.key = "most", .name = "here", .group = "most", .suffix = "x", .digits = 1},
        {.key = "paper_most", .name = "paper", .group = "most", .suffix = "x", .digits = 1},
    };
    struct sheet *sheet;
    RETURN_IF_ERROR(sheet_create(columns, sizeof columns / sizeof *columns, &sheet, error));
    for (int transfer = 0; transfer < 2; transfer++) {
        struct claim claims[CLAIMS] = {{0}};
        count_claims(records, transfer, claims);
        for (uint32_t claim = 0; claim < CLAIMS; claim++)
            add_claim(sheet, claim, transfer, &claims[claim]);
    }
    return lab_sheet(records->lab,
                     "decompression and a strategy, times as fast as the paper's two OpenMP methods", sheet,
                     error);
}

/* ---- The scans of decompression ---- */

static enum status show_sums(const struct bitmap_records *records, struct error *error)
{
    static const struct sheet_column columns[] = {
        BITMAP_SET_COLUMNS,
        {.key = "words", .name = "M", .group = "lengths of words", .scale = 1e-6, .significant = 3},
        {.key = "words_ours_ms", .name = "ours, ms", .group = "lengths of words", .significant = 3},
        {.key = "words_cub_ms", .name = "CUB, ms", .group = "lengths of words", .significant = 3},
        {.key = "groups", .name = "M", .group = "ends of words", .scale = 1e-6, .significant = 3},
        {.key = "groups_ours_ms", .name = "ours, ms", .group = "ends of words", .significant = 3},
        {.key = "groups_cub_ms", .name = "CUB, ms", .group = "ends of words", .significant = 3},
        {.key = "decompression_ours_ms", .name = "ours, ms", .group = "decompression", .significant = 3},
        {.key = "decompression_cub_ms", .name = "CUB, ms", .group = "decompression", .significant = 3},
        {.key = "cub_to_ours", .name = "CUB to ours", .group = "decompression", .suffix = "x", .digits = 2},
    };
    char caption[CAPTION_BYTES];
    struct sheet *sheet;
    RETURN_IF_ERROR(sheet_create(columns, sizeof columns / sizeof *columns, &sheet, error));
    for (uint32_t r = 0; r < records->count; r++) {
        const struct bitmap_times *const gpu = &records->of[r].gpu;
        const double ours = gpu->steps[BITMAP_DECOMPRESS].median, cub = gpu->decompress_cub.median;
        const uint64_t counts[BITMAP_SUMMED] = {gpu->words, gpu->groups};
        bitmap_add_set(sheet, &records->of[r]);
        for (uint32_t summed = 0; summed < BITMAP_SUMMED; summed++) {
            sheet_number(sheet, (double)counts[summed]);
            for (uint32_t sums = 0; sums < BITMAP_SUMS; sums++)
                bitmap_number_or_missing(sheet, gpu->sums[summed][sums].median);
        }
        sheet_number(sheet, ours);
        bitmap_number_or_missing(sheet, cub);
        bitmap_number_or_missing(sheet, cub / ours);
    }
    const bool has_cub = bitmap_kernels_have_cub(records->kernels);
    snprintf(caption, sizeof caption, "exclusive sums of decompression: ours and cub::DeviceScan%s%s",
             has_cub ? "" : ", which is not here: ", has_cub ? "" : records->kernels->without_cub.text);
    return lab_sheet(records->lab, caption, sheet, error);
}

/* ---- Layouts of hybrid's tiles ---- */

static enum status create_layouts(struct sheet **sheet, struct error *error)
{
    static const struct sheet_column first[] = {
        {.key = "vectors", .name = "vectors", .whole = true},
        {.key = "rows", .name = "rows", .unit = "M", .scale = 1e-6, .significant = 3},
        {.key = "k", .name = "k", .whole = true},
        {.key = "tiles", .name = "tiles", .whole = true},
    };
    struct sheet_column columns[sizeof first / sizeof *first + BITMAP_LAYOUT_JS];
    char keys[BITMAP_LAYOUT_JS][16], names[BITMAP_LAYOUT_JS][16];
    uint32_t count = 0;
    for (; count < sizeof first / sizeof *first; count++)
        columns[count] = first[count];
    for (uint32_t j = 0; j < BITMAP_LAYOUT_JS; j++) {
        snprintf(keys[j], sizeof keys[j], "j%u_ms", bitmap_layout_j(j));
        snprintf(names[j], sizeof names[j], "j = %u", bitmap_layout_j(j));
        columns[count++] =
            (struct sheet_column){.key = keys[j], .name = names[j], .group = "ms", .significant = 3};
    }
    return sheet_create(columns, count, sheet, error);
}

static enum status show_layouts(const struct bitmap_records *records, struct error *error)
{
    struct sheet *sheet;
    RETURN_IF_ERROR(create_layouts(&sheet, error));
    for (uint32_t r = 0; r < records->count; r++) {
        const struct bitmap_record *const record = &records->of[r];
        for (uint32_t k = 0; record->options.layouts && k < BITMAP_LAYOUT_KS; k++) {
            sheet_number(sheet, record->vectors);
            sheet_number(sheet, (double)record->rows);
            sheet_number(sheet, bitmap_layout_k(k));
            sheet_number(sheet, bitmap_layout_tiles(bitmap_layout_k(k), record->vectors));
            for (uint32_t j = 0; j < BITMAP_LAYOUT_JS; j++)
                bitmap_number_or_missing(sheet, record->gpu.layouts[k][j].median);
        }
    }
    return lab_sheet(records->lab,
                     "hybrid by tile: k x j threads have 2k vectors and j pairs of rows; one tile: ideal",
                     sheet, error);
}

/* ---- Traffic ---- */

static enum status show_traffic(const struct bitmap_records *records, struct error *error)
{
    static const struct sheet_column columns[] = {
        BITMAP_SET_COLUMNS,
        {.key = "strategy", .name = "strategy", .text = true},
        {.key = "read_words", .name = "here", .group = "words read", .whole = true},
        {.key = "paper_read_words", .name = "paper", .group = "words read", .whole = true},
        {.key = "written_words", .name = "here", .group = "words written", .whole = true},
        {.key = "paper_written_words", .name = "paper", .group = "words written", .whole = true},
    };
    struct sheet *sheet;
    RETURN_IF_ERROR(sheet_create(columns, sizeof columns / sizeof *columns, &sheet, error));
    for (uint32_t r = 0; r < records->count; r++)
        for (uint32_t step = BITMAP_BY_COA; records->of[r].options.counts && step <= BITMAP_BY_IDEAL;
             step++) {
            const struct bitmap_traffic *const traffic = &records->of[r].gpu.traffic[step];
            if (!traffic->formula[0])
                continue;
            bitmap_add_set(sheet, &records->of[r]);
            sheet_text(sheet, bitmap_step_names[step]);
            for (uint32_t i = 0; i < 2; i++) {
                sheet_number(sheet, (double)traffic->counted[i]);
                sheet_number(sheet, (double)traffic->formula[i]);
            }
        }
    return lab_sheet(records->lab,
                     "reads and writes of the GPU's memory, counted, and by the paper's formulas", sheet,
                     error);
}

enum status bitmap_tables(const struct bitmap_records *records, struct error *error)
{
    RETURN_IF_ERROR(show_queries(records, error));
    RETURN_IF_ERROR(show_claims(records, error));
    RETURN_IF_ERROR(show_sums(records, error));
    RETURN_IF_ERROR(show_layouts(records, error));
    return show_traffic(records, error);
}
