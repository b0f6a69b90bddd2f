/*
 * planner_layers.h: numbers of the planner's format that its GPU decoder shares (planner.c draws the bytes).
 */
#ifndef TESSERA_STORAGE_CODEC_CASCADE_PLANNER_LAYERS_H
#define TESSERA_STORAGE_CODEC_CASCADE_PLANNER_LAYERS_H

/* The layers of a plan, in the order of encoding; null suppression is the last of every plan. */
#define PLANNER_RLE   1u
#define PLANNER_DICT  2u
#define PLANNER_DELTA 4u
#define PLANNER_FOR   8u
#define PLANNER_PLANS 16u /* sets of layers */

#define PLANNER_HEAD_WORDS 4u /* of the directory, before the entries of tiles */

/* Passes on a GPU. The passes of a plan are some of these, in this order; 4 bits of codec.gpu.detail each,
 * the first pass lowest. */
#define PLANNER_PASS_NONE    0u
#define PLANNER_PASS_VALUES  1u /* null suppression */
#define PLANNER_PASS_ADD     2u /* FOR */
#define PLANNER_PASS_SUM     3u /* DELTA */
#define PLANNER_PASS_LOOK_UP 4u /* DICT */
#define PLANNER_PASS_LENGTHS 5u /* null suppression of the run lengths */
#define PLANNER_PASS_STARTS  6u /* RLE, in four steps */
#define PLANNER_PASS_FLAGS   7u
#define PLANNER_PASS_NUMBERS 8u
#define PLANNER_PASS_GATHER  9u
#define PLANNER_PASSES       9u

#endif
