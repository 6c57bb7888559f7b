/* crew.c - see crew.h. */
#include "flopwatchd/dispatch/crew.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "db/store/device.h"
#include "flopwatchd/dispatch/claim.h"
#include "flopwatchd/dispatch/slot_inside.h"
#include "flopwatchd/job/deal.h"
#include "flopwatchd/job/looks.h"
#include "flopwatchd/job/result_join.h"
#include "flopwatchd/judge/cell.h"
#include "flopwatchd/judge/groups.h"
#include "flopwatchd/runtime/config_worker.h"

enum { AGAIN_MAX = 2 }; /* what was measured again may have shown that more has to be */

struct crew_part {
	struct slot *slot; /* NULL: it is done, or gone */
	int64_t device_id;
	struct share share; /* its cells are owned here */
	bool is_done;
};

struct crew {
	struct result *whole; /* what has come so far, under the whole plan */
	bool confirms;        /* a second set of launches is another device's */
	int n_again;          /* times that cells to be measured again were asked for */
	int n_first;          /* parts of the first set, 0: it is not over; those behind them confirm */
	int n_parts, n_done;
	struct crew_part part[2 * PLAN_PARTS_MAX + AGAIN_MAX];
};

bool crew_is_helper(const struct slot *s)
{
	return s->crew && s->crew->part[0].slot != s;
}

struct slot *crew_leader(struct slot *s)
{
	return s->crew ? s->crew->part[0].slot : s;
}

bool crew_may_rebind(const struct slot *s)
{
	return !s->crew || s->crew->n_parts == 1;
}

void crew_rebind(struct slot *s)
{
	if (s->crew)
		s->crew->part[0].device_id = s->device_id;
}

int crew_fits(const struct slot *s, struct fw_err *err)
{
	const struct crew *c = s->crew;
	for (int p = 1; c && p < c->n_parts; p++) {
		int64_t first = c->part[0].device_id, device = c->part[p].device_id;
		int fits = device == first ? 1 : store_class_same(s->host->txn->db, first, device, err);
		if (fits != 1)
			return fits < 0 ? -1 : err_set(err, ERR_CONFLICT, "the devices of its parts are of one class no more");
	}
	return 0;
}

static void crew_free(struct crew *c)
{
	for (int i = 0; i < c->n_parts; i++)
		free(c->part[i].share.cell);
	result_free(c->whole);
	free(c);
}

/* ---- gathering --------------------------------------------------------------------------------------------------------------- */

/* A job of a kind whose cells do not have to stand on one device: what holds a device against others does, and so does a search for why. */
static bool may_spread(const struct slot *s)
{
	enum jobkind kind = s->job.kind;
	return (kind == JOBKIND_CHANGE || kind == JOBKIND_BISECT) && !s->job.device_uuid[0] && !plan_is_benchmark(&s->plan) &&
	       !config_worker_is_slurm(s->worker);
}

/* A device of the slot that is free, in order and of the leader's class, and that nothing waits for. 1, 0, -1. */
static int could_help(struct slot *s, const struct slot *leader, struct msg_device *device, int64_t *id, struct fw_err *err)
{
	struct store_job job;
	if (s == leader || s->phase != PHASE_FREE || !s->has_hello || config_worker_is_slurm(s->worker) ||
		strcmp(s->hello.isolation, leader->hello.isolation) != 0)
		return 0;
	const struct claim claim = { s->host->txn->db, s->worker, &s->hello, s->host->is_taken, s->host->arg,
		s->host->held(s->host->arg) };
	for (int from = 0, at; (at = claim_free_device(&claim, from, id, err)) != 0; from = at) {
		if (at < 0)
			return -1;
		*device = s->hello.device[at - 1];
		int fits = store_class_same(s->host->txn->db, leader->device_id, *id, err);
		int waits = fits == 1 ? store_job_next(claim.db, device->kind, device->uuid, claim.held, &job, err) : 0;
		if (fits < 0 || waits < 0)
			return -1;
		if (fits && !waits)
			return 1;
	}
	return 0;
}

/* Into the job's log: what the parts from `first` on have to do, and where. */
static int log_parts(const struct crew *c, const struct slot *leader, const char *what, int first, struct fw_err *err)
{
	struct buf line;
	buf_init(&line, 4096);
	buf_printf(&line, "%s:", what);
	for (int p = first; p < c->n_parts; p++)
		buf_printf(&line, "%s %d cells on %s", p > first ? "," : "", c->part[p].share.n, c->part[p].slot->device.uuid);
	int result = txn_begin(leader->host->txn, err);
	if (result == 0)
		result = txn_end(leader->host->txn,
			store_job_log(leader->host->txn->db, leader->job.id, clock_utc_ms(), line.data, err), err);
	buf_fini(&line);
	return result;
}

/* The plan of a part of the first set. */
static int plan_share(const struct crew *c, const struct plan *whole, const struct share *s, struct plan *out, struct fw_err *err)
{
	if (plan_part(whole, s->cell, s->n, out, err) != 0)
		return -1;
	out->ask.looked_elsewhere = s->elsewhere;
	out->ask.bursts = s->asked;
	if (c->confirms)
		out->ask.rule.confirm = false; /* it decides by its own first set; what confirms it is measured elsewhere */
	return 0;
}

/* A quick look, and a device whose clock follows nothing, have no bursts. */
static bool has_looks(const struct slot *leader)
{
	return !leader->job.quick && leader->device.kind != DEVICE_CPU;
}

/* Each slot its own part of the plan. */
static int deal(struct crew *c, struct slot *leader, struct fw_err *err)
{
	int n = leader->plan.ask.n_cells, *part_of = calloc((size_t)n, sizeof *part_of);
	struct share share[PLAN_PARTS_MAX] = { { .n = 0 } };
	int result = part_of ? 0 : err_set(err, ERR_INTERNAL, "out of memory for the parts of a job");
	if (result == 0)
		result = plan_deal(&leader->plan, c->n_parts, part_of, err);
	for (int p = 0; p < c->n_parts && result == 0; p++) {
		share[p].cell = c->part[p].share.cell = calloc((size_t)n, sizeof *share[p].cell);
		for (int i = 0; i < n && share[p].cell; i++)
			if (part_of[i] == p)
				share[p].cell[share[p].n++] = i;
		if (!share[p].cell)
			result = err_set(err, ERR_INTERNAL, "out of memory for the parts of a job");
	}
	if (result == 0 && has_looks(leader))
		looks_deal(&leader->plan, share, c->n_parts);
	for (int p = 0; p < c->n_parts && result == 0; p++) {
		c->part[p].share = share[p];
		if (p > 0)
			result = plan_share(c, &leader->plan, &share[p], &c->part[p].slot->plan, err);
	}
	free(part_of);
	return result;
}

/* The leader's plan becomes its part, and the whole plan the result's. */
static int take_lead(struct crew *c, struct slot *leader, struct fw_err *err)
{
	struct plan mine;
	if (plan_share(c, &leader->plan, &c->part[0].share, &mine, err) != 0)
		return -1;
	c->whole = result_new(&leader->plan);
	if (!c->whole) {
		plan_fini(&mine);
		return err_set(err, ERR_INTERNAL, "out of memory for a result");
	}
	leader->plan = mine;
	c->whole->cell_device = calloc((size_t)c->whole->plan.ask.n_cells + 1, sizeof *c->whole->cell_device);
	c->whole->confirmed_on = calloc((size_t)c->whole->plan.ask.n_cells + 1, sizeof *c->whole->confirmed_on);
	return c->whole->cell_device && c->whole->confirmed_on ? 0 : err_set(err, ERR_INTERNAL, "out of memory for a result");
}

static void recruit(struct slot *s, const struct slot *leader, struct crew *c, const struct msg_device *device, int64_t device_id)
{
	s->crew = c;
	s->device = *device;
	s->device_id = device_id;
	s->job = leader->job;
	s->state = leader->state;
	s->measures = false;
	memcpy(s->repo_path, leader->repo_path, sizeof s->repo_path);
}

/* Nobody else has heard of the crew yet. */
static void disband(struct crew *c)
{
	for (int p = 1; p < c->n_parts; p++) {
		struct slot *s = c->part[p].slot;
		plan_fini(&s->plan);
		plan_init(&s->plan);
		s->job.id = 0;
		s->device.uuid[0] = 0;
		s->crew = NULL;
	}
	c->part[0].slot->crew = NULL;
	crew_free(c);
}

int crew_gather(struct slot *leader, struct fw_err *err)
{
	const struct config *config = leader->host->config;
	struct crew *c = may_spread(leader) && (config->split || config->confirm_elsewhere) ? calloc(1, sizeof *c) : NULL;
	int most = leader->plan.ask.n_cells < PLAN_PARTS_MAX ? leader->plan.ask.n_cells : PLAN_PARTS_MAX, result = 0;
	if (!c)
		return 0;
	c->part[c->n_parts++] = (struct crew_part){ .slot = leader, .device_id = leader->device_id };
	int others = config->confirm_elsewhere && !leader->job.quick
			     ? store_class_has_other(leader->host->txn->db, leader->device_id, err)
			     : 0;
	c->confirms = others == 1;
	result = others < 0 ? -1 : 0;
	for (int i = 0; config->split && c->n_parts < most && result == 0; i++) {
		struct msg_device device;
		int64_t id;
		struct slot *s = leader->host->nth_slot(leader->host->arg, i);
		int helps = s ? could_help(s, leader, &device, &id, err) : 0;
		if (!s)
			break;
		if (helps < 0)
			result = -1;
		if (helps != 1)
			continue;
		recruit(s, leader, c, &device, id); /* its device is taken from here on */
		c->part[c->n_parts++] = (struct crew_part){ .slot = s, .device_id = id };
	}
	leader->crew = c;
	bool is_needed = c->n_parts > 1 || c->confirms;
	if (result == 0 && is_needed)
		result = deal(c, leader, err);
	if (result == 0 && c->n_parts > 1)
		result = log_parts(c, leader, "split", 0, err);
	if (result != 0 || !is_needed || take_lead(c, leader, err) != 0) {
		bool is_alone = result == 0 && !is_needed;
		if (c->whole) { /* the plan went there */
			plan_fini(&leader->plan);
			leader->plan = c->whole->plan;
			plan_init(&c->whole->plan);
		}
		disband(c);
		return is_alone ? 0 : -1;
	}
	for (int p = 1; p < c->n_parts; p++)
		if (slot_open_helper(c->part[p].slot, err) != 0)
			return -1; /* the leader ends its job, and with it the crew */
	return 0;
}

/* ---- what comes of it ----------------------------------------------------------------------------------------------------------- */

static struct crew_part *part_of(struct crew *c, const struct slot *s)
{
	for (int p = 0; p < c->n_parts; p++)
		if (c->part[p].slot == s && !c->part[p].is_done)
			return &c->part[p];
	return NULL;
}

/* ---- confirming elsewhere ------------------------------------------------------------------------------------------------------- */

/* The part that confirms a cell which was measured on `device`: the one with least to do that has another device; NULL none. */
static struct crew_part *elsewhere(struct crew *c, int64_t device)
{
	struct crew_part *best = NULL;
	for (int p = c->n_first; p < c->n_parts; p++)
		if (c->part[p].device_id != device && (!best || c->part[p].share.n < best->share.n))
			best = &c->part[p];
	return best;
}

static struct crew_part *add_part(struct crew *c, struct slot *s, struct fw_err *err)
{
	struct crew_part *part = &c->part[c->n_parts];
	*part = (struct crew_part){ .slot = s, .device_id = s->device_id };
	part->share.cell = calloc((size_t)c->whole->plan.ask.n_cells, sizeof *part->share.cell);
	if (!part->share.cell) {
		err_set(err, ERR_INTERNAL, "out of memory for the parts of a job");
		return NULL;
	}
	c->n_parts++;
	return part;
}

/* One more slot with another device than this one; the leader's own where no other is free. NULL with err. */
static struct crew_part *find_elsewhere(struct crew *c, struct slot *leader, int64_t device, struct fw_err *err)
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
		int helps = s ? could_help(s, leader, &other, &id, err) : 0;
		if (helps < 0)
			return NULL;
		if (!s)
			break;
		if (helps == 1 && id != device) {
			recruit(s, leader, c, &other, id);
			return add_part(c, s, err);
		}
	}
	for (int p = c->n_first; p < c->n_parts; p++)
		if (c->part[p].slot == leader)
			return &c->part[p];
	return add_part(c, leader, err);
}

/* `budgets`: how many parts' time it has. */
static int begin_part(const struct crew *c, struct crew_part *part, int budgets, struct fw_err *err)
{
	struct slot *s = part->slot;
	plan_fini(&s->plan);
	if (plan_share(c, &c->whole->plan, &part->share, &s->plan, err) != 0) {
		plan_init(&s->plan);
		return -1;
	}
	s->plan.ask.limits.budget_s *= budgets;
	return slot_open_helper(s, err);
}

/* Losses that only bursts have shown are confirmed in bursts, whatever another device's own look would say. */
static void ask_for_bursts(const struct result *whole, struct share *s)
{
	for (int i = 0; i < s->n; i++)
		if (!judge_lost_in_pairs(whole, s->cell[i]))
			s->asked |= look_class(&whole->plan.ask.cell[s->cell[i]]);
	s->elsewhere = s->asked;
}

/* The first set is over: what it would call a loss has to show on another device. */
static int confirm(struct crew *c, struct slot *leader, struct fw_err *err)
{
	int *cell = calloc((size_t)c->whole->plan.ask.n_cells + 1, sizeof *cell), result = 0;
	if (!cell)
		return err_set(err, ERR_INTERNAL, "out of memory for the parts of a job");
	int n = judge_groups_unconfirmed(c->whole, cell);
	c->n_first = c->n_parts;
	for (int i = 0; i < n && result == 0; i++) {
		int64_t device = c->whole->cell_device[cell[i]];
		struct crew_part *part = elsewhere(c, device);
		if (!part)
			part = find_elsewhere(c, leader, device, err);
		if (part)
			part->share.cell[part->share.n++] = cell[i];
		else
			result = -1;
	}
	free(cell);
	for (int p = c->n_first; p < c->n_parts; p++)
		ask_for_bursts(c->whole, &c->part[p].share);
	if (result == 0 && n > 0)
		result = log_parts(c, leader, "confirming", c->n_first, err);
	for (int p = c->n_first; p < c->n_parts && result == 0; p++)
		result = begin_part(c, &c->part[p], 1, err);
	return result;
}

/* ---- what a look on one device asks of cells on the others ------------------------------------------------------------------------ */

/* What pairs alone call a loss is one, whatever bursts would say. */
static void leave_out_losses(const struct result *whole, struct share *again)
{
	int kept = 0;
	for (int i = 0; i < again->n; i++)
		if (!judge_lost_in_pairs(whole, again->cell[i]))
			again->cell[kept++] = again->cell[i];
	again->n = kept;
}

/*
 * The first set is over: cells that were timed in pairs alone, and have to run in bursts, are measured again by the leader, all of it on its
 * device. What there was of them is forgotten first: where it cannot be told again, they are open.
 */
static int look_again(struct crew *c, struct slot *leader, struct fw_err *err)
{
	struct share share[PLAN_PARTS_MAX + AGAIN_MAX];
	int n = c->n_parts;
	for (int p = 0; p < n; p++)
		share[p] = c->part[p].share;
	struct crew_part *part = add_part(c, leader, err);
	if (!part)
		return -1;
	looks_again(c->whole, share, n, &part->share);
	leave_out_losses(c->whole, &part->share);
	if (part->share.n == 0) {
		free(part->share.cell);
		c->n_parts--;
		return 0;
	}
	c->n_again++;
	result_forget(c->whole, part->share.cell, part->share.n);
	const char *why = part->share.asked ? "again, since power draw differs" : "again, since power draw was not looked at";
	return log_parts(c, leader, why, n, err) != 0 || begin_part(c, part, n, err) != 0 ? -1 : 0;
}

/* Who measured it is the leader's worker; which device had which cell stands beside it. */
static void take_names(struct crew *c, const struct slot *leader, const struct result *part)
{
	c->whole->device = part->device;
	c->whole->device_id = leader->device_id;
	snprintf(c->whole->isolation, sizeof c->whole->isolation, "%s", leader->hello.isolation);
	snprintf(c->whole->worker_version, sizeof c->whole->worker_version, "%s", leader->hello.version);
}

static bool has_times(const struct result *part, int cell)
{
	for (int i = 0; i < part->n_cells; i++)
		if (part->cell[i]->cell == cell)
			return true;
	return false;
}

int crew_take(struct slot *s, struct result *part, struct fw_err *err)
{
	struct crew *c = s->crew;
	struct slot *leader = crew_leader(s);
	struct crew_part *p = part_of(c, s);
	bool is_second = c->n_first > 0;
	const struct share *share = &p->share;
	for (int i = 0; i < share->n; i++)
		if (!is_second)
			c->whole->cell_device[share->cell[i]] = p->device_id;
		else if (c->whole->cell_device[share->cell[i]] != p->device_id && has_times(part, i))
			c->whole->confirmed_on[share->cell[i]] = p->device_id;
	p->share.bursts = part->done.bursts;
	if (p == &c->part[0])
		take_names(c, s, part);
	int result = result_join(c->whole, part, share->cell, share->n, is_second ? 2 : 0, err);
	result_free(part);
	p->is_done = true;
	c->n_done++;
	if (s != leader) {
		p->slot = NULL;
		s->crew = NULL;
	}
	return result;
}

int crew_go_on(struct slot *leader, struct result **whole, struct fw_err *err)
{
	struct crew *c = leader->crew;
	*whole = NULL;
	if (c->n_done == c->n_parts && c->n_first == 0 && c->n_again < AGAIN_MAX && look_again(c, leader, err) != 0)
		return -1;
	if (c->n_done == c->n_parts && c->confirms && c->n_first == 0 && confirm(c, leader, err) != 0)
		return -1;
	if (c->n_done < c->n_parts)
		return 0;
	*whole = c->whole;
	c->whole = NULL;
	result_end(*whole);
	return 0;
}

void crew_dismiss(struct slot *leader)
{
	struct crew *c = leader->crew;
	if (!c || c->part[0].slot != leader)
		return;
	leader->crew = NULL;
	for (int p = 1; p < c->n_parts; p++)
		if (c->part[p].slot && c->part[p].slot != leader) {
			c->part[p].slot->crew = NULL;
			slot_let_go(c->part[p].slot);
		}
	crew_free(c);
}

void crew_forget(struct slot *s)
{
	struct crew *c = s->crew;
	if (!c)
		return;
	s->crew = NULL;
	if (c->part[0].slot != s) {
		part_of(c, s)->slot = NULL;
		return;
	}
	for (int p = 1; p < c->n_parts; p++)
		if (c->part[p].slot)
			c->part[p].slot->crew = NULL;
	crew_free(c);
}
