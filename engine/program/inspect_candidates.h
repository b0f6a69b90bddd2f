/*
 * inspect_candidates.h: the size and cost of a column in each codec, which shows why its chooser chose its
 * codec.
 */
#ifndef TESSERA_ENGINE_PROGRAM_INSPECT_CANDIDATES_H
#define TESSERA_ENGINE_PROGRAM_INSPECT_CANDIDATES_H

#include "storage/database/database.h"

/* The column's first segment, on which choosers decide, encoded with every codec. `choice` is the choice of
 * the column's own codec. This takes at most a second, and 300 MB for 8-byte values. A column without rows
 * has no candidates: `rows` is 0. */
struct inspect_candidates {
    uint32_t rows; /* of that segment */
    struct codec_choice choice;
    struct codec_candidate candidates[CODEC_COUNT - 1];
};
NODISCARD enum status inspect_candidates_find(struct database *database, const struct column *column,
                                              struct inspect_candidates *found, struct error *error);

#endif
