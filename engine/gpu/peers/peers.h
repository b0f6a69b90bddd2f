/*
 * peers.h: several GPUs run one plan, each over its share of the segments, and one of them, the leader, merges their
 * states, which it reads from the others' memory: those of slots word by word (operators/group/merge.h), hashed groups one
 * GPU's table after the other's (operators/group/merge_hash.h). Rows and sets of distinct values are merged on the host.
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
NODISCARD enum status gpu_team_run(struct device_team *team, struct partial *partial,
                                   struct run_timing *const *timings, struct team_timing *timing,
                                   struct error *error);
void gpu_team_close(struct device_team *team);

/* The text of the kernel, for tests that compile it. */
extern const char gpu_merge_source[];

#endif
