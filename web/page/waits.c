/* waits.c - see waits.c. */
#include "web/page/internal.h"

#include <stdlib.h>

#include "profile/profile.h"
#include "web/html/html.h"

enum { SHOWN = 8, WIDTH = 120, HEIGHT = 20 };

static const char *const words[STALLS] = {
	[STALL_BARRIER] = "a barrier",
	[STALL_BRANCH_RESOLVING] = "a branch",
	[STALL_DISPATCH_STALL] = "the dispatcher",
	[STALL_DRAIN] = "stores to drain",
	[STALL_GMMA] = "tensor instructions",
	[STALL_IMC_MISS] = "constants",
	[STALL_LG_THROTTLE] = "room for memory instructions",
	[STALL_LONG_SCOREBOARD] = "global memory",
	[STALL_MATH_PIPE_THROTTLE] = "a free arithmetic pipe",
	[STALL_MEMBAR] = "a memory fence",
	[STALL_MIO_THROTTLE] = "room for shared memory instructions",
	[STALL_MISC] = "other things",
	[STALL_NO_INSTRUCTION] = "instructions to be fetched",
	[STALL_NOT_SELECTED] = "other warps that issued",
	[STALL_SELECTED] = "nothing: it issued",
	[STALL_SHORT_SCOREBOARD] = "shared memory",
	[STALL_SLEEPING] = "its sleep to end",
	[STALL_TEX_THROTTLE] = "room for texture instructions",
	[STALL_WAIT] = "the instruction before",
};

static void bars(struct buf *out, double base, double target, double most)
{
	emit_rawf(out,
		"<svg class=wait viewBox=\"0 0 %d %d\" aria-hidden=true><path class=b d=\"M0 5H%.1f\"/><path class=t d=\"M0 15H%.1f\"/></svg>",
		WIDTH, HEIGHT, WIDTH * base / most, WIDTH * target / most);
}

/* The reason with the largest share that was not shown yet. */
static int largest(const struct stalls *s, const bool *shown)
{
	int at = -1;

	for (int i = 0; i < STALLS; i++)
		if (!shown[i] && (at < 0 || fmax(s->of[i].base, s->of[i].target) > fmax(s->of[at].base, s->of[at].target)))
			at = i;
	return at;
}

static void draw(struct buf *out, const struct kernel_pair *p, const struct stalls *s)
{
	static const char *const columns[] = { "Waits for", "Base above target", ">Base %", ">Target %", ">Points" };
	bool shown[STALLS] = { false };
	double most = 0;

	for (int i = 0; i < STALLS; i++)
		most = fmax(most, fmax(s->of[i].base, s->of[i].target));
	emit_raw(out, "<h3>What warps wait for in ");
	tables_name(out, pair_name(p));
	emit_raw(out, "</h3>");
	layout_table(out, 5, columns);
	for (int n = 0; n < SHOWN; n++) {
		int i = largest(s, shown);
		double base = s->of[i].base, target = s->of[i].target;

		shown[i] = true;
		if (fmax(base, target) < 0.001)
			break;
		emit_raw(out, "<tr><th scope=row>");
		emit_text(out, words[i]);
		emit_raw(out, " <span class=\"dim w\">");
		emit_text(out, stall_names[i]);
		emit_raw(out, "</span></th><td>");
		bars(out, base, target, most);
		emit_rawf(out, "</td><td class=n>%.1f</td><td class=n>%.1f</td><td class=n>", 100 * base, 100 * target);
		layout_signed(out, 100 * (target - base), 1);
		emit_raw(out, "</td></tr>\n");
	}
	layout_table_end(out);
	emit_raw(out,
		"<p><small>Shares of the time that warps are there, over all warps; two shares may stay the same while both sides wait "
		"longer.</small></p>\n");
}

void waits_draw(struct buf *out, const struct why *w)
{
	const struct kernel_pair *most = NULL;
	struct stalls s;

	for (size_t i = 0; i < w->pairing.n; i++) {
		const struct kernel_pair *p = &w->pairing.pair[i];

		if (!pair_is_whole(p))
			continue;
		stalls_read(p, &s);
		if (s.is_known && (!most || fabs(p->change_ms) > fabs(most->change_ms)))
			most = p;
	}
	if (!most)
		return;
	stalls_read(most, &s);
	draw(out, most, &s);
}
