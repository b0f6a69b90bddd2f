/* options.c: see options.h. */
#include "ssb/options.h"

static enum status read_scale_factor(void *arguments, const char *text, struct error *error)
{
    struct ssb_options *const options = arguments;
    return ssb_scale_factor_parse(text, &options->scale_factor, error);
}

const struct command_option ssb_data_options[] = {
    {"sf", 's', "N",
     "Scale factor: 1 (the default) is 6 million rows of lineorder; 0.1 and 100 are fine, too",
     BY_FUNCTION(read_scale_factor)},
    {"mode", 0, "single|all",
     "Random streams: one set a table, as when ssb-dbgen makes each table in a run of its own (single, the "
     "default), or shared by all tables, as in one run (all)",
     TO_WORD(struct ssb_options, mode, "single|all")},
    {"variant", 0, "eyalroz|crystal",
     "Whose ssb-dbgen: eyalroz (the default), or the older one that Crystal ships",
     TO_WORD(struct ssb_options, variant, "eyalroz|crystal")},
    {"date-table", 0, "full|classic",
     "Below scale factor 1: every date (full, the default), or cut short as ssb-dbgen cuts it (classic), so "
     "that order dates without a date row exist",
     TO_WORD(struct ssb_options, dates, "full|classic")},
    {"skew", 0, NULL,
     "Manufacturers, brands, nations, cities, quantities, discounts and the keys of customers, parts and "
     "suppliers are skewed, instead of uniform as ssb-dbgen draws them (docs/ssb.md)",
     TO_FLAG(struct ssb_options, skew)},
    {0}};
