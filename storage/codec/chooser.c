/*
 * chooser.c: which codec a column gets when none is named.
 *
 * Every candidate encodes the chunk and the sizes decide, so a choice costs as much as its candidates'
 * encoders: called on the first segment of a column, not on all.
 *
 *   gpu-star   the smallest of gpu-for, gpu-dfor and gpu-rfor, as published.
 *   smallest   the smallest of all codecs; lane-slice is not tried, for it is always as large as lane-for,
 *              which stands before it.
 *   auto       the cheapest to query by a table of measured costs (codec_costs.h): bytes or instructions,
 *              whichever binds, and what survivors' values take. Only codecs from which a query can fetch the
 *              rows that survive its filters, and lane-slice.
 *
 * A tie goes to the candidate that stands first, which is the one that costs less to decode.
 */
#include "storage/codec/codec_costs.h"

#include <math.h>
#include <string.h>

/* In order of what decoding costs. */
static const enum codec_id gpu_star[] = {CODEC_GPU_FOR, CODEC_GPU_DFOR, CODEC_GPU_RFOR, CODEC_NONE};

static const enum codec_id smallest[] = {CODEC_PLAIN,    CODEC_NSF,        CODEC_LANE_FOR,
                                         CODEC_RANK_RLE, CODEC_LANE_DELTA, CODEC_GPU_FOR,
                                         CODEC_GPU_DFOR, CODEC_GPU_RFOR,   CODEC_NONE};

/* lane-for first: it says how wide the values are. */
static const enum codec_id automatic[] = {CODEC_LANE_FOR, CODEC_PLAIN,      CODEC_NSF, CODEC_RANK_RLE,
                                          CODEC_GPU_FOR,  CODEC_LANE_SLICE, CODEC_NONE};

static const struct {
    const char *name;
    const enum codec_id *candidates;
} choosers[] = {[CHOOSER_GPU_STAR] = {"gpu-star", gpu_star},
                [CHOOSER_SMALLEST] = {"smallest", smallest},
                [CHOOSER_AUTO] = {"auto", automatic}};

enum status codec_choice_parse(const char *name, struct codec_choice *choice, struct error *error)
{
    for (int i = CHOOSER_GPU_STAR; i <= CHOOSER_AUTO; i++)
        if (strcmp(name, choosers[i].name) == 0) {
            *choice = (struct codec_choice){.chooser = (enum chooser)i, .name = choosers[i].name};
            return i == CHOOSER_AUTO ? codec_costs_in_use(&choice->costs, error) : STATUS_OK;
        }
    const struct codec *const codec = codec_by_name(name);
    if (codec) {
        *choice = (struct codec_choice){.codec = codec, .name = codec->name};
        return STATUS_OK;
    }
    char names[CODEC_NAMES_BYTES];
    return error_set(error, STATUS_BAD_INPUT,
                     "there is no codec '%s'; choose one of %s, or let auto, smallest or gpu-star choose",
                     name, codec_names(names, sizeof names));
}

size_t codec_choice_bound(const struct codec_choice *choice, uint32_t rows, uint32_t value_bytes)
{
    if (choice->codec)
        return choice->codec->bound(rows, value_bytes);
    size_t most = 0;
    for (const enum codec_id *c = choosers[choice->chooser].candidates; *c != CODEC_NONE; c++) {
        const size_t bound = codec_by_id(*c)->bound(rows, value_bytes);
        most = bound > most ? bound : most;
    }
    return most;
}

static double cost_of(const struct codec_choice *choice, enum codec_id codec, size_t bytes, uint32_t rows,
                      uint32_t width)
{
    return choice->chooser == CHOOSER_AUTO
               ? codec_costs_estimate(choice->costs, codec, bytes, rows, width, choice->probed)
               : (double)bytes;
}

size_t codec_choose(const struct codec_choice *choice, const void *values, uint32_t rows,
                    uint32_t value_bytes, uint8_t *out, uint8_t *scratch)
{
    if (choice->codec)
        return choice->codec->encode(values, rows, value_bytes, out);
    uint8_t *best = scratch, *next = out;
    size_t best_bytes = 0;
    double best_cost = HUGE_VAL;
    uint32_t width = 0;
    for (const enum codec_id *c = choosers[choice->chooser].candidates; *c != CODEC_NONE; c++) {
        const size_t bytes = codec_by_id(*c)->encode(values, rows, value_bytes, next);
        if (*c == CODEC_LANE_FOR)
            width = ((const struct chunk_header *)next)->width_high;
        if (bytes == 0)
            continue;
        const double cost = cost_of(choice, *c, bytes, rows, width);
        if (cost >= best_cost)
            continue;
        uint8_t *const beaten = best;
        best = next;
        next = beaten;
        best_bytes = bytes;
        best_cost = cost;
    }
    if (best == scratch)
        memcpy(out, best, best_bytes);
    return best_bytes;
}

static bool considers(const struct codec_choice *choice, enum codec_id codec)
{
    const enum codec_id *c = choice->codec ? NULL : choosers[choice->chooser].candidates;
    while (c && *c != CODEC_NONE && *c != codec)
        c++;
    return c ? *c == codec : choice->codec->id == codec;
}

size_t codec_candidates_bound(uint32_t rows, uint32_t value_bytes)
{
    size_t most = 0;
    for (int id = CODEC_PLAIN; id < CODEC_COUNT; id++) {
        const size_t bound = codec_by_id((uint32_t)id)->bound(rows, value_bytes);
        most = bound > most ? bound : most;
    }
    return most;
}

void codec_candidates(const struct codec_choice *choice, const void *values, uint32_t rows,
                      uint32_t value_bytes, uint8_t *scratch,
                      struct codec_candidate candidates[CODEC_COUNT - 1])
{
    const struct chunk_header *const header = (const struct chunk_header *)scratch;
    (void)codec_by_id(CODEC_LANE_FOR)->encode(values, rows, value_bytes, scratch);
    const uint32_t width = header->width_high;
    for (int id = CODEC_PLAIN; id < CODEC_COUNT; id++) {
        struct codec_candidate *to = &candidates[id - CODEC_PLAIN];
        *to = (struct codec_candidate){.codec = (enum codec_id)id,
                                       .considered = considers(choice, (enum codec_id)id)};
        to->bytes = codec_by_id((uint32_t)id)->encode(values, rows, value_bytes, scratch);
        if (to->bytes && to->considered)
            to->cost = cost_of(choice, to->codec, to->bytes, rows, width);
    }
}
