/*
 * progress_bar.h: one line on the terminal that says how far long work has come.
 *
 *     loading lineorder  [============                  ]  41 %   3.2 M rows/s   0:12 left
 *     reading sales  [============                  ]  41 %   12 M rows   430 MB/s   0:12 left
 *
 * Drawn when work begins, and then at most ten times a second whatever is reported; gone when the work is done. The time
 * that is left is --:-- for the first half second. Where the terminal is narrow, the bar shrinks, and the rows, the rate,
 * the bar and the time go, in that order. For the program alone: the library only knows struct progress.
 */
#ifndef TESSERA_ENGINE_PROGRAM_PROGRESS_BAR_H
#define TESSERA_ENGINE_PROGRAM_PROGRESS_BAR_H

#include "storage/base/parallel.h"

/* The bar on standard error, of which there is one; NULL if that is not a terminal that can redraw a line. */
struct progress *progress_bar_open(void);

/* Wipes the line, so that something else can be printed; NULL is legal. */
void progress_bar_clear(struct progress *bar);

/* The text of the line for `seconds` of work since it began, cut to `width` columns; rows as in struct progress. For
 * the bar and its test. */
void progress_bar_format(char *line, unsigned width, const char *what, const char *unit, uint64_t done,
                         uint64_t total, uint64_t rows, double seconds);
#define PROGRESS_BAR_WIDTH_MAX 256u /* `line` has this many bytes and one more */

#endif
