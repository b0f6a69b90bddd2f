/* memory_available.c: what the system can give (memory_account.h). Linux tells it in files, which may be missing. */
#include "storage/base/execution/memory_account.h"
#include "storage/base/file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TEXT_BYTES 16384 /* memory.stat has 2 KB, the others less */
#define LINE_BYTES 512

/* Reads root/path, or root/path/name. False if it does not exist or cannot be read: then nothing is known. */
static bool read_text(const char *root, const char *path, const char *name, char text[TEXT_BYTES])
{
    char whole[PATH_MAX];
    const int length = snprintf(whole, sizeof whole, "%s%s%s%s", root, path, *name ? "/" : "", name);
    const int descriptor = length < (int)sizeof whole ? file_descriptor(whole, O_RDONLY, 0) : -1;
    uint64_t got = 0;
    if (descriptor < 0)
        return false;
    const bool read = file_get(descriptor, text, TEXT_BYTES - 1, 0, &got) == 0;
    close(descriptor);
    text[read ? got : 0] = '\0';
    return read;
}

/* The number after `word` at the beginning of a line; false if there is none. */
static bool number_after(const char *text, const char *word, uint64_t *number)
{
    for (const char *line = text; line; line = strchr(line, '\n'), line += line != NULL)
        if (strncmp(line, word, strlen(word)) == 0 && line[strlen(word)] == ' ')
            return sscanf(line + strlen(word), "%" SCNu64, number) == 1;
    return false;
}

static bool read_number(const char *root, const char *folder, const char *name, uint64_t *number)
{
    char text[TEXT_BYTES];
    return read_text(root, folder, name, text) && sscanf(text, "%" SCNu64, number) == 1; /* "max": no limit */
}

/* Pages of files count as used, and are given back when memory is needed. */
static uint64_t reclaimable(const char *root, const char *folder)
{
    char text[TEXT_BYTES];
    uint64_t inactive = 0, active = 0;
    if (!read_text(root, folder, "memory.stat", text))
        return 0;
    return (number_after(text, "inactive_file", &inactive) ? inactive : 0) +
           (number_after(text, "active_file", &active) ? active : 0);
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
    const size_t line_bytes = strcspn(line, "\n");
    char folder[LINE_BYTES + sizeof one];
    if (!path || path >= line + line_bytes || line_bytes > LINE_BYTES)
        return UINT64_MAX;
    int length = (int)(line + line_bytes - path - 1);
    length -=
        length > 0 && path[length] == '/'; /* the path is / where a container sees its own group alone */
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
    char text[TEXT_BYTES];
    uint64_t available = UINT64_MAX, kilobytes;
    if (read_text(root, "/proc/meminfo", "", text) && number_after(text, "MemAvailable:", &kilobytes))
        available = kilobytes * 1024;
    if (!read_text(root, "/proc/self/cgroup", "", text))
        return available;
    for (const char *line = text; line; line = strchr(line, '\n'), line += line != NULL) {
        const uint64_t here = available_by_line(root, line);
        available = here < available ? here : available;
    }
    return available;
}
