#include "web/html/html.h"

#include <math.h>

struct entry {
	const char *name, *path, *label;
};

/* The first three are in the bar of a phone, the others behind its button "More": style.css knows their positions. */
static const struct entry entries[] = { { "overview", "/", "Overview" }, { "alerts", "/alerts", "Alerts" },
	{ "branches", "/branches", "Branches" }, { "history", "/history", "History" }, { "jobs", "/jobs", "Queue" },
	{ "devices", "/devices", "Devices" }, { "help", "/help", "Help" } };

/* Pages that are reached from an entry of the navigation. Those with a path are tabs of each other, below the h1. */
static const struct tab {
	const char *entry;
	struct entry page;
} tabs[] = { { "branches", { "branches", "/branches", "Branches" } },
	{ "branches", { "comparison_list", "/comparisons", "Comparisons" } }, { "branches", { .name = "comparisons" } },
	{ "branches", { .name = "branch" } }, { "history", { "history", "/history", "Cells" } },
	{ "history", { "heat", "/heat", "Heat map" } }, { "history", { "peers", "/peers", "Peers" } },
	{ "help", { "help", "/help", "Verdicts" } }, { "help", { "reference", "/reference", "Reference" } },
	{ "help", { .name = "reference_entry" } }, { "help", { "glossary", "/glossary", "Glossary" } },
	{ "help", { "troubleshooting", "/troubleshooting", "Troubleshooting" } }, { "help", { "api", "/api", "API" } } };
enum { TABS = sizeof tabs / sizeof tabs[0] };

static const struct tab *tab_of(const char *here)
{
	for (int i = 0; i < TABS; i++)
		if (strcmp(here, tabs[i].page.name) == 0)
			return &tabs[i];
	return NULL;
}

static void draw_entry(struct buf *out, const struct entry *entry, const char *here, int count)
{
	emit_rawf(out, "<a href=%s%s>%s", entry->path, strcmp(here, entry->name) == 0 ? " aria-current=page" : "", entry->label);
	if (count)
		emit_rawf(out, " <b class=count>%d</b>", count);
	emit_raw(out, "</a>");
}

static void draw_navigation(struct buf *out, const char *here, int open_alerts)
{
	emit_raw(out, "<nav aria-label=Pages>");
	for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
		draw_entry(out, &entries[i], here, strcmp(entries[i].name, "alerts") == 0 ? open_alerts : 0);
	emit_raw(out, "<button popovertarget=more>More</button><div id=more popover>");
	for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
		if (!strstr("overview alerts jobs", entries[i].name))
			draw_entry(out, &entries[i], here, 0);
	emit_raw(out, "</div></nav>");
}

static void draw_tabs(struct buf *out, const char *here)
{
	const struct tab *tab = tab_of(here);
	if (!tab || !tab->page.path)
		return;
	emit_rawf(out, "<nav class=tabs aria-label=%s>", tab->entry);
	for (int i = 0; i < TABS; i++)
		if (strcmp(tabs[i].entry, tab->entry) == 0 && tabs[i].page.path)
			draw_entry(out, &tabs[i].page, here, 0);
	emit_raw(out, "</nav>\n");
}

void layout_begin(struct http_response *response, const char *title, const char *here, const char *kinds)
{
	struct buf *out = &response->body;
	const struct tab *tab = tab_of(here);
	response->type = "text/html; charset=utf-8";
	emit_rawf(out,
		"<!doctype html>\n<html lang=en><head><meta charset=utf-8><meta name=viewport "
		"content=\"width=device-width,initial-scale=1\"><meta name=color-scheme content=\"light dark\">"
		"<link rel=icon href=/static/icon.svg><link rel=stylesheet href=\"%s\"><link rel=alternate type=\"application/atom+xml\" title=\"flopwatch: alerts\" href=\"/alerts.atom\"><script src=\"%s\"></script>",
		asset_address("style.css"), asset_address("theme.js"));
	if (asset_has("uplot.js"))
		emit_rawf(out, "<meta name=uplot content=\"%s %s\">", asset_address("uplot.js"), asset_address("uplot.css"));
	emit_format(out,
		"<script type=module src=\"%s\"></script><title>%s - flopwatch</title></head>\n<body><a class=skip href=#main>Skip to content</a><header class=top><a class=brand "
		"href=/><svg viewBox=\"0 0 24 24\" aria-hidden=true><path d=\"M2 9h6l2-4 3 6\"/><path class=drop "
		"d=\"M13 11l2 7 2-3h5\"/></svg>flopwatch</a>",
		asset_address("app.js"), title);
	draw_navigation(out, tab ? tab->entry : here, response->open_alerts);
	emit_raw(out,
		"<form class=find role=search action=/search><input type=search name=q placeholder=\"commit, branch, "
		"cell\" aria-label=\"Find a commit, branch or cell\"></form><span class=live hidden></span><button class=quiet "
		"data-switch=light hidden></button>");
	if (response->logged_in)
		emit_raw(out, "<form method=post action=/logout><button class=quiet>Log out</button></form>");
	emit_format(out, "</header>\n<main id=main><h1>%s</h1>\n", title);
	draw_tabs(out, here);
	if (kinds)
		layout_follow(out, kinds);
}

int layout_end(struct http_response *response, const char *data, int result)
{
	struct buf *out = &response->body;
	const char *main = strstr(out->data, "<main ");
	if (result != 0)
		return -1;
	size_t begin = main ? (size_t)(main - out->data) : out->len; /* an offset, since the text moves while it grows */
	troubleshooting_foot(out, begin);
	emit_raw(out, "</main>\n<footer>");
	glossary_foot(out, begin);
	emit_raw(out, "<span>flopwatch " FW_VERSION "</span>");
	if (data)
		emit_format(out, "<a href=\"%s\">This page as JSON</a>", data);
	emit_raw(out,
		"<a href=/glossary>Glossary</a><a href=/api>API</a><a href=/metrics>Metrics</a><a href=/notifications>Notifications</a>"
		"<a href=/settings>Settings</a><button class=quiet data-keys data-js hidden>Keys: <kbd>?</kbd></button></footer>"
		"<div id=voice class=gone role=status></div></body></html>\n");
	return 0;
}

void layout_follow(struct buf *out, const char *kinds)
{
	emit_rawf(out, "<span hidden data-follow=\"%s\"></span>", kinds);
}

void layout_live(struct buf *out, const char *id, const char *report)
{
	emit_rawf(out, "<div id=\"%s\" data-live", id);
	if (report) {
		emit_raw(out, " data-announcement=\"");
		emit_attribute(out, report);
		emit_raw(out, "\"");
	}
	emit_raw(out, ">");
}

void layout_empty(struct buf *out, const char *tone, const char *what, const char *next)
{
	emit_rawf(out, "<div class=\"empty %s\"><p class=lead>%s</p>", tone, what);
	if (next)
		emit_rawf(out, "<p>%s</p>", next);
	emit_raw(out, "</div>\n");
}

/* ---- labels ------------------------------------------------------------------------------------------------------------ */

static const struct label {
	const char *name, *sign, *tone;
} labels[] = {
	{ "regression", "\u25bc", "bad" },
	{ "failed", "\u2715", "bad" },
	{ "rejected", "\u2298", "warn" },
	{ "open", "\u25cf", "bad" },
	{ "error", "\u2715", "bad" },
	{ "quarantined", "\u2715", "bad" },
	{ "health_check", "\u25d0", "warn" },
	{ "absent", "\u25cb", "warn" },
	{ "undecided", "?", "warn" },
	{ "not_comparable", "\u2260", "warn" },
	{ "acknowledged", "\u25d0", "warn" },
	{ "paused", "\u2016", "warn" },
	{ "regression (accepted)", "\u2713", "plain" },
	{ "improvement", "\u25b2", "good" },
	{ "unchanged", "=", "plain" },
	{ "identical", "\u2261", "plain" },
	{ "removed", "\u2296", "plain" },
	{ "added", "\u2295", "plain" },
	{ "unsupported", "\u2205", "plain" },
	{ "slower", "\u25bd", "plain" }, /* than a peer: a fact, not an alarm */
	{ "faster", "\u25b3", "plain" },
	{ "level", "=", "plain" },
	{ "mixed", "\u2276", "plain" }, /* some cells slower than a peer's, others faster */
	{ "no_pair", "\u2260", "plain" },
	{ "done", "\u2713", "plain" },
	{ "ok", "\u2713", "good" },
	{ "resolved", "\u2713", "good" },
	{ "accepted", "\u2713", "plain" },
	{ "invalid", "\u2205", "plain" },
	{ "queued", "\u2026", "plain" },
	{ "assigned", "\u25b8", "good" },
	{ "building", "\u25b8", "good" },
	{ "checking", "\u25b8", "good" },
	{ "measuring", "\u25b8", "good" },
	{ "listing", "\u25b8", "good" },
};

static const struct label *label_of(const char *name)
{
	static const struct label other = { "", "\u2022", "plain" };
	for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++)
		if (*name == *labels[i].name && strcmp(name, labels[i].name) == 0)
			return &labels[i];
	return &other;
}

const char *layout_tone(const char *name)
{
	return label_of(name)->tone;
}

const char *layout_sign(const char *name)
{
	return label_of(name)->sign;
}

void layout_name(struct buf *out, const char *name)
{
	for (const char *s = name; *s; s++)
		buf_putc(out, *s == '_' ? ' ' : (*s >= 'a' && *s <= 'z') || strchr(" ()", *s) ? *s : '?');
}

void layout_verdict(struct buf *out, const char *name)
{
	const struct label *w = label_of(name);
	emit_format(out, "<span class=\"v %-s\"><i aria-hidden=true>%-s</i>%s{name}</span>", w->tone, w->sign, name);
}

void layout_age(int64_t utc_ms, int64_t now_ms, char out[LAYOUT_AGE_SIZE])
{
	enum { MINUTE = 60, HOUR = 60 * MINUTE, DAY = 24 * HOUR };
	long long s = llabs(now_ms - utc_ms) / 1000, n = s < HOUR ? s / MINUTE : s < 2 * DAY ? s / HOUR : s / DAY;
	const char *unit = s < HOUR ? "min" : s < 2 * DAY ? "h" : "d";
	char day[32];
	if (s >= 60 * DAY) {
		clock_format(utc_ms, day);
		snprintf(out, LAYOUT_AGE_SIZE, "%.10s", day);
	} else if (s < MINUTE) {
		snprintf(out, LAYOUT_AGE_SIZE, "just now");
	} else {
		snprintf(out, LAYOUT_AGE_SIZE, utc_ms > now_ms ? "in %lld %s" : "%lld %s ago", n, unit);
	}
}

void layout_time(struct buf *out, int64_t utc_ms)
{
	char text[32], age[LAYOUT_AGE_SIZE];
	if (utc_ms == 0) {
		emit_raw(out, "\u2013");
		return;
	}
	clock_format(utc_ms, text);
	layout_age(utc_ms, clock_utc_ms(), age);
	emit_rawf(out, "<time datetime=%.19sZ title=%.19sZ>%s</time>", text, text, age);
}

void layout_duration_text(double seconds, char out[LAYOUT_DURATION_SIZE])
{
	long s = lround(seconds);
	if (!isfinite(seconds))
		snprintf(out, LAYOUT_DURATION_SIZE, "\u2013");
	else if (s < 60)
		snprintf(out, LAYOUT_DURATION_SIZE, s < 10 ? "%.1f\u00a0s" : "%.0f\u00a0s", seconds);
	else if (s < 3600)
		snprintf(out, LAYOUT_DURATION_SIZE, "%ld\u00a0min %ld\u00a0s", s / 60, s % 60);
	else
		snprintf(out, LAYOUT_DURATION_SIZE, "%ld\u00a0h %ld\u00a0min", s / 3600, s / 60 % 60);
}

void layout_duration(struct buf *out, double seconds)
{
	char text[LAYOUT_DURATION_SIZE];
	layout_duration_text(seconds, text);
	emit_raw(out, text);
}

static void figure(struct buf *out, const char *text)
{
	emit_raw(out, text[0] ? text : "\u2013");
}

void layout_ms(struct buf *out, double ms)
{
	char text[UNIT_FIGURE_SIZE];
	unit_ms(ms, text);
	figure(out, text);
}

void layout_rate(struct buf *out, struct unit unit, double tflops)
{
	char text[UNIT_FIGURE_SIZE];
	unit_rate(unit, tflops, text);
	figure(out, text);
}

void layout_change(struct buf *out, double pct)
{
	if (!isfinite(pct)) {
		emit_raw(out, "\u2013");
		return;
	}
	layout_signed(out, pct, 2);
	emit_raw(out, "\u00a0%");
}

void layout_decided(struct buf *out, double pct, bool is_decided)
{
	if (is_decided && isfinite(pct))
		emit_raw(out,
			pct < 0 ? "<span aria-hidden=true>\u25bc</span>\u00a0" : "<span aria-hidden=true>\u25b2</span>\u00a0");
	layout_change(out, pct);
}

void layout_signed(struct buf *out, double v, int digits)
{
	emit_rawf(out, v < 0 ? "\u2212%.*f" : "+%.*f", digits, fabs(v));
}

void layout_commit(struct buf *out, const char *sha)
{
	emit_raw(out, "<a href=\"/commits/");
	emit_argument(out, sha);
	emit_format(out, "\">%s{sha}</a>", sha);
}

void layout_sha(struct buf *out, const char *sha)
{
	char head[11];
	snprintf(head, sizeof head, "%.10s", sha);
	emit_format(out, "<code>%s</code>", head);
}

void layout_branch(struct buf *out, const char *key)
{
	struct buf text;
	buf_init(&text, (size_t)16 * BRANCH_KEY_MAX);
	branch_text(&text, key);
	emit_text(out, text.data);
	buf_fini(&text);
}

void layout_table(struct buf *out, const char *columns)
{
	emit_raw(out, "<div class=scroll tabindex=0><table><thead><tr>");
	for (const char *at = columns; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL) {
		bool is_extra = *at == '^', is_wide = *at == '~' || is_extra, is_number = at[is_wide] == '>';
		const char *when = is_extra ? "x" : is_wide ? "w" : "", *name = at + is_wide + is_number;
		if (is_number || *when)
			emit_rawf(out, "<th scope=col class=\"%s%s%s\">", is_number ? "n" : "", is_number && *when ? " " : "",
				when);
		else
			emit_raw(out, "<th scope=col>");
		emit_rawf(out, "%.*s", (int)strcspn(name, "|"), name);
	}
	emit_raw(out, "</tr></thead><tbody>\n");
}

void layout_table_end(struct buf *out)
{
	emit_raw(out, "</tbody></table></div>\n");
}

void layout_next_address(struct buf *out, struct http_request *r, int64_t last)
{
	static const char *const filters[] = { "repo", "branch", "verdict", "state", "since", "until", "format", "limit" };
	buf_printf(out, "%s?cursor=%lld", http_path(r), (long long)last);
	for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++) {
		const char *value = http_query(r, filters[i]);
		if (value) {
			buf_printf(out, "&%s=", filters[i]);
			emit_argument(out, value);
		}
	}
}

void layout_older(struct buf *out, struct http_request *r, int rows, int limit, int64_t last)
{
	struct buf next;
	if (rows < limit)
		return;
	buf_init(&next, 8192);
	layout_next_address(&next, r, last);
	if (!next.failed)
		emit_format(out, "<p><a rel=next href=\"%s\">Older</a></p>\n", next.data);
	buf_fini(&next);
}

void layout_button(struct buf *out, const char *collection, const char *id, const char *verb, const char *label)
{
	emit_rawf(out, "<form class=inline method=post action=\"/api/v1/%s/", collection);
	emit_argument(out, id);
	emit_rawf(out, "/%s\"><button>%s</button></form> ", verb, label);
}

void layout_author(struct buf *out, const char *author)
{
	if (!*author)
		return;
	emit_format(out, "<span class=why><a href=\"/comparisons?author=%s\">%s</a></span>", author, author);
}

void layout_cell_link(struct buf *out, const char *repo, const char *branch, const char *cell)
{
	emit_format(out, "<a href=\"/history?cell=%s", cell);
	if (repo && *repo) {
		emit_raw(out, "&amp;repo=");
		emit_argument(out, repo);
	}
	if (branch && *branch) {
		emit_raw(out, "&amp;branch=");
		emit_argument(out, branch);
	}
	emit_format(out, "\">%s</a>", cell);
}

void layout_case(struct buf *out, const char *key, const char *title, int64_t size)
{
	emit_text(out, *title ? title : key);
	if (size)
		emit_rawf(out, "<span class=\"dim w\">, %lld</span>", (long long)size);
}

void layout_command(struct buf *out, const char *command)
{
	emit_format(out, "<div class=cmdline><pre class=cmd tabindex=0>%s</pre><button data-copy hidden>Copy</button></div>\n",
		command);
}

void layout_option(struct buf *out, const char *value, const char *label, const char *chosen)
{
	emit_format(out, "<option value=\"%s%-s", value, chosen && strcmp(value, chosen) == 0 ? "\" selected>" : "\">");
	emit_format(out, "%s</option>", label ? label : value);
}
