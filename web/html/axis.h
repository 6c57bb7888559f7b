/**
 * axis.h - where changes lie on a drawn axis that holds all of them: straight where they are of a size, bent where one is many times the
 * others, so that nothing is cut and what is small still has room.
 */
#ifndef WEB_HTML_AXIS_H
#define WEB_HTML_AXIS_H

#include <stdbool.h>

enum { AXIS_TICKS_MAX = 25 };

struct axis {
	double low_pct, high_pct; /* its ends */
	double bend_pct;          /* straight up to there, by powers of ten beyond; 0: straight everywhere */
};

/** What has to lie on it, widened by axis_cover; begins with nothing. */
struct axis axis_none(void);
/** Make room for a figure; one that is not finite asks for none. */
void axis_cover(struct axis *axis, double pct);
/** Settle the ends, once all are covered: 0 and the threshold on both sides lie inside. Units: percent; not finite or 0: no threshold is known. */
void axis_settle(struct axis *axis, double threshold_pct);

/** 0 at the low end, 1 at the high one; ends for what lies beyond. */
double axis_at(const struct axis *axis, double pct);
/** Round figures to write beside it, rising, 0 among them, none closer to another than `apart` of its length. Shape: pct[AXIS_TICKS_MAX]. How many. */
int axis_ticks(const struct axis *axis, double separate, double *pct);

#endif
