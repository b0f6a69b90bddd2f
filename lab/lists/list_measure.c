/* list_measure.c: see list_measure.h. */
#include "lab/lists/list_measure.h"

#include "storage/base/clock.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

static enum status measure(struct lab *lab, const struct list_codec *codec, const uint32_t *values,
                           uint32_t count, uint8_t *stream, uint32_t *decoded, double *ms,
                           struct list_result *result, struct error *error)
{
    const size_t bytes = codec->encode(values, count, stream);
    codec->decode(stream, count, decoded);
    if (memcmp(decoded, values, count * sizeof *decoded) != 0)
        return error_set(error, STATUS_CHECK_FAILED, "%s decodes to other integers", codec->name);
    for (uint32_t i = 0; i < lab->repeat; i++) {
        const double begin = clock_ms();
        codec->decode(stream, count, decoded);
        ms[i] = clock_ms() - begin;
        RETURN_IF_ERROR(cancel_check(error));
    }
    result->bits = 8.0 * (double)bytes / count;
    result->speed = speed_of(ms, lab->repeat);
    return STATUS_OK;
}

enum status list_measure(struct lab *lab, const struct list_codec *codec, const uint32_t *values,
                         uint32_t count, struct list_result *result, struct error *error)
{
    uint8_t *stream = NULL;
    uint32_t *decoded = NULL;
    double *ms = NULL;
    enum status status = memory_take(&stream, LIST_BYTES_MAX(count), "an encoded list", error);
    if (status == STATUS_OK)
        status = memory_take(&decoded, count * sizeof *decoded, "a list", error);
    if (status == STATUS_OK)
        status = memory_take(&ms, lab->repeat * sizeof *ms, "a list of times", error);
    if (status == STATUS_OK)
        status = measure(lab, codec, values, count, stream, decoded, ms, result, error);
    free(ms);
    free(decoded);
    free(stream);
    return status;
}
