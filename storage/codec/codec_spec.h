/*
 * codec_spec.h: the argument of `--codec`: a name for all columns, and COLUMN=NAME for some, separated by
 * commas.
 *
 *     auto        smallest,lo_revenue=auto        lo_orderdate=NAME,lo_custkey=NAME
 *
 * A name is a codec or a chooser (codec.h). The name for a column wins over the name for all columns.
 */
#ifndef TESSERA_STORAGE_CODEC_CODEC_SPEC_H
#define TESSERA_STORAGE_CODEC_CODEC_SPEC_H

#include "storage/codec/codec.h"

enum codec_spec_part { CODEC_SPEC_NOTHING, CODEC_SPEC_ALL, CODEC_SPEC_COLUMN };

/* Finds what `spec` (NULL: nothing) says about the column. *part tells whether it says so for all columns,
 * for this one or not at all; *choice is set unless it says nothing. STATUS_BAD_INPUT for an unknown name,
 * for a part that is neither NAME nor COLUMN=NAME, and if a column or all columns are named twice. */
NODISCARD enum status codec_spec_find(const char *spec, const char *column, struct codec_choice *choice,
                                      enum codec_spec_part *part, struct error *error);

/* Copies the `index`-th column that `spec` names to `name` (of `bytes`); false if there are no more. Callers
 * use it to check that such columns exist. */
bool codec_spec_column(const char *spec, uint32_t index, char *name, size_t bytes);

#endif
