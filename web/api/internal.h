/** internal.h - shared by the files of this folder. */
#ifndef WEB_API_INTERNAL_H
#define WEB_API_INTERNAL_H

#include <stdio.h>
#include <stdlib.h>

#include "db/db.h"
#include "stats/stats.h"
#include "verdict/verdict.h"
#include "web/answer/answer.h"
#include "web/api/api.h"
#include "web/html/html.h"
#include "web/page/page.h"

/* ---- comparison_row: A comparison as a row of lists. ---- */

/** A view_comparison_fn; `arg` is the struct jsonw that the object is written to. */
void comparison_row_write(void *arg, const struct view_comparison *row);

#endif
