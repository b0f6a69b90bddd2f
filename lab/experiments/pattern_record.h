/*
 * pattern_record.h: what `tessera lab pattern` measures of a codec at a compression level, from a file to the answer, beside
 * what the paper measured (Przymus and Kaczmarski, OTM 2012 Workshops, table 1).
 *
 * A time series is 1024 values, as long as the pattern. The level says how many times the paper's codec, pfor-diff,
 * compresses the series; other codecs compress them as well as they can. The paper says of its data only the levels and
 * 5 % of outliers.
 */
#ifndef TESSERA_LAB_EXPERIMENTS_PATTERN_RECORD_H
#define TESSERA_LAB_EXPERIMENTS_PATTERN_RECORD_H

#include "lab/bench/pattern.h"
#include "lab/bench/transfer.h"

#define PATTERN_ROWS    (UINT64_C(1) << 28) /* 1 GB, the paper's most */
#define PATTERN_LEVELS  3u
#define PATTERN_SCHEMES 6u

struct pattern_level {
    double factor;
    uint32_t step_bits,
        outlier_bits; /* of successive differences and of outliers: by these pfor-diff reaches the factor */
};
extern const struct pattern_level pattern_levels[PATTERN_LEVELS];

struct pattern_scheme {
    const char *name; /* of its codec */
    bool in_shared;   /* a GPU decodes a tile into shared memory, not into registers */
};
extern const struct pattern_scheme pattern_schemes[PATTERN_SCHEMES]; /* the first one is not compressed */

/* A codec at a level. */
struct pattern_record {
    const struct pattern_scheme *scheme;
    double level; /* 1: not compressed */
    double ratio;
    struct transfer transfer;
    struct speed ways[PATTERN_WAYS]; /* median 0: not measured */
};

/* A paper's row count times the scale, in whole series, at least one. */
uint64_t pattern_rows(const struct lab *lab, uint64_t rows);

/* Measures a scheme by the ways whose bits are set in `ways` (1 << PATTERN_CPU, ...), a GPU's only where there is one.
 * record->scheme is NULL if the codec is not in the registry. */
NODISCARD enum status pattern_record_measure(struct pattern *pattern, const struct pattern_scheme *scheme,
                                             const struct pattern_level *level, unsigned ways,
                                             struct pattern_record *record, struct error *error);

/* Makes `rows` rows of a level, calls `work` with them and frees them. */
typedef enum status pattern_work(void *context, struct pattern *pattern, uint32_t level, struct error *error);
NODISCARD enum status pattern_with_level(struct lab *lab, uint32_t level, uint64_t rows, pattern_work *work,
                                         void *context, struct error *error);

/* "GPU, in shared memory" */
const char *pattern_way_name(const struct pattern_record *record, enum pattern_way way);

/* Milliseconds to copy what the way reads to the device: 0 on the processor. */
double pattern_memory_ms(const struct pattern_record *record, enum pattern_way way);

/* The times of a row of the paper's table 1, in milliseconds. */
struct pattern_paper {
    double io, memory, computation;
};

/* The paper's times of a scheme, level and way, or NULL. Its processor is a thread of an Opteron, its GPU a Tesla C2070. */
const struct pattern_paper *pattern_paper(const struct pattern_record *record, enum pattern_way way);

#endif
