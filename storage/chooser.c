/*
 * chooser.c: which codec a column gets when none is named.
 *
 * Every candidate encodes the chunk and the sizes decide, so a choice costs as much as its candidates'
 * encoders: called on the first segment of a column, not on all.
 *
 *   gpu-star   the smallest of gpu-for, gpu-dfor and gpu-rfor, as published.
 *   smallest   the smallest of all codecs; lane-slice is not tried, for it is always as large as lane-for,
 *              which stands before it.
 *   auto       the cheapest to query by what is known: only codecs from which a query can fetch the rows that
 *              survive its filters, and a dearer decoder only for a clear gain. The rule
 *              is the table below: each candidate is kept unless a later one is smaller by its factor.
 *
 * A tie goes to the candidate that stands first, which is the one that costs less to decode.
 */
#include "storage/codec.h"

#include <stdio.h>
#include <string.h>

/* In order of what decoding costs. A candidate replaces the best so far if its size is less than
 * percent/100 of that one's and its widest tile has at most width_most bits (0: any width). */
struct candidate {
    enum codec_id codec;
    unsigned percent;
    unsigned width_most;
};

static const struct candidate gpu_star[] = {
    {CODEC_GPU_FOR, 100, 0}, {CODEC_GPU_DFOR, 100, 0}, {CODEC_GPU_RFOR, 100, 0}, {CODEC_NONE, 0, 0}};

static const struct candidate smallest[] = {
    {CODEC_PLAIN, 100, 0},    {CODEC_NSF, 100, 0},        {CODEC_LANE_FOR, 100, 0},
    {CODEC_RANK_RLE, 100, 0}, {CODEC_LANE_DELTA, 100, 0}, {CODEC_GPU_FOR, 100, 0},
    {CODEC_GPU_DFOR, 100, 0}, {CODEC_GPU_RFOR, 100, 0},   {CODEC_NONE, 0, 0}};

/* plain and nsf decode as fast as memory: lane-for must save a tenth. rank-rle takes more instructions a
 * value than lane-for: on an H200 a query over dates took 0.26 ms with it and 0.18 ms with lane-for, although
 * it read 1.76 bytes a row instead of 2.75; it has to be four times smaller, which long runs make it, and
 * long runs are what it decodes fast. lane-slice is as large as lane-for and compares a narrow column in a
 * tenth of the instructions: flight 1 gained a fifth on an H200 (docs/performance.md). */
static const struct candidate automatic[] = {{CODEC_PLAIN, 100, 0},   {CODEC_NSF, 90, 0},
                                             {CODEC_LANE_FOR, 90, 0}, {CODEC_LANE_SLICE, 101, 8},
                                             {CODEC_RANK_RLE, 25, 0}, {CODEC_NONE, 0, 0}};

static const struct {
    const char *name;
    const struct candidate *candidates;
} choosers[] = {[CHOOSER_GPU_STAR] = {"gpu-star", gpu_star},
                [CHOOSER_SMALLEST] = {"smallest", smallest},
                [CHOOSER_AUTO] = {"auto", automatic}};

enum status codec_choice_parse(const char *name, struct codec_choice *choice, struct error *error)
{
    for (int i = CHOOSER_GPU_STAR; i <= CHOOSER_AUTO; i++)
        if (strcmp(name, choosers[i].name) == 0) {
            *choice = (struct codec_choice){.chooser = (enum chooser)i, .name = choosers[i].name};
            return STATUS_OK;
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
    for (const struct candidate *c = choosers[choice->chooser].candidates; c->codec != CODEC_NONE; c++) {
        const size_t bound = codec_by_id(c->codec)->bound(rows, value_bytes);
        most = bound > most ? bound : most;
    }
    return most;
}

size_t codec_choose(const struct codec_choice *choice, const void *values, uint32_t rows,
                    uint32_t value_bytes, uint8_t *out, uint8_t *scratch)
{
    if (choice->codec)
        return choice->codec->encode(values, rows, value_bytes, out);
    uint8_t *best = scratch, *next = out;
    size_t best_bytes = 0;
    for (const struct candidate *c = choosers[choice->chooser].candidates; c->codec != CODEC_NONE; c++) {
        const size_t bytes = codec_by_id(c->codec)->encode(values, rows, value_bytes, next);
        const uint32_t width = ((const struct chunk_header *)next)->width_high;
        if (c->width_most && (width == 0 || width > c->width_most))
            continue;
        if (bytes == 0 || (best_bytes != 0 && (uint64_t)bytes * 100 >= (uint64_t)best_bytes * c->percent))
            continue;
        uint8_t *const beaten = best;
        best = next;
        next = beaten;
        best_bytes = bytes;
    }
    if (best == scratch)
        memcpy(out, best, best_bytes);
    return best_bytes;
}
