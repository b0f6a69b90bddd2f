/* gpu_database.h: an engine on the GPU and a database of the benchmark, for tests that need both: skipped where there is no GPU,
 * unless TESSERA_REQUIRE_GPU is set. Behind cmocka.h and ssb_database.h. */
#ifndef TESSERA_TESTS_SUPPORT_GPU_GPU_DATABASE_H
#define TESSERA_TESTS_SUPPORT_GPU_GPU_DATABASE_H

#include "engine/run/engine.h"

#include <stdio.h>
#include <stdlib.h>

static struct engine *engine; /* NULL: there is no GPU */

/* For the setup of a group of tests: at scale factor 4 lineorder has two segments. The parameters are those of ssb_database_make. */
static inline int gpu_database_open(double scale_factor, const char *codec)
{
    struct error why = {0};
    if (engine_open(&(struct engine_options){.device = "cuda", .threads = 2}, &engine, &why) != STATUS_OK) {
        fprintf(stderr, "no GPU: %s\n", why.text);
        return getenv("TESSERA_REQUIRE_GPU") ? 1 : 0;
    }
    ssb_database_make(scale_factor, codec, 0);
    return 0;
}

static inline int gpu_database_close(void **state)
{
    (void)state;
    if (!engine)
        return 0;
    engine_close(engine);
    ssb_database_remove();
    return 0;
}

#endif
