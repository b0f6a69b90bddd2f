/*
 * codec_spec.h: what `--codec` takes: one name for all columns, COLUMN=NAME for some, separated by commas.
 *
 *     auto        plain,lo_revenue=lane-for        lo_orderdate=rank-rle,lo_custkey=rank-rle
 *
 * A name is a codec or a chooser (codec.h). The last part that fits a column counts.
 */
#ifndef TESSERA_STORAGE_CODEC_SPEC_H
#define TESSERA_STORAGE_CODEC_SPEC_H

#include "storage/codec.h"

/* What `spec` (NULL: nothing) says of the column; *chosen is false if it says nothing. A name that is no
 * codec or an empty part: STATUS_BAD_INPUT. */
NODISCARD enum status codec_spec_find(const char *spec, const char *column, struct codec_choice *choice,
                                      bool *chosen, struct error *error);

/* The `index`-th column that `spec` names, copied into `name` (of `bytes`); false if there are no more. For
 * callers to check that such columns exist. */
bool codec_spec_column(const char *spec, uint32_t index, char *name, size_t bytes);

#endif
