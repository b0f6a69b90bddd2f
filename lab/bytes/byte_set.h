/*
 * byte_set.h: the data of the experiment on byte streams: made data of the seven kinds that CODAG measured (its tables IV
 * and V), columns of SSB's lineorder, and lineorder.tbl.
 *
 * The paper's data cannot be had, so each of the seven is made with the runs, values and repetitions that its name and
 * its ratios tell. They are made in pieces of 4 MiB on all threads; a set of 512 MiB takes a second on 16 cores. The same
 * size gives the same bytes on every machine and number of threads.
 */
#ifndef TESSERA_LAB_BYTES_BYTE_SET_H
#define TESSERA_LAB_BYTES_BYTE_SET_H

#include "lab/lab.h"

#define BYTE_SET_FULL (UINT64_C(512) << 20) /* bytes of a set at --scale 1 */

/* The formats. */
enum byte_format { BYTES_RLE1, BYTES_RLE2, BYTES_DEFLATE, BYTE_FORMATS };
extern const char *const byte_format_names[BYTE_FORMATS];

/* What a set is. */
struct byte_set_kind {
    const char *name;             /* "MC0" */
    const char *about;            /* what it stands for */
    uint32_t item_bytes;          /* of a value for RLE, unsigned: 1, 2, 4 or 8 */
    bool of_paper;                /* one of the seven */
    double ratios[BYTE_FORMATS];  /* the paper's table V; 0: it has none */
    double symbols[BYTE_FORMATS]; /* the paper's mean length of a symbol; 0: none */
};

/* The kinds, the paper's seven first. */
#define BYTE_SETS       14u
#define BYTE_PAPER_SETS 7u
extern const struct byte_set_kind byte_set_kinds[BYTE_SETS];

/* Reads the names of sets, separated by commas: *left_out gets a bit for each set that is not named. STATUS_BAD_INPUT if there
 * is no such set. */
NODISCARD enum status byte_sets_choose(const char *names, uint32_t *left_out, struct error *error);
static inline bool byte_set_is_chosen(const struct lab *lab, uint32_t set)
{
    return !(lab->sets_left_out >> set & 1);
}

struct byte_set {
    const struct byte_set_kind *kind;
    uint8_t *bytes;
    uint64_t byte_count; /* a multiple of 8 */
};

/* Makes a set of `byte_count` bytes. Free with byte_set_free, also after an error. */
NODISCARD enum status byte_set_make(struct lab *lab, const struct byte_set_kind *kind, uint64_t byte_count,
                                    struct byte_set *set, struct error *error);
void byte_set_free(struct byte_set *set);

#endif
