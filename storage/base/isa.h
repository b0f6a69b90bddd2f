/*
 * isa.h: compiles one source for several instruction sets and chooses among them at run time.
 *
 * The files that CMakeLists.txt lists as "hot" are compiled once for each instruction set, whose name is
 * TESSERA_ISA: baseline, avx2 and avx512 on x86-64, only baseline elsewhere. Such a file names its exported
 * functions ISA(name), so that codec_NAME becomes codec_NAME_avx2. isa_level() chooses the variant.
 */
#ifndef TESSERA_STORAGE_BASE_ISA_H
#define TESSERA_STORAGE_BASE_ISA_H

#include "storage/base/status.h"

#define ISA_PASTE_(name, isa) name##_##isa
#define ISA_PASTE(name, isa)  ISA_PASTE_(name, isa)
#ifdef TESSERA_ISA
#define ISA(name) ISA_PASTE(name, TESSERA_ISA)
#endif

enum isa_level { ISA_BASELINE, ISA_AVX2, ISA_AVX512, ISA_LEVELS };

/* The best level that both this machine and this build have. The environment variable TESSERA_ISA (baseline,
 * avx2, avx512) can lower it, for tests and comparisons. The first call decides. */
enum isa_level isa_level(void);

/* The best variant, for this machine, of a function that was defined as ISA(name). */
#if defined(__x86_64__)
#define ISA_CHOICE(name) \
    (isa_level() == ISA_AVX512 ? name##_avx512 : isa_level() == ISA_AVX2 ? name##_avx2 : name##_baseline)
#else
#define ISA_CHOICE(name) name##_baseline
#endif

/* STATUS_BAD_INPUT, with the names that there are, if TESSERA_ISA is none of them; isa_level does not look at such. */
NODISCARD enum status isa_check(struct error *error);

/* "baseline", "avx2", "avx512". */
const char *isa_name(enum isa_level level);

#endif
