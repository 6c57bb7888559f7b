/** code.h - what differs in machine code, and the values as they were read. */
#ifndef WEB_PAGE_CODE_H
#define WEB_PAGE_CODE_H

#include "lib/buf.h"
#include "web/page/why.h"

/**
 * Opcodes whose number differs, where warps wait, and hunks to unfold, a kernel at a time; those whose code is the same, and of which nothing else
 * is known, are named together.
 */
void code_draw(struct buf *out, const struct why *w);
/** What ptxas says of one build and not of the other about kernels of this cell; the rest is counted. */
void code_diagnostics(struct buf *out, const struct why *w);
/** Every value of every kernel, folded. */
void code_raw(struct buf *out, const struct why *w);

#endif
