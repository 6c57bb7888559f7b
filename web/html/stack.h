/** stack.h - the phases of a call as two stacked bars, base above target, on one scale: which part grew is seen before it is read. */
#ifndef WEB_HTML_STACK_H
#define WEB_HTML_STACK_H

#include <stdbool.h>

#include "lib/buf.h"

struct stack_part {
	const char *name;
	double base_ms, target_ms; /* not finite: the side has no such part */
	bool moved;                /* it is named as the cause */
};

/** Draw; nothing where neither side has a part. */
void stack_draw(struct buf *out, const struct stack_part *part, int n);

#endif
