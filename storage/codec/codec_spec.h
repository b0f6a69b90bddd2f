/*
 * codec_spec.h: what `--codec` takes: one name for all columns, COLUMN=NAME for some, separated by commas.
 *
 *     auto        smallest,lo_revenue=auto        lo_orderdate=NAME,lo_custkey=NAME
 *
 * A name is a codec or a chooser (codec.h); what is said of a column goes before what is said of all.
 */
#ifndef TESSERA_STORAGE_CODEC_CODEC_SPEC_H
#define TESSERA_STORAGE_CODEC_CODEC_SPEC_H

#include "storage/codec/codec.h"

enum codec_spec_part { CODEC_SPEC_NOTHING, CODEC_SPEC_ALL, CODEC_SPEC_COLUMN };

/* What `spec` (NULL: nothing) says of the column, and whether it says it of all or of this one; *choice is
 * set unless it says nothing. A name that is no codec, a part that is neither NAME nor COLUMN=NAME, a column
 * or all columns named twice: STATUS_BAD_INPUT. */
NODISCARD enum status codec_spec_find(const char *spec, const char *column, struct codec_choice *choice,
                                      enum codec_spec_part *part, struct error *error);

/* The `index`-th column that `spec` names, copied into `name` (of `bytes`); false if there are no more. For
 * callers to check that such columns exist. */
bool codec_spec_column(const char *spec, uint32_t index, char *name, size_t bytes);

#endif
