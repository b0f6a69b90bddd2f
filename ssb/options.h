/*
 * options.h: the command-line options that say which data are meant (--sf, --mode, --variant, --date-table),
 * shared by the commands that generate; and what all of SSB's commands read their command lines with.
 */
#ifndef TESSERA_SSB_OPTIONS_H
#define TESSERA_SSB_OPTIONS_H

#include "ssb/data/generator.h"

#include <argp.h>

/* The input of ssb_options_argp, to be used as an argp child: `options` holds the defaults before and the
 * answer after. A value that is no good fills `error`, and argp_parse then returns EINVAL. */
struct ssb_options_input {
    struct ssb_options options;
    struct error *error;
};
#define SSB_OPTIONS_DEFAULT \
    {                       \
        .scale_factor = 1   \
    }

extern const struct argp ssb_options_argp;

/* Reads the command line with `argp`, whose input is `input`; what its parsers put into *failure, which must
 * be zeroed before, is the result. */
NODISCARD enum status ssb_command_line(const struct argp *argp, int argc, char **argv, void *input,
                                       struct error *failure, struct error *error);

/* A number of threads from text, 1 .. PARALLEL_THREADS_MAX. */
NODISCARD enum status ssb_threads_parse(const char *text, unsigned *threads, struct error *error);

/* A table by its name. */
NODISCARD enum status ssb_table_parse(const char *name, enum ssb_table *table, struct error *error);

#endif
