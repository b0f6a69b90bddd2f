/* registry.c: the list of codecs, each built once for every instruction set. A new codec is one line here. */
#include "storage/codec/codec.h"

#include <stdio.h>
#include <string.h>

#define CODECS(X) \
    X(plain) X(nsf) X(gpu_for) X(gpu_dfor) X(gpu_rfor) X(lane_for) X(lane_delta) X(rank_rle) X(lane_slice)

/* As CMakeLists.txt builds them (storage/base/isa.h). */
#if defined(__x86_64__)
#define ON_EACH_LEVEL(OF, NAME) OF(NAME, baseline), OF(NAME, avx2), OF(NAME, avx512)
#else
#define ON_EACH_LEVEL(OF, NAME) OF(NAME, baseline)
#endif
#define VARIABLE(NAME, LEVEL) codec_##NAME##_##LEVEL
#define ADDRESS(NAME, LEVEL)  &codec_##NAME##_##LEVEL

#define DECLARE(NAME) extern const struct codec ON_EACH_LEVEL(VARIABLE, NAME);
CODECS(DECLARE)

#define ROW(NAME) {ON_EACH_LEVEL(ADDRESS, NAME)},
static const struct codec *const codecs[][ISA_LEVELS] = {CODECS(ROW)};
static const size_t codec_count = sizeof codecs / sizeof *codecs;

const struct codec *codec_by_id_isa(uint32_t id, enum isa_level level)
{
    for (size_t i = 0; i < codec_count; i++)
        if (codecs[i][ISA_BASELINE]->id == id)
            return codecs[i][level];
    return NULL;
}

const struct codec *codec_by_id(uint32_t id)
{
    return codec_by_id_isa(id, isa_level());
}

const struct codec *codec_by_name(const char *name)
{
    for (size_t i = 0; i < codec_count; i++)
        if (strcmp(codecs[i][ISA_BASELINE]->name, name) == 0)
            return codecs[i][isa_level()];
    return NULL;
}

const char *codec_names(char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < codec_count && used < bytes; i++)
        used +=
            (size_t)snprintf(text + used, bytes - used, "%s%s", i ? ", " : "", codecs[i][ISA_BASELINE]->name);
    return text;
}

enum status codec_find(const char *name, const struct codec **codec, struct error *error)
{
    char names[CODEC_NAMES_BYTES];
    *codec = codec_by_name(name);
    if (*codec)
        return STATUS_OK;
    return error_set(error, STATUS_BAD_INPUT, "there is no codec '%s'; choose one of %s", name,
                     codec_names(names, sizeof names));
}
