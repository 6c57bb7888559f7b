/** waits.h - what a kernel's warps wait for, as bars, base beside target. */
#ifndef WEB_WHY_WAITS_H
#define WEB_WHY_WAITS_H

#include "base/buf.h"
#include "web/why/why.h"

/** Of the kernel that changed most among those whose waits were counted; nothing where none were. */
void waits_draw(struct buf *out, const struct why *w);

#endif
