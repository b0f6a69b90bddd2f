/*
 * compile_targets.h: the architectures that kernels are compiled for without a GPU, those of them that NVRTC knows, and
 * compiling by way of the cache, which the next run finds (TESSERA_KERNEL_CACHE). Behind cmocka.h.
 */
#ifndef TESSERA_TESTS_SUPPORT_GPU_COMPILE_TARGETS_H
#define TESSERA_TESTS_SUPPORT_GPU_COMPILE_TARGETS_H

#include "engine/cuda/kernel_cache.h"
#include "engine/gpu/kernel_layout.h"
#include "tests/support/gpu/need_nvrtc.h"

#include <stdio.h>
#include <stdlib.h>

struct compile_target {
    const char *arch;
    struct kernel_target
        target; /* as the data sheets have it, but some have no second-level cache: rows are listed then */
};

/* Hopper; Turing, Ampere, Ada, Blackwell in data centres and on desks. */
static const struct compile_target compile_targets_all[] = {
    {"sm_90", {232448, 233472, 2048, 0, UINT64_MAX, true}},
    {"sm_75", {65536, 65536, 1024, 0, UINT64_MAX, true}},
    {"sm_80", {166912, 167936, 2048, 0, 0, false}},
    {"sm_89", {101376, 102400, 1536, 0, 0, false}},
    {"sm_100", {232448, 233472, 2048, 0, 0, false}},
    {"sm_120", {101376, 102400, 1536, 0, 0, false}}};
#define COMPILE_TARGETS_MAX (sizeof compile_targets_all / sizeof *compile_targets_all)
#define COMPILE_OPTIONS_MAX 6u
static const struct compile_target *const compile_sm_90 = &compile_targets_all[0];

static const struct compile_target *compile_targets[COMPILE_TARGETS_MAX]; /* that NVRTC knows */
static size_t compile_target_count;

/* Fills compile_targets, sm_90 first; skips or fails the test where there is no NVRTC. */
static inline void need_compile_targets(void)
{
    need_nvrtc();
    compile_target_count = 0;
    for (size_t i = 0; i < COMPILE_TARGETS_MAX; i++)
        if (nvrtc_knows(compile_targets_all[i].arch))
            compile_targets[compile_target_count++] = &compile_targets_all[i];
    assert_true(compile_target_count >= 2 && compile_targets[0] == compile_sm_90);
}

/* These kernels do not run, so they are compiled with little optimisation, which takes a sixth of the time for the long
 * ones: what NVRTC refuses, it refuses so, too. TESSERA_TEST_OPTIMISE=1 compiles them as they run; so do tests that set
 * this, and NVRTC before 12.9, which has no such option. */
static bool compile_optimised;

static inline bool compiles_optimised(void)
{
    int major, minor;
    return compile_optimised || getenv("TESSERA_TEST_OPTIMISE") ||
           nvrtc_version(&major, &minor, NULL) != STATUS_OK || major < 12 || (major == 12 && minor < 9);
}

static inline enum status compile_with(const char *source, const char *arch, const char *const *options,
                                       char **log, struct error *error)
{
    const struct nvrtc_request request = {
        .name = "kernel.cu", .source = source, .arch = arch, .options = options};
    struct kernel_binary binary;
    const enum status status = kernel_cache_get(&request, &binary, log, error);
    kernel_binary_free(&binary);
    return status;
}

/* With little optimisation. NVRTC fails at some kernels so (13.5 at orc-rle1 for sm_75: "unsupported operation"), which
 * tells nothing of them. */
static inline bool compiles_fast(const char *source, const char *arch, const char *const *options)
{
    const char *all[COMPILE_OPTIONS_MAX + 2] = {"--Ofast-compile=max"};
    for (size_t i = 0; options && options[i]; i++) {
        assert_true(i < COMPILE_OPTIONS_MAX);
        all[i + 1] = options[i];
    }
    return compile_with(source, arch, all, NULL, NULL) == STATUS_OK;
}

/* Compiles one kernel, or finds it compiled; one that does not compile is printed under `name`. May be called from several
 * threads. */
static inline enum status compile_source(const char *name, const char *source, const char *arch,
                                         const char *const *options, struct error *error)
{
    char *log = NULL;
    if (!compiles_optimised() && compiles_fast(source, arch, options))
        return STATUS_OK;
    const enum status status = compile_with(source, arch, options, &log, error);
    if (status != STATUS_OK)
        fprintf(stderr, "%s, %s:\n%s\n%s\n", name, arch, source, log ? log : "");
    free(log);
    return status;
}

#endif
