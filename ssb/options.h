/*
 * options.h: the command-line options that choose the data (--sf, --mode, --variant, --date-table), for the
 * commands that generate them; and the functions by which all of SSB's commands read their command lines.
 */
#ifndef TESSERA_SSB_OPTIONS_H
#define TESSERA_SSB_OPTIONS_H

#include "ssb/data/generator.h"

#include <argp.h>

/* The input of ssb_options_argp, which is used as an argp child. `options` has the defaults before, and the
 * result after. A bad value sets `error`, and argp_parse then returns EINVAL. */
struct ssb_options_input {
    struct ssb_options options;
    struct error *error;
};
#define SSB_OPTIONS_DEFAULT \
    {                       \
        .scale_factor = 1   \
    }

extern const struct argp ssb_options_argp;

/* Reads the command line with `argp`, whose input is `input`. The parsers report errors in *failure, which
 * must be zero before; it is the result. */
NODISCARD enum status ssb_command_line(const struct argp *argp, int argc, char **argv, void *input,
                                       struct error *failure, struct error *error);

/* Reads a number of threads, 1 .. PARALLEL_THREADS_MAX. */
NODISCARD enum status ssb_threads_parse(const char *text, unsigned *threads, struct error *error);

/* Finds a table by its name. */
NODISCARD enum status ssb_table_parse(const char *name, enum ssb_table *table, struct error *error);

#endif
