/*
 * page.h: a report as one HTML file that needs nothing else: figures are inline SVG, there is no script, no
 * network, no web font. It is read on screens of any width, and on paper: dark text on white, in which nothing is cut.
 *
 *     page_create(title) -> page_fact(...) -> page_section -> page_text, page_chart, page_sheet -> page_write
 *
 * The file is well-formed XML as well as HTML.
 */
#ifndef TESSERA_ENGINE_REPORT_PAGE_H
#define TESSERA_ENGINE_REPORT_PAGE_H

#include "engine/report/chart.h"
#include "engine/report/sheet.h"

struct page;

/* Makes a page without sections. Free with page_destroy. */
NODISCARD enum status page_create(const char *title, struct page **page, struct error *error);
void page_destroy(struct page *page); /* NULL is legal */

/* A line at the page's head: "Device", "NVIDIA H200". page_command adds the command line, quoted for a shell,
 * and page_date today's date and time. Texts are copied. */
void page_fact(struct page *page, const char *name, const char *value);
void page_command(struct page *page, int argc, char *const *argv);
void page_date(struct page *page);

/* Begins a section. What follows stands in it, in the order of the calls; before the first section, it stands
 * below the head. Texts are copied. */
void page_section(struct page *page, const char *heading);
void page_text(struct page *page, const char *text); /* a paragraph */
void page_code(struct page *page, const char *text); /* lines as they are, in letters of one width */

/* Gives a chart or a sheet to the page, which frees it. It may be changed and read until then. `caption`, above a sheet: NULL
 * for none; a chart has its own. */
void page_chart(struct page *page, struct chart *chart);
void page_sheet(struct page *page, const char *caption, struct sheet *sheet);

/* Moves the parts of `from`, which it frees, to the end of the page. NULL is legal. */
void page_append(struct page *page, struct page *from);

/* Refuses a path to which page_write could not write, before a long measurement begins. */
NODISCARD enum status page_check(const char *path, struct error *error);

/* Writes the file, under a temporary name that is renamed: readers find the old file or the whole new one. A
 * symbolic link's target is written. */
NODISCARD enum status page_write(const char *path, const struct page *page, struct error *error);

/* Writes the same to `file`; a failure to write is left in ferror(file). */
NODISCARD enum status page_print(const struct page *page, FILE *file, struct error *error);

#endif
