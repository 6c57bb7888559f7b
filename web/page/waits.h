/** waits.h - what a kernel's warps wait for, as bars, base beside target. */
#ifndef WEB_PAGE_WAITS_H
#define WEB_PAGE_WAITS_H

#include "lib/buf.h"
#include "web/page/why.h"

/** Of the kernel that changed most among those whose waits were counted; nothing where none were. */
void waits_draw(struct buf *out, const struct why *w);

#endif
