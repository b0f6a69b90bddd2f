/*
 * power.h: what a power cut does to files, for inject.c. A disk keeps what was synced. Of all else it may keep any part: of
 * bytes written to a file those pages that it likes, in any order, or the file's length without its bytes; of the names made,
 * changed and removed in a directory the first few, as file systems log them. (An inode whose name was not synced is as good
 * as lost; a name whose inode was not synced has any of its bytes.)
 *
 * The program's calls are told here before they are made, and each is noted with what it takes to undo it. fsync() of a file
 * forgets the notes of its bytes, and fsync() of a directory those of its names. power_cut() undoes a random choice of the
 * notes that are left. Calls that fail must not be told. One process; any thread, but one call at a time.
 */
#ifndef TESSERA_TESTS_FAULTS_POWER_H
#define TESSERA_TESTS_FAULTS_POWER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

void power_writes(int descriptor, off_t offset, size_t bytes); /* offset -1: where the descriptor stands */
void power_truncates(int descriptor, off_t bytes);
void power_opens(const char *path, int flags); /* with O_CREAT a file may be made, and with O_TRUNC emptied */
void power_renames(const char *from, const char *to);
void power_links(const char *to);
void power_unlinks(const char *path);
void power_makes(const char *path);   /* a directory */
void power_removes(const char *path); /* a directory */
void power_syncs(int descriptor);
void power_cut(uint64_t seed);

#endif
