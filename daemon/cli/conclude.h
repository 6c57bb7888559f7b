/** conclude.h - what came out, once all suites have ended: their tables, what all of them say, and the exit status for it. */
#ifndef CLI_CONCLUDE_H
#define CLI_CONCLUDE_H

#include "cli/verbs.h"

/**
 * Print the comparisons of a verdict, and why suites have none. The exit status: that of a regression where any suite lost, else that of the
 * verdict. Err: -1 and why nothing was measured at all.
 */
int conclude(struct client *c, const struct options *o, const json_t *verdict, struct fw_err *err);

#endif
