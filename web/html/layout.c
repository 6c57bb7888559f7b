#include "web/html/html.h"

void layout_begin(struct http_response *response, const char *title, const char *here, const char *kinds)
{
	static const struct {
		const char *name, *path, *label;
	} entries[] = {
		{ "overview", "/", "Overview" },
		{ "comparisons", "/comparisons", "Comparisons" },
		{ "history", "/history", "History" },
		{ "heat", "/heat", "Heat map" },
		{ "peers", "/peers", "Peers" },
		{ "alerts", "/alerts", "Alerts" },
		{ "jobs", "/jobs", "Queue" },
		{ "devices", "/devices", "Devices" },
		{ "help", "/help", "Help" },
	};
	struct buf *out = &response->body;
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
		"d=\"M13 11l2 7 2-3h5\"/></svg>flopwatch</a><nav aria-label=Pages>",
		asset_address("app.js"), title);
	for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
		emit_rawf(out, "<a href=\"%s\"%s>%s</a>", entries[i].path,
			strcmp(here, entries[i].name) == 0 ? " aria-current=page" : "", entries[i].label);
	emit_raw(out,
		"</nav><form class=find role=search action=/search><input type=search name=q placeholder=\"commit, branch, "
		"cell\" aria-label=\"Find a commit, branch or cell\"></form><span class=live hidden></span><button class=quiet "
		"data-switch=light hidden></button>");
	if (response->logged_in)
		emit_raw(out, "<form method=post action=/logout><button class=quiet>Log out</button></form>");
	emit_format(out, "</header>\n<main id=main><h1>%s</h1>\n", title);
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
		"<a href=/glossary>Glossary</a><a href=/api>API</a><a href=/metrics>Metrics</a><a href=/notifications>Notifications</a><button class=quiet data-keys "
		"data-js hidden>Keys: "
		"<kbd>?</kbd></button></footer><div id=voice class=gone role=status></div>"
		"<dialog id=keys aria-label=Keys><h2>Keys</h2><dl class=facts><dt><kbd>/</kbd><dd>find, or filter the cells of "
		"this page<dt><kbd>j</kbd> <kbd>k</kbd><dd>next, previous row<dt><kbd>Enter</kbd><dd>open it<dt><kbd>[</kbd> "
		"<kbd>]</kbd><dd>previous, next comparison<dt><kbd>g</kbd>, then<dd>a page: <span><kbd>o</kbd> overview</span> "
		"<span><kbd>c</kbd> comparisons</span> <span><kbd>h</kbd> history</span> <span><kbd>m</kbd> heat map</span> "
		"<span><kbd>p</kbd> peers</span> <span><kbd>a</kbd> alerts</span> <span><kbd>q</kbd> queue</span> "
		"<span><kbd>d</kbd> devices</span> <span><kbd>w</kbd> glossary</span>"
		"<dt><kbd>?</kbd><dd>these keys<dt><kbd>Esc</kbd><dd>close them</dl><form method=dialog><p><label><input type=checkbox> keys "
		"enabled</label></p><button>Close</button></form></dialog></body></html>\n");
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
		emit_raw(out, " data-say=\"");
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

/* ---- words ------------------------------------------------------------------------------------------------------------ */

static const struct word {
	const char *word, *sign, *tone;
} words[] = {
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

static const struct word *word_of(const char *word)
{
	static const struct word other = { "", "\u2022", "plain" };
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strcmp(word, words[i].word) == 0)
			return &words[i];
	return &other;
}

const char *layout_tone(const char *word)
{
	return word_of(word)->tone;
}

const char *layout_sign(const char *word)
{
	return word_of(word)->sign;
}

void layout_name(struct buf *out, const char *name)
{
	for (const char *s = name; *s; s++)
		buf_putc(out, *s == '_' ? ' ' : (*s >= 'a' && *s <= 'z') || strchr(" ()", *s) ? *s : '?');
}

void layout_verdict(struct buf *out, const char *word)
{
	const struct word *w = word_of(word);
	emit_format(out, "<span class=\"v %-s\"><i aria-hidden=true>%-s</i>%s{name}</span>", w->tone, w->sign, word);
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

void layout_duration(struct buf *out, double seconds)
{
	long s = lround(seconds);
	if (!isfinite(seconds))
		emit_raw(out, "\u2013");
	else if (s < 60)
		emit_rawf(out, s < 10 ? "%.1f\u00a0s" : "%.0f\u00a0s", seconds);
	else if (s < 3600)
		emit_rawf(out, "%ld\u00a0min %ld\u00a0s", s / 60, s % 60);
	else
		emit_rawf(out, "%ld\u00a0h %ld\u00a0min", s / 3600, s / 60 % 60);
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
	emit_format(out, "%.2f{signed}\u00a0%%", pct);
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
	emit_rawf(out, "%s%.*f", v < 0 ? "\u2212" : "+", digits, fabs(v));
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
	emit_format(out, "%s%lld{?<span class=\"dim w\">, *</span>}", *title ? title : key, (long long)size);
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
