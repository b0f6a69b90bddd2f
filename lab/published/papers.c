/* papers.c: how the SIGMOD paper on tile-based compression calls the rows of a grid (lab/bench/grid.h). */
#include "lab/bench/grid.h"

const struct grid_paper grid_tile_based[] = {
    {"plain", "None"},
    {"nsf", "NSF"},
    {"nsv", "NSV"},
    {"rle", "RLE"},
    {"for-bp", "FOR+BitPack"},
    {"delta-for-bp", "Delta+FOR+BitPack"},
    {"rle-for-bp", "RLE+FOR+BitPack"},
    {"gpu-for, published", "GPU-FOR"},
    {"gpu-dfor, published", "GPU-DFOR"},
    {"gpu-rfor, published", "GPU-RFOR"},
    {"gpu-for", "GPU-FOR, our decoder"},
    {"gpu-dfor", "GPU-DFOR, our decoder"},
    {"gpu-rfor", "GPU-RFOR, our decoder"},
    {"planner", "Planner"},
    {"gpu-simdbp128, published", "GPU-SIMDBP128"},
    {"gpu-bp128, published", "GPU-BP"},
    {"gpu-bp128", "GPU-BP, our decoder"},
    {"gpu-vbyte128, published", "GPU-VByte"},
    {"nvCOMP FOR+BP", "nvCOMP(FOR+BitPacking)"},
    {"nvCOMP Delta+FOR+BP", "nvCOMP(Delta+FOR+BitPacking)"},
    {"nvCOMP RLE+FOR+BP", "nvCOMP(RLE+FOR+BitPacking)"},
    {NULL, NULL},
};
