#include "web/page/internal.h"

#include <stdio.h>

#include "web/html/html.h"

static void fact(struct buf *out, const char *name, const char *value)
{
	if (!*value)
		return;
	emit_rawf(out, "<dt>%s</dt><dd>", name);
	emit_text(out, value);
	emit_raw(out, "</dd>");
}

static void side(struct buf *out, const struct comparison_side *side, const char *title, const char *how, bool program)
{
	emit_rawf(out, "<section class=card><h3>%s", title);
	if (*how) {
		emit_raw(out, " <small>found by ");
		emit_text(out, how);
		emit_raw(out, "</small>");
	}
	emit_raw(out, "</h3><p>");
	layout_commit(out, side->commit);
	emit_raw(out, " ");
	emit_text(out, side->subject);
	emit_raw(out, "</p><dl class=facts><dt>Author</dt><dd>");
	emit_text(out, *side->author ? side->author : "\u2013");
	emit_raw(out, "</dd>");
	if (!program || *side->build) {
		emit_rawf(out, "<dt>%s</dt><dd>", program ? "Program" : "Module");
		if (*side->module_sha256)
			layout_sha(out, side->module_sha256);
		else
			emit_raw(out, "\u2013");
		emit_raw(out, " ");
		emit_text(out, side->build);
		emit_raw(out, "</dd>");
	}
	fact(out, "Built by", side->toolchain);
	fact(out, "Provider", side->provider);
	fact(out, "Pinned to", side->pinned);
	emit_raw(out, "</dl></section>\n");
}

static void beside_differs(struct buf *out, const struct comparison *c)
{
	bool provider = strcmp(c->base.provider, c->target.provider) != 0, pinned = *c->base.pinned || *c->target.pinned;
	if (c->kind == JOBKIND_ENVIRONMENT) {
		emit_raw(out, strcmp(c->base.commit, c->target.commit) == 0 ? "only the build environment"
									    : "source and build environment");
		return;
	}
	bool alone = *c->base.module_sha256 && strcmp(c->base.module_sha256, c->target.module_sha256) == 0;
	emit_rawf(out, "%s%s%s%s", provider ? "the provider" : "", provider && pinned ? " and " : "",
		pinned ? "the configuration" : "", alone ? " alone" : ", source and module");
}

/* What both sides shared, and what differs: a verdict holds only where the first list is the whole environment. */
static void environment(struct buf *out, const struct comparison *c)
{
	const char *base = c->base.module_sha256, *target = c->target.module_sha256;
	double limit_w = c->environment.power_limit_w;
	emit_raw(out, "<section class=card><h3>Same for both sides</h3><dl class=facts>");
	fact(out, "Device", c->environment.name);
	fact(out, "Driver", c->environment.driver);
	fact(out, "Toolkit", c->environment.toolkit);
	fact(out, "cuDNN", c->environment.cudnn);
	if (limit_w > 0)
		emit_rawf(out, "<dt>Power limit</dt><dd>%.0f W</dd>", limit_w);
	fact(out, "Timing", c->environment.timing);
	fact(out, "Isolation", c->isolation);
	fact(out, "Suite", c->suite);
	if (!*c->environment.baseline_period)
		emit_raw(out, "<dt>Device</dt><dd>\u2013 nothing ran</dd>");
	emit_raw(out, "<dt>Differs</dt><dd>");
	if (*c->identical_by)
		emit_raw(out, "nothing");
	else if (comparison_is_side_by_side(c))
		beside_differs(out, c);
	else if (*base && strcmp(base, target) == 0)
		emit_raw(out, comparison_is_of_programs(c) ? "nothing: both sides run the same files in the same way"
							   : "nothing: both sides compiled to the same module");
	else if (comparison_is_of_programs(c))
		emit_raw(out, *base ? "source and program" : "results of another benchmark");
	else
		emit_raw(out, "source and module");
	emit_raw(out, "</dd></dl></section>\n");
}

static const char *device_of(const struct comparison_cell *c, bool confirming)
{
	return confirming ? c->confirmed_on : c->device;
}

/* Which device timed how many cells, where it was not one that timed them all; or had the confirming set of how many, where it was another, whatever that said. */
static void devices(struct buf *out, const struct comparison *c, bool confirming)
{
	bool is_begun = false;
	for (int i = 0; i < c->n_cells; i++) {
		const char *device = device_of(&c->cell[i], confirming);
		int first = 0, n = 0;
		while (strcmp(device_of(&c->cell[first], confirming), device) != 0)
			first++;
		if (first < i || !*device)
			continue;
		for (int k = i; k < c->n_cells; k++)
			n += strcmp(device_of(&c->cell[k], confirming), device) == 0;
		if (!confirming && n == c->n_cells)
			continue;
		if (is_begun)
			emit_raw(out, ", ");
		else
			emit_raw(out, confirming ? "<dt>Confirming set</dt><dd>" : "<dt>Split</dt><dd>");
		emit_rawf(out, "%d cell%s on ", n, n == 1 ? "" : "s");
		emit_text(out, device);
		is_begun = true;
	}
	if (is_begun)
		emit_raw(out, "</dd>");
}

static void run_facts(struct buf *out, const struct comparison *c)
{
	const struct view_around *around = c->around;
	const char *at = c->finished_at;
	emit_rawf(out,
		"<section class=card><h3>Run</h3><dl class=facts><dt>Job</dt><dd><a href=\"/jobs/%lld\">%lld</a>, with builds "
		"and "
		"log</dd>",
		(long long)c->job, (long long)c->job);
	emit_raw(out, "<dt>Device held</dt><dd>");
	layout_duration(out, c->gpu_s);
	emit_raw(out, " of ");
	layout_duration(out, c->wall_s);
	emit_rawf(out, ", %d runs</dd><dt>Finished</dt><dd><time>%.10s %.5s</time> UTC</dd>", c->runs, at,
		strlen(at) > 15 ? at + 11 : "");
	devices(out, c, false);
	devices(out, c, true);
	if (around->alert) {
		emit_rawf(out, "<dt>Alert</dt><dd><a href=\"/alerts/%lld\">", (long long)around->alert);
		layout_verdict(out, alertstate_name(around->alert_state));
		emit_raw(out, "</a></dd>");
	}
	emit_raw(out, "<dt>Last push</dt><dd>");
	if (around->previous) {
		bool comparable = strcmp(around->previous_base, c->base.commit) == 0 ||
				  strcmp(around->previous_target, c->base.commit) == 0;
		const char *baseline_period = c->environment.baseline_period;
		emit_rawf(out, "<a href=\"/comparisons/%lld\">%lld</a> ", (long long)c->around->previous,
			(long long)c->around->previous);
		layout_verdict(out, verdict_name(around->previous_verdict));
		if (!comparable)
			emit_raw(out, "<br>had another base, so the two are not set against each other");
		if (*baseline_period && *around->previous_baseline_period &&
			strcmp(baseline_period, around->previous_baseline_period) != 0)
			emit_raw(out, "<br><span class=warn>! measured in another environment</span>");
	} else {
		emit_raw(out, "\u2013 the first of this branch and suite");
	}
	emit_raw(out, "</dd></dl></section>\n");
}

/* "736ae31d6e -> a851f9a236, on NVIDIA H200, suite ffa, 8 runs" */
static void in_one_line(struct buf *out, const struct comparison *c)
{
	emit_raw(out, c->kind == JOBKIND_PEER ? "Peer, target, " : "Base, target, ");
	emit_text(out, *c->environment.name ? c->environment.name : "no device");
	if (*c->suite) {
		emit_raw(out, ", suite ");
		emit_text(out, c->suite);
	}
	emit_rawf(out, ", %d run%s, device held for ", c->runs, c->runs == 1 ? "" : "s");
	layout_duration(out, c->gpu_s);
}

void comparison_setting(struct buf *out, const struct comparison *c)
{
	bool program = comparison_is_of_programs(c);
	emit_raw(out, "<details class=card id=setting><summary>");
	in_one_line(out, c);
	emit_raw(out, "</summary><div class=cards>");
	side(out, &c->base, c->kind == JOBKIND_PEER ? "Peer" : "Base", comparison_is_side_by_side(c) ? "" : c->base_how, program);
	side(out, &c->target, "Target", "", program);
	environment(out, c);
	run_facts(out, c);
	comparison_peer_card(out, c);
	emit_raw(out, "</div></details>\n");
}
