/* lane_widths.h: a limit that lane-for's descriptor and its decoder on a GPU share (C and CUDA C++). */
#ifndef TESSERA_STORAGE_CODEC_INTEGER_LANE_WIDTHS_H
#define TESSERA_STORAGE_CODEC_INTEGER_LANE_WIDTHS_H

/* A column with at most this many different widths gets a decoder for each of them. */
#define LANE_WIDTHS_MAX 4u

#endif
