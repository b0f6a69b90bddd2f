/* streamvbyte.c: see streamvbyte.h. */
#include "lab/bench/streamvbyte.h"

#include "storage/base/clock.h"
#include "storage/base/memory.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY    "libstreamvbyte.so.0"
#define PEAK_BYTES 5u /* of a value, with its length; decoding may read this many behind the end */

/* POSIX makes an address of a function from one of data; ISO C has no cast for it. */
static void find(void *library, const char *name, void *function)
{
    void *const address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
}

void streamvbyte_open(struct streamvbyte *peer)
{
    *peer = (struct streamvbyte){.library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL)};
    if (!peer->library)
        return;
    find(peer->library, "streamvbyte_encode", &peer->encode);
    find(peer->library, "streamvbyte_decode", &peer->decode);
    if (!peer->encode || !peer->decode)
        streamvbyte_close(peer);
}

void streamvbyte_close(struct streamvbyte *peer)
{
    if (peer->library)
        dlclose(peer->library);
    peer->library = NULL;
}

static enum status measure(struct lab *lab, const struct dataset *dataset, struct streamvbyte *peer,
                           uint8_t *encoded, uint32_t *decoded, double *ms, struct error *error)
{
    const uint32_t rows = (uint32_t)dataset->rows;
    const size_t bytes = peer->encode((const uint32_t *)dataset->values, rows, encoded);
    peer->decode(encoded, decoded, rows);
    if (memcmp(decoded, dataset->values, rows * sizeof *decoded) != 0)
        return error_set(error, STATUS_CHECK_FAILED, LIBRARY " decodes to other values");
    for (uint32_t i = 0; i < lab->repeat; i++) {
        const double begin = clock_ms();
        peer->decode(encoded, decoded, rows);
        ms[i] = clock_ms() - begin;
        RETURN_IF_ERROR(cancel_check(error));
    }
    peer->lists[peer->list_count].bits = 8.0 * (double)bytes / rows;
    peer->lists[peer->list_count].speed = speed_of(ms, lab->repeat);
    return STATUS_OK;
}

enum status streamvbyte_measure(struct lab *lab, const struct dataset *dataset, double x,
                                struct streamvbyte *peer, struct error *error)
{
    uint8_t *encoded = NULL;
    uint32_t *decoded = NULL;
    double *ms = NULL;
    if (!peer->library || peer->list_count == STREAMVBYTE_LISTS_MAX)
        return STATUS_OK;
    enum status status = memory_take(&encoded, PEAK_BYTES * (dataset->rows + 64), "an encoded list", error);
    if (status == STATUS_OK)
        status = memory_take(&decoded, dataset->rows * sizeof *decoded, "a list", error);
    if (status == STATUS_OK)
        status = memory_take(&ms, lab->repeat * sizeof *ms, "a list of times", error);
    if (status == STATUS_OK)
        status = measure(lab, dataset, peer, encoded, decoded, ms, error);
    peer->lists[peer->list_count].x = x;
    peer->lists[peer->list_count++].rows = dataset->rows;
    free(ms);
    free(decoded);
    free(encoded);
    return status;
}

enum status streamvbyte_report(struct lab *lab, const struct streamvbyte *peer, struct error *error)
{
    static const struct sheet_column columns[] = {
        {.key = "integers", .name = "integers", .whole = true},
        {.key = "bits", .name = "size", .unit = "bits a value", .digits = 2},
        {.key = "memory_ms", .name = "decode to memory", .unit = "ms", .digits = 3},
        {.key = "memory_rate", .name = "decode to memory", .unit = "G values/s", .digits = 2},
    };
    struct sheet *sheet;
    RETURN_IF_ERROR(sheet_create(columns, sizeof columns / sizeof *columns, &sheet, error));
    for (uint32_t l = 0; l < peer->list_count; l++) {
        sheet_number(sheet, (double)peer->lists[l].rows);
        sheet_number(sheet, peer->lists[l].bits);
        sheet_number(sheet, peer->lists[l].speed.median);
        sheet_number(sheet, (double)peer->lists[l].rows / peer->lists[l].speed.median * 1e-6);
    }
    return lab_sheet(lab,
                     peer->library
                         ? "StreamVByte on one thread of the processor, the same lists in the same order"
                         : "StreamVByte on the processor: not installed (Debian: libstreamvbyte0)",
                     sheet, error);
}
