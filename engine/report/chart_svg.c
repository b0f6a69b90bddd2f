/*
 * chart_svg.c: lays a chart out and draws its frame: axes, grid, titles, legend. See chart.h.
 *
 * Units are CSS pixels at the chart's full width. Nothing asks a browser how wide a text is, so widths are
 * estimated from the characters, a little too large for most fonts. Bars of more categories than there is room for
 * are drawn in several panels, one below the other, with the same y axis.
 */
#include "engine/report/chart_drawing.h"
#include "engine/report/markup.h"
#include "storage/base/words/utf8.h"

#include <math.h>
#include <string.h>

#define LINE          19.0  /* from one line of text to the next */
#define PLOT_HEIGHT   300.0 /* of a wide chart */
#define NARROW        500u  /* a chart below this width is lower */
#define NARROW_HEIGHT 240.0
#define TICK_ROOM     56.0  /* height for a tick's text */
#define TICK_WIDTH    78.0  /* width for it */
#define SLANT         50.0  /* degrees, of texts too wide for their category */
#define SLANTED_ROOM  170.0 /* the most for such a text; a longer one is cut */
#define SLANTED_LINE  17.0  /* from one such text to the next */
#define BAR_WIDTH     3.0   /* the least; more bars than fit take a panel more */
#define SIDES_ROOM    80.0  /* beside the categories */
#define SWATCH        20.0  /* a legend's line or square */
#define MARGIN        10.0
#define PI            3.14159265358979

/* The width of a character in a font of height 1: the widest of fonts that systems have, DejaVu Sans. */
static double character_width(uint32_t code)
{
    if (code >= 0x1100)
        return 1; /* ideographs and pictures are as wide as high */
    if (code >= 0x80 || code == 0)
        return 0.8;
    if (strchr("iljI.,:;'|!", (int)code))
        return 0.36;
    if (strchr(" ()[]ftr/-", (int)code))
        return 0.45;
    if (strchr("mwMW%@", (int)code))
        return 1;
    return code >= 'A' && code <= 'Z' ? 0.76 : code == '_' ? 0.5 : 0.645;
}

/* The bytes of the next character, and its width. */
static size_t next_character(const char *text, double *width)
{
    uint32_t code;
    const size_t bytes = utf8_character(text, 4, &code); /* the text's end is in no character */
    *width = character_width(bytes ? code : 0);
    return bytes ? bytes : 1;
}

double drawing_text_width(const char *text, double size)
{
    double sum = 0, width;
    while (text && *text) {
        text += next_character(text, &width);
        sum += width;
    }
    return sum * size;
}

void drawing_text(FILE *file, const char *text, double size, double room)
{
    char cut[256];
    size_t bytes = 0;
    double left = room / size - 1, width; /* of it "…" may take one */
    if (!text || drawing_text_width(text, size) <= room) {
        markup_text(file, text);
        return;
    }
    for (;;) {
        const size_t next = next_character(text + bytes, &width);
        if (left < width || bytes + next >= sizeof cut)
            break;
        left -= width;
        bytes += next;
    }
    memcpy(cut, text, bytes);
    cut[bytes] = '\0';
    markup_text(file, cut);
    fputs("…", file);
}

/* ---- Ranges ---- */

struct range {
    double low, high; /* low > high: empty */
};

static void extend(struct range *range, enum chart_scale scale, double number)
{
    if (!axis_holds(scale, number))
        return;
    range->low = fmin(range->low, number);
    range->high = fmax(range->high, number);
}

static struct range range_of(const struct chart_axis *axis)
{
    struct range range = {INFINITY, -INFINITY};
    if (axis->low < axis->high) {
        extend(&range, axis->scale, axis->low);
        extend(&range, axis->scale, axis->high);
    }
    return range;
}

/* Makes room for a reference over the points' x. */
static void extend_to(struct range *y, const struct chart_form *form, const struct range *x,
                      const struct chart_reference *reference)
{
    if (reference->slope == 0) {
        extend(y, form->y.scale, reference->at);
    } else if (!form->categories && x->low <= x->high) {
        extend(y, form->y.scale, reference->at + reference->slope * x->low);
        extend(y, form->y.scale, reference->at + reference->slope * x->high);
    }
}

/* Makes the axes for all points whose two numbers can be drawn. */
static void make_axes(struct drawing *drawing)
{
    const struct chart *const chart = drawing->chart;
    const struct chart_form *const form = &chart->form;
    struct range x = range_of(&form->x), y = range_of(&form->y);
    for (uint32_t s = 0; s < chart->series_count; s++)
        for (uint32_t p = 0; p < chart->series[s].point_count; p++) {
            const struct chart_point *const point = &chart->series[s].points[p];
            if (!axis_holds(form->y.scale, point->y) ||
                (!form->categories && !axis_holds(form->x.scale, point->x)))
                continue;
            extend(&x, form->x.scale, point->x);
            extend(&y, form->y.scale, point->y);
            if (point->low < point->high) {
                extend(&y, form->y.scale, point->low);
                extend(&y, form->y.scale, point->high);
            }
        }
    for (uint32_t r = 0; r < chart->reference_count; r++)
        extend_to(&y, form, &x, &chart->references[r]);
    if (form->y.scale == CHART_LINEAR && y.low <= y.high)
        extend(&y, CHART_LINEAR, 0);
    axis_make(&drawing->y, form->y.scale, y.low, y.high,
              (uint32_t)((drawing->bottom - drawing->top) / TICK_ROOM) + 1, true);
    if (!form->categories)
        axis_make(&drawing->x, form->x.scale, x.low, x.high,
                  (uint32_t)((drawing->right - drawing->left) / TICK_WIDTH) + 1, false);
}

/* ---- Layout ---- */

/* Walks through the legend's entries, row by row, and draws them if there is a file; gives the rows' height. */
static double legend(const struct drawing *drawing, FILE *file)
{
    double x = 0, y = LINE - 5;
    bool any = false;
    for (uint32_t s = 0; s < drawing->chart->series_count; s++) {
        const char *const name = drawing->chart->series[s].name;
        if (!name || !*name)
            continue;
        const double room = drawing->view - SWATCH - 6, wide = drawing_text_width(name, TEXT_SIZE);
        const double width = SWATCH + 6 + (wide < room ? wide : room);
        if (any && x + width > drawing->view) {
            x = 0;
            y += LINE;
        }
        any = true;
        if (file) {
            drawing_series_open(file, s);
            if (drawing->chart->form.kind == CHART_BARS)
                fprintf(file, "<rect class=\"bar\" x=\"%.1f\" y=\"%.1f\" width=\"13\" height=\"11\"/>", x + 4,
                        y - 10);
            if (drawing->chart->form.kind == CHART_LINES)
                fprintf(file, "<path class=\"line\" d=\"M%.1f %.1fh%.1f\"/>", x, y - 4.5, SWATCH);
            if (drawing->chart->form.kind != CHART_BARS)
                drawing_shape(file, s, x + SWATCH / 2, y - 4.5);
            fprintf(file, "</g><text x=\"%.1f\" y=\"%.1f\">", x + SWATCH + 6, y);
            drawing_text(file, name, TEXT_SIZE, room);
            fputs("</text>\n", file);
        }
        x += width + 16;
    }
    return any ? y + 12 : MARGIN;
}

static double widest_tick(const struct axis *axis)
{
    double widest = 0;
    for (uint32_t t = 0; t < axis->tick_count; t++)
        widest = fmax(widest, drawing_text_width(axis->ticks[t].label, TICK_SIZE));
    return widest;
}

/* Gives each category its room, and their texts a slant where one is wider than its room. */
static void lay_categories(struct drawing *drawing)
{
    const struct chart_form *const form = &drawing->chart->form;
    const uint32_t count = drawing->end > drawing->first ? drawing->end - drawing->first : 1;
    double longest = 0;
    for (uint32_t c = 0; c < form->category_count; c++)
        longest = fmax(longest, drawing_text_width(form->categories[c], TICK_SIZE));
    drawing->label_drop = LINE;
    if (longest > (drawing->right - drawing->left) / count - 4) {
        const double length = fmin(longest, SLANTED_ROOM);
        const double reach = length * cos(SLANT * PI / 180) + MARGIN;
        drawing->label_drop = LINE + length * sin(SLANT * PI / 180);
        drawing->left = fmax(drawing->left, reach);
    }
    drawing->slot = (drawing->right - drawing->left) / count;
}

static bool has_title(const struct chart_axis *axis)
{
    return axis->title || axis->unit;
}

static void lay_out(struct drawing *drawing, bool legends)
{
    const struct chart_form *const form = &drawing->chart->form;
    const double bars = form->kind == CHART_BARS ? drawing->chart->series_count : 1;
    drawing->width =
        fmax(drawing->width, SIDES_ROOM + (drawing->end - drawing->first) * (bars + 1) * BAR_WIDTH);
    drawing->top = (legends ? legend(drawing, NULL) : MARGIN) + 6 + (has_title(&form->y) ? LINE : 0);
    drawing->bottom = drawing->top + (drawing->width < NARROW ? NARROW_HEIGHT : PLOT_HEIGHT);
    drawing->left = 60; /* about; the ticks' texts decide, which depend little on it */
    drawing->right = drawing->width - MARGIN;
    make_axes(drawing);
    drawing->left = widest_tick(&drawing->y) + 10;
    drawing->label_drop = LINE;
    if (form->categories)
        lay_categories(drawing);
    drawing->height = drawing->bottom + drawing->label_drop + (has_title(&form->x) ? LINE + 6 : 6);
    drawing->x.from = drawing->left;
    drawing->x.to = drawing->right;
    drawing->y.from = drawing->bottom;
    drawing->y.to = drawing->top;
}

bool drawing_place_x(const struct drawing *drawing, double x, double *place)
{
    if (drawing->slot == 0 ? !axis_holds(drawing->x.scale, x) : !(x >= drawing->first && x < drawing->end))
        return false;
    *place = drawing->slot == 0 ? axis_place(&drawing->x, x)
                                : drawing->left + (x - drawing->first + 0.5) * drawing->slot;
    return true;
}

bool drawing_place(const struct drawing *drawing, const struct chart_point *point, double *x, double *y)
{
    if (!axis_holds(drawing->y.scale, point->y) || !drawing_place_x(drawing, point->x, x))
        return false;
    *y = axis_place(&drawing->y, point->y);
    return true;
}

/* ---- Axes ---- */

static void draw_text(const struct drawing *drawing, const char *class, double x, double y, const char *text)
{
    fprintf(drawing->file, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, x, y);
    markup_text(drawing->file, text);
    fputs("</text>\n", drawing->file);
}

/* "runtime (ms)" */
static void write_title(FILE *file, const struct chart_axis *axis, double room)
{
    drawing_text(file, axis->title, TEXT_SIZE,
                 room - drawing_text_width(axis->unit, TEXT_SIZE) - 2 * TEXT_SIZE);
    if (!axis->unit)
        return;
    fputs(axis->title ? " (" : "(", file);
    markup_text(file, axis->unit);
    fputc(')', file);
}

/* Draws a tick's text, with what follows "^" raised. */
static void draw_tick(const struct drawing *drawing, const char *class, double x, double y, const char *label)
{
    const int base = (int)strcspn(label, "^");
    fprintf(drawing->file, "<text class=\"tick %s\" x=\"%.1f\" y=\"%.1f\">%.*s", class, x, y, base, label);
    if (label[base])
        fprintf(drawing->file, "<tspan class=\"power\" dy=\"-4\">%s</tspan>", label + base + 1);
    fputs("</text>\n", drawing->file);
}

static void draw_y_axis(const struct drawing *drawing)
{
    const struct axis *const axis = &drawing->y;
    for (uint32_t t = 0; t < axis->tick_count; t++) {
        const double y = axis_place(axis, axis->ticks[t].value);
        if (!axis->ticks[t].label[0])
            continue; /* a log axis's small ticks have no line, so that those of the decades are seen */
        fprintf(drawing->file, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>", drawing->left, y,
                drawing->right);
        draw_tick(drawing, "end", drawing->left - 7, y + 4, axis->ticks[t].label);
    }
    if (!has_title(&drawing->chart->form.y))
        return;
    fprintf(drawing->file, "<text class=\"title\" x=\"0\" y=\"%.1f\">", drawing->top - 12);
    write_title(drawing->file, &drawing->chart->form.y, drawing->width);
    fputs("</text>\n", drawing->file);
}

static void draw_x_ticks(const struct drawing *drawing)
{
    const struct axis *const axis = &drawing->x;
    double taken = -INFINITY; /* the right end of the last text */
    for (uint32_t t = 0; t < axis->tick_count; t++) {
        const double x = axis_place(axis, axis->ticks[t].value),
                     half = drawing_text_width(axis->ticks[t].label, TICK_SIZE) / 2,
                     middle = fmin(x, drawing->width - half); /* the last text ends at the drawing's edge */
        const bool labelled = axis->ticks[t].label[0] != '\0';
        fprintf(drawing->file, "<path class=\"%s\" d=\"M%.1f %.1fV%.1f\"/>", labelled ? "grid" : "edge", x,
                drawing->bottom, labelled ? drawing->top : drawing->bottom - 4);
        if (!labelled || middle - half < taken)
            continue;
        draw_tick(drawing, "middle", middle, drawing->bottom + 17, axis->ticks[t].label);
        taken = middle + half + 4;
    }
}

/* Slanted texts that had no room side by side are left out, but for every second, third ... one. */
static void draw_categories(const struct drawing *drawing)
{
    const struct chart_form *const form = &drawing->chart->form;
    const bool slanted = drawing->label_drop > LINE;
    const uint32_t every = slanted ? (uint32_t)ceil(SLANTED_LINE / drawing->slot) : 1;
    for (uint32_t c = drawing->first; c < drawing->end; c += every) {
        const double x = drawing->left + (c - drawing->first + 0.5) * drawing->slot;
        if (!slanted) {
            draw_text(drawing, "tick middle", x, drawing->bottom + 17, form->categories[c]);
            continue;
        }
        fprintf(drawing->file,
                "<text class=\"tick end\" x=\"%.1f\" y=\"%.1f\" transform=\"rotate(-%.0f %.1f %.1f)\">",
                x + 4, drawing->bottom + 13, SLANT, x + 4, drawing->bottom + 13);
        drawing_text(drawing->file, form->categories[c], TICK_SIZE, SLANTED_ROOM);
        fputs("</text>\n", drawing->file);
    }
}

static void draw_x_axis(const struct drawing *drawing)
{
    if (drawing->slot > 0)
        draw_categories(drawing);
    else
        draw_x_ticks(drawing);
    if (!has_title(&drawing->chart->form.x))
        return;
    fprintf(drawing->file, "<text class=\"title middle\" x=\"%.1f\" y=\"%.1f\">",
            (drawing->left + drawing->right) / 2, drawing->height - 7);
    write_title(drawing->file, &drawing->chart->form.x, drawing->right - drawing->left);
    fputs("</text>\n", drawing->file);
}

static void draw_edges(const struct drawing *drawing)
{
    double base = drawing->bottom;
    if (drawing->y.scale == CHART_LINEAR && drawing->y.low < 0)
        base = axis_place(&drawing->y, fmin(0, drawing->y.high));
    fprintf(drawing->file,
            "<path class=\"edge\" d=\"M%.1f %.1fV%.1f\"/><path class=\"edge\" d=\"M%.1f %.1fH%.1f\"/>\n",
            drawing->left, drawing->top, drawing->bottom, drawing->left, base, drawing->right);
}

/* The categories of a panel: all of them, unless their bars would be too narrow. */
static uint32_t panel_categories(const struct chart *chart, uint32_t width)
{
    const uint32_t count = chart->form.category_count;
    const double least = fmax(SLANTED_LINE, (chart->series_count + 1) * BAR_WIDTH);
    const uint32_t most = (uint32_t)fmax(1, floor((width - SIDES_ROOM) / least));
    if (chart->form.kind != CHART_BARS || count <= most)
        return count;
    const uint32_t panels = (count + most - 1) / most;
    return (count + panels - 1) / panels;
}

static void draw_panel(struct drawing *drawing)
{
    const struct chart *const chart = drawing->chart;
    FILE *const file = drawing->file;
    lay_out(drawing, drawing->first == 0);
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 %.0f %.0f\" "
            "style=\"%s-width:%.0fpx\" aria-label=\"",
            drawing->width, drawing->height, drawing->width > drawing->view ? "min" : "max", drawing->width);
    markup_text(file, chart->form.title);
    fputs("\">\n", file);
    if (drawing->first == 0)
        legend(drawing, file);
    draw_y_axis(drawing);
    draw_x_axis(drawing);
    drawing_references(drawing);
    drawing_marks(drawing);
    draw_edges(drawing);
    drawing_labels(drawing);
    if (chart_is_empty(chart))
        draw_text(drawing, "title middle", (drawing->left + drawing->right) / 2,
                  (drawing->top + drawing->bottom) / 2, "no values");
    fputs("</svg>\n", file);
}

void chart_svg(const struct chart *chart, uint32_t width, FILE *file)
{
    const uint32_t count = chart->form.category_count, each = panel_categories(chart, width);
    uint32_t first = 0;
    do {
        struct drawing drawing = {
            .chart = chart, .file = file, .view = width, .width = width, .first = first};
        drawing.end = first + each < count ? first + each : count;
        draw_panel(&drawing);
        first += each;
    } while (first < count);
}
