/*
 * chooser.c: chooses the codec of a column when none is named.
 *
 * Every candidate encodes the chunk, so a choice costs as much as encoding with all candidates. Therefore it
 * is made on the first segment of a column only. A chooser's candidates are the codecs whose descriptors name
 * it (codec.choosers).
 *
 *   gpu-star   the smallest of the three codecs of Shanbhag et al. (SIGMOD 2022), as published.
 *   smallest   the smallest of the codecs that name it. One that is always as large as another, or is there
 *              for comparison only, does not.
 *   auto       the cheapest to query by a table of measured costs (codec_costs.h): bytes or instructions,
 *              whichever binds, and the values of survivors. It considers only codecs from which a query can
 *              fetch single rows, or that filter without decoding. Of a key of a table with levels, a codec
 *              that keeps the levels' bits apart is taken to read half of them (codec_costs_estimate_planes).
 *              A codec is taken for its size if it has at most a quarter of the bytes of each one that is
 *              cheaper (AUTO_SMALLER).
 *
 * A tie goes to the smaller chunk, then to the codec that is cheaper to decode, then to the first in the
 * registry.
 */
#include "storage/codec/codec_costs.h"
#include "storage/codec/integer/bitpack.h"

#include <math.h>
#include <string.h>

static const char *const chooser_names[] = {
    [CHOOSER_GPU_STAR] = "gpu-star", [CHOOSER_SMALLEST] = "smallest", [CHOOSER_AUTO] = "auto"};

enum status codec_choice_parse(const char *name, struct codec_choice *choice, struct error *error)
{
    for (int i = CHOOSER_GPU_STAR; i <= CHOOSER_AUTO; i++)
        if (strcmp(name, chooser_names[i]) == 0) {
            *choice = (struct codec_choice){.chooser = (enum chooser)i, .name = chooser_names[i]};
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

static bool considers(const struct codec_choice *choice, const struct codec *codec)
{
    return choice->codec ? choice->codec->id == codec->id
                         : (codec->choosers & CHOSEN_BY(choice->chooser)) != 0;
}

/* The greatest bound of all codecs, or of those that `choice` considers. */
static size_t bound_of(const struct codec_choice *choice, uint32_t rows, uint32_t value_bytes)
{
    size_t most = 0;
    for (uint32_t id = 1; id < CODEC_COUNT; id++) {
        const struct codec *const codec = codec_by_id(id);
        if ((choice && !considers(choice, codec)) || !codec_holds(codec, value_bytes))
            continue;
        const size_t bound = codec->bound(rows, value_bytes);
        most = bound > most ? bound : most;
    }
    return most;
}

size_t codec_choice_bound(const struct codec_choice *choice, uint32_t rows, uint32_t value_bytes)
{
    return bound_of(choice, rows, value_bytes);
}

size_t codec_candidates_bound(uint32_t rows, uint32_t value_bytes)
{
    return bound_of(NULL, rows, value_bytes);
}

/* The width of the widest tile: the bits of the difference between its least and greatest value. */
static uint32_t widest_tile(const struct codec_input *input)
{
    const uint32_t rows = input->rows, value_bytes = input->value_bytes;
    uint32_t widest = 0;
    for (uint32_t first = 0; first < rows; first += TILE_ROWS) {
        const uint32_t count = rows - first < TILE_ROWS ? rows - first : TILE_ROWS;
        int64_t low, high;
        values_range((const uint8_t *)input->values + (size_t)first * value_bytes, count, value_bytes, &low,
                     &high);
        const uint64_t range = (uint64_t)high - (uint64_t)low;
        const uint32_t width = range ? 64 - (uint32_t)__builtin_clzll(range) : 0;
        widest = width > widest ? width : widest;
    }
    return widest;
}

/* What `choice` compares of a candidate: less is better. */
static double cost_of(const struct codec_choice *choice, const struct codec *codec, uint64_t bytes,
                      const struct codec_input *input, uint32_t width)
{
    if (choice->chooser != CHOOSER_AUTO)
        return (double)bytes;
    if (codec->planes)
        return codec_costs_estimate_planes(choice->costs, codec->id, input->bits, input->planes);
    return codec_costs_estimate(choice->costs, codec->id, bytes, input->rows, width, choice->probed);
}

/* Tries one codec on the chunk; it encodes into `out`. */
static struct codec_candidate try_codec(const struct codec_choice *choice, const struct codec *codec,
                                        const struct codec_input *input, uint32_t width, uint8_t *out)
{
    struct codec_candidate candidate = {.codec = codec->id};
    if (codec_holds(codec, input->value_bytes))
        candidate.bytes = codec->encode(input, out);
    candidate.considered = candidate.bytes && considers(choice, codec);
    if (candidate.considered)
        candidate.cost = cost_of(choice, codec, candidate.bytes, input, width);
    return candidate;
}

static bool better(const struct codec_candidate *candidate, const struct codec_candidate *than)
{
    if (candidate->bytes == 0 || candidate->cost == HUGE_VAL)
        return false;
    if (than->bytes == 0 || candidate->cost != than->cost)
        return than->bytes == 0 || candidate->cost < than->cost;
    if (candidate->bytes != than->bytes)
        return candidate->bytes < than->bytes;
    return codec_by_id(candidate->codec)->decode_cycles < codec_by_id(than->codec)->decode_cycles;
}

/* `auto` takes more time for fewer bytes where a codec has at most 1 / AUTO_SMALLER of the bytes of each one that is cheaper
 * to query: an order's columns in TPC-DS, whose runs have 9 to 16 rows, take a sixth as runs. SSB's, with runs of 4,
 * take more than a quarter of packed values at any width (1.125 bits for marks, and a fourth of the width), and stay in the
 * codecs by which its queries are fastest. */
#define AUTO_SMALLER 4u

static bool is_far_smaller(const struct codec_candidate *candidate,
                           const struct codec_candidate candidates[CODEC_COUNT - 1])
{
    bool smaller = candidate->considered && candidate->bytes && candidate->cost != HUGE_VAL;
    for (uint32_t c = 0; smaller && c < CODEC_COUNT - 1; c++) {
        const struct codec_candidate *const other = &candidates[c];
        smaller = !other->considered || !other->bytes || other->cost >= candidate->cost ||
                  candidate->bytes * AUTO_SMALLER <= other->bytes;
    }
    return smaller;
}

/* The smallest of the candidates that are taken for their size. The cheapest one is one of them, as none is cheaper. */
static const struct codec_candidate *weigh_size(const struct codec_candidate *cheapest,
                                                const struct codec_candidate candidates[CODEC_COUNT - 1])
{
    const struct codec_candidate *best = cheapest;
    for (uint32_t c = 0; c < CODEC_COUNT - 1; c++)
        if (candidates[c].bytes * AUTO_SMALLER <= cheapest->bytes && candidates[c].bytes < best->bytes &&
            is_far_smaller(&candidates[c], candidates))
            best = &candidates[c];
    return best;
}

const struct codec_candidate *codec_candidates_best(const struct codec_choice *choice,
                                                    const struct codec_candidate candidates[CODEC_COUNT - 1])
{
    static const struct codec_candidate none;
    const struct codec_candidate *best = &none;
    for (uint32_t c = 0; c < CODEC_COUNT - 1; c++)
        if (candidates[c].considered && better(&candidates[c], best))
            best = &candidates[c];
    return choice->chooser == CHOOSER_AUTO ? weigh_size(best, candidates) : best;
}

size_t codec_choose(const struct codec_choice *choice, const struct codec_input *input, uint8_t *out,
                    uint8_t *scratch)
{
    const uint32_t width = choice->chooser == CHOOSER_AUTO ? widest_tile(input) : 0;
    struct codec_candidate candidates[CODEC_COUNT - 1] = {{0}};
    uint8_t *kept = scratch, *next = out; /* the best one so far is in `kept` */
    struct codec_candidate best = {0};
    for (uint32_t id = 1; id < CODEC_COUNT; id++) {
        const struct codec *const codec = codec_by_id(id);
        if (!considers(choice, codec))
            continue;
        candidates[id - 1] = try_codec(choice, codec, input, width, next);
        if (!better(&candidates[id - 1], &best))
            continue;
        uint8_t *const beaten = kept;
        kept = next;
        next = beaten;
        best = candidates[id - 1];
    }
    const struct codec_candidate *const chosen = codec_candidates_best(choice, candidates);
    if (chosen->codec != best.codec)
        return codec_by_id(chosen->codec)->encode(input, out);
    if (kept == scratch)
        memcpy(out, scratch, best.bytes);
    return best.bytes;
}

void codec_candidates(const struct codec_choice *choice, const struct codec_input *input, uint8_t *scratch,
                      struct codec_candidate candidates[CODEC_COUNT - 1])
{
    const uint32_t width = widest_tile(input);
    for (uint32_t id = 1; id < CODEC_COUNT; id++)
        candidates[id - 1] = try_codec(choice, codec_by_id(id), input, width, scratch);
}
