/* load_generated.h: the generator as what makes the rows of a load (struct row_maker), text in between left out. */
#ifndef TESSERA_SSB_DATA_LOAD_GENERATED_H
#define TESSERA_SSB_DATA_LOAD_GENERATED_H

#include "loader/table/table_loader.h"
#include "ssb/data/generator.h"

/* Loads all five tables with `load`, of which inputs and threads are set here. */
NODISCARD enum status ssb_load_generated(const struct ssb_options *data, const struct load_options *load,
                                         struct progress *progress, struct error *error);

#endif
