/* columnar_formats.c: the formats of columnar files, and how one is recognised (columnar_file.h). */
#define _GNU_SOURCE
#include "loader/columnar/columnar_file.h"

#include "loader/orc/orc_format.h"
#include "loader/parquet/parquet_format.h"
#include "storage/base/file.h"
#include "storage/base/words/word.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC_BYTES_MAX 8u

static const struct columnar_format *const formats[] = {&orc_format, &parquet_format};
#define FORMAT_COUNT (sizeof formats / sizeof *formats)

/* Whether bytes of the file are a format's; false if it is too short. Returns an errno value, or 0. */
static int has_bytes(int descriptor, uint64_t offset, const char *magic, bool *has)
{
    char bytes[MAGIC_BYTES_MAX];
    const size_t length = strlen(magic);
    uint64_t got;
    const int reason = file_get(descriptor, bytes, length, offset, &got);
    *has = !reason && got == length && memcmp(bytes, magic, length) == 0;
    return reason;
}

static int has_magic(const struct columnar_format *format, int descriptor, uint64_t size, bool *has)
{
    const uint64_t last = strlen(format->last) + format->after;
    *has = false;
    if (size <= strlen(format->first) + last)
        return 0;
    const int reason = has_bytes(descriptor, 0, format->first, has);
    return reason || !*has ? reason : has_bytes(descriptor, size - last, format->last, has);
}

static bool is_named(const char *path, const struct columnar_format *format)
{
    const size_t length = strlen(path), own = strlen(format->ending);
    return length >= own && word_compare(path + length - own, format->ending) == 0;
}

enum status columnar_format_find(const char *path, const struct columnar_format **format, struct error *error)
{
    struct stat stat_of;
    int reason = 0;
    *format = NULL;
    if (stat(path, &stat_of) != 0)
        return errno == ENOENT || errno == ENOTDIR
                   ? STATUS_OK
                   : error_set_errno(error, errno, "%s: cannot be opened", path);
    if (!S_ISREG(stat_of.st_mode))
        return STATUS_OK;
    for (size_t f = 0; f < FORMAT_COUNT && !*format; f++)
        *format = is_named(path, formats[f]) ? formats[f] : NULL;
    if (*format)
        return STATUS_OK;
    const int descriptor = file_descriptor(path, O_RDONLY, 0);
    if (descriptor < 0)
        return error_set_errno(error, errno, "%s: cannot be read", path);
    for (size_t f = 0; f < FORMAT_COUNT && !reason && !*format; f++) {
        bool has;
        reason = has_magic(formats[f], descriptor, (uint64_t)stat_of.st_size, &has);
        *format = has ? formats[f] : NULL;
    }
    close(descriptor);
    return reason ? error_set_errno(error, reason, "%s: cannot be read", path) : STATUS_OK;
}
