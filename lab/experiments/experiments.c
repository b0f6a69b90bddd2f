/* experiments.c: the table of experiments (lab/lab.h), in the order in which `tessera lab all` runs them. */
#include "lab/experiments/experiments.h"

#include <stddef.h>

const struct lab_experiment lab_experiments[] = {
    {"optimisations", "What makes GPU-FOR fast", "Shanbhag et al., SIGMOD 2022, section 4.2 and figure 5",
     "GPU-FOR's optimisations one by one, D = 1 .. 32 (a GPU's kernels), beside our decoders",
     lab_optimisations},
    {"widths", "Uniform values, by their width", "Shanbhag et al., SIGMOD 2022, section 9.2 and figure 7",
     "decode time and size of uniform values of 2 .. 30 bits, all codecs", lab_widths},
    {"distributions", "Sorted, normal and Zipf values",
     "Shanbhag et al., SIGMOD 2022, section 9.3 and figure 8",
     "decode time and size of three distributions, all codecs", lab_distributions},
    {"ssb-columns", "Columns of the Star Schema Benchmark",
     "Shanbhag et al., SIGMOD 2022, section 9.4 and figures 9 and 10",
     "size and decode time of lineorder's columns, all codecs, and systems that choose among them",
     lab_ssb_columns},
    {"ssb-queries", "Queries of the Star Schema Benchmark",
     "Shanbhag et al., SIGMOD 2022, section 9.4 and figure 11",
     "the 13 queries by system, decoded in the query's kernel or before it; --db, or a temporary database",
     lab_ssb_queries},
    {"random-access", "Reading some rows", "Shanbhag et al., SIGMOD 2022, section 8",
     "time to read the rows that a bit vector selects, by selectivity, all codecs", lab_random_access},
    {"encode", "Compression speed", "Shanbhag et al., SIGMOD 2022, section 8",
     "time to encode 250 million uniform values, all codecs (on the processor)", lab_encode},
    {"posting-lists", "Lists of integers", "Mallia et al., CIKM 2019, tables 1 and 3 and figure 3",
     "size and decode speed of d-gaps of uniform and clustered lists, all codecs", lab_posting_lists},
    {"pattern", "Matching a pattern in compressed time series",
     "Przymus and Kaczmarski, OTM 2012 Workshops, table 1, figures 2 and 3",
     "from a file to the answer, decoded on the GPU to its memory or while comparing, or on the processor",
     lab_pattern},
    {"byte-streams", "Byte streams: RLE v1, RLE v2 and Deflate",
     "Park et al., CODAG, 2023, tables IV and V, figures 7 and 8",
     "decoding speed of blocks of 128 KiB (--block), as published, ours, nvCOMP, zlib and libdeflate",
     lab_byte_streams},
    {NULL, NULL, NULL, NULL, NULL},
};
