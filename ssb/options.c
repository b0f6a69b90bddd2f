/* options.c: see options.h. */
#include "ssb/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum option_key { KEY_SCALE_FACTOR = 's', KEY_MODE = 0x100, KEY_VARIANT, KEY_DATE_TABLE };

static const struct argp_option option_list[] = {
    {"sf", KEY_SCALE_FACTOR, "N", 0,
     "Scale factor: 1 (the default) is 6 million rows of lineorder; 0.1 and 100 are fine, too", 0},
    {"mode", KEY_MODE, "single|all", 0,
     "Random streams: one set a table, as when ssb-dbgen makes each table in a run of its own (single, the "
     "default), or "
     "shared by all tables, as in one run (all)",
     0},
    {"variant", KEY_VARIANT, "eyalroz|crystal", 0,
     "Whose ssb-dbgen: eyalroz (the default), or the older one that Crystal ships", 0},
    {"date-table", KEY_DATE_TABLE, "full|classic", 0,
     "Below scale factor 1: every date (full, the default), or cut short as ssb-dbgen cuts it (classic), so "
     "that order "
     "dates without a date row exist",
     0},
    {0}};

/* Finds the position of `text` in two names. */
static enum status parse_either(const char *text, const char *option, const char *const names[2],
                                int *position, struct error *error)
{
    for (int i = 0; i < 2; i++)
        if (strcmp(text, names[i]) == 0) {
            *position = i;
            return STATUS_OK;
        }
    return error_set(error, STATUS_BAD_INPUT, "%s '%.40s' does not exist; give %s or %s", option, text,
                     names[0], names[1]);
}

static enum status parse_option(int key, const char *text, struct ssb_options *options, struct error *error)
{
    static const char *const modes[2] = {[SSB_MODE_SINGLE] = "single", [SSB_MODE_ALL] = "all"};
    static const char *const variants[2] = {
        [SSB_VARIANT_EYALROZ] = "eyalroz", [SSB_VARIANT_CRYSTAL] = "crystal"};
    static const char *const dates[2] = {[SSB_DATES_FULL] = "full", [SSB_DATES_CLASSIC] = "classic"};
    int position = 0;
    switch (key) {
    case KEY_SCALE_FACTOR:
        return ssb_scale_factor_parse(text, &options->scale_factor, error);
    case KEY_MODE:
        RETURN_IF_ERROR(parse_either(text, "--mode", modes, &position, error));
        options->mode = (enum ssb_mode)position;
        return STATUS_OK;
    case KEY_VARIANT:
        RETURN_IF_ERROR(parse_either(text, "--variant", variants, &position, error));
        options->variant = (enum ssb_variant)position;
        return STATUS_OK;
    default:
        RETURN_IF_ERROR(parse_either(text, "--date-table", dates, &position, error));
        options->dates = (enum ssb_dates)position;
        return STATUS_OK;
    }
}

static error_t parse_key(int key, char *argument, struct argp_state *state)
{
    struct ssb_options_input *input = state->input;
    switch (key) {
    case KEY_SCALE_FACTOR:
    case KEY_MODE:
    case KEY_VARIANT:
    case KEY_DATE_TABLE:
        return parse_option(key, argument, &input->options, input->error) == STATUS_OK ? 0 : EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp ssb_options_argp = {.options = option_list, .parser = parse_key};

enum status ssb_command_line(const struct argp *argp, int argc, char **argv, void *input,
                             struct error *failure, struct error *error)
{
    int parsed = argp_parse(argp, argc, argv, 0, NULL, input);
    if (parsed == 0)
        return STATUS_OK;
    if (failure->status == STATUS_OK)
        error_set_errno(failure, parsed, "could not read the command line of '%s'", argv[0]);
    if (error)
        *error = *failure;
    return failure->status;
}

enum status ssb_threads_parse(const char *text, unsigned *threads, struct error *error)
{
    char *end = NULL;
    const unsigned long value = strtoul(text, &end, 10);
    if (strspn(text, "0123456789") != strlen(text) || *text == '\0' || value < 1 ||
        value > PARALLEL_THREADS_MAX)
        return error_set(error, STATUS_BAD_INPUT, "--threads '%.40s' is not a number from 1 to %u", text,
                         PARALLEL_THREADS_MAX);
    *threads = (unsigned)value;
    return STATUS_OK;
}

enum status ssb_table_parse(const char *name, enum ssb_table *table, struct error *error)
{
    for (enum ssb_table candidate = 0; candidate < SSB_TABLES; candidate++)
        if (strcmp(name, ssb_table_info(candidate)->name) == 0) {
            *table = candidate;
            return STATUS_OK;
        }
    return error_set(
        error, STATUS_BAD_INPUT,
        "table '%.40s' does not exist; the tables are part, supplier, customer, date and lineorder", name);
}
