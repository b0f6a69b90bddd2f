/* parse_words.h: parses functions that have words between their values, types of casts, and predicates. */
#ifndef TESSERA_ENGINE_SQL_FUNCTIONS_PARSE_WORDS_H
#define TESSERA_ENGINE_SQL_FUNCTIONS_PARSE_WORDS_H

#include "engine/sql/parse_internal.h"

/* ---- In parse_expression.c ---- */

/* Parses what may stand beside a comparison. */
NODISCARD enum status parse_operand(struct parser *parser, struct sql_expression **out);

/* ---- In parse_words.c ---- */

/* Parses the arguments of position(a IN b), substring(s FROM a FOR n) and trim(BOTH c FROM s), and the
 * parenthesis after them, if the node's name is one of these and its arguments are written so. */
NODISCARD enum status parse_worded_function(struct parser *parser, struct sql_expression *node, bool *taken);
/* Parses a type, with its digits, into the node of a cast. */
NODISCARD enum status parse_type(struct parser *parser, struct sql_expression *node);
/* Parses WITH TIME ZONE or WITHOUT TIME ZONE after TIMESTAMP, if it is there; with time zone the type is timestamptz. */
NODISCARD enum status parse_zoned(struct parser *parser, const char **name);
/* Takes AT TIME ZONE. */
NODISCARD enum status parse_at_zone(struct parser *parser, bool *taken);
/* Parses ::type as often as it follows. */
NODISCARD enum status parse_casts(struct parser *parser, struct sql_expression **out);
/* Parses 3 MONTH or '3 months' after the word INTERVAL. *taken: it was there. */
NODISCARD enum status parse_interval(struct parser *parser, struct sql_expression *node, bool *taken);
/* Parses TRUE, FALSE, UNKNOWN or DISTINCT FROM x after IS [NOT]. */
NODISCARD enum status parse_is_predicate(struct parser *parser, struct sql_position position, bool negated,
                                         bool *taken, struct sql_expression **out);
/* Parses ILIKE, REGEXP and the operators ~ ~* !~ !~*, with what is on their right. */
NODISCARD enum status parse_pattern(struct parser *parser, struct sql_position position, bool negated,
                                    bool *taken, struct sql_expression **out);
/* Parses (a, b) after USING. */
NODISCARD enum status parse_using(struct parser *parser, struct sql_source *source);

#endif
