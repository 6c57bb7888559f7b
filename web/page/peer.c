#include "web/page/internal.h"

#include <math.h>

bool comparison_is_side_by_side(const struct comparison *c)
{
	return jobkind_is_side_by_side(c->kind);
}

const struct comparison_peer *comparison_peer(const struct comparison_cell *cell, const char *provider)
{
	for (int i = 0; i < cell->n_peers; i++)
		if (strcmp(cell->peer[i].provider, provider) == 0)
			return &cell->peer[i];
	return NULL;
}

/* Insert a name at its sorted position. */
static int take(const char **out, int n, const char *name)
{
	int at = 0;
	while (at < n && strcmp(out[at], name) < 0)
		at++;
	if ((at < n && strcmp(out[at], name) == 0) || n == COMPARISON_PEERS_MAX)
		return n;
	memmove(out + at + 1, out + at, (size_t)(n - at) * sizeof *out);
	out[at] = name;
	return n + 1;
}

int comparison_peers(const struct comparison *c, const char **out)
{
	int n = 0;
	for (int k = 0; k < c->n_cells; k++)
		for (int i = 0; i < c->cell[k].n_peers; i++)
			n = take(out, n, c->cell[k].peer[i].provider);
	return n;
}

/* ---- names of sides ------------------------------------------------------------------------------------------------ */

/* Name a side: by its provider in a comparison with a peer, else by its role and its pinned configuration. */
static void name_side(struct buf *out, const struct comparison *c, const struct comparison_side *side)
{
	bool is_pinned = c->kind == JOBKIND_CONFIG;
	if (c->kind == JOBKIND_ENVIRONMENT) {
		emit_format(out, "%-s%s", side == &c->target ? "the build by " : "that by ",
			*side->toolchain ? side->toolchain : "another toolchain");
		return;
	}
	emit_format(out, "%s%s{? in <code>*</code>}",
		*side->provider      ? side->provider
		: !is_pinned         ? "the default provider"
		: side == &c->target ? "the target"
				     : "the base",
		side->pinned);
}

static void draw_clause(struct buf *out, int n, const char *words, bool *begun)
{
	if (n)
		emit_rawf(out, "%s%d %s", *begun ? ", " : "", n, words);
	*begun = *begun || n;
}

void comparison_peer_sentence(struct buf *out, const struct comparison *c)
{
	bool begun = false;
	int known = 0;
	emit_raw(out, "Against <b>");
	name_side(out, c, &c->base);
	emit_format(out, "</b>, of %d cell%-s ", c->n_cells, c->n_cells == 1 ? "" : "s");
	name_side(out, c, &c->target);
	emit_raw(out, " has ");
	known += comparison_count(c, VERDICT_IMPROVEMENT) + comparison_count(c, VERDICT_UNCHANGED) +
		 comparison_count(c, VERDICT_REGRESSION);
	draw_clause(out, comparison_count(c, VERDICT_IMPROVEMENT), "faster", &begun);
	draw_clause(out, comparison_count(c, VERDICT_UNCHANGED) + comparison_count(c, VERDICT_IDENTICAL), "level", &begun);
	draw_clause(out, comparison_count(c, VERDICT_REGRESSION), "slower", &begun);
	draw_clause(out, comparison_count(c, VERDICT_UNDECIDED), "undecided", &begun);
	draw_clause(out, comparison_count(c, VERDICT_REMOVED) + comparison_count(c, VERDICT_ADDED),
		"that one of the two does not support", &begun);
	draw_clause(out, comparison_count(c, VERDICT_UNSUPPORTED), "that neither supports", &begun);
	draw_clause(out, comparison_count(c, VERDICT_NOT_COMPARABLE), "that fail in the other", &begun);
	draw_clause(out, comparison_count(c, VERDICT_FAILED), "that fail here", &begun);
	draw_clause(out, comparison_count(c, VERDICT_REJECTED), "with rejected times", &begun);
	if (c->kind == JOBKIND_ENVIRONMENT) {
		emit_raw(out, ". Another toolchain is not part of a commit, so this sets no commit\u2019s verdict");
		return;
	}
	emit_raw(out, known ? "; this opens no alert" : "; no cell has times of both");
	if (c->kind == JOBKIND_CONFIG)
		emit_raw(out, ". A manually given configuration is not part of a commit, so this sets no commit\u2019s verdict");
}

/* ---- values relative to peers -------------------------------------------------------------------------------------- */

static void draw_percent(struct buf *out, double pct)
{
	if (isfinite(pct))
		emit_rawf(out, pct < 999.95 ? "%.1f" : "%.0f", pct);
	else
		emit_raw(out, "\u2013");
}

static void interval(struct buf *out, const struct comparison_peer *peer)
{
	if (isfinite(peer->ci_low_pct) && isfinite(peer->ci_high_pct))
		emit_rawf(out, "%.1f \u2026 %.1f", peer->ci_low_pct, peer->ci_high_pct);
}

/* Write the source of a value, as a clause with a link. */
static void draw_origin(struct buf *out, const struct comparison_peer *peer)
{
	const char *basis = peer->basis;
	long long id = (long long)peer->comparison;
	emit_format(out, "%-s %lld{comparison}",
		strcmp(basis, "paired") == 0    ? "timed side by side in"
		: strcmp(basis, "chained") == 0 ? "over the base, timed side by side with it in"
						: "not side by side, from the times of",
		id);
	if (strcmp(basis, "scaled") == 0)
		emit_format(out, " with the module of %s{commit}", peer->commit);
}

/* Write the geometric mean over the cells with both values, and its source. */
static void draw_card_line(struct buf *out, const struct comparison *c, const char *provider)
{
	const struct comparison_peer *like = NULL;
	double sum = 0;
	int n = 0;
	for (int i = 0; i < c->n_cells; i++) {
		const struct comparison_peer *peer = comparison_peer(&c->cell[i], provider);
		if (!peer || !(peer->target_pct > 0))
			continue;
		like = like ? like : peer;
		sum += log(peer->target_pct);
		n++;
	}
	if (!like)
		return;
	emit_format(out, "<dt>%s", provider);
	emit_rawf(out, "</dt><dd>%.1f\u00a0%% of its speed, geometric mean of %d cell%s; ", exp(sum / n), n, n == 1 ? "" : "s");
	draw_origin(out, like);
	emit_raw(out, "</dd>");
}

void comparison_peer_card(struct buf *out, const struct comparison *c)
{
	const char *provider[COMPARISON_PEERS_MAX];
	int n = comparison_peers(c, provider);
	if (!n)
		return;
	emit_raw(out, "<section class=card id=peers><h3>Peers <small>without a verdict</small></h3><dl class=facts>");
	for (int i = 0; i < n; i++)
		draw_card_line(out, c, provider[i]);
	emit_raw(out, "</dl></section>\n");
}

void comparison_peer_rows(struct buf *out, const struct comparison_cell *cell)
{
	for (int i = 0; i < cell->n_peers; i++) {
		const struct comparison_peer *peer = &cell->peer[i];
		emit_format(out, "<tr><th scope=row>of the speed of %s <span class=dim>%%</span><br><small>", peer->provider);
		draw_origin(out, peer);
		emit_raw(out, "</small></th><td class=n>");
		draw_percent(out, peer->base_pct);
		emit_raw(out, "</td><td class=n>");
		draw_percent(out, peer->target_pct);
		emit_raw(out, "</td><td class=\"n dim\">");
		interval(out, peer);
		emit_raw(out, "</td></tr>\n");
	}
}

void comparison_peer_column(struct buf *out, const struct comparison_cell *cell, const char *provider)
{
	const struct comparison_peer *peer = comparison_peer(cell, provider);
	if (!peer || !isfinite(peer->target_pct)) {
		emit_raw(out, "<td class=\"n x\" title=\"no time against this peer\">\u2013</td>");
		return;
	}
	emit_rawf(out, "<td class=\"n x\" data-v=\"%.9g\" title=\"", peer->target_pct);
	if (isfinite(peer->ci_low_pct)) {
		emit_raw(out, "95 % interval ");
		interval(out, peer);
		emit_raw(out, ", ");
	}
	emit_attribute(out, peer->basis);
	emit_raw(out, "\">");
	draw_percent(out, peer->target_pct);
	emit_raw(out, "</td>");
}
