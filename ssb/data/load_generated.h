/* load_generated.h: loads the generator's rows (as a struct row_maker), without text in between. */
#ifndef TESSERA_SSB_DATA_LOAD_GENERATED_H
#define TESSERA_SSB_DATA_LOAD_GENERATED_H

#include "loader/table/table_loader.h"
#include "ssb/data/generator.h"

/* Loads all five tables with the options in `load`; inputs and threads are set here. `part` says which part of lineorder
 * (`of` 0: all of it); its rows are found here. */
NODISCARD enum status ssb_load_generated(const struct ssb_options *data, const struct table_part *part,
                                         const struct load_options *load, struct progress *progress,
                                         struct error *error);

#endif
