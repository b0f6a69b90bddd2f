/*
 * tbl.c: writes a table as ssb-dbgen's .tbl file, on all threads and in bounded memory.
 *
 * The file is written in chunks of 16384 rows (1.6 MB of lineorder). A thread takes the next chunk, prints it
 * into its own buffer and waits until all chunks before it are printed, because their lengths say where its
 * own begins. Then it writes its chunk there with pwrite, while other threads write theirs. The file has
 * another name until it is complete and on disk.
 */
#define _GNU_SOURCE
#include "ssb/data/generator.h"
#include "storage/base/file.h"
#include "storage/base/memory.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK_ROWS 16384u

struct writer {
    const struct ssb_generator *generator;
    enum ssb_table table;
    uint64_t rows, chunks;
    const char *path; /* of the partial file */
    int file;
    struct progress *progress;
    char **buffers; /* one a thread, allocated at first use */

    pthread_mutex_t lock; /* protects the fields below */
    pthread_cond_t moved; /* `turn` or `failed` has changed */
    uint64_t next;        /* the next chunk to print */
    uint64_t turn;        /* the chunk that begins at `offset` in the file */
    uint64_t offset;      /* in bytes */
    uint64_t rows_done;
    bool failed;
};

static void writer_fail(struct writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    writer->failed = true;
    pthread_cond_broadcast(&writer->moved);
    pthread_mutex_unlock(&writer->lock);
}

static enum status write_at(const struct writer *writer, const char *bytes, size_t count, uint64_t offset,
                            struct error *error)
{
    const int reason = file_put(writer->file, bytes, count, offset);
    return reason ? error_set_errno(
                        error, reason,
                        "could not write '%s' (free space there or choose another folder with --out)",
                        writer->path)
                  : STATUS_OK;
}

/* Takes the next chunk, whichever item the team of threads is at. Chunks are taken in order, so a thread is
 * always working on the chunk that the others wait for. */
static enum status write_next_chunk(struct writer *writer, unsigned thread, struct error *error)
{
    RETURN_IF_ERROR(cancel_check(error));
    if (!writer->buffers[thread])
        RETURN_IF_ERROR(memory_take(&writer->buffers[thread], (size_t)CHUNK_ROWS * SSB_TEXT_ROW_BYTES,
                                    "a chunk of text", error));

    pthread_mutex_lock(&writer->lock);
    const uint64_t chunk = writer->next++;
    pthread_mutex_unlock(&writer->lock);
    const uint64_t first_row = chunk * CHUNK_ROWS;
    const uint64_t left = writer->rows - first_row;
    const uint64_t rows = left < CHUNK_ROWS ? left : CHUNK_ROWS;
    char *text = writer->buffers[thread];
    const size_t bytes = ssb_format_tbl(writer->generator, writer->table, first_row, rows, text);

    pthread_mutex_lock(&writer->lock);
    while (writer->turn != chunk && !writer->failed)
        pthread_cond_wait(&writer->moved, &writer->lock);
    const bool failed = writer->failed;
    const uint64_t offset = writer->offset;
    writer->offset += bytes;
    writer->turn++;
    pthread_cond_broadcast(&writer->moved);
    pthread_mutex_unlock(&writer->lock);
    if (failed)
        return STATUS_OK; /* the thread that failed returns the error */

    RETURN_IF_ERROR(write_at(writer, text, bytes, offset, error));
    pthread_mutex_lock(&writer->lock);
    writer->rows_done += rows;
    progress_report(writer->progress, ssb_table_info(writer->table)->name, "rows", writer->rows_done,
                    writer->rows);
    pthread_mutex_unlock(&writer->lock);
    return STATUS_OK;
}

static enum status write_chunk_item(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct writer *writer = context;
    (void)item;
    enum status status = write_next_chunk(writer, thread, error);
    if (status != STATUS_OK)
        writer_fail(writer);
    return status;
}

static enum status write_chunks(struct writer *writer, unsigned threads, struct error *error)
{
    if (threads == 0)
        threads = parallel_threads_available();
    if (threads > PARALLEL_THREADS_MAX)
        threads = PARALLEL_THREADS_MAX;
    writer->chunks = (writer->rows + CHUNK_ROWS - 1) / CHUNK_ROWS;
    RETURN_IF_ERROR(
        memory_zeros(&writer->buffers, threads * sizeof *writer->buffers, "a team of threads", error));
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->moved, NULL);
    enum status status = parallel_for(threads, writer->chunks, write_chunk_item, writer, error);
    pthread_cond_destroy(&writer->moved);
    pthread_mutex_destroy(&writer->lock);
    for (unsigned thread = 0; thread < threads; thread++)
        free(writer->buffers[thread]);
    free(writer->buffers);
    return status;
}

/* Opens the partial file and locks it, so that a second process cannot write it too. */
static enum status open_partial(const char *path, int *file, struct error *error)
{
    RETURN_IF_ERROR(file_lock(path, file, error));
    if (*file < 0)
        return error_set(
            error, STATUS_BAD_INPUT,
            "'%s' is being written by another process; wait for it or choose another folder with --out",
            path);
    const int reason = file_truncate(*file, 0);
    if (reason == 0)
        return STATUS_OK;
    close(*file);
    return error_set_errno(error, reason, "could not empty '%s' (remove it and try again)", path);
}

/* Gives the complete file its name, after its bytes are on disk. */
static enum status publish(const char *directory, const struct writer *writer, const char *path,
                           struct error *error)
{
    const int reason = file_sync(writer->file);
    if (reason)
        return error_set_errno(
            error, reason, "could not store '%s' (free space there or choose another folder)", writer->path);
    if (rename(writer->path, path) != 0)
        return error_set_errno(error, errno, "could not rename '%s' to '%s' (remove what is in its place)",
                               writer->path, path);
    RETURN_IF_ERROR(directory_sync(directory, error));
    return STATUS_OK;
}

static enum status write_file(struct writer *writer, const char *directory, unsigned threads,
                              struct error *error)
{
    const char *name = ssb_table_info(writer->table)->name;
    char path[PATH_MAX], partial[PATH_MAX];
    const int length = snprintf(path, sizeof path, "%s/%s.tbl", directory, name);
    if (length < 0 || (size_t)length + sizeof ".partial" > sizeof partial)
        return error_set(error, STATUS_BAD_INPUT,
                         "the path of the folder '%.100s...' is too long; choose another", directory);
    snprintf(partial, sizeof partial, "%s/%s.tbl.partial", directory, name);
    writer->path = partial;
    RETURN_IF_ERROR(open_partial(partial, &writer->file, error));
    enum status status = write_chunks(writer, threads, error);
    progress_report(writer->progress, "storing", "", 0, 0);
    status = AND_THEN(status, publish(directory, writer, path, error));
    progress_report(writer->progress, "storing", "", 1, 1); /* the bar goes */
    if (status != STATUS_OK)
        unlink(partial);
    close(writer->file);
    return status;
}

enum status ssb_write_tbl(const struct ssb_generator *generator, enum ssb_table table, const char *directory,
                          unsigned threads, struct progress *progress, struct error *error)
{
    const bool created = mkdir(directory, 0777) == 0;
    if (!created && errno != EEXIST)
        return error_set_errno(error, errno,
                               "could not create the folder '%s' (its parent must exist and be writable)",
                               directory);
    struct writer writer = {
        .generator = generator, .table = table, .rows = ssb_rows(generator, table), .progress = progress};
    enum status status = write_file(&writer, directory, threads, error);
    if (status != STATUS_OK && created)
        rmdir(directory);
    return status;
}
