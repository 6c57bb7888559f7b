/* profile.c - order of a profile's steps. Times come last, from a separate process without counters. */
#include "worker/internal.h"

static int send_kernels(struct bench *b, struct buffered_cell *c, struct fw_err *err)
{
	bool is_counted = buffered_is_counted(c), is_timed = is_counted || buffered_is_timed(c);

	for (int repeat = 0; repeat < EVIDENCE_REPEATS; repeat++)
		for (int side = 0; side < BUFFERED_SIDES; side++) {
			struct buffered_process *p = &c->process[side][repeat];
			for (int i = 0; i < p->n; i++) {
				struct msg m = { .t = MSG_KERNEL, .u.kernel = p->kernel[i] }; /* borrows its values */
				m.u.kernel.symbol_sha256[0] = '\0';
				if (!is_counted)
					m.u.kernel.n_values = 0;
				if (!is_timed)
					m.u.kernel.ms = -1;
				if (bench_send(b, &m, err) != 0)
					return -1;
			}
		}
	return 0;
}

static int send_end(struct bench *b, const struct buffered_cell *c, const char *code_note, struct fw_err *err)
{
	const struct buffered_process *base = &c->process[0][0], *target = &c->process[1][0];
	bool is_counted = buffered_is_counted(c);
	struct msg m = { .t = MSG_PROFILE,
		.u.profile = { .cell = c->cell, .gpu_s = c->gpu_s, .base_tried = c->tried[0], .target_tried = c->tried[1] } };
	struct msg_profile *p = &m.u.profile;
	bool by_ncu = is_counted && strncmp(base->tool, "ncu", 3) == 0;
	p->path = by_ncu ? EVIDENCE_NCU : is_counted ? EVIDENCE_RANGE : buffered_is_timed(c) ? EVIDENCE_ACTIVITY : EVIDENCE_CODE;
	p->passes = is_counted ? base->passes : 0;
	if (is_counted)
		snprintf(p->tool, sizeof p->tool, "%s", base->tool);
	if (p->path != EVIDENCE_RANGE)
		snprintf(p->why, sizeof p->why, "%s", c->why);
	if (!is_counted && code_note[0]) {
		size_t used = strlen(p->why);
		snprintf(p->why + used, sizeof p->why - used, "%s%s", used ? "; " : "", code_note);
	}
	snprintf(p->stalls_why, sizeof p->stalls_why, "%.199s", c->stalls_why);
	snprintf(p->base_config, sizeof p->base_config, "%s", base->config);
	snprintf(p->target_config, sizeof p->target_config, "%s", target->config);
	return bench_send(b, &m, err);
}

static int send_cell(struct bench *b, struct buffered_cell *c, struct difference *d, struct fw_err *err)
{
	struct msg swap = { .t = MSG_COUNTERFACTUAL, .u.counterfactual = c->swap };
	if (send_kernels(b, c, err) != 0 || difference_send(d, b, c, err) != 0)
		return -1;
	if (c->has_swap && bench_send(b, &swap, err) != 0)
		return -1;
	return send_end(b, c, d->note, err);
}

static int collect(struct buffered *k, enum evidence_path best, struct fw_err *err)
{
	for (int i = 0; i < k->n && best != EVIDENCE_RANGE; i++)
		buffered_why(&k->cell[i], "counters were %s", best == EVIDENCE_NCU ? "requested from ncu" : "not requested");
	if (best == EVIDENCE_RANGE && collect_counters(k, err) != 0)
		return -1;
	if (collect_kernels(k, 0, err) != 0 || (best <= EVIDENCE_NCU && ncu_counters(k, err) != 0))
		return -1;
	/* the other processes show the difference between equal ones in times */
	return k->bench->device.kind == DEVICE_CUDA ? collect_kernels(k, 1, err) : 0;
}

/* Limits the wait of jobs for pushes. Counters and kernel times are always collected, and a started step is completed. */
#define DEVICE_S 45.0

/* Run optional steps, until the device was held for DEVICE_S. */
static int refine(struct buffered *k, struct fw_err *err)
{
	static const struct {
		const char *name;
		int (*run)(struct buffered *k, struct fw_err *err);
	} step[] = { { "sampling of waiting warps", collect_stalls }, { "sampling by ncu", ncu_stalls },
		{ "timing with the base's configuration", swap_run } };

	for (size_t i = 0; i < sizeof step / sizeof *step; i++) {
		bool is_late = k->bench->gpu_s >= DEVICE_S;
		int result = is_late ? bench_send_note(k->bench, -1, ROLE_DEVICE, err,
					       "left out, the device was held for %.0f s: %s", k->bench->gpu_s, step[i].name)
				     : step[i].run(k, err);

		if (result != 0)
			return -1;
	}
	return 0;
}

int profile_run(struct bench *b, const int *cell, int n, enum evidence_path best, struct fw_err *err)
{
	struct difference d = { 0 };
	struct buffered k;
	buffered_init(&k, b, cell, n);
	int idle = health_check_wait_idle(b, err);
	int result = idle < 0 ? -1 : collect(&k, idle ? best : EVIDENCE_CODE, err);
	if (result == 0)
		result = refine(&k, err);
	if (result == 0)
		result = difference_open(&d, b, err);
	for (int i = 0; i < k.n && result == 0; i++)
		result = send_cell(b, &k.cell[i], &d, err);
	difference_close(&d);
	buffered_free(&k);
	return result;
}
