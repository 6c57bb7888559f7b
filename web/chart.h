/** chart.h - points as an inline SVG line; drawn on the server, so it needs no script. */
#ifndef WEB_CHART_H
#define WEB_CHART_H

#include <stdbool.h>

#include "base/buf.h"

enum { CHART_POINTS_MAX = 200 };

struct chart_point {
	double y;        /* not finite: a gap, the line is not joined across it */
	char label[160]; /* shown on hover and to screen readers */
	bool is_loss;    /* drawn as a filled triangle instead of a dot */
};

/**
 * Draw. Shape: point[n], oldest first, n <= CHART_POINTS_MAX. Units: `unit` names y's. The y axis spans the values, does not
 * start at 0 and says so. `summary` is the text for those who do not see the picture.
 */
void chart_line(struct buf *out, const struct chart_point *point, int n, const char *unit, const char *summary);

#endif
