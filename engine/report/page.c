/* page.c: collects a page, and brings it to its file; see page.h. */
#define _GNU_SOURCE
#include "engine/report/page_parts.h"

#include "storage/base/file.h"
#include "storage/base/text/text_stream.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum status page_create(const char *title, struct page **page, struct error *error)
{
    struct page *const made = calloc(1, sizeof *made);
    if (!made)
        return error_out_of_memory(error, sizeof *made, "a page");
    made->title = keep_text(&made->keep, title);
    *page = made;
    return STATUS_OK;
}

void page_destroy(struct page *page)
{
    if (!page)
        return;
    for (uint32_t p = 0; p < page->part_count; p++) {
        chart_destroy(page->parts[p].chart);
        sheet_destroy(page->parts[p].sheet);
    }
    free(page->parts);
    free(page->facts);
    keep_free(&page->keep);
    free(page);
}

/* ---- Facts ---- */

static void add_fact(struct page *page, const char *name, const char *value, bool code)
{
    if (keep_grow(&page->keep, (void **)&page->facts, page->fact_count, sizeof *page->facts))
        page->facts[page->fact_count++] = (struct page_fact_line){
            .name = keep_text(&page->keep, name), .value = keep_text(&page->keep, value), .code = code};
}

void page_fact(struct page *page, const char *name, const char *value)
{
    add_fact(page, name, value, false);
}

/* Writes a word so that a shell reads it as it is. */
static void write_word(FILE *file, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:+@%";
    if (*word && word[strspn(word, plain)] == '\0') {
        fputs(word, file);
        return;
    }
    fputc('\'', file);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", file);
        else
            fputc(*word, file);
    fputc('\'', file);
}

void page_command(struct page *page, int argc, char *const *argv)
{
    char *text = NULL;
    size_t bytes;
    FILE *const file = text_stream(&text, &bytes);
    if (!file) {
        page->keep.failed = true;
        return;
    }
    if (argc > 0)
        fputs(argv[0], file); /* the command's words: "tessera ssb run" */
    for (int i = 1; i < argc; i++) {
        fputc(' ', file);
        write_word(file, argv[i]);
    }
    if (fclose(file) == 0)
        add_fact(page, "Command", text, true);
    else
        page->keep.failed = true;
    free(text);
}

void page_date(struct page *page)
{
    const time_t now = time(NULL);
    struct tm utc;
    char text[64] = "";
    if (gmtime_r(&now, &utc))
        strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &utc);
    page_fact(page, "Date", text);
}

/* ---- Parts ---- */

static bool add_part(struct page *page, struct page_part part)
{
    if (!keep_grow(&page->keep, (void **)&page->parts, page->part_count, sizeof part))
        return false;
    part.text = keep_text(&page->keep, part.text);
    page->parts[page->part_count++] = part;
    return true;
}

void page_section(struct page *page, const char *heading)
{
    add_part(page, (struct page_part){.kind = PAGE_SECTION, .text = heading});
}

void page_text(struct page *page, const char *text)
{
    add_part(page, (struct page_part){.kind = PAGE_TEXT, .text = text});
}

void page_code(struct page *page, const char *text)
{
    add_part(page, (struct page_part){.kind = PAGE_CODE, .text = text});
}

void page_chart(struct page *page, struct chart *chart)
{
    if (!add_part(page, (struct page_part){.kind = PAGE_CHART, .chart = chart}))
        chart_destroy(chart);
}

void page_sheet(struct page *page, const char *caption, struct sheet *sheet)
{
    if (!add_part(page, (struct page_part){.kind = PAGE_SHEET, .text = caption, .sheet = sheet}))
        sheet_destroy(sheet);
}

void page_append(struct page *page, struct page *from)
{
    for (uint32_t p = 0; from && p < from->part_count; p++) {
        struct page_part *const part = &from->parts[p];
        if (!add_part(page, *part))
            continue; /* `from` frees it */
        part->chart = NULL;
        part->sheet = NULL;
    }
    page->keep.failed |= from && from->keep.failed;
    page_destroy(from);
}

/* ---- The file ---- */

/* Gives the path of the file to write, which the caller frees: that of a link's target. What exists and is no
 * regular file is refused, because renaming would replace a device or a FIFO. */
static enum status find_target(const char *path, char **target, struct error *error)
{
    struct stat there;
    if (stat(path, &there) != 0)
        return path_format(target, error, "%s", path); /* it is new, or fails when it is written */
    if (!S_ISREG(there.st_mode))
        return error_set(
            error, STATUS_BAD_INPUT,
            "the report cannot be written to %s, which is %s; name a file, as in --report report.html", path,
            S_ISDIR(there.st_mode) ? "a folder" : "no file");
    *target = realpath(path, NULL);
    return *target ? STATUS_OK : error_set_errno(error, errno, "the report cannot be written to %s", path);
}

enum status page_check(const char *path, struct error *error)
{
    char *target;
    RETURN_IF_ERROR(find_target(path, &target, error));
    char *const slash = strrchr(target, '/');
    if (slash)
        slash[slash == target] = '\0'; /* leaves the folder, at least "/" */
    const bool writable = access(slash ? target : ".", W_OK | X_OK) == 0;
    const int reason = errno;
    free(target);
    return writable ? STATUS_OK : error_set_errno(error, reason, "the report cannot be written to %s", path);
}

static enum status replace(const char *path, const char *text, size_t bytes, struct error *error)
{
    char *target;
    RETURN_IF_ERROR(find_target(path, &target, error));
    const enum status status = file_replace(target, text, bytes, error);
    free(target);
    return status;
}

enum status page_write(const char *path, const struct page *page, struct error *error)
{
    char *text = NULL;
    size_t bytes;
    FILE *const file = text_stream(&text, &bytes);
    if (!file)
        return error_out_of_memory(error, BUFSIZ, "the report");
    enum status status = page_print(page, file, error);
    const bool whole = !ferror(file);
    if ((fclose(file) != 0 || !whole) && status == STATUS_OK)
        status = error_out_of_memory(error, bytes, "the report");
    status = AND_THEN(status, replace(path, text, bytes, error));
    free(text);
    return status;
}
