/* codec_costs_builtin.h: the tables of storage/codec/costs, which cmake/costs.cmake writes into a C file. */
#ifndef TESSERA_STORAGE_CODEC_CODEC_COSTS_BUILTIN_H
#define TESSERA_STORAGE_CODEC_CODEC_COSTS_BUILTIN_H

struct codec_costs_text {
    const char *name; /* the file's name without .costs */
    const char *text;
};

extern const struct codec_costs_text codec_costs_builtin[]; /* ends with an entry whose name is NULL */

#endif
