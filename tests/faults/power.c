/* power.c: see power.h. */
#define _GNU_SOURCE
#include "tests/faults/power.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096

enum what { BYTES, MADE, RENAMED, UNLINKED, DIRECTORY_MADE, DIRECTORY_REMOVED };

/* A file or a directory: its bytes or its names are synced together. */
struct place {
    dev_t device;
    ino_t inode;
    int descriptor;      /* of a file, to read and write; -1: of a directory */
    off_t least;         /* a file's length can be anything from here on to what it is */
    uint64_t kept, seen; /* of a directory, in a cut: so many of its notes are kept */
};

struct note {
    enum what what;
    struct place *place; /* NULL: forgotten */
    off_t offset;        /* BYTES: what the file had there */
    size_t bytes;
    char *old, *path, *to; /* `old` has the bytes, or those of a file that is gone */
    size_t old_bytes;
    mode_t mode;
    bool had; /* a file of that name was there */
};

static struct place **places;
static struct note *notes;
static size_t place_count, note_count;

static void *more(void *array, size_t count, size_t size)
{
    void *const grown = realloc(array, (count + 1) * size);
    if (!grown)
        abort();
    return grown;
}

/* The place of what `facts` describes; `descriptor` is its file's, or -1. */
static struct place *place_of(const struct stat *facts, int descriptor)
{
    char link[64];
    for (size_t p = 0; p < place_count; p++)
        if (places[p]->device == facts->st_dev && places[p]->inode == facts->st_ino)
            return places[p];
    places = more(places, place_count, sizeof *places);
    struct place *const place = places[place_count++] = calloc(1, sizeof **places);
    if (!place)
        abort();
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    *place = (struct place){.device = facts->st_dev,
                            .inode = facts->st_ino,
                            .descriptor = descriptor < 0 ? -1 : open(link, O_RDWR | O_CLOEXEC),
                            .least = facts->st_size};
    return place;
}

static struct note *note(enum what what, struct place *place)
{
    notes = more(notes, note_count, sizeof *notes);
    notes[note_count] = (struct note){.what = what, .place = place};
    return &notes[note_count++];
}

/* A note about a name, in the directory that has it; NULL: there is no such directory. */
static struct note *note_of_name(enum what what, const char *path)
{
    char directory[PATH_MAX];
    struct stat facts;
    snprintf(directory, sizeof directory, "%s", path);
    char *const slash = strrchr(directory, '/');
    if (slash)
        slash[slash == directory] = '\0';
    if (stat(slash ? directory : ".", &facts) != 0)
        return NULL;
    struct note *const made = note(what, place_of(&facts, -1));
    made->path = strdup(path);
    return made;
}

/* Keeps all bytes of a file that will be gone. */
static void keep_file(struct note *of, const char *path)
{
    struct stat facts;
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    of->had = descriptor >= 0 && fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode);
    if (of->had) {
        of->mode = facts.st_mode & 0777;
        of->old_bytes = (size_t)facts.st_size;
        of->old = malloc(of->old_bytes + 1);
        if (!of->old || pread(descriptor, of->old, of->old_bytes, 0) != (ssize_t)of->old_bytes)
            abort();
    }
    if (descriptor >= 0)
        close(descriptor);
}

/* ---- What is told ---- */

static void note_bytes(int descriptor, off_t offset, size_t bytes)
{
    struct stat facts;
    if (fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode))
        return;
    struct place *const place = place_of(&facts, descriptor);
    if (place->descriptor < 0)
        return;     /* it may not be written by its name: none of the program's own */
    while (bytes) { /* page by page, for a disk writes pages */
        const size_t part = (size_t)(PAGE - offset % PAGE) < bytes ? (size_t)(PAGE - offset % PAGE) : bytes;
        struct note *const made = note(BYTES, place);
        made->offset = offset;
        made->bytes = part;
        made->old = calloc(part, 1); /* behind the file's end it is zeros */
        if (!made->old || pread(place->descriptor, made->old, part, offset) < 0)
            abort();
        offset += (off_t)part;
        bytes -= part;
    }
}

void power_writes(int descriptor, off_t offset, size_t bytes)
{
    note_bytes(descriptor, offset < 0 ? lseek(descriptor, 0, SEEK_CUR) : offset, bytes);
}

void power_truncates(int descriptor, off_t bytes)
{
    struct stat facts;
    if (fstat(descriptor, &facts) != 0 || facts.st_size <= bytes)
        return;
    note_bytes(descriptor, bytes, (size_t)(facts.st_size - bytes));
}

void power_opens(const char *path, int flags)
{
    struct stat facts;
    const bool there = lstat(path, &facts) == 0;
    if (!there && flags & O_CREAT)
        note_of_name(MADE, path);
    if (there && flags & O_TRUNC && S_ISREG(facts.st_mode)) {
        const int descriptor = open(path, O_RDWR | O_CLOEXEC);
        if (descriptor >= 0)
            power_truncates(descriptor, 0);
        close(descriptor);
    }
}

void power_renames(const char *from, const char *to)
{
    struct note *const made = note_of_name(RENAMED, from);
    if (!made)
        return;
    made->to = strdup(to);
    keep_file(made, to);
}

void power_links(const char *to)
{
    note_of_name(MADE, to);
}

void power_unlinks(const char *path)
{
    struct stat facts;
    if (lstat(path, &facts) != 0)
        return;
    struct note *const made = note_of_name(UNLINKED, path);
    if (made)
        keep_file(made, path);
}

void power_makes(const char *path)
{
    struct stat facts;
    if (lstat(path, &facts) != 0)
        note_of_name(DIRECTORY_MADE, path);
}

void power_removes(const char *path)
{
    note_of_name(DIRECTORY_REMOVED, path);
}

void power_syncs(int descriptor)
{
    struct stat facts;
    if (fstat(descriptor, &facts) != 0)
        return;
    struct place *const place = place_of(&facts, S_ISDIR(facts.st_mode) ? -1 : descriptor);
    place->least = facts.st_size;
    for (size_t n = 0; n < note_count; n++)
        if (notes[n].place == place)
            notes[n].place = NULL;
}

/* ---- The cut ---- */

static uint64_t random_bits;

static uint64_t below(uint64_t bound)
{
    random_bits ^= random_bits << 13;
    random_bits ^= random_bits >> 7;
    random_bits ^= random_bits << 17;
    return (random_bits >> 16) % bound;
}

static void put_file(const struct note *of, const char *path)
{
    const int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, of->mode);
    if (descriptor < 0 || write(descriptor, of->old, of->old_bytes) != (ssize_t)of->old_bytes)
        abort();
    close(descriptor);
}

static int remove_one(const char *path, const struct stat *facts, int type, struct FTW *walk)
{
    (void)facts;
    (void)type;
    (void)walk;
    return remove(path);
}

static void undo_name(const struct note *of)
{
    switch (of->what) {
    case BYTES:
        break;
    case MADE:
        unlink(of->path);
        break;
    case RENAMED:
        if (rename(of->to, of->path) == 0 && of->had)
            put_file(of, of->to);
        break;
    case UNLINKED:
        if (of->had)
            put_file(of, of->path);
        break;
    case DIRECTORY_MADE:
        nftw(of->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
        break;
    case DIRECTORY_REMOVED:
        mkdir(of->path, 0777);
        break;
    }
}

/* Bytes are lost page by page. A page that was written again is kept if its last one is. */
static void lose_bytes(void)
{
    for (size_t n = note_count; n-- > 0;) {
        bool again = false;
        if (notes[n].what != BYTES || !notes[n].place)
            continue;
        for (size_t later = n + 1; !again && later < note_count; later++)
            again = notes[later].what == BYTES && notes[later].place == notes[n].place &&
                    notes[later].offset / PAGE == notes[n].offset / PAGE;
        if (again || below(2))
            notes[n].place = NULL; /* kept */
        else if (pwrite(notes[n].place->descriptor, notes[n].old, notes[n].bytes, notes[n].offset) < 0)
            abort();
    }
    for (size_t p = 0; p < place_count; p++) {
        struct stat facts;
        if (places[p]->descriptor < 0 || fstat(places[p]->descriptor, &facts) != 0 || below(3) ||
            facts.st_size <= places[p]->least)
            continue;
        const off_t length =
            places[p]->least + (off_t)below((uint64_t)(facts.st_size - places[p]->least) + 1);
        if (ftruncate(places[p]->descriptor, length) != 0)
            abort();
    }
}

void power_cut(uint64_t seed)
{
    random_bits = seed * 0x9e3779b97f4a7c15ull | 1;
    lose_bytes();
    for (size_t n = 0; n < note_count; n++)
        if (notes[n].what != BYTES && notes[n].place)
            notes[n].place->seen++;
    for (size_t p = 0; p < place_count; p++)
        places[p]->kept = below(places[p]->seen + 1);
    for (size_t n = note_count; n-- > 0;)
        if (notes[n].what != BYTES && notes[n].place && --notes[n].place->seen >= notes[n].place->kept)
            undo_name(&notes[n]);
}
