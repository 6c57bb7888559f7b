/** ratios.h - how the pairs of a cell are distributed: each call's change against its neighbour of the other side. */
#ifndef WEB_HTML_RATIOS_H
#define WEB_HTML_RATIOS_H

#include "lib/buf.h"
#include "db/result.h"
#include "db/sample.h"

/** What the histogram is drawn beside. Units: percent of throughput or speed, NAN not known. */
struct ratios_about {
	double change_pct, low_pct, high_pct, threshold_pct;
};

/** Draw; nothing where there are fewer than a dozen pairs. */
void ratios_draw(struct buf *out, const struct store_runs *l, const struct ratios_about *about);

#endif
