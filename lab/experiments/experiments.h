/* experiments.h: the experiments, one file each; lab/experiments/experiments.c has their table. */
#ifndef TESSERA_LAB_EXPERIMENTS_EXPERIMENTS_H
#define TESSERA_LAB_EXPERIMENTS_EXPERIMENTS_H

#include "lab/lab.h"

/* GPU-* of the SIGMOD 2022 paper as its section 9.4 names columns, as a choice of codecs: RFOR for these two, FOR for the others. */
#define GPU_STAR_NAMED "gpu-for,lo_orderdate=gpu-rfor,lo_custkey=gpu-rfor"

enum status lab_optimisations(struct lab *lab, struct error *error);
enum status lab_widths(struct lab *lab, struct error *error);
enum status lab_distributions(struct lab *lab, struct error *error);
enum status lab_ssb_columns(struct lab *lab, struct error *error);
enum status lab_ssb_queries(struct lab *lab, struct error *error);
enum status lab_inline_query(struct lab *lab, struct error *error);
enum status lab_coprocessor(struct lab *lab, struct error *error);
enum status lab_random_access(struct lab *lab, struct error *error);
enum status lab_encode(struct lab *lab, struct error *error);
enum status lab_posting_lists(struct lab *lab, struct error *error);
enum status lab_posting_queries(struct lab *lab, struct error *error);
enum status lab_series_sizes(struct lab *lab, struct error *error);
enum status lab_pattern(struct lab *lab, struct error *error);
enum status lab_byte_streams(struct lab *lab, struct error *error);
enum status lab_decode_threads(struct lab *lab, struct error *error);
enum status lab_bitmaps(struct lab *lab, struct error *error);

#endif
