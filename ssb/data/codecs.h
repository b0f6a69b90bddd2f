/*
 * codecs.h: which codec each column of the benchmark is stored in: the value of `ssb load --codec`.
 *
 * A comma-separated list: one codec or chooser for all columns of lineorder (auto if none is named), then
 * COLUMN=CODEC for single columns of any table. Columns of the dimensions are stored as arrays
 * (codec_array) unless named: queries read them as arrays of codes, row by row in any order, and they are a fiftieth of the bytes.
 */
#ifndef TESSERA_SSB_DATA_CODECS_H
#define TESSERA_SSB_DATA_CODECS_H

#include "ssb/data/generator.h"

/* 58 columns, each "lo_extendedprice=", a codec of at most 13 characters and a comma. */
#define SSB_CODECS_BYTES 4096u

/* What `text` (NULL: the defaults) says, spelled out: COLUMN=CODEC for every column of all tables, as codec_spec.h reads
 * it. A codec or column that does not exist, or a column or "all" named twice: STATUS_BAD_INPUT. */
NODISCARD enum status ssb_codecs_list(const char *text, char list[SSB_CODECS_BYTES], struct error *error);

#endif
