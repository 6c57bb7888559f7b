#include "web/layout.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "web/answer.h"
#include "web/branch.h"
#include "web/emit.h"

void layout_begin(struct http_response *response, const char *title, const char *here)
{
	static const struct {
		const char *name, *path, *label;
	} entries[] = {
		{ "overview", "/", "Overview" },
		{ "comparisons", "/comparisons", "Comparisons" },
		{ "history", "/history", "History" },
		{ "alerts", "/alerts", "Alerts" },
		{ "jobs", "/jobs", "Jobs" },
		{ "devices", "/devices", "Devices" },
	};
	struct buf *out = &response->body;
	response->type = "text/html; charset=utf-8";
	emit_raw(out, "<!doctype html>\n<html lang=en><head><meta charset=utf-8><meta name=viewport "
		      "content=\"width=device-width,initial-scale=1\">"
		      "<meta name=color-scheme content=\"light dark\"><link rel=stylesheet href=/static/style.css><title>");
	emit_text(out, title);
	emit_raw(out, " - flopwatch</title></head>\n<body><a class=skip href=#main>Skip to content</a><header><a class=brand "
		      "href=/>flopwatch</a><nav>");
	for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
		emit_rawf(out, "<a href=\"%s\"%s>%s</a>", entries[i].path,
			strcmp(here, entries[i].name) == 0 ? " aria-current=page" : "", entries[i].label);
	emit_raw(out, "<a href=/api/v1/>API</a></nav></header>\n<main id=main><h1>");
	emit_text(out, title);
	emit_raw(out, "</h1>\n");
}

void layout_end(struct http_response *response)
{
	emit_raw(&response->body,
		"</main>\n<footer>flopwatch " FW_VERSION " <a href=/metrics>metrics</a></footer></body></html>\n");
}

void layout_verdict(struct buf *out, const char *word)
{
	static const struct {
		const char *word, *sign, *tone;
	} known[] = {
		{ "regression", "\u25bc", "bad" },
		{ "failed", "\u2715", "bad" },
		{ "rejected", "\u2715", "bad" },
		{ "open", "\u25cf", "bad" },
		{ "error", "\u2715", "bad" },
		{ "quarantined", "\u2715", "bad" },
		{ "undecided", "?", "warn" },
		{ "not_comparable", "?", "warn" },
		{ "acknowledged", "\u25cf", "warn" },
		{ "paused", "\u2016", "warn" },
		{ "improvement", "\u25b2", "good" },
		{ "unchanged", "=", "good" },
		{ "identical", "\u2261", "good" },
		{ "done", "\u2713", "good" },
		{ "ok", "\u2713", "good" },
		{ "resolved", "\u2713", "good" },
	};
	const char *sign = "\u2022", *tone = "plain";
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		if (strcmp(word, known[i].word) == 0) {
			sign = known[i].sign;
			tone = known[i].tone;
		}
	}
	emit_rawf(out, "<span class=\"v %s\"><span aria-hidden=true>%s</span> ", tone, sign);
	for (const char *s = word; *s; s++)
		buf_putc(out, *s == '_' ? ' ' : *s >= 'a' && *s <= 'z' ? *s : '?');
	emit_raw(out, "</span>");
}

void layout_time(struct buf *out, int64_t utc_ms)
{
	char text[32];
	if (utc_ms == 0) {
		emit_raw(out, "\u2013");
		return;
	}
	clock_format(utc_ms, text);
	emit_rawf(out, "<time datetime=\"%s\">%.10s %.5s</time>", text, text, text + 11);
}

void layout_ms(struct buf *out, double ms)
{
	if (!isfinite(ms))
		emit_raw(out, "\u2013");
	else
		emit_rawf(out, "%.*f", ms < 0.1 ? 5 : ms < 10 ? 4 : 2, ms);
}

void layout_tflops(struct buf *out, double tflops)
{
	if (!isfinite(tflops))
		emit_raw(out, "\u2013");
	else
		emit_rawf(out, "%.*f", tflops < 1 ? 4 : 1, tflops);
}

void layout_change(struct buf *out, double pct)
{
	if (!isfinite(pct)) {
		emit_raw(out, "\u2013");
		return;
	}
	const char *arrow = pct < -0.05 ? "\u25bc" : pct > 0.05 ? "\u25b2" : "\u00b7";
	emit_rawf(out, "<span aria-hidden=true>%s</span> %s%.2f\u00a0%%", arrow, pct < 0 ? "\u2212" : "+", fabs(pct));
}

void layout_sha(struct buf *out, const char *sha)
{
	emit_raw(out, "<code>");
	char head[11];
	snprintf(head, sizeof head, "%s", sha);
	emit_text(out, head);
	emit_raw(out, "</code>");
}

void layout_branch(struct buf *out, const char *key)
{
	struct buf text;
	buf_init(&text, 16 * BRANCH_KEY_MAX);
	branch_text(&text, key);
	emit_text(out, text.data);
	buf_fini(&text);
}

void layout_table(struct buf *out, int n, const char *const *columns)
{
	emit_raw(out, "<div class=scroll><table><thead><tr>");
	for (int i = 0; i < n; i++) {
		bool is_number = columns[i][0] == '>';
		emit_raw(out, is_number ? "<th scope=col class=n>" : "<th scope=col>");
		emit_text(out, columns[i] + is_number);
	}
	emit_raw(out, "</tr></thead><tbody>\n");
}

void layout_table_end(struct buf *out)
{
	emit_raw(out, "</tbody></table></div>\n");
}

void layout_older(struct buf *out, struct http_request *r, int rows, int limit, int64_t last)
{
	struct buf next;
	if (rows < limit)
		return;
	buf_init(&next, 8192);
	answer_next(&next, r, last);
	if (!next.failed) {
		emit_raw(out, "<p><a rel=next href=\"");
		emit_attribute(out, next.data);
		emit_raw(out, "\">Older</a></p>\n");
	}
	buf_fini(&next);
}

void layout_button(struct buf *out, const char *collection, const char *id, const char *verb, const char *label)
{
	emit_rawf(out, "<form class=inline method=post action=\"/api/v1/%s/", collection);
	emit_argument(out, id);
	emit_rawf(out, "/%s\"><button>%s</button></form> ", verb, label);
}

void layout_cell_link(struct buf *out, const char *repo, const char *branch, const char *cell)
{
	emit_raw(out, "<a href=\"/history?cell=");
	emit_argument(out, cell);
	if (repo && *repo) {
		emit_raw(out, "&amp;repo=");
		emit_argument(out, repo);
	}
	if (branch && *branch) {
		emit_raw(out, "&amp;branch=");
		emit_argument(out, branch);
	}
	emit_raw(out, "\">");
	emit_text(out, cell);
	emit_raw(out, "</a>");
}
