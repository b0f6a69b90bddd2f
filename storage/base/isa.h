/*
 * isa.h: one source, several instruction sets.
 *
 * Files listed as "hot" in CMakeLists.txt are compiled once for each instruction set, with TESSERA_ISA naming
 * it (on x86-64: baseline, avx2, avx512; elsewhere: baseline only). What such a file exports it names with
 * ISA(name), so that codec_NAME becomes codec_NAME_avx2; a table per instruction set collects them
 * and isa_level() chooses at run time.
 */
#ifndef TESSERA_STORAGE_BASE_ISA_H
#define TESSERA_STORAGE_BASE_ISA_H

#define ISA_PASTE_(name, isa) name##_##isa
#define ISA_PASTE(name, isa)  ISA_PASTE_(name, isa)
#ifdef TESSERA_ISA
#define ISA(name) ISA_PASTE(name, TESSERA_ISA)
#endif

enum isa_level { ISA_BASELINE, ISA_AVX2, ISA_AVX512, ISA_LEVELS };

/* The best level that both this machine and this build have; the environment variable TESSERA_ISA (baseline,
 * avx2, avx512) lowers it, for tests and comparisons. Decided once. */
enum isa_level isa_level(void);

/* The variant of a function, made with ISA(name), that suits this machine. */
#if defined(__x86_64__)
#define ISA_CHOICE(name) \
    (isa_level() == ISA_AVX512 ? name##_avx512 : isa_level() == ISA_AVX2 ? name##_avx2 : name##_baseline)
#else
#define ISA_CHOICE(name) name##_baseline
#endif

/* "baseline", "avx2", "avx512". */
const char *isa_name(enum isa_level level);

#endif
