/* registry.c: finds the codecs of codec_list.h, each of which is built once for every instruction set. */
#include "storage/codec/codec.h"

#include <stdio.h>
#include <string.h>

/* The levels that CMakeLists.txt builds (storage/base/isa.h). */
#if defined(__x86_64__)
#define ON_EACH_LEVEL(OF, NAME) OF(NAME, baseline), OF(NAME, avx2), OF(NAME, avx512)
#else
#define ON_EACH_LEVEL(OF, NAME) OF(NAME, baseline)
#endif
#define VARIABLE(NAME, LEVEL) codec_##NAME##_##LEVEL
#define ADDRESS(NAME, LEVEL)  &codec_##NAME##_##LEVEL

#define DECLARE(name, NAME) extern const struct codec ON_EACH_LEVEL(VARIABLE, name);
CODECS(DECLARE)

#define ROW(name, NAME) [CODEC_##NAME] = {ON_EACH_LEVEL(ADDRESS, name)},
static const struct codec *const codecs[CODEC_COUNT][ISA_LEVELS] = {CODECS(ROW)};

const struct codec *codec_by_id_isa(uint32_t id, enum isa_level level)
{
    return id < CODEC_COUNT ? codecs[id][level] : NULL;
}

const struct codec *codec_by_id(uint32_t id)
{
    return codec_by_id_isa(id, isa_level());
}

const struct codec *codec_by_name(const char *name)
{
    for (uint32_t id = 1; id < CODEC_COUNT; id++)
        if (strcmp(codecs[id][ISA_BASELINE]->name, name) == 0)
            return codec_by_id(id);
    return NULL;
}

const struct codec *codec_quick(void)
{
    uint32_t id = 1;
    while (!codec_by_id(id)->quick)
        id++;
    return codec_by_id(id);
}

static const struct codec *by_layout(enum codec_layout layout)
{
    uint32_t id = 1;
    while (codecs[id][ISA_BASELINE]->layout != layout)
        id++;
    return codec_by_id(id);
}

const struct codec *codec_baseline(void)
{
    return by_layout(CODEC_LAYOUT_VALUES);
}

const struct codec *codec_array(void)
{
    return by_layout(CODEC_LAYOUT_ARRAY);
}

bool codec_is_staged(const struct codec *codec, bool on_gpu)
{
    return codec->decode_block || (on_gpu && codec->gpu.passes);
}

bool codec_holds(const struct codec *codec, uint32_t value_bytes)
{
    return value_bytes == sizeof(int32_t) || codec->holds_int64;
}

bool codec_needs_levels(const struct codec *codec)
{
    return codec->planes;
}

const char *codec_names(char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t id = 1; id < CODEC_COUNT && used < bytes; id++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%s", id > 1 ? ", " : "",
                                 codecs[id][ISA_BASELINE]->name);
    return text;
}
