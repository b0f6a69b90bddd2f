/* complete.h: what Tab makes of a word that has been begun at the prompt of `tessera sql`. */
#ifndef TESSERA_ENGINE_PROGRAM_SHELL_COMPLETE_H
#define TESSERA_ENGINE_PROGRAM_SHELL_COMPLETE_H

#include "storage/database/database.h"

#define COMPLETE_WORD_BYTES 256u

/* What the word may become. Free with completion_free. */
struct completion {
    size_t typed;   /* bytes before the cursor that are the word, and are replaced */
    uint32_t count; /* of `words`, in the order of the alphabet, without doubles */
    char **words;   /* whole words; names that need quotes have them */
    char insert
        [COMPLETE_WORD_BYTES]; /* what replaces the word: the one that fits and a blank, or what all begin with */
};

/* `text` is the statement so far, up to the cursor. STATUS_MACHINE if there is no memory. */
NODISCARD enum status complete_word(const struct database *database, const char *text, size_t length,
                                    struct completion *completion, struct error *error);
void completion_free(struct completion *completion);

#endif
