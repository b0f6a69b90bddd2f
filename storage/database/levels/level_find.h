/*
 * level_find.h: finds the levels of a dimension in its columns' values, for storage/database/levels/level_layout.h.
 *
 * Candidates are columns of at least 2 and at most LEVEL_VALUES_MAX different values (NULL is one), of which each has
 * two rows or more on average. A column whose every value has one value of another column determines it; that is proven
 * on all rows. Columns that determine each other are one class, for which the column speaks that falls least often
 * from one row to the next, then the first one.
 *
 * A chain is a list of classes of which each determines the one before: region, nation, city. All chains are compared
 * by what they save (up to a limit of CHAINS_MAX). With `bits` of the whole position, a chain saves
 *
 *       1 - p / bits             for each class that its levels decide, where p are the bits of the levels down to
 *                                the first that determines it: what a condition on it need not read. Half of it if
 *                                the class is no level itself, as the codes of one of its values are scattered then
 *     - (bits - least) / bits    where `least` bits number the rows without gaps: what gaps cost every foreign key
 *     + 1                        if it leaves rows in the order of the file, as year, month does in a table of dates:
 *                                ranges of dates then stay ranges of positions
 *
 * A chain of one class that changes the order of the rows is no hierarchy. It is left out for tables of more than
 * LEVEL_ALONE_ROWS_MAX rows: the keys of a large table (orders) often come in the order of its rows and pack well then,
 * which a status of three values is not worth.
 *
 * Below the chain that saves most, further columns that no level decides become levels if the position needs no
 * further bit for them: month below year, where no column names the month of a year.
 */
#ifndef TESSERA_STORAGE_DATABASE_LEVELS_LEVEL_FIND_H
#define TESSERA_STORAGE_DATABASE_LEVELS_LEVEL_FIND_H

#include "storage/database/levels/level_layout.h"

/* Tables of fewer rows get no levels: their keys have 4 bits. */
#define LEVEL_ROWS_MIN 16u

/* Keys of so few rows have 16 bits. */
#define LEVEL_ALONE_ROWS_MAX 65536u

/* More candidates than any dimension has; of more, those with the fewest values are taken. */
#define LEVEL_CANDIDATES_MAX 64u

/* Whether a column is a candidate. */
bool level_candidate(const struct level_codes *codes, uint64_t rows);

/* Finds the levels: numbers of columns, outermost first; 0 if there are none. columns[c].count is 0 for those that are
 * no levels; others are level_candidates. */
NODISCARD enum status levels_find(const struct level_codes *columns, uint32_t column_count, uint64_t rows,
                                  uint32_t levels[LEVELS_MAX], uint32_t *count, struct error *error);

#endif
