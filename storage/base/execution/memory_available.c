/* memory_available.c: what the system can give (memory_account.h). Linux tells it in files, which may be missing. */
#include "storage/base/execution/memory_account.h"
#include "storage/base/file.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LINE_BYTES 512

/* Opens root/path, or root/path/name. NULL if it does not exist or cannot be read: then nothing is known. */
static FILE *open_below(const char *root, const char *path, const char *name)
{
    char whole[PATH_MAX];
    const int length = snprintf(whole, sizeof whole, "%s%s%s%s", root, path, *name ? "/" : "", name);
    return length < (int)sizeof whole ? file_stream(whole, "re") : NULL;
}

/* Adds up the numbers of the file's lines that begin with one of two words. */
static bool sum_lines(FILE *file, const char *word, const char *other, uint64_t *sum)
{
    char line[LINE_BYTES];
    bool found = false;
    *sum = 0;
    while (fgets(line, sizeof line, file)) {
        const size_t length = strcspn(line, " ");
        uint64_t number;
        if (line[length] == ' ' && sscanf(line + length, "%" SCNu64, &number) == 1 &&
            ((length == strlen(word) && memcmp(line, word, length) == 0) ||
             (length == strlen(other) && memcmp(line, other, length) == 0))) {
            *sum += number;
            found = true;
        }
    }
    return found;
}

static bool read_number(const char *root, const char *folder, const char *name, uint64_t *number)
{
    FILE *const file = open_below(root, folder, name);
    const bool found = file && fscanf(file, "%" SCNu64, number) == 1; /* "max": no limit */
    if (file)
        fclose(file);
    return found;
}

/* Pages of files count as used, and are given back when memory is needed. */
static uint64_t reclaimable(const char *root, const char *folder)
{
    uint64_t sum = 0;
    FILE *const file = open_below(root, folder, "memory.stat");
    if (file) {
        if (!sum_lines(file, "inactive_file", "active_file", &sum))
            sum = 0;
        fclose(file);
    }
    return sum;
}

/* Control groups are folders in folders, and each may have a limit. */
static uint64_t available_in_groups(const char *root, char *folder, size_t above, const char *limit_name,
                                    const char *usage_name)
{
    uint64_t least = UINT64_MAX;
    for (;;) {
        uint64_t limit, usage;
        if (read_number(root, folder, limit_name, &limit) && read_number(root, folder, usage_name, &usage)) {
            const uint64_t files = reclaimable(root, folder), kept = usage > files ? usage - files : 0,
                           available = limit > kept ? limit - kept : 0;
            least = available < least ? available : least;
        }
        char *const end = strrchr(folder, '/');
        if (!end || end < folder + above)
            return least;
        *end = '\0';
    }
}

/* A line of /proc/self/cgroup: "0::/path" (version 2), or "7:memory:/path". */
static uint64_t available_by_line(const char *root, const char *line)
{
    static const char two[] = "/sys/fs/cgroup", one[] = "/sys/fs/cgroup/memory";
    const char *const kinds = strchr(line, ':'), *const path = kinds ? strchr(kinds + 1, ':') : NULL;
    char folder[LINE_BYTES + sizeof one];
    if (!path)
        return UINT64_MAX;
    const int length = (int)strcspn(path + 1, "\n");
    if (strncmp(line, "0::", 3) == 0) {
        snprintf(folder, sizeof folder, "%s%.*s", two, length, path + 1);
        return available_in_groups(root, folder, sizeof two - 1, "memory.max", "memory.current");
    }
    if (strncmp(kinds, ":memory:", 8) != 0)
        return UINT64_MAX;
    snprintf(folder, sizeof folder, "%s%.*s", one, length, path + 1);
    return available_in_groups(root, folder, sizeof one - 1, "memory.limit_in_bytes",
                               "memory.usage_in_bytes");
}

uint64_t memory_available(const char *root)
{
    char line[LINE_BYTES];
    uint64_t available = UINT64_MAX, kilobytes;
    FILE *file = open_below(root, "/proc/meminfo", "");
    if (file) {
        if (sum_lines(file, "MemAvailable:", "MemAvailable:", &kilobytes))
            available = kilobytes * 1024;
        fclose(file);
    }
    file = open_below(root, "/proc/self/cgroup", "");
    while (file && fgets(line, sizeof line, file)) {
        const uint64_t here = available_by_line(root, line);
        available = here < available ? here : available;
    }
    if (file)
        fclose(file);
    return available;
}
