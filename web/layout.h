/** layout.h - the frame of every page, and the small pieces that pages share. */
#ifndef WEB_LAYOUT_H
#define WEB_LAYOUT_H

#include <stdint.h>

#include "web/http.h"

/** Head, navigation and the h1. `here` is the navigation entry to mark ("overview", "jobs", ...). */
void layout_begin(struct http_response *response, const char *title, const char *here);
void layout_end(struct http_response *response);

/** A verdict or state as word with a sign and a class; never by colour alone. */
void layout_verdict(struct buf *out, const char *word);
/** "2026-11-21 03:04" in UTC inside <time>; a dash for 0. */
void layout_time(struct buf *out, int64_t utc_ms);
/** "3.18 ms" with digits by size; a dash when not finite. */
void layout_ms(struct buf *out, double ms);
/** "691.0"; a dash when not finite. */
void layout_tflops(struct buf *out, double tflops);
/** "▼ −2.3 %" with arrow, sign and unit; a dash when not finite. */
void layout_change(struct buf *out, double pct);
/** First ten digits of a commit in <code>. */
void layout_sha(struct buf *out, const char *sha);
/** A branch by its key, as people read it. */
void layout_branch(struct buf *out, const char *key);
/** Names of columns as a table's head row; a name that begins with '>' is one of numbers. Opens table and body. */
void layout_table(struct buf *out, int n, const char *const *columns);
void layout_table_end(struct buf *out);
/** Link to the rows after `last`, when this page is full. */
void layout_older(struct buf *out, struct http_request *r, int rows, int limit, int64_t last);
/** A form that is one button, which posts. `id` is a number or a device. */
void layout_button(struct buf *out, const char *collection, const char *id, const char *verb, const char *label);
/** Link to a cell's history, named by the cell. */
void layout_cell_link(struct buf *out, const char *repo, const char *branch, const char *cell);

#endif
