/* page_parts.h: a page as page.c collects it and page_print.c writes it. */
#ifndef TESSERA_ENGINE_REPORT_PAGE_PARTS_H
#define TESSERA_ENGINE_REPORT_PAGE_PARTS_H

#include "engine/report/page.h"

struct page_fact_line {
    const char *name, *value;
    bool code; /* typed, as a command is */
};

struct page_part {
    enum { PAGE_SECTION, PAGE_TEXT, PAGE_CODE, PAGE_CHART, PAGE_SHEET } kind;
    const char *text; /* a heading, a paragraph, code, a caption */
    struct chart *chart;
    struct sheet *sheet;
};

struct page {
    const char *title;
    uint32_t fact_count, part_count;
    struct page_fact_line *facts;
    struct page_part *parts;
    struct keep keep;
};

/* "<h2>text</h2>" */
void page_element_print(const char *name, const char *text, FILE *file);

/* Writes a sheet as tables (page_sheet.c). STATUS_MACHINE: out of memory. */
NODISCARD enum status page_sheet_print(const struct sheet *sheet, const char *caption, FILE *file,
                                       struct error *error);

/* The page's style sheet (page.css). */
extern const char page_style[];

#endif
