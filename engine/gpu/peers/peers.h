/*
 * peers.h: several GPUs run one plan, each over its share of the segments, and one of them, the leader, merges their
 * states, which it reads from the others' memory: those of slots word by word, hashed groups and sets of distinct values one
 * GPU's tables after the other's (operators/group/merge_cuda.h). Rows, and sets of pairs (engine/gpu/kernel.h), are merged
 * on the host.
 *
 * Everything is queued by one thread of the host, which waits once, for the leader's answer:
 *
 *     leader    begin  prepare, scan  end  wait for the others' ends  merge  answer
 *     others           prepare, scan  end
 */
#ifndef TESSERA_ENGINE_GPU_PEERS_PEERS_H
#define TESSERA_ENGINE_GPU_PEERS_PEERS_H

#include "engine/run/device.h"

/* As in struct device_operations. */
NODISCARD enum status gpu_team_open(struct device_run *const *runs, uint32_t count, struct device_team **team,
                                    struct error *error);
NODISCARD enum status gpu_team_run(struct device_team *team, bool mergeable, struct partial *partial,
                                   struct run_timing *const *timings, struct team_timing *timing,
                                   struct error *error);
void gpu_team_close(struct device_team *team);

#endif
