/* traffic.c - documented in internal.h. */
#include "web/page/internal.h"

#include <math.h>

#define SECTOR    32.0  /* bytes */
#define WAVEFRONT 128.0 /* maximum number of bytes that a pass over shared memory moves */
#define SEPARATE  0.05  /* relative difference that is highlighted */

static const struct {
	const char *metric;
	double bytes;
} levels[] = {
	{ "dram__bytes_read.sum", 1 },
	{ "dram__bytes_write.sum", 1 },
	{ "lts__t_sectors.sum", SECTOR },
	{ "l1tex__t_sectors.sum", SECTOR },
	{ "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", WAVEFRONT },
};

enum { LEVELS = sizeof levels / sizeof levels[0] };

/* Write the bytes of a memory level; a phone shows only the device's memory. */
static void draw_bytes_cell(struct buf *out, int level, double bytes, double other)
{
	const char *td = level < 2 ? "<td class=n>" : "<td class=\"n w\">";
	char text[AMOUNT_SIZE];
	bool separate = bytes > 0 && other > 0 && fabs(bytes / other - 1) > SEPARATE;

	if (!isfinite(bytes)) {
		emit_format(out, "%-s\u2013</td>", td);
		return;
	}
	amount_bytes(bytes, text);
	emit_format(out, "%-s%-s%s%-s", td, separate ? "<b>" : "", text, separate ? "</b></td>" : "</td>");
}

static double moved_bytes(const struct kernel_pair *p, int side, int level)
{
	double v = tables_value(p, side, levels[level].metric);

	return v * levels[level].bytes;
}

bool traffic_is_counted(const struct kernel_pair *p, int side)
{
	for (int l = 0; l < LEVELS; l++)
		if (isfinite(moved_bytes(p, side, l)))
			return true;
	return false;
}

/* Draw a row for each kernel of one side, labelled with the name of the implementation. */
static void draw_traffic_rows(struct buf *out, const struct explanation *w, int side, const char *implementation, bool compare)
{
	double sum[LEVELS] = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < w->pairing.n; i++) {
		const struct kernel_pair *p = &w->pairing.pair[i];
		const struct cause_kernel *k = pair_kernel(p, side);

		if (!k || !traffic_is_counted(p, side))
			continue;
		for (int l = 0; l < LEVELS; l++)
			sum[l] += isfinite(moved_bytes(p, side, l)) ? moved_bytes(p, side, l) : 0;
		if (n++ >= TABLES_KERNELS)
			continue;
		emit_format(out, "<tr><td>%s</td><th scope=row class=wrap>", implementation);
		tables_name(out, k->name ? k->name : "");
		emit_raw(out, "</th>");
		for (int l = 0; l < LEVELS; l++)
			draw_bytes_cell(
				out, l, moved_bytes(p, side, l), compare && pair_is_whole(p) ? moved_bytes(p, !side, l) : NAN);
		emit_raw(out, "</tr>\n");
	}
	if (n < 2)
		return;
	emit_format(out, "<tr><td>%s</td><th scope=row>all</th>", implementation);
	for (int l = 0; l < LEVELS; l++)
		draw_bytes_cell(out, l, sum[l], NAN);
	emit_raw(out, "</tr>\n");
}

/* Write "base", or "base, cudnn" if the provider was requested. */
static void implementation(const char *side, const char *provider, char out[96])
{
	snprintf(out, 96, "%s%s%.80s", side, *provider ? ", " : "", provider);
}

void traffic_draw(struct buf *out, const struct explanation *w, const struct screen_facts *facts)
{
	char name[96];
	bool any = false;

	for (size_t i = 0; i < w->pairing.n; i++)
		any |= traffic_is_counted(&w->pairing.pair[i], 0) || traffic_is_counted(&w->pairing.pair[i], 1);
	if (!any)
		return;
	emit_raw(out, "<h3>Memory traffic</h3>");
	layout_table(out, "Side|Kernel|>DRAM read|>DRAM written|~>L2|~>L1|~>Shared");
	implementation("base", w->head.base_provider, name);
	draw_traffic_rows(out, w, 0, name, false);
	implementation("target", w->head.target_provider, name);
	draw_traffic_rows(out, w, 1, name, true);
	for (int i = 0; i < facts->n_peers; i++) {
		implementation("peer", facts->peer[i].provider, name);
		draw_traffic_rows(out, facts->peer[i].explanation, 0, name, false);
	}
	layout_table_end(out);
	emit_raw(out,
		"<p><small>Of one call. L2 and L1 in sectors of 32 bytes, shared memory in passes of 128; bold where the target "
		"differs from the base by more than 5 %.</small></p>\n");
}
