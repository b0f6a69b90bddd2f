/*
 * page_sheet.c: writes a sheet as tables of a page (page.h).
 *
 * A sheet of more columns than a page is wide is written in several tables, one below the other, each with the first
 * column: nothing has to be scrolled. On a small screen each row is a list of its cells (page.css), which therefore
 * carry their column's name. Rows and columns in which nothing was measured are named below the tables, with the
 * reason, because lines of dashes say no more.
 */
#include "engine/report/chart_drawing.h"
#include "engine/report/markup.h"
#include "engine/report/page_parts.h"
#include "storage/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Widths in CSS pixels, as page.css has them. */
#define TABLE_ROOM 1080.0 /* of a page that is 1200 wide */
#define CELL_SIZE  13.5   /* of its text */
#define CELL_SIDES 17.0   /* what is left and right of it */
#define TEXT_ROOM  300.0  /* a longer text has several lines */
#define BOLD       1.12   /* how much wider such a text is */
#define ROOM_STEP  10.0
#define DASH       "—" /* where a terminal has a hyphen */

struct table {
    const struct sheet *sheet;
    FILE *file;
    uint32_t first;        /* the column that all tables have; column_count: the sheet has none for people */
    bool *shown;           /* by column */
    double *widths;        /* by column */
    uint32_t *list, count; /* the columns of the table that is being written */
};

static const struct sheet_cell *cell_at(const struct sheet *sheet, uint32_t row, uint32_t c)
{
    return &sheet->cells[(size_t)row * sheet->column_count + c];
}

/* ---- What nothing was measured of ---- */

/* A column without a heading says why cells of its row are missing, where they are. */
static bool is_remark(const struct table *table, uint32_t c)
{
    const char *const name = table->sheet->columns[c].name;
    return name && !*name && c != table->first;
}

static bool is_label(const struct table *table, uint32_t c)
{
    return c == table->first || table->sheet->columns[c].label;
}

static bool is_blank(const struct sheet_cell *cell)
{
    return cell->kind == SHEET_MISSING || (cell->kind == SHEET_TEXT && !*cell->text);
}

static bool row_is_empty(const struct table *table, uint32_t row)
{
    bool others = false;
    for (uint32_t c = 0; c < table->sheet->column_count; c++) {
        if (!table->sheet->columns[c].name || is_label(table, c) || is_remark(table, c))
            continue;
        others = true;
        if (cell_at(table->sheet, row, c)->kind != SHEET_MISSING)
            return false;
    }
    return others;
}

static bool column_is_empty(const struct table *table, uint32_t c)
{
    bool others = false;
    for (uint32_t row = 0; row < sheet_rows(table->sheet); row++) {
        if (row_is_empty(table, row))
            continue;
        others = true;
        const struct sheet_cell *const cell = cell_at(table->sheet, row, c);
        if (is_remark(table, c) ? !is_blank(cell) : cell->kind != SHEET_MISSING)
            return false;
    }
    return others || is_remark(table, c);
}

/* A list "Not measured: a, b (not installed), c" that is being written. */
struct unmeasured {
    FILE *file;
    uint32_t count;
    const char *why; /* of the name that was written last, after the next one if that has the same */
};

static bool same_text(const char *left, const char *right)
{
    return left && right ? strcmp(left, right) == 0 : left == right;
}

static void end_reason(struct unmeasured *list)
{
    if (!list->why)
        return;
    fputs(" (", list->file);
    markup_text(list->file, list->why);
    fputc(')', list->file);
}

static void add_name(struct unmeasured *list, const char *group, const char *name, const char *why)
{
    if (list->count++ == 0) {
        fputs("<p class=\"unmeasured\">Not measured: ", list->file);
    } else {
        if (!same_text(list->why, why))
            end_reason(list);
        fputs(", ", list->file);
    }
    list->why = why;
    markup_text(list->file, group);
    fputs(group ? ": " : "", list->file);
    markup_text(list->file, name);
}

/* The reason that all cells of a row or column have; NULL: they differ, or have none. */
struct reason {
    bool any;
    const char *text;
};

static void join_reason(struct reason *reason, const struct sheet_cell *cell)
{
    reason->text = !reason->any || same_text(reason->text, cell->text) ? cell->text : NULL;
    reason->any = true;
}

static const char *reason_of_row(const struct table *table, uint32_t row)
{
    struct reason reason = {0};
    const char *remark = NULL;
    for (uint32_t c = 0; c < table->sheet->column_count; c++)
        if (is_remark(table, c))
            remark = is_blank(cell_at(table->sheet, row, c)) ? remark : cell_at(table->sheet, row, c)->text;
        else if (table->sheet->columns[c].name && !is_label(table, c))
            join_reason(&reason, cell_at(table->sheet, row, c));
    return remark ? remark : reason.text;
}

static const char *reason_of_column(const struct table *table, uint32_t c)
{
    struct reason reason = {0};
    for (uint32_t row = 0; row < sheet_rows(table->sheet); row++)
        if (!row_is_empty(table, row))
            join_reason(&reason, cell_at(table->sheet, row, c));
    return reason.text;
}

static void write_unmeasured(const struct table *table)
{
    const struct sheet *const sheet = table->sheet;
    const struct sheet_column *const columns = sheet->columns;
    struct unmeasured list = {.file = table->file};
    char buffer[SHEET_NUMBER_BYTES];
    for (uint32_t row = 0; row < sheet_rows(sheet); row++)
        if (row_is_empty(table, row))
            add_name(&list, NULL,
                     sheet_cell_text(&columns[table->first], cell_at(sheet, row, table->first), buffer),
                     reason_of_row(table, row));
    for (uint32_t c = 0; c < sheet->column_count; c++)
        if (columns[c].name && c != table->first && !is_remark(table, c) && column_is_empty(table, c))
            add_name(&list, columns[c].group, columns[c].name, reason_of_column(table, c));
    if (list.count) {
        end_reason(&list);
        fputs(".</p>\n", table->file);
    }
}

/* ---- Widths ---- */

/* The widest word, because names have several lines where they must. */
static double widest_word(const char *text)
{
    double widest = 0;
    char word[128];
    while (text && *text) {
        const size_t bytes = strcspn(text, " "), kept = bytes < sizeof word ? bytes : sizeof word - 1;
        memcpy(word, text, kept);
        word[kept] = '\0';
        widest = fmax(widest, BOLD * drawing_text_width(word, CELL_SIZE));
        text += bytes + strspn(text + bytes, " ");
    }
    return widest;
}

static double width_of(const struct sheet *sheet, uint32_t c)
{
    const struct sheet_column *const column = &sheet->columns[c];
    double widest = fmax(widest_word(column->name), widest_word(column->unit));
    char buffer[SHEET_NUMBER_BYTES];
    for (uint32_t row = 0; row < sheet_rows(sheet); row++) {
        const char *const text = sheet_cell_text(column, cell_at(sheet, row, c), buffer);
        const double width = drawing_text_width(text, CELL_SIZE);
        widest = fmax(widest, column->text ? fmin(width, TEXT_ROOM) : width);
    }
    return widest + CELL_SIDES;
}

/* The column after those that a table has from `begin` on: at least one, and whole groups if one has room. */
static uint32_t table_end(const struct table *table, uint32_t begin, double room)
{
    double width = table->widths[table->first];
    uint32_t from = begin, before = begin,
             group = begin; /* the first column, the one before, where its group begins */
    bool any = false;
    for (uint32_t c = begin; c < table->sheet->column_count; c++) {
        if (!table->shown[c])
            continue;
        if (!any || !same_text(table->sheet->columns[before].group, table->sheet->columns[c].group))
            group = c;
        from = any ? from : c;
        width += table->widths[c];
        if (any && width > room)
            return group > from && table->sheet->columns[c].group ? group : c;
        before = c;
        any = true;
    }
    return table->sheet->column_count;
}

static uint32_t table_count(const struct table *table, double room)
{
    uint32_t count = 0, c = table->first + 1;
    do {
        c = table_end(table, c, room);
        count++;
    } while (c < table->sheet->column_count);
    return count;
}

/* The least room that needs no more tables, so that they are about as wide as each other. */
static double even_room(const struct table *table)
{
    const uint32_t count = table_count(table, TABLE_ROOM);
    double room = TABLE_ROOM;
    while (room > ROOM_STEP && table_count(table, room - ROOM_STEP) == count)
        room -= ROOM_STEP;
    return room;
}

/* ---- Tables ---- */

static const char *group_at(const struct table *table, uint32_t i)
{
    return i < table->count ? table->sheet->columns[table->list[i]].group : NULL;
}

/* Whether the i-th column begins a group, or follows one: a line divides it from the column before. */
static bool begins_group(const struct table *table, uint32_t i)
{
    return !same_text(i ? group_at(table, i - 1) : NULL, group_at(table, i));
}

static void write_class(const struct table *table, uint32_t i)
{
    const bool text = table->sheet->columns[table->list[i]].text, group = begins_group(table, i);
    if (text || group)
        fprintf(table->file, " class=\"%s%s%s\"", text ? "text" : "", text && group ? " " : "",
                group ? "group" : "");
}

/* The row of groups: columns without one leave it empty. */
static void write_groups(const struct table *table)
{
    fputs("<tr>", table->file);
    for (uint32_t i = 0, next; i < table->count; i = next) {
        for (next = i + 1; next < table->count && !begins_group(table, next);)
            next++;
        fprintf(table->file, "<th colspan=\"%u\" class=\"over%s\">", (unsigned)(next - i),
                begins_group(table, i) ? " group" : "");
        markup_text(table->file, group_at(table, i));
        fputs("</th>", table->file);
    }
    fputs("</tr>\n", table->file);
}

static void write_names(const struct table *table)
{
    fputs("<tr>", table->file);
    for (uint32_t i = 0; i < table->count; i++) {
        const struct sheet_column *const column = &table->sheet->columns[table->list[i]];
        fputs("<th scope=\"col\"", table->file);
        write_class(table, i);
        fputc('>', table->file);
        markup_text(table->file, column->name);
        if (column->unit) {
            fputs(" <span class=\"unit\">", table->file);
            markup_text(table->file, column->unit);
            fputs("</span>", table->file);
        }
        fputs("</th>", table->file);
    }
    fputs("</tr>\n", table->file);
}

/* "decode, time ms": before a cell where rows are lists. */
static void write_label(const struct table *table, uint32_t i)
{
    const struct sheet_column *const column = &table->sheet->columns[table->list[i]];
    if (i == 0)
        return; /* it heads the list */
    fputs(" data-label=\"", table->file);
    markup_text(table->file, column->group);
    fputs(column->group ? ", " : "", table->file);
    markup_text(table->file, column->name);
    fputs(column->unit ? " " : "", table->file);
    markup_text(table->file, column->unit);
    fputc('"', table->file);
}

static void write_row(const struct table *table, uint32_t row)
{
    char buffer[SHEET_NUMBER_BYTES];
    fputs("<tr>", table->file);
    for (uint32_t i = 0; i < table->count; i++) {
        const struct sheet_cell *const cell = cell_at(table->sheet, row, table->list[i]);
        fputs("<td", table->file);
        write_class(table, i);
        write_label(table, i);
        fputc('>', table->file);
        if (cell->kind == SHEET_MISSING)
            page_element_print("i", cell->text ? cell->text : DASH, table->file);
        else
            markup_text(table->file, sheet_cell_text(&table->sheet->columns[table->list[i]], cell, buffer));
        fputs("</td>", table->file);
    }
    fputs("</tr>\n", table->file);
}

static void write_table(const struct table *table)
{
    bool groups = false;
    for (uint32_t i = 0; i < table->count; i++)
        groups = groups || group_at(table, i);
    fputs("<div class=\"scroll\" tabindex=\"0\">\n<table>\n<thead>\n", table->file);
    if (groups)
        write_groups(table);
    write_names(table);
    fputs("</thead>\n<tbody>\n", table->file);
    for (uint32_t row = 0; row < sheet_rows(table->sheet); row++)
        if (!row_is_empty(table, row))
            write_row(table, row);
    fputs("</tbody>\n</table>\n</div>\n", table->file);
}

static void write_tables(struct table *table)
{
    const double room = even_room(table);
    uint32_t c = table->first + 1;
    do {
        const uint32_t end = table_end(table, c, room);
        table->list[0] = table->first;
        table->count = 1;
        for (; c < end; c++)
            if (table->shown[c])
                table->list[table->count++] = c;
        write_table(table);
    } while (c < table->sheet->column_count);
}

/* Chooses the columns that people see. */
static void choose(struct table *table)
{
    const struct sheet *const sheet = table->sheet;
    while (table->first < sheet->column_count && !sheet->columns[table->first].name)
        table->first++;
    for (uint32_t c = table->first; c < sheet->column_count; c++) {
        table->shown[c] = sheet->columns[c].name && (c == table->first || !column_is_empty(table, c));
        table->widths[c] = table->shown[c] ? width_of(sheet, c) : 0;
    }
}

enum status page_sheet_print(const struct sheet *sheet, const char *caption, FILE *file, struct error *error)
{
    const uint64_t columns = sheet->column_count + 1ull;
    struct table table = {.sheet = sheet, .file = file};
    enum status status = memory_zeros(&table.shown, columns * sizeof *table.shown, "a table", error);
    status = AND_THEN(status, memory_zeros(&table.widths, columns * sizeof *table.widths, "a table", error));
    status = AND_THEN(status, memory_zeros(&table.list, columns * sizeof *table.list, "a table", error));
    if (status == STATUS_OK) {
        choose(&table);
        if (caption)
            page_element_print("h3", caption, file);
        if (table.first < sheet->column_count) {
            write_tables(&table);
            write_unmeasured(&table);
        }
    }
    free(table.shown);
    free(table.widths);
    free(table.list);
    return status;
}
