/** traffic.h - what each kernel moves: implementation by kernel by level of memory. */
#ifndef WEB_PAGE_TRAFFIC_H
#define WEB_PAGE_TRAFFIC_H

#include "web/page/screen.h"

/** The table, with peers below both sides; nothing where nothing was counted. */
void traffic_draw(struct buf *out, const struct why *w, const struct screen_facts *facts);
/** Whether any of these was counted of a side's kernel. */
bool traffic_is_counted(const struct kernel_pair *p, int side);

#endif
