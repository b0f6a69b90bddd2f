/*
 * options.h: the command-line options that choose the data (--sf, --mode, --variant, --date-table, --skew),
 * for the commands that generate them.
 */
#ifndef TESSERA_SSB_OPTIONS_H
#define TESSERA_SSB_OPTIONS_H

#include "ssb/data/generator.h"
#include "storage/base/command/command_line.h"

/* To be shared: a struct ssb_options with the defaults is the first field of the command's arguments. */
extern const struct command_option ssb_data_options[];

#define SSB_OPTIONS_DEFAULT \
    {                       \
        .scale_factor = 1   \
    }

#endif
