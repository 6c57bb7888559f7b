/** setting.h - what a comparison was made of: both sides, what they shared, the run; folded to one line, since it is asked for seldom. */
#ifndef WEB_PAGE_SETTING_H
#define WEB_PAGE_SETTING_H

#include "web/page/comparison.h"

/** Draw. */
void comparison_setting(struct buf *out, const struct comparison *c);

#endif
