/*
 * delimited.h: rows of delimited text ("12|MFGR#1|small|"), from files of any size, on all cores.
 *
 * A file is opened once, which counts its lines and remembers where some of them start (8 bytes for each
 * 256 KiB of text); then any number of readers, one a thread, each go to a line and read on from there, in
 * 256 KiB of memory whatever the size of the file. The file is read with pread, not mapped: one that is cut
 * short while it is being read gives an error, not a signal, and what a process holds does not grow with it.
 *
 * A line is one row. Fields are taken by position; a separator behind the last field, as dbgen writes it, is
 * taken if all lines have it (line 1 decides), and so is "\r\n". There is no quoting and nothing is trimmed.
 * Every complaint names file, line, column and the text itself.
 */
#ifndef TESSERA_LOADER_TEXT_DELIMITED_H
#define TESSERA_LOADER_TEXT_DELIMITED_H

#include "storage/base/parallel.h"
#include "storage/base/status.h"

#include <stdint.h>

/* The longest line, and what a reader holds in memory. A thousand times longer than an SSB row, so a longer
 * line means that the file is not what it should be. */
#define DELIMITED_BUFFER_BYTES (256u << 10)

/* The most columns of a file. */
#define DELIMITED_COLUMNS_MAX 1024u

struct delimited_file;
struct delimited_reader;

/* Not zero-terminated; points into the reader's buffer. */
struct delimited_field {
    const char *text;
    uint32_t length;
};

/* Opens a regular file and counts its lines on `threads` threads (0: all). The names of the columns are for
 * messages and are kept by reference, in number they are what every row must have. An empty file is refused.
 */
NODISCARD enum status delimited_open(const char *path, char separator, const char *const *column_names,
                                     uint32_t columns, unsigned threads, struct delimited_file **file,
                                     struct error *error);
void delimited_close(struct delimited_file *file);

const char *delimited_path(const struct delimited_file *file);
uint64_t delimited_lines(const struct delimited_file *file);

/* A reader stands before line 0. The file must outlive it. */
NODISCARD enum status delimited_reader_create(const struct delimited_file *file,
                                              struct delimited_reader **reader, struct error *error);
void delimited_reader_destroy(struct delimited_reader *reader);

/* Goes before line 0 .. lines-1. */
NODISCARD enum status delimited_seek(struct delimited_reader *reader, uint64_t line, struct error *error);

/* The next row: one field for each column, good until the next call. Reading on behind the last line is an
 * error (callers know the number of lines). */
NODISCARD enum status delimited_next(struct delimited_reader *reader, struct delimited_field *fields,
                                     struct error *error);

/* The field of that column of the last row as a whole number: an optional '-', then digits and nothing else.
 */
NODISCARD enum status delimited_integer(const struct delimited_reader *reader, uint32_t column,
                                        const struct delimited_field *field, int64_t low, int64_t high,
                                        int64_t *value, struct error *error);

/* STATUS_BAD_INPUT: "FILE:LINE: column NAME: 'TEXT' COMPLAINT", of the last row. The text is cut and made
 * printable. */
enum status delimited_complain(const struct delimited_reader *reader, uint32_t column,
                               const struct delimited_field *field, struct error *error,
                               const char *complaint, ...) __attribute__((format(printf, 5, 6)));

#endif
