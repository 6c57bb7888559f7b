#include "flopwatchd/job/internal.h"

#include <stdio.h>

#include "db/db.h"
#include "verdict/verdict.h"

static const struct figures no_figures = { .call_base_us = NAN,
	.call_target_us = NAN,
	.call_change_pct = NAN,
	.enqueue_base_us = NAN,
	.enqueue_target_us = NAN,
	.clock_base_mhz = NAN,
	.clock_target_mhz = NAN,
	.error_base = NAN,
	.error_target = NAN,
	.issued_base = NAN,
	.issued_target = NAN,
	.bytes_base = NAN,
	.bytes_target = NAN,
	.workspace_base = NAN,
	.workspace_target = NAN,
	.kept = NAN,
	.peak_base = NAN,
	.peak_target = NAN,
	.taken_base = NAN,
	.taken_target = NAN,
	.mask = { NAN, NAN, NAN },
	.claim_base = { NAN, NAN, NAN, NAN, NAN },
	.claim_target = { NAN, NAN, NAN, NAN, NAN },
	.slow_base_pct = NAN,
	.slow_target_pct = NAN,
	.sustained = { NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN } };

static struct figures_phase *add_phase(struct figures *f, const char *name, size_t len)
{
	for (int i = 0; i < f->n_phases; i++)
		if (strlen(f->phase[i].name) == len && memcmp(f->phase[i].name, name, len) == 0)
			return &f->phase[i];
	if (f->n_phases == FIGURES_PHASES_MAX || len >= sizeof f->phase[0].name)
		return NULL;
	struct figures_phase *p = &f->phase[f->n_phases++];
	*p = (struct figures_phase){ .base_ms = NAN, .target_ms = NAN, .change_pct = NAN, .ci_low_pct = NAN, .ci_high_pct = NAN };
	memcpy(p->name, name, len);
	return p;
}

/** Parse a name such as "phase.run.base_ms". */
static void set_phase_metric(struct figures *f, const char *name, double value)
{
	const char *dot = strrchr(name, '.');
	struct figures_phase *p = dot ? add_phase(f, name, (size_t)(dot - name)) : NULL;
	if (!p)
		return;
	if (strcmp(dot, ".base_ms") == 0)
		p->base_ms = value;
	else if (strcmp(dot, ".target_ms") == 0)
		p->target_ms = value;
	else if (strcmp(dot, ".change_pct") == 0)
		p->change_pct = value;
	else if (strcmp(dot, ".ci_low_pct") == 0)
		p->ci_low_pct = value;
	else if (strcmp(dot, ".ci_high_pct") == 0)
		p->ci_high_pct = value;
}

static void set_metric(void *arg, const char *name, const char *unit, double value)
{
	struct figures *f = arg;
	const struct {
		const char *name;
		double *to;
	} known[] = {
		{ "call.base_us", &f->call_base_us },
		{ "call.target_us", &f->call_target_us },
		{ "call.change_pct", &f->call_change_pct },
		{ "enqueue.base_us", &f->enqueue_base_us },
		{ "enqueue.target_us", &f->enqueue_target_us },
		{ "clock.base_mhz", &f->clock_base_mhz },
		{ "clock.target_mhz", &f->clock_target_mhz },
		{ "base.error_ratio", &f->error_base },
		{ "target.error_ratio", &f->error_target },
		{ "base.flops_issued", &f->issued_base },
		{ "target.flops_issued", &f->issued_target },
		{ "base.bytes_moved", &f->bytes_base },
		{ "target.bytes_moved", &f->bytes_target },
		{ "base.workspace_bytes", &f->workspace_base },
		{ "target.workspace_bytes", &f->workspace_target },
		{ "target.blocks_kept", &f->kept },
		{ "base.peak_bytes", &f->peak_base },
		{ "target.peak_bytes", &f->peak_target },
		{ "base.taken_bytes", &f->taken_base },
		{ "target.taken_bytes", &f->taken_target },
		{ "base.mask_blocks", &f->mask.blocks },
		{ "base.mask_kept", &f->mask.kept },
		{ "target.mask_blocks", &f->mask.blocks },
		{ "target.mask_kept", &f->mask.kept },
		{ "base.tiles_total", &f->claim_base.tiles_total },
		{ "base.tiles_skipped", &f->claim_base.tiles_skipped },
		{ "base.tiles_partial", &f->claim_base.tiles_partial },
		{ "base.blocks_kept", &f->claim_base.blocks_kept },
		{ "target.tiles_total", &f->claim_target.tiles_total },
		{ "target.tiles_skipped", &f->claim_target.tiles_skipped },
		{ "target.tiles_partial", &f->claim_target.tiles_partial },
		{ "slow_calls.base_pct", &f->slow_base_pct },
		{ "slow_calls.target_pct", &f->slow_target_pct },
		{ "sustained.base_ms", &f->sustained.base_ms },
		{ "sustained.target_ms", &f->sustained.target_ms },
		{ "sustained.change_pct", &f->sustained.change_pct },
		{ "sustained.ci_low_pct", &f->sustained.ci_low_pct },
		{ "sustained.ci_high_pct", &f->sustained.ci_high_pct },
		{ "sustained.runs", &f->sustained.runs },
		{ "sustained_clock.base_mhz", &f->sustained.base_mhz },
		{ "sustained_clock.target_mhz", &f->sustained.target_mhz },
		{ "energy.base_j", &f->sustained.base_j },
		{ "energy.target_j", &f->sustained.target_j },
	};
	(void)unit;
	if (strncmp(name, "phase.", 6) == 0)
		set_phase_metric(f, name + 6, value);
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strcmp(name, known[i].name) == 0)
			*known[i].to = value;
}

int figures_read(struct db *db, int64_t cell, struct figures *out, struct fw_err *err)
{
	*out = no_figures;
	return view_metrics(db, cell, set_metric, out, err);
}

static void write_pair(struct jsonw *j, const char *key, const char *unit, double base, double target)
{
	char name[32];
	if (!isfinite(base) && !isfinite(target)) {
		jsonw_kv_null(j, key);
		return;
	}
	jsonw_key(j, key);
	jsonw_object(j);
	snprintf(name, sizeof name, "base%s", unit);
	jsonw_kv_figure(j, name, base);
	snprintf(name, sizeof name, "target%s", unit);
	jsonw_kv_figure(j, name, target);
	jsonw_object_end(j);
}

static void write_claim(
	struct jsonw *j, const char *key, const struct sparsity_mask *mask, struct sparsity_claim claim, double issued)
{
	char text[EXPLAIN_SIZE], contradiction[EXPLAIN_SIZE];
	claim.flops_issued = issued;
	sparsity_words(mask, &claim, text);
	sparsity_contradiction(mask, &claim, contradiction);
	jsonw_key(j, key);
	jsonw_object(j);
	jsonw_kv_figure(j, "blocks_kept", claim.blocks_kept);
	jsonw_kv_figure(j, "tiles_total", claim.tiles_total);
	jsonw_kv_figure(j, "tiles_skipped", claim.tiles_skipped);
	jsonw_kv_figure(j, "tiles_partial", claim.tiles_partial);
	jsonw_kv_string(j, "text", text);
	jsonw_kv_string(j, "contradiction", contradiction[0] ? contradiction : NULL);
	jsonw_object_end(j);
}

static void write_sparsity(struct jsonw *j, const struct figures *f, double flops)
{
	struct sparsity_mask mask = f->mask;
	if (!isfinite(mask.blocks)) {
		jsonw_kv_null(j, "sparsity");
		return;
	}
	mask.flops_useful = flops;
	struct sparsity_claim target = f->claim_target;
	target.blocks_kept = f->kept;
	jsonw_key(j, "sparsity");
	jsonw_object(j);
	jsonw_kv_figure(j, "blocks", mask.blocks);
	jsonw_kv_figure(j, "masked", mask.blocks - mask.kept);
	write_claim(j, "base", &mask, f->claim_base, f->issued_base);
	write_claim(j, "target", &mask, target, f->issued_target);
	jsonw_object_end(j);
}

static void write_sustained(struct jsonw *j, const struct figures *f)
{
	if (!isfinite(f->sustained.change_pct)) {
		jsonw_kv_null(j, "sustained");
		return;
	}
	jsonw_key(j, "sustained");
	jsonw_object(j);
	jsonw_kv_figure(j, "base_ms", f->sustained.base_ms);
	jsonw_kv_figure(j, "target_ms", f->sustained.target_ms);
	jsonw_kv_figure(j, "change_pct", f->sustained.change_pct);
	jsonw_kv_figure(j, "ci_low_pct", f->sustained.ci_low_pct);
	jsonw_kv_figure(j, "ci_high_pct", f->sustained.ci_high_pct);
	jsonw_kv_figure(j, "runs", f->sustained.runs);
	jsonw_kv_figure(j, "base_mhz", f->sustained.base_mhz);
	jsonw_kv_figure(j, "target_mhz", f->sustained.target_mhz);
	jsonw_kv_figure(j, "base_j", f->sustained.base_j);
	jsonw_kv_figure(j, "target_j", f->sustained.target_j);
	char why[EXPLAIN_SIZE];
	explain_sustained_runs(&(struct sustained_level){ f->sustained.base_ms, f->sustained.base_mhz, f->sustained.base_j },
		&(struct sustained_level){ f->sustained.target_ms, f->sustained.target_mhz, f->sustained.target_j }, why);
	jsonw_kv_string(j, "why", why[0] ? why : NULL);
	jsonw_object_end(j);
}

void figures_write(struct jsonw *j, const struct figures *f, double flops)
{
	jsonw_key(j, "phases");
	jsonw_array(j);
	for (int i = 0; i < f->n_phases; i++) {
		jsonw_object(j);
		jsonw_kv_string(j, "phase", f->phase[i].name);
		jsonw_kv_figure(j, "base_ms", f->phase[i].base_ms);
		jsonw_kv_figure(j, "target_ms", f->phase[i].target_ms);
		jsonw_kv_figure(j, "change_pct", f->phase[i].change_pct);
		jsonw_kv_figure(j, "ci_low_pct", f->phase[i].ci_low_pct);
		jsonw_kv_figure(j, "ci_high_pct", f->phase[i].ci_high_pct);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
	if (isfinite(f->call_base_us) || isfinite(f->call_target_us)) {
		jsonw_key(j, "call");
		jsonw_object(j);
		jsonw_kv_figure(j, "base_us", f->call_base_us);
		jsonw_kv_figure(j, "target_us", f->call_target_us);
		jsonw_kv_figure(j, "change_pct", f->call_change_pct);
		jsonw_object_end(j);
	} else {
		jsonw_kv_null(j, "call");
	}
	write_sustained(j, f);
	write_pair(j, "slow_calls", "_pct", f->slow_base_pct, f->slow_target_pct);
	write_pair(j, "enqueue", "_us", f->enqueue_base_us, f->enqueue_target_us);
	write_pair(j, "clock", "_mhz", f->clock_base_mhz, f->clock_target_mhz);
	write_pair(j, "error_ratio", "", f->error_base, f->error_target);
	write_pair(j, "flops_issued", "", f->issued_base, f->issued_target);
	write_pair(j, "moved", "_bytes", f->bytes_base, f->bytes_target);
	write_pair(j, "workspace", "_bytes", f->workspace_base, f->workspace_target);
	jsonw_kv_figure(j, "blocks_kept", f->kept);
	write_pair(j, "peak", "_bytes", f->peak_base, f->peak_target);
	write_pair(j, "taken", "_bytes", f->taken_base, f->taken_target);
	write_sparsity(j, f, flops);
}
