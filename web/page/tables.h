/** tables.h - kernels of both sides: their times and resources, and how busy they keep the device. */
#ifndef WEB_PAGE_TABLES_H
#define WEB_PAGE_TABLES_H

#include "lib/buf.h"
#include "web/page/why.h"

enum { TABLES_KERNELS = 16 }; /* that a table shows */

/** Time, what each takes of a multiprocessor, and whether its code is the same. */
void tables_kernels(struct buf *out, const struct why *w);
/** Hit rates, bank conflicts, busy pipes. */
void tables_use(struct buf *out, const struct why *w);

/** The mean of a side's processes; NAN unknown. `side` 0 base, 1 target. */
double tables_value(const struct kernel_pair *p, int side, const char *metric);
/** A kernel's name for people, as text. */
void tables_name(struct buf *out, const char *name);

#endif
