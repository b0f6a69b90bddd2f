/*
 * kernel_text.h: the texts of the laboratory's kernels (lab/kernels), some of them around the decoder of a column.
 * Writing them needs no GPU.
 */
#ifndef TESSERA_LAB_BENCH_KERNEL_TEXT_H
#define TESSERA_LAB_BENCH_KERNEL_TEXT_H

#include "engine/gpu/kernel_layout.h"
#include "lab/bench/encoded.h"

#include <stdio.h>

/* A text that is being written; `out` is open. Close with kernel_text_close, which gives the text, to be freed. */
struct kernel_text {
    FILE *out;
    char *source;
    size_t bytes;
};

/* Begins a text: includes lab/kernels/HEADER and, unless `column` is NULL, its decoder, and defines DECODER as the
 * decoder's type and PRELOADS as whether it loads a tile ahead. */
NODISCARD enum status kernel_text_begin(const char *header, const struct kernel_column *column,
                                        struct kernel_text *text, struct error *error);
NODISCARD enum status kernel_text_close(struct kernel_text *text, char **source, struct error *error);

/* Whole texts, the caller's to free, and the name of their one function; threads of a block where they are fixed. */
#define KERNEL_SUM_THREADS 256u
NODISCARD enum status kernel_text_sum(const struct kernel_column *column, char **source, struct error *error);
#define KERNEL_SUM "sum_all"

NODISCARD enum status kernel_text_compare(char **source, struct error *error);
#define KERNEL_COMPARE "compare"

#define KERNEL_ACCESS_THREADS 256u
NODISCARD enum status kernel_text_access(const struct kernel_column *column, bool fetch, char **source,
                                         struct error *error);
#define KERNEL_ACCESS "read_rows"

/* Of any tile decoder; what the kernel needs is in lab/kernels/pattern_cuda.h. */
#define KERNEL_MATCH_THREADS 256u
NODISCARD enum status kernel_text_match(const struct kernel_column *column, char **source,
                                        struct error *error);
#define KERNEL_MATCH "match_series"

NODISCARD enum status kernel_text_choose(char **source, struct error *error);
#define KERNEL_CHOOSE "choose"

NODISCARD enum status kernel_text_expected(char **source, struct error *error);
#define KERNEL_EXPECTED "expected"

/* Around the method `type` of lab/kernels/published/HEADER: decodes to memory or, with `sum`, adds up. block_cuda.h says what the
 * kernel takes; each thread block decodes one piece. */
NODISCARD enum status kernel_text_published(const char *header, const char *type, uint32_t threads, bool sum,
                                            char **source, struct error *error);
#define KERNEL_PUBLISHED "published"

/* A query (lab/kernels/published/QUERY_cuda.h: "q11") over columns that the method decodes; query_cuda.h says what the kernel takes. */
NODISCARD enum status kernel_text_query(const char *query, const char *header, const char *type,
                                        uint32_t threads, char **source, struct error *error);
#define KERNEL_QUERY "query"

#endif
