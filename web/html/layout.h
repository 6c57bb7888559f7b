/** layout.h - the frame of every page, and the small pieces that pages share. */
#ifndef WEB_HTML_LAYOUT_H
#define WEB_HTML_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/unit.h"
#include "web/http/http.h"

/** Head, navigation and the h1. `here` is the navigation entry to mark ("overview", "jobs", ...). */
void layout_begin(struct http_response *response, const char *title, const char *here);
/** `data` is the address of what the page shows, as the API gives it; NULL none. */
void layout_end_data(struct http_response *response, const char *data);
void layout_end(struct http_response *response);

/** The page is drawn again where it has a live region, when an event of these kinds ("job. alert.") happens. */
void layout_follow(struct buf *out, const char *kinds);
/** A region that live updates replace; `say` (may be NULL) is what ears are told when it changes. Close it with </div>. */
void layout_live(struct buf *out, const char *id, const char *report);
/** A place where nothing is yet: what is missing, and the next step. Both our own markup. */
void layout_empty(struct buf *out, const char *tone, const char *what, const char *next);

/** A verdict or state as word with a sign and a class; never by colour alone. */
void layout_verdict(struct buf *out, const char *word);
/** Draw `name` with a space for each "_": "device offline". */
void layout_name(struct buf *out, const char *name);
/** "bad", "warn", "good" or "plain", as the verdict or state is shown. Own: a constant. */
const char *layout_tone(const char *word);
/** The sign that stands before that word, so that it is never told by colour alone. Own: a constant. */
const char *layout_sign(const char *word);
/** "2026-11-21 03:04" in UTC inside <time>; a dash for 0. */
void layout_time(struct buf *out, int64_t utc_ms);
/** "45 s", "3 min 20 s", "2 h 5 min". */
void layout_duration(struct buf *out, double seconds);
/** "3.180" with digits by size; a dash when not finite. */
void layout_ms(struct buf *out, double ms);
/** "691.0" in a table's unit; a dash when not finite. */
void layout_rate(struct buf *out, struct unit unit, double tflops);
/** "−2.3 %" with sign and unit; a dash when not finite. It carries no arrow: a change is no verdict. */
void layout_change(struct buf *out, double pct);
/** The same with an arrow where a verdict says that it is one: `is_decided`. */
void layout_decided(struct buf *out, double pct, bool is_decided);
/** "−2.3": digits and a true minus sign, `digits` after the point. */
void layout_signed(struct buf *out, double v, int digits);
/** First ten digits of a commit in <code>, as a link to its page. */
void layout_commit(struct buf *out, const char *sha);
/** Who wrote it, as a line that leads to what came of that person's commits; nothing where nobody is known. */
void layout_author(struct buf *out, const char *author);
/** First ten digits of a hash in <code>. */
void layout_sha(struct buf *out, const char *sha);
/** A branch by its key, as people read it. */
void layout_branch(struct buf *out, const char *key);
/** Names of columns as a table's head row; a name begins with '>' for numbers, '~' to leave it out on narrow screens, '^' on all but wide ones. */
void layout_table(struct buf *out, int n, const char *const *columns);
void layout_table_end(struct buf *out);
/** Link to the rows after `last`, when this page is full. */
void layout_older(struct buf *out, struct http_request *r, int rows, int limit, int64_t last);
/** A form that is one button, which posts. `id` is a number or a device. */
void layout_button(struct buf *out, const char *collection, const char *id, const char *verb, const char *label);
/** Link to a cell's history, named by the cell. */
void layout_cell_link(struct buf *out, const char *repo, const char *branch, const char *cell);
/** A cell without what its whole table shares: "causal, 8192", "keep 0.1, block 64, 8192"; its key where it has no title. `size` 0: none. */
void layout_case(struct buf *out, const char *key, const char *title, int64_t size);
/** A command to copy. */
void layout_command(struct buf *out, const char *command);
/** <option> of a select, marked when it is the one `chosen`; `label` NULL: the value. */
void layout_option(struct buf *out, const char *value, const char *label, const char *chosen);

/** Append the address of what follows after row `last`: this path with its filters. */
void layout_next_address(struct buf *out, struct http_request *r, int64_t last);

#endif
