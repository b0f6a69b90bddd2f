/* text_format.c: see text_format.h. */
#include "loader/text/text_format.h"

#include <string.h>

struct format {
    const char *magic;
    size_t length, at; /* of the magic bytes; where they stand */
    const char *is, *advice;
};

#define FORMAT(magic, at, is, advice)                    \
    {                                                    \
        (magic), sizeof(magic) - 1, (at), (is), (advice) \
    }

#define BY_ARROW "docs/examples/tessera_files.py loads such files (docs/loading.md)"
#define UNPACK   "unpack it first; files may be compressed by gzip, zstd, xz or bzip2"
#define EXPORT   "export its tables as CSV"

static const struct format formats[] = {
    FORMAT("PAR1", 0, "a Parquet file", "give the whole file itself, unpacked and not through a pipe"),
    FORMAT("PARE", 0, "an encrypted Parquet file", "make it CSV with the program that has its key"),
    FORMAT("ARROW1", 0, "an Arrow or Feather file", BY_ARROW),
    FORMAT("FEA1", 0, "a Feather file of version 1",
           "write it as version 2, which docs/examples/tessera_files.py loads"),
    FORMAT("\xff\xff\xff\xff", 0, "an Arrow stream", BY_ARROW),
    FORMAT("Obj\x01", 0, "an Avro file", "make it CSV"),
    FORMAT("SQLite format 3\0", 0, "an SQLite database", EXPORT ": sqlite3 -header -csv"),
    FORMAT("DUCK", 8, "a DuckDB database", EXPORT ": COPY a_table TO 'a_table.csv'"),
    FORMAT("PK\x03\x04", 0, "a ZIP archive, or a spreadsheet", "unpack it first, or save its sheets as CSV"),
    FORMAT("\xd0\xcf\x11\xe0", 0, "a spreadsheet", "save its sheets as CSV"),
    FORMAT("ustar", 257, "a tar archive", "unpack it first: tar -xf"),
    FORMAT("7z\xbc\xaf\x27\x1c", 0, "a 7z archive", UNPACK),
    FORMAT("\x04\x22\x4d\x18", 0, "compressed by lz4", UNPACK),
    FORMAT("\xff\x06\x00\x00sNaPpY", 0, "compressed by snappy", UNPACK),
    FORMAT("\x89HDF\r\n", 0, "an HDF5 file", EXPORT),
};

/* Some magic bytes are letters, by which a text may begin, too; but none has bytes below a tab. */
#define BINARY_BYTES 512u

static bool is_binary(const char *bytes, size_t count)
{
    for (size_t i = 0; i < count && i < BINARY_BYTES; i++)
        if ((unsigned char)bytes[i] < '\t' || (unsigned char)bytes[i] >= 0xf8)
            return true;
    return false;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static size_t blanks_skip(const char *bytes, size_t count, size_t at)
{
    while (at < count && is_blank(bytes[at]))
        at++;
    return at;
}

/* Whether an object begins at `at`: {} or {"name": */
static bool object_begins(const char *bytes, size_t count, size_t at)
{
    if (at == count || bytes[at] != '{')
        return false;
    at = blanks_skip(bytes, count, at + 1);
    if (at == count || bytes[at] == '}')
        return at < count;
    if (bytes[at] != '"')
        return false;
    for (at++; at < count && bytes[at] != '"'; at++)
        at += bytes[at] == '\\';
    at = at < count ? blanks_skip(bytes, count, at + 1) : count;
    return at < count && bytes[at] == ':';
}

bool text_format_is_json(const char *bytes, size_t count)
{
    size_t at = blanks_skip(bytes, count, 0);
    if (at < count && bytes[at] == '[')
        at = blanks_skip(bytes, count, at + 1);
    return object_begins(bytes, count, at);
}

enum status text_format_check(const char *path, const char *bytes, size_t count, struct error *error)
{
    const bool binary = is_binary(bytes, count);
    for (size_t f = 0; binary && f < sizeof formats / sizeof *formats; f++) {
        const struct format *const format = &formats[f];
        if (count >= format->at + format->length &&
            memcmp(bytes + format->at, format->magic, format->length) == 0)
            return error_set(error, STATUS_BAD_INPUT, "%s: is %s; %s", path, format->is, format->advice);
    }
    return STATUS_OK;
}
