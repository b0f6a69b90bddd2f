/* page_print.c: writes a page as HTML; see page.h. */
#include "engine/report/markup.h"
#include "engine/report/page_parts.h"

#include <string.h>

/* A screen shows one of the two drawings (page.css); texts have their size at this width. */
#define CHART_WIDE   1000u
#define HANGING_MAX  24u /* columns */
#define CHART_NARROW 360u

void page_element_print(const char *name, const char *text, FILE *file)
{
    fprintf(file, "<%s>", name);
    markup_text(file, text);
    fprintf(file, "</%s>", name);
}

static void write_head(const struct page *page, FILE *file)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n"
          "<meta charset=\"utf-8\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
          "<meta name=\"color-scheme\" content=\"light\"/>\n",
          file);
    page_element_print("title", page->title, file);
    fprintf(file, "\n<style>%s</style>\n</head>\n<body>\n<main>\n<header>\n", page_style);
    page_element_print("h1", page->title, file);
    fputs(page->fact_count ? "\n<dl>\n" : "\n", file);
    for (uint32_t f = 0; f < page->fact_count; f++) {
        page_element_print("dt", page->facts[f].name, file);
        fputs("<dd>", file);
        if (page->facts[f].code)
            page_element_print("code", page->facts[f].value, file);
        else
            markup_text(file, page->facts[f].value);
        fputs("</dd>\n", file);
    }
    fputs(page->fact_count ? "</dl>\n</header>\n" : "</header>\n", file);
}

/* ---- Parts ---- */

/* The column in which a line's words begin: after the branches of a plan's tree and a first word that stands apart. A line
 * that has no room goes on there. */
static uint32_t hanging(const char *line, size_t bytes)
{
    uint32_t column = 0, begin = 0;
    size_t at = 0;
    bool branches = true;
    for (size_t next; at < bytes; at += next, column++) {
        next = 1;
        while (at + next < bytes && ((unsigned char)line[at + next] & 0xc0) == 0x80)
            next++;
        const bool blank = line[at] == ' ', branch = (unsigned char)line[at] == 0xe2; /* box drawings */
        if (branches && !blank && !branch) {
            branches = false;
            begin = column;
        } else if (!branches && !blank && at >= 2 && line[at - 1] == ' ' && line[at - 2] == ' ' &&
                   column < HANGING_MAX)
            return column;
    }
    return begin + 2;
}

static void write_code(const char *text, FILE *file)
{
    fputs("<pre><code>", file);
    while (*text) {
        const char *const end = strchr(text, '\n');
        const size_t bytes = end ? (size_t)(end - text) : strlen(text);
        fprintf(file, "<span class=\"line\" style=\"--in:%uch\">", (unsigned)hanging(text, bytes));
        markup_bytes(file, text, bytes);
        fputs(end ? "\n</span>" : "</span>", file);
        text += bytes + (end != NULL);
    }
    fputs("</code></pre>", file);
}

static void write_chart(const struct chart *chart, FILE *file)
{
    fputs("<figure>\n", file);
    if (chart->form.title)
        page_element_print("figcaption", chart->form.title, file);
    fputs("\n<div class=\"scroll wide\">\n", file);
    chart_svg(chart, CHART_WIDE, file);
    fputs("</div>\n<div class=\"scroll narrow\">\n", file);
    chart_svg(chart, CHART_NARROW, file);
    fputs("</div>\n</figure>\n", file);
}

static enum status check(const struct page *page, struct error *error)
{
    bool failed = page->keep.failed;
    for (uint32_t p = 0; p < page->part_count; p++) {
        failed = failed || (page->parts[p].chart && page->parts[p].chart->keep.failed);
        failed = failed || (page->parts[p].sheet && page->parts[p].sheet->keep.failed);
    }
    return failed ? error_out_of_memory(error, sizeof *page->parts, "the report") : STATUS_OK;
}

enum status page_print(const struct page *page, FILE *file, struct error *error)
{
    bool open = false;
    RETURN_IF_ERROR(check(page, error));
    write_head(page, file);
    for (uint32_t p = 0; p < page->part_count; p++) {
        const struct page_part *const part = &page->parts[p];
        switch (part->kind) {
        case PAGE_SECTION:
            fputs(open ? "</section>\n<section>\n" : "<section>\n", file);
            open = true;
            page_element_print("h2", part->text, file);
            break;
        case PAGE_TEXT:
            page_element_print("p", part->text, file);
            break;
        case PAGE_CODE:
            write_code(part->text ? part->text : "", file);
            break;
        case PAGE_CHART:
            write_chart(part->chart, file);
            break;
        case PAGE_SHEET:
            RETURN_IF_ERROR(page_sheet_print(part->sheet, part->text, file, error));
        }
        fputc('\n', file);
    }
    fputs(open ? "</section>\n</main>\n</body>\n</html>\n" : "</main>\n</body>\n</html>\n", file);
    return STATUS_OK;
}
