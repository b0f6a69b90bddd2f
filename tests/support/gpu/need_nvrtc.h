/*
 * need_nvrtc.h: for tests that compile kernels. It skips the test if NVRTC is not installed, or fails it if
 * TESSERA_REQUIRE_NVRTC is set. Include it after cmocka.h.
 */
#ifndef TESSERA_TESTS_SUPPORT_GPU_NEED_NVRTC_H
#define TESSERA_TESTS_SUPPORT_GPU_NEED_NVRTC_H

#include "engine/cuda/nvrtc.h"
#include "tests/support/not_run.h"

#include <stdlib.h>

static inline void need_nvrtc(void)
{
    int major, minor;
    struct error error = {0};
    if (nvrtc_version(&major, &minor, &error) == STATUS_OK)
        return;
    if (getenv("TESSERA_REQUIRE_NVRTC"))
        fail_msg("%s", error.text);
    not_run("NVRTC was not found, so no kernel is compiled");
}

#endif
