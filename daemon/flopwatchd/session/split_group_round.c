/* split_group_round.c - rounds of a split group after its first set: repeated cells, and confirmation on another device. */
#include <stdlib.h>

#include "flopwatchd/job/job.h"
#include "flopwatchd/session/internal.h"

#define BUDGETS_OF_JOB 0.5 /* of the time limit of a job */

/* Choose the part that confirms a cell measured on `device`: the smallest one with another device; NULL none. */
static struct split_group_part *choose_part(struct split_group *c, int64_t device)
{
	struct split_group_part *best = NULL;
	for (int p = c->n_first; p < c->n_parts; p++)
		if (c->part[p].device_id != device && (!best || c->part[p].share.n < best->share.n))
			best = &c->part[p];
	return best;
}

static struct split_group_part *add_part(struct split_group *c, struct slot *s, struct fw_err *err)
{
	struct split_group_part *part = &c->part[c->n_parts];
	*part = (struct split_group_part){ .slot = s, .device_id = s->device_id };
	part->share.cell = calloc((size_t)c->whole->plan.request.n_cells, sizeof *part->share.cell);
	if (!part->share.cell) {
		err_set(err, ERR_INTERNAL, "out of memory for the parts of a job");
		return NULL;
	}
	c->n_parts++;
	return part;
}

/* Add a part with another device than this one; the leader's own if no other is free. NULL with err. */
static struct split_group_part *add_other_device(struct split_group *c, struct slot *leader, int64_t device, struct fw_err *err)
{
	bool has_room = c->n_parts < c->n_first + PLAN_PARTS_MAX;
	bool leads = false;
	for (int p = c->n_first; p < c->n_parts; p++)
		leads = leads || c->part[p].slot == leader;
	if (has_room && !leads && leader->device_id != device)
		return add_part(c, leader, err);
	for (int i = 0; has_room; i++) {
		struct msg_device other;
		int64_t id;
		struct slot *s = leader->host->nth_slot(leader->host->arg, i);
		int helps = s ? split_group_could_help(s, leader, &other, &id, err) : 0;
		if (helps < 0)
			return NULL;
		if (!s)
			break;
		if (helps == 1 && id != device) {
			split_group_recruit(s, leader, c, &other, id);
			return add_part(c, s, err);
		}
	}
	for (int p = c->n_first; p < c->n_parts; p++)
		if (c->part[p].slot == leader)
			return &c->part[p];
	return add_part(c, leader, err);
}

/* `budgets`: number of parts' times that it may take. */
static int start_part(const struct split_group *c, struct split_group_part *part, int budgets, struct fw_err *err)
{
	struct slot *s = part->slot;
	plan_fini(&s->plan);
	if (split_group_plan(c, &c->whole->plan, &part->share, &s->plan, err) != 0) {
		plan_init(&s->plan);
		return -1;
	}
	double most_s = BUDGETS_OF_JOB * (double)s->host->config->job_timeout_ms / 1e3,
	       budget_s = s->plan.request.limits.budget_s;
	s->plan.request.limits.budget_s = fmax(budget_s, fmin(budget_s * budgets, most_s));
	return slot_open_helper(s, err);
}

/*
 * A loss that only sustained runs showed is confirmed in sustained runs, even if the other device's sentinel runs show no need.
 */
static void request_sustained_runs(const struct result *whole, struct share *s)
{
	for (int i = 0; i < s->n; i++)
		if (judge_lost_in_sustained_runs(whole, s->cell[i]))
			s->requested |= sentinel_class(&whole->plan.request.cell[s->cell[i]]);
	s->elsewhere = s->requested;
}

int split_group_confirm(struct split_group *c, struct slot *leader, struct fw_err *err)
{
	int *cell = calloc((size_t)c->whole->plan.request.n_cells + 1, sizeof *cell), result = 0;
	if (!cell)
		return err_set(err, ERR_INTERNAL, "out of memory for the parts of a job");
	int n = judge_groups_unconfirmed(c->whole, cell);
	c->n_first = c->n_parts;
	for (int i = 0; i < n && result == 0; i++) {
		int64_t device = c->whole->cell_device[cell[i]];
		struct split_group_part *part = choose_part(c, device);
		if (!part)
			part = add_other_device(c, leader, device, err);
		if (part)
			part->share.cell[part->share.n++] = cell[i];
		else
			result = -1;
	}
	free(cell);
	for (int p = c->n_first; p < c->n_parts; p++)
		request_sustained_runs(c->whole, &c->part[p].share);
	if (result == 0 && n > 0)
		result = split_group_log_parts(c, leader, "confirming", c->n_first, err);
	for (int p = c->n_first; p < c->n_parts && result == 0; p++)
		result = start_part(c, &c->part[p], 1, err);
	return result;
}

/* A loss in pairs is a loss, whatever sustained runs would show. */
static void remove_losses(const struct result *whole, struct share *again)
{
	int kept = 0;
	for (int i = 0; i < again->n; i++)
		if (!judge_lost_in_pairs(whole, again->cell[i]))
			again->cell[kept++] = again->cell[i];
	again->n = kept;
}

int split_group_look_again(struct split_group *c, struct slot *leader, struct fw_err *err)
{
	struct share share[PLAN_PARTS_MAX + AGAIN_MAX];
	int n = c->n_parts;
	for (int p = 0; p < n; p++)
		share[p] = c->part[p].share;
	struct split_group_part *part = add_part(c, leader, err);
	if (!part)
		return -1;
	sentinels_again(c->whole, share, n, &part->share);
	remove_losses(c->whole, &part->share);
	if (part->share.n == 0) {
		free(part->share.cell);
		c->n_parts--;
		return 0;
	}
	c->n_again++;
	result_forget(c->whole, part->share.cell, part->share.n);
	const char *why = part->share.requested ? "again, since power draw differs" : "again, since power draw was not measured";
	return split_group_log_parts(c, leader, why, n, err) != 0 || start_part(c, part, n, err) != 0 ? -1 : 0;
}
