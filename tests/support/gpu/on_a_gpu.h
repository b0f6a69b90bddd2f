/* on_a_gpu.h: runs a check on the first GPU; without one the test is skipped, or fails if TESSERA_REQUIRE_GPU is set. */
#ifndef TESSERA_TESTS_SUPPORT_GPU_ON_A_GPU_H
#define TESSERA_TESTS_SUPPORT_GPU_ON_A_GPU_H

#include "engine/run/engine.h"
#include "tests/support/not_run.h"

#include <stdlib.h>

static inline void check_on_a_gpu(void (*check)(const char *device))
{
    struct engine *engine;
    struct error error = {0};
    if (engine_open(&(struct engine_options){.device = "cuda"}, &engine, &error) == STATUS_OK) {
        engine_close(engine);
        check("cuda");
    } else if (getenv("TESSERA_REQUIRE_GPU")) {
        fail_msg("%s", error.text);
    } else {
        need_gpu(false);
    }
}

#endif
