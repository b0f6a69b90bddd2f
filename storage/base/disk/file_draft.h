/*
 * file_draft.h: a file that readers find whole or not at all. It is written under a temporary name beside its own,
 * PATH.partial, and then brought to disk and renamed: until then, and after a failure, what stood at the path stays. It
 * has the permissions of the file that it replaces. A lock on it says that somebody writes it; what a process that died
 * has left is written again. Of a symbolic link the target is written. What is no regular file, a pipe, is written where
 * it is; /dev/stdout and /dev/stderr are the process's own streams, wherever these lead.
 */
#ifndef TESSERA_STORAGE_BASE_DISK_FILE_DRAFT_H
#define TESSERA_STORAGE_BASE_DISK_FILE_DRAFT_H

#include "storage/base/status.h"

struct file_draft {
    char *path, *partial, *folder; /* `partial` NULL: it is written in place */
    int descriptor;
};

/* Begins a file, which is new, or replaces the one at the path when it is kept. STATUS_BAD_INPUT for a folder, and while
 * another draft of it is written. */
NODISCARD enum status file_draft_open(const char *path, struct file_draft *draft, struct error *error);

/* Ends it: brings it to disk and gives it its name. After a failure it is dropped, except after STATUS_NOT_DURABLE: then it
 * has its name, but a power cut may bring back what stood there. */
NODISCARD enum status file_draft_keep(struct file_draft *draft, struct error *error);

/* Ends it, and removes what was written, but in place. */
void file_draft_drop(struct file_draft *draft);

#endif
