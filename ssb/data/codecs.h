/*
 * codecs.h: which codec each column of the benchmark is stored in: the value of `ssb load --codec`.
 *
 * A comma-separated list: one codec or chooser for all columns of lineorder (auto if none is named), then
 * COLUMN=CODEC for single columns of any table. Columns of the dimensions are stored as nsf unless named:
 * queries read them as arrays of codes, row by row in any order, and they are a fiftieth of the bytes.
 */
#ifndef TESSERA_SSB_DATA_CODECS_H
#define TESSERA_SSB_DATA_CODECS_H

#include "ssb/data/generator.h"

#define SSB_CODEC_NAME_BYTES 32

struct ssb_codecs {
    char choice[SSB_TABLES][SSB_COLUMNS_MAX][SSB_CODEC_NAME_BYTES];
};

/* NULL: the defaults. A codec or column that does not exist, or a column or "all" named twice:
 * STATUS_BAD_INPUT. */
NODISCARD enum status ssb_codecs_parse(const char *text, struct ssb_codecs *codecs, struct error *error);

#endif
