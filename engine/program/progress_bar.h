/*
 * progress_bar.h: one line on the terminal that shows the progress of long work.
 *
 *     loading lineorder  [============                  ]  41 %   3.2 M rows/s   0:12 left
 *     reading sales  [============                  ]  41 %   12 M rows   430 MB/s   0:12 left
 *
 * The line is drawn when work begins, then at most ten times a second, and removed when the work is done. The
 * remaining time is --:-- for the first half second. On a narrow terminal the bar shrinks, and the rows, the
 * rate, the bar and the time are left out, in that order. Only the program has it; the library only knows
 * struct progress.
 */
#ifndef TESSERA_ENGINE_PROGRAM_PROGRESS_BAR_H
#define TESSERA_ENGINE_PROGRAM_PROGRESS_BAR_H

#include "storage/base/parallel.h"

/* Opens the one bar on standard error; NULL if that is not a terminal that can redraw a line. */
struct progress *progress_bar_open(void);

/* Clears the line, so that something else can be printed; NULL is legal. */
void progress_bar_clear(struct progress *bar);

/* Writes the text of the line after `seconds` of work, cut to `width` columns; `rows` as in struct progress.
 * The bar and its test use it. */
void progress_bar_format(char *line, unsigned width, const char *what, const char *unit, uint64_t done,
                         uint64_t total, uint64_t rows, double seconds);
#define PROGRESS_BAR_WIDTH_MAX 256u /* `line` has this many bytes and one more */

#endif
