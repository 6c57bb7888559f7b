/**
 * markdown.h - names and texts of others in a review comment (CommonMark with tables, as GitHub, GitLab, Gitea and Forgejo read it):
 * nothing of them becomes a link, a picture, a mention or another column.
 */
#ifndef WEB_HTML_MARKDOWN_H
#define WEB_HTML_MARKDOWN_H

#include "lib/buf.h"

/** A name as code, for a cell of a table. What would end the span or the cell is shown as \x60. */
void markdown_code(struct buf *out, const char *text);
/** A text on one line. Words that forges make links or mentions of by themselves stand as code. */
void markdown_text(struct buf *out, const char *text);
/** "+1.20 %", or a dash where nothing is known. */
void markdown_change(struct buf *out, double pct);
/** "-1.20 … +0.30 %", or a dash. */
void markdown_interval(struct buf *out, double low_pct, double high_pct);

#endif
