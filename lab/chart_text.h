/* chart_text.h: a chart drawn with letters, for terminals. */
#ifndef TESSERA_LAB_CHART_TEXT_H
#define TESSERA_LAB_CHART_TEXT_H

#include "engine/report/chart.h"

/* Draws the chart with letters, for a terminal of at least 80 columns: a letter for each series, * where several meet,
 * the ticks of both axes and a legend. Error bars and references are left out. */
void chart_text(const struct chart *chart, FILE *file);

#endif
