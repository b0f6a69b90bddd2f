/* byte_set.c: see byte_set.h. */
#include "lab/bytes/byte_set.h"

#include "lab/bench/dataset.h"
#include "ssb/data/generator.h"
#include "storage/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES     (4u << 20)
#define SEED            UINT64_C(20260101)
#define TPC_PHRASES     45u  /* of 400 tried, the nearest: .869, .645, .115 beside .867, .637, .119 */
#define SET_NAMES_BYTES 256u /* of all sets, in a sentence */

const char *const byte_format_names[BYTE_FORMATS] = {"RLE v1", "RLE v2", "Deflate"};

/* How a piece is made. */
struct piece {
    uint64_t number; /* of the piece in its set */
    uint8_t *bytes;
    uint32_t byte_count;
    uint64_t random;
    const struct ssb_generator *generator; /* of SSB's sets */
};

/* Draws a number >= 1, geometrically distributed with this mean. */
static uint64_t draw_geometric(uint64_t *random, double mean)
{
    return 1 + (uint64_t)(log(1 - random_unit(random)) / log(1 - 1 / mean));
}

static uint32_t draw_below(uint64_t *random, uint32_t limit)
{
    return (uint32_t)((random_next(random) >> 32) * limit >> 32);
}

/* Box and Muller, 1958. */
static double draw_normal(uint64_t *random)
{
    const double radius = sqrt(-2 * log(1 - random_unit(random)));
    return radius * cos(2 * 3.14159265358979323846 * random_unit(random));
}

/* Draws a place by cumulated probabilities, of which the last one is 1. */
static uint32_t draw_place(uint64_t *random, const double *cumulated)
{
    const double at = random_unit(random);
    uint32_t place = 0;
    while (at >= cumulated[place])
        place++;
    return place;
}

/* Writes a value `count` times, as far as the piece has room; returns the item after them. */
static uint32_t put_run32(struct piece *piece, uint32_t at, uint32_t value, uint64_t count)
{
    const uint32_t items = piece->byte_count / sizeof value;
    for (; count && at < items; count--, at++)
        memcpy(piece->bytes + at * sizeof value, &value, sizeof value);
    return at;
}

static uint32_t put_run64(struct piece *piece, uint32_t at, uint64_t value, uint64_t count)
{
    const uint32_t items = piece->byte_count / sizeof value;
    for (; count && at < items; count--, at++)
        memcpy(piece->bytes + at * sizeof value, &value, sizeof value);
    return at;
}

/* ---- The paper's seven ---- */

/* Loan ids, going up, each repeated for some months. */
static void fill_mc0(struct piece *piece)
{
    uint64_t id = (UINT64_C(1) << 21) + piece->number * 1750000;
    for (uint32_t at = 0; at < piece->byte_count / 8;) {
        id += 1 + draw_below(&piece->random, 199);
        at = put_run64(piece, at, id, draw_geometric(&piece->random, 32.5));
    }
}

/* Interest rates: eighths of a percent, as fp32. */
static void fill_mc3(struct piece *piece)
{
    for (uint32_t at = 0; at < piece->byte_count / 4;) {
        const float rate = (float)(16 + draw_below(&piece->random, 56)) * 0.125f;
        uint32_t bits;
        memcpy(&bits, &rate, sizeof bits);
        at = put_run32(piece, at, bits, draw_geometric(&piece->random, 42));
    }
}

/* Passenger counts: phrases of ten, few runs of three or more. All pieces have the same phrases: of those that this model draws,
 * one whose ratios are near the paper's in all three formats. */
static void fill_tpc(struct piece *piece)
{
    enum { PHRASES = 52, PHRASE = 10 };
    static const uint8_t counts[] = {1, 2, 1, 1, 5, 1, 3, 1, 2, 6, 1, 1, 4, 1};
    uint8_t phrases[PHRASES][PHRASE];
    double cumulated[PHRASES], sum = 0;
    uint64_t random = TPC_PHRASES;
    for (uint32_t p = 0; p < PHRASES; p++) {
        sum += pow(p + 1, -1.15);
        cumulated[p] = sum;
        for (uint32_t i = 0; i < PHRASE; i++)
            phrases[p][i] = counts[draw_below(&random, sizeof counts)];
    }
    for (uint32_t p = 0; p < PHRASES; p++)
        cumulated[p] = p + 1 < PHRASES ? cumulated[p] / sum : 1;
    for (uint32_t at = 0; at < piece->byte_count; at += PHRASE) {
        const uint32_t left = piece->byte_count - at;
        memcpy(piece->bytes + at, phrases[draw_place(&piece->random, cumulated)],
               left < PHRASE ? left : PHRASE);
    }
}

/* Payment types as text, records of five bytes. */
static void fill_tpt(struct piece *piece)
{
    enum { RECORD = 5 };
    static const char records[][RECORD + 1] = {"CASH\n", "CRED\n", "UNKN\n", "DISP\n", "NOCH\n"};
    static const double cumulated[] = {.72, .985, .991, .996, 1};
    for (uint32_t at = 0; at < piece->byte_count; at += RECORD) {
        const uint32_t left = piece->byte_count - at;
        memcpy(piece->bytes + at, records[draw_place(&piece->random, cumulated)],
               left < RECORD ? left : RECORD);
    }
}

/* Counters: small ones with a heavy tail alone, a few long runs. */
static void fill_cd2(struct piece *piece)
{
    for (uint32_t at = 0; at < piece->byte_count / 4;) {
        const double value = exp(3.75 + 1.35 * draw_normal(&piece->random));
        const bool repeated = random_unit(&piece->random) < 0.0055;
        at = put_run32(piece, at, value < 2e6 ? (uint32_t)value : 2000000,
                       repeated ? 3 + draw_geometric(&piece->random, 17) : 1);
    }
}

/* Source column of a sorted edge list: ids up, degrees by a power law. */
static void fill_tc2(struct piece *piece)
{
    uint64_t id = 12 + piece->number * 500000;
    for (uint32_t at = 0; at < piece->byte_count / 8;) {
        const double degree = floor(pow(1 - random_unit(&piece->random), -1 / 1.15));
        id += draw_geometric(&piece->random, 1 / 0.55);
        at = put_run64(piece, at, id, degree < 100000 ? (uint64_t)degree : 100000);
    }
}

/* FASTA lines of 60 bases and a newline; Ns in stretches, some repeats from up to 16 KiB back. */
static void fill_hrg(struct piece *piece)
{
    enum { LINE = 61, BACK = 16000, REPEAT = 400, STRETCH = 40000 };
    const uint32_t count = piece->byte_count;
    for (uint32_t at = 0; at < count; at++)
        piece->bytes[at] = (uint8_t) "ACGT"[random_next(&piece->random) >> 62];
    for (uint32_t r = 0; r < count / 6000 && count > BACK + REPEAT; r++) {
        const uint32_t length = 20 + draw_below(&piece->random, REPEAT - 20);
        const uint32_t at = BACK + draw_below(&piece->random, count - BACK - REPEAT);
        const uint32_t back = 500 + draw_below(&piece->random, BACK - 500);
        memcpy(piece->bytes + at, piece->bytes + at - back, length < back ? length : back);
    }
    for (uint32_t r = 0; r < count / 500000; r++) {
        const uint32_t length = 2000 + draw_below(&piece->random, STRETCH - 2000);
        memset(piece->bytes + draw_below(&piece->random, count - STRETCH), 'N', length);
    }
    for (uint32_t at = LINE - 1; at < count; at += LINE)
        piece->bytes[at] = '\n';
}

/* ---- SSB ---- */

#define SSB_SCALE_FACTOR 25.0 /* has 150 million rows of lineorder, a set of 512 MiB 134 million */
#define SSB_PIECE_ROWS   8192u
#define TEXT_ROWS        1024u
#define TEXT_LEAST_BYTES 64u /* of a row of lineorder.tbl, so that pieces do not share rows */

static void fill_ssb(struct piece *piece, enum ssb_lineorder_column column)
{
    const uint64_t first = piece->number * (PIECE_BYTES / 4);
    const bool wide = ssb_table_info(SSB_LINEORDER)->columns[column].wide;
    int32_t values[SSB_PIECE_ROWS];
    int64_t wide_values[SSB_PIECE_ROWS];
    void *columns[SSB_COLUMNS_MAX] = {NULL};
    columns[column] = wide ? (void *)wide_values : (void *)values;
    for (uint32_t at = 0, rows; at < piece->byte_count / 4; at += rows) {
        const uint32_t left = piece->byte_count / 4 - at;
        rows = left < SSB_PIECE_ROWS ? left : SSB_PIECE_ROWS;
        ssb_generate_lineorder(piece->generator, first + at, rows, columns);
        for (uint32_t i = 0; wide && i < rows; i++)
            values[i] = (int32_t)wide_values[i];
        memcpy(piece->bytes + at * sizeof *values, values, rows * sizeof *values);
    }
}

static void fill_orderkey(struct piece *piece)
{
    fill_ssb(piece, LO_ORDERKEY);
}

static void fill_custkey(struct piece *piece)
{
    fill_ssb(piece, LO_CUSTKEY);
}

static void fill_orderdate(struct piece *piece)
{
    fill_ssb(piece, LO_ORDERDATE);
}

static void fill_quantity(struct piece *piece)
{
    fill_ssb(piece, LO_QUANTITY);
}

static void fill_discount(struct piece *piece)
{
    fill_ssb(piece, LO_DISCOUNT);
}

static void fill_revenue(struct piece *piece)
{
    fill_ssb(piece, LO_REVENUE);
}

/* Each piece begins with a row and may cut its last one. */
static void fill_tbl(struct piece *piece)
{
    char text[TEXT_ROWS * SSB_TEXT_ROW_BYTES];
    uint64_t row = piece->number * (PIECE_BYTES / TEXT_LEAST_BYTES);
    for (uint32_t at = 0; at < piece->byte_count; row += TEXT_ROWS) {
        const size_t made = ssb_format_tbl(piece->generator, SSB_LINEORDER, row, TEXT_ROWS, text);
        const uint32_t left = piece->byte_count - at;
        memcpy(piece->bytes + at, text, made < left ? made : left);
        at += made < left ? (uint32_t)made : left;
    }
}

/* ---- The table ---- */

const struct byte_set_kind byte_set_kinds[BYTE_SETS] = {
    {"MC0", "mortgage ids, uint64", 8, true, {.023, .022, .017}, {29.7, 0, 81.3}},
    {"MC3", "mortgage rates, fp32", 4, true, {.038, .039, .015}, {40.5, 0, 156.6}},
    {"TPC", "passenger counts, int8", 1, true, {.867, .637, .119}, {1, 0, 10.1}},
    {"TPT", "payment types, text", 2, true, {1.41, .99, .042}, {1, 0, 32.6}},
    {"CD2", "advertising counters, uint32", 4, true, {.286, .308, .625}, {20.9, 0, 5.89}},
    {"TC2", "edges' sources, uint64", 8, true, {.087, .075, .0172}, {34.3, 0, 67.3}},
    {"HRG", "genome, text", 1, true, {.975, .972, .305}, {1, 0, 7.76}},
    {"orderkey", "lineorder, int32", 4, false, {0}, {0}},
    {"custkey", "lineorder, int32", 4, false, {0}, {0}},
    {"orderdate", "lineorder, int32", 4, false, {0}, {0}},
    {"quantity", "lineorder, int32", 4, false, {0}, {0}},
    {"discount", "lineorder, int32", 4, false, {0}, {0}},
    {"revenue", "lineorder, int32", 4, false, {0}, {0}},
    {"lineorder.tbl", "rows as text", 1, false, {0}, {0}},
};

enum status byte_sets_choose(const char *names, uint32_t *left_out, struct error *error)
{
    *left_out = (1u << BYTE_SETS) - 1;
    for (const char *name = names; name; name = strchr(name, ',') ? strchr(name, ',') + 1 : NULL) {
        const size_t length = strcspn(name, ",");
        uint32_t s = 0;
        while (s < BYTE_SETS &&
               (strncmp(byte_set_kinds[s].name, name, length) != 0 || byte_set_kinds[s].name[length] != '\0'))
            s++;
        if (s == BYTE_SETS) {
            char kinds[SET_NAMES_BYTES] = "";
            for (s = 0; s < BYTE_SETS; s++)
                strcat(strcat(kinds, s ? ", " : ""), byte_set_kinds[s].name);
            return error_set(error, STATUS_BAD_INPUT, "--sets: there is no set '%.*s'; there are %s",
                             (int)length, name, kinds);
        }
        *left_out &= ~(1u << s);
    }
    return STATUS_OK;
}

typedef void fill_piece(struct piece *piece);
static fill_piece *const fills[BYTE_SETS] = {
    fill_mc0,      fill_mc3,     fill_tpc,       fill_tpt,      fill_cd2,      fill_tc2,     fill_hrg,
    fill_orderkey, fill_custkey, fill_orderdate, fill_quantity, fill_discount, fill_revenue, fill_tbl};

/* ---- Making ---- */

struct making {
    struct lab *lab;
    struct byte_set *set;
    struct ssb_generator *generator;
    _Atomic uint64_t done;
};

static enum status make_piece(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct making *const making = context;
    struct byte_set *const set = making->set;
    const uint64_t first = item * PIECE_BYTES, left = set->byte_count - first;
    struct piece piece = {.number = item,
                          .bytes = set->bytes + first,
                          .byte_count = left < PIECE_BYTES ? (uint32_t)left : PIECE_BYTES,
                          .random = SEED + (item << 40),
                          .generator = making->generator};
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    fills[set->kind - byte_set_kinds](&piece);
    progress_report(making->lab->progress, set->kind->name, "bytes", making->done += piece.byte_count,
                    set->byte_count);
    return STATUS_OK;
}

enum status byte_set_make(struct lab *lab, const struct byte_set_kind *kind, uint64_t byte_count,
                          struct byte_set *set, struct error *error)
{
    const double scale = (double)byte_count / (double)BYTE_SET_FULL;
    const struct ssb_options options = {.scale_factor = SSB_SCALE_FACTOR * (scale > 1 ? ceil(scale) : 1)};
    struct making making = {.lab = lab, .set = set};
    *set = (struct byte_set){.kind = kind, .byte_count = byte_count};
    RETURN_IF_ERROR(memory_take(&set->bytes, byte_count, kind->name, error));
    if (!kind->of_paper)
        RETURN_IF_ERROR(ssb_generator_create(&options, lab->threads, &making.generator, error));
    const enum status status =
        parallel_for(lab->threads, (byte_count + PIECE_BYTES - 1) / PIECE_BYTES, make_piece, &making, error);
    ssb_generator_destroy(making.generator);
    return status;
}

void byte_set_free(struct byte_set *set)
{
    free(set->bytes);
    *set = (struct byte_set){0};
}
