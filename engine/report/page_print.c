/* page_print.c: writes a page as HTML; see page.h. */
#include "engine/report/markup.h"
#include "engine/report/page_parts.h"

#include <string.h>

/* A screen shows one of the two drawings (page_style.c); texts have their size at this width. */
#define CHART_WIDE   1000u
#define CHART_NARROW 380u

static void write_element(FILE *file, const char *name, const char *text)
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
          "<meta name=\"color-scheme\" content=\"light dark\"/>\n",
          file);
    write_element(file, "title", page->title);
    fprintf(file, "\n<style>%s</style>\n</head>\n<body>\n<main>\n<header>\n", page_style);
    write_element(file, "h1", page->title);
    fputs(page->fact_count ? "\n<dl>\n" : "\n", file);
    for (uint32_t f = 0; f < page->fact_count; f++) {
        write_element(file, "dt", page->facts[f].name);
        fputs("<dd>", file);
        if (page->facts[f].code)
            write_element(file, "code", page->facts[f].value);
        else
            markup_text(file, page->facts[f].value);
        fputs("</dd>\n", file);
    }
    fputs(page->fact_count ? "</dl>\n</header>\n" : "</header>\n", file);
}

/* ---- Tables ---- */

static bool is_shown(const struct sheet_column *column)
{
    return column->name != NULL;
}

static bool same_group(const char *left, const char *right)
{
    return left && right ? strcmp(left, right) == 0 : left == right;
}

/* Whether the column begins a group, or follows one: a line divides it from the column before. */
static bool begins_group(const struct sheet *sheet, uint32_t c)
{
    const char *before = NULL;
    for (uint32_t i = 0; i < c; i++)
        if (is_shown(&sheet->columns[i]))
            before = sheet->columns[i].group;
    return !same_group(before, sheet->columns[c].group);
}

static void write_class(const struct sheet *sheet, uint32_t c, FILE *file)
{
    const char *const text = sheet->columns[c].text ? "text" : "", *const group =
                                                                       begins_group(sheet, c) ? "group" : "";
    if (*text || *group)
        fprintf(file, " class=\"%s%s%s\"", text, *text && *group ? " " : "", group);
}

/* The row of groups: columns without one leave it empty. */
static void write_groups(const struct sheet *sheet, FILE *file)
{
    fputs("<tr>", file);
    for (uint32_t c = 0; c < sheet->column_count;) {
        const struct sheet_column *const first = &sheet->columns[c];
        uint32_t span = 0, next = c;
        for (; next < sheet->column_count &&
               (!is_shown(&sheet->columns[next]) || same_group(first->group, sheet->columns[next].group));
             next++)
            span += is_shown(&sheet->columns[next]);
        if (span) {
            fprintf(file, "<th colspan=\"%u\" class=\"over%s\">", (unsigned)span,
                    begins_group(sheet, c) ? " group" : "");
            markup_text(file, first->group);
            fputs("</th>", file);
        }
        c = next > c ? next : c + 1;
    }
    fputs("</tr>\n", file);
}

static void write_names(const struct sheet *sheet, FILE *file)
{
    fputs("<tr>", file);
    for (uint32_t c = 0; c < sheet->column_count; c++) {
        if (!is_shown(&sheet->columns[c]))
            continue;
        fputs("<th scope=\"col\"", file);
        write_class(sheet, c, file);
        fputc('>', file);
        markup_text(file, sheet->columns[c].name);
        if (sheet->columns[c].unit) {
            fputs(" <span class=\"unit\">", file);
            markup_text(file, sheet->columns[c].unit);
            fputs("</span>", file);
        }
        fputs("</th>", file);
    }
    fputs("</tr>\n", file);
}

static void write_row(const struct sheet *sheet, uint32_t row, FILE *file)
{
    char buffer[SHEET_NUMBER_BYTES];
    fputs("<tr>", file);
    for (uint32_t c = 0; c < sheet->column_count; c++) {
        const struct sheet_cell *const cell = &sheet->cells[(size_t)row * sheet->column_count + c];
        if (!is_shown(&sheet->columns[c]))
            continue;
        fputs("<td", file);
        write_class(sheet, c, file);
        fputc('>', file);
        if (cell->kind == SHEET_MISSING) /* an em dash, where a terminal has a hyphen */
            write_element(file, "i", cell->text ? cell->text : "—");
        else
            markup_text(file, sheet_cell_text(&sheet->columns[c], cell, buffer));
        fputs("</td>", file);
    }
    fputs("</tr>\n", file);
}

static void write_sheet(const struct sheet *sheet, const char *caption, FILE *file)
{
    bool groups = false;
    for (uint32_t c = 0; c < sheet->column_count; c++)
        groups = groups || (sheet->columns[c].group && is_shown(&sheet->columns[c]));
    fputs("<div class=\"scroll\" tabindex=\"0\">\n<table>\n", file);
    if (caption)
        write_element(file, "caption", caption);
    fputs("<thead>\n", file);
    if (groups)
        write_groups(sheet, file);
    write_names(sheet, file);
    fputs("</thead>\n<tbody>\n", file);
    for (uint32_t row = 0; row < sheet_rows(sheet); row++)
        write_row(sheet, row, file);
    fputs("</tbody>\n</table>\n</div>\n", file);
}

/* ---- Parts ---- */

static void write_chart(const struct chart *chart, FILE *file)
{
    fputs("<figure>\n", file);
    if (chart->form.title)
        write_element(file, "figcaption", chart->form.title);
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
            write_element(file, "h2", part->text);
            break;
        case PAGE_TEXT:
            write_element(file, "p", part->text);
            break;
        case PAGE_CODE:
            fputs("<pre class=\"scroll\" tabindex=\"0\">", file);
            write_element(file, "code", part->text);
            fputs("</pre>", file);
            break;
        case PAGE_CHART:
            write_chart(part->chart, file);
            break;
        case PAGE_SHEET:
            write_sheet(part->sheet, part->text, file);
        }
        fputc('\n', file);
    }
    fputs(open ? "</section>\n</main>\n</body>\n</html>\n" : "</main>\n</body>\n</html>\n", file);
    return STATUS_OK;
}
