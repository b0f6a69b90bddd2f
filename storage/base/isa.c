/* isa.c: see isa.h. */
#include "storage/base/isa.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[ISA_LEVELS] = {"baseline", "avx2", "avx512"};

const char *isa_name(enum isa_level level)
{
    return names[level];
}

/* The level that TESSERA_ISA names; ISA_LEVELS: it is unset or empty, or names none. */
static enum isa_level wanted_level(void)
{
    const char *const wanted = getenv("TESSERA_ISA");
    int level = ISA_BASELINE;
    while (level < ISA_LEVELS && (!wanted || strcmp(wanted, names[level]) != 0))
        level++;
    return (enum isa_level)level;
}

enum status isa_check(struct error *error)
{
    const char *const wanted = getenv("TESSERA_ISA");
    if (!wanted || !*wanted || wanted_level() < ISA_LEVELS)
        return STATUS_OK;
    return error_set(
        error, STATUS_BAD_INPUT,
        "the environment variable TESSERA_ISA is baseline, avx2 or avx512, not '%s'; correct or unset it",
        wanted);
}

static enum isa_level machine_level(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512cd"))
        return ISA_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma"))
        return ISA_AVX2;
#endif
    return ISA_BASELINE;
}

enum isa_level isa_level(void)
{
    static int decided = -1; /* racing threads write the same value */
    int level = __atomic_load_n(&decided, __ATOMIC_RELAXED);
    if (level >= 0)
        return (enum isa_level)level;
    const enum isa_level machine = machine_level(), wanted = wanted_level();
    level = wanted < machine ? wanted : machine;
    __atomic_store_n(&decided, level, __ATOMIC_RELAXED);
    return (enum isa_level)level;
}
