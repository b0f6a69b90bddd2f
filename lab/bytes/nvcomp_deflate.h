/* nvcomp_deflate.h: nvCOMP's decoder of Deflate (lab/bench/nvcomp.h), on the streams that ours decodes. */
#ifndef TESSERA_LAB_BYTES_NVCOMP_DEFLATE_H
#define TESSERA_LAB_BYTES_NVCOMP_DEFLATE_H

#include "lab/bench/nvcomp.h"
#include "lab/bytes/byte_batch.h"

/* Decompresses the batch's streams, which are Deflate, compares every byte, and times it. What fails in nvCOMP or because of
 * it is not an error but `why`, of NVCOMP_WHY_BYTES; it is "" if all was right. */
NODISCARD enum status nvcomp_deflate_measure(struct nvcomp *nvcomp, struct byte_batch *batch,
                                             struct speed *speed, char *why, struct error *error);

#endif
