/*
 * command_line.h: a command's options as a table: what --help says of each, and where its value goes.
 *
 * Values go into the command's own struct of arguments, which holds the defaults before.
 */
#ifndef TESSERA_STORAGE_BASE_COMMAND_LINE_H
#define TESSERA_STORAGE_BASE_COMMAND_LINE_H

#include "storage/base/status.h"

#include <stddef.h>
#include <stdint.h>

/* Reads a text that no other kind reads; the sentence of a failure is for the user. */
typedef enum status option_reader(void *arguments, const char *text, struct error *error);

enum option_kind { OPTION_TEXT, OPTION_FLAG, OPTION_NUMBER, OPTION_WORD, OPTION_OWN, OPTION_ANOTHER_NAME };

struct command_option {
    const char *name;  /* "db" for --db; NULL ends a table */
    int letter;        /* 'd' for -d; 0: none */
    const char *value; /* what --help calls it; NULL: the option has none */
    const char *help;
    enum option_kind kind;
    size_t offset, bytes; /* of the field in the arguments */
    uint64_t least, most; /* of a number */
    const char *words;    /* "table|csv|json" */
    option_reader *read;
    const char *missing; /* of a text that must be given: the sentence for when it is not */
};

/* The kinds, for the end of a table's row. Text: const char *, not copied. Flag: bool. Number: of 4 or 8 bytes. Word: the
 * position in `list`, "a|b|c", to an enum or a bool. Own: `function` reads it. */
#define TO_TEXT(type, field)       .kind = OPTION_TEXT, .offset = offsetof(type, field)
#define TO_FLAG(type, field)       .kind = OPTION_FLAG, OPTION_FIELD(type, field)
#define BY_FUNCTION(function)      .kind = OPTION_OWN, .read = (function)
#define TO_WORD(type, field, list) .kind = OPTION_WORD, OPTION_FIELD(type, field), .words = (list)
#define TO_NUMBER(type, field, minimum, maximum) \
    .kind = OPTION_NUMBER, OPTION_FIELD(type, field), .least = (minimum), .most = (maximum)
#define OPTION_FIELD(type, field) .offset = offsetof(type, field), .bytes = sizeof(((type *)NULL)->field)

struct command_line {
    const struct command_option *options;
    const struct command_option *shared; /* another table, or NULL */
    const char *words_help, *help;       /* as argp has args_doc and doc */
    option_reader *word;                 /* reads what is no option; NULL: there is none */
    option_reader *finish;               /* looks at all (its text is NULL), or NULL */
};

/* Reads argv. STATUS_BAD_INPUT, or the status of a reader, for a value that is wrong; --help, and options that do not
 * exist, print and end the process, as argp does. */
NODISCARD enum status command_line_read(const struct command_line *line, int argc, char **argv,
                                        void *arguments, struct error *error);

#endif
