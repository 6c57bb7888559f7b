#include "flopwatchd/session/internal.h"

#include <math.h>

/* ---- split_group_round: Rounds after the first set: repeated cells, and confirmation on another device. ---- */

#define BUDGETS_OF_JOB 0.5 /* of the time limit of a job */

/* Choose the partition that confirms a cell measured on `device`: the smallest one with another device; NULL none. */
static struct split_group_partition *choose_partition(struct split_group *c, int64_t device)
{
	struct split_group_partition *best = NULL;
	for (int p = c->n_first; p < c->n_partitions; p++)
		if (c->partition[p].device_id != device && (!best || c->partition[p].share.n < best->share.n))
			best = &c->partition[p];
	return best;
}

static struct split_group_partition *add_partition(struct split_group *c, struct slot *s)
{
	struct split_group_partition *partition = &c->partition[c->n_partitions];
	*partition = (struct split_group_partition){ .slot = s, .device_id = s->device_id };
	partition->share.cell = mem_alloc_zero((size_t)c->whole->plan.request.n_cells, sizeof *partition->share.cell);
	c->n_partitions++;
	return partition;
}

/* Add a partition with a device other than this one; the leader's own if no other is free. NULL with err. */
static struct split_group_partition *add_other_device(
	struct split_group *c, struct slot *leader, int64_t device, struct fw_err *err)
{
	bool has_space = c->n_partitions < c->n_first + PLAN_PARTITIONS_MAX;
	bool leads = false;
	for (int p = c->n_first; p < c->n_partitions; p++)
		leads = leads || c->partition[p].slot == leader;
	if (has_space && !leads && leader->device_id != device)
		return add_partition(c, leader);
	for (int i = 0; has_space; i++) {
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
			return add_partition(c, s);
		}
	}
	for (int p = c->n_first; p < c->n_partitions; p++)
		if (c->partition[p].slot == leader)
			return &c->partition[p];
	return add_partition(c, leader);
}

/* `budgets`: time limit, in times of one partition. */
static int start_partition(const struct split_group *c, struct split_group_partition *partition, int budgets, struct fw_err *err)
{
	struct slot *s = partition->slot;
	plan_fini(&s->plan);
	split_group_plan(c, &c->whole->plan, &partition->share, &s->plan);
	double most_s = BUDGETS_OF_JOB * (double)s->host->config->job_timeout_ms / 1e3,
	       budget_s = s->plan.request.limits.budget_s;
	s->plan.request.limits.budget_s = fmax(budget_s, fmin(budget_s * budgets, most_s));
	return slot_open_helper(s, err);
}

/*
 * A regression that only sustained runs showed is confirmed in sustained runs, even if the other device's sentinel runs show no
 * need.
 */
static void request_sustained_runs(const struct result *whole, struct share *s)
{
	for (int i = 0; i < s->n; i++)
		if (judge_sustained_runs_show_slowdown(whole, s->cell[i]))
			s->requested |= sentinel_class(&whole->plan.request.cell[s->cell[i]]);
	s->elsewhere = s->requested;
}

/* Let another device confirm each regression. Starts no partition if there is none. */
static int split_group_confirm(struct split_group *c, struct slot *leader, struct fw_err *err)
{
	int *cell = mem_alloc_zero((size_t)c->whole->plan.request.n_cells + 1, sizeof *cell), result = 0;
	int n = judge_groups_unconfirmed(c->whole, cell);
	c->n_first = c->n_partitions;
	for (int i = 0; i < n && result == 0; i++) {
		int64_t device = c->whole->cell_device[cell[i]];
		struct split_group_partition *partition = choose_partition(c, device);
		if (!partition)
			partition = add_other_device(c, leader, device, err);
		if (partition)
			partition->share.cell[partition->share.n++] = cell[i];
		else
			result = -1;
	}
	free(cell);
	for (int p = c->n_first; p < c->n_partitions; p++)
		request_sustained_runs(c->whole, &c->partition[p].share);
	if (result == 0 && n > 0)
		result = split_group_log_partitions(c, leader, "confirming", c->n_first, err);
	for (int p = c->n_first; p < c->n_partitions && result == 0; p++)
		result = start_partition(c, &c->partition[p], 1, err);
	return result;
}

/* A regression in pairs is a regression, independently of sustained runs. */
static void remove_slowdowns(const struct result *whole, struct share *again)
{
	int n_left = 0;
	for (int i = 0; i < again->n; i++)
		if (!judge_pairs_show_slowdown(whole, again->cell[i]))
			again->cell[n_left++] = again->cell[i];
	again->n = n_left;
}

/*
 * After the first set: the leader measures cells again that were timed only in pairs but need sustained runs, all on its device.
 * Their old results are dropped first: if the new runs fail, the cells have none. Starts no partition if there are no such cells.
 */
static int split_group_repeat_sentinels(struct split_group *c, struct slot *leader, struct fw_err *err)
{
	struct share share[PLAN_PARTITIONS_MAX + AGAIN_MAX];
	int n = c->n_partitions;
	for (int p = 0; p < n; p++)
		share[p] = c->partition[p].share;
	struct split_group_partition *partition = add_partition(c, leader);
	sentinels_find_missed(c->whole, share, n, &partition->share);
	remove_slowdowns(c->whole, &partition->share);
	if (partition->share.n == 0) {
		free(partition->share.cell);
		c->n_partitions--;
		return 0;
	}
	c->n_again++;
	result_forget(c->whole, partition->share.cell, partition->share.n);
	const char *why =
		partition->share.requested ? "again, since power draw differs" : "again, since power draw was not measured";
	return split_group_log_partitions(c, leader, why, n, err) != 0 || start_partition(c, partition, n, err) != 0 ? -1 : 0;
}

/* ---- split_group ---- */

bool split_group_is_helper(const struct slot *s)
{
	return s->split_group && s->split_group->partition[0].slot != s;
}

struct slot *split_group_leader(struct slot *s)
{
	return s->split_group ? s->split_group->partition[0].slot : s;
}

bool split_group_may_rebind(const struct slot *s)
{
	return !s->split_group || s->split_group->n_partitions == 1;
}

void split_group_rebind(struct slot *s)
{
	if (s->split_group)
		s->split_group->partition[0].device_id = s->device_id;
}

int split_group_fits(const struct slot *s, struct fw_err *err)
{
	const struct split_group *c = s->split_group;
	for (int p = 1; c && p < c->n_partitions; p++) {
		int64_t first = c->partition[0].device_id, device = c->partition[p].device_id;
		int fits = device == first ? 1 : store_class_same(s->host->txn->db, first, device, err);
		if (fits != 1)
			return fits < 0 ? -1
					: err_set(err, ERR_CONFLICT, "the devices of its partitions are no longer of one class");
	}
	return 0;
}

static void split_group_free(struct split_group *c)
{
	for (int i = 0; i < c->n_partitions; i++)
		free(c->partition[i].share.cell);
	result_free(c->whole);
	free(c);
}

/*
 * True for kinds whose cells may be on different devices; a comparison of devices and a profile need one device. A job of a fork
 * stays on one device, because each partition of a split job has the job's whole limit of device time.
 */
static bool may_split(const struct slot *s)
{
	enum jobkind kind = s->job.kind;
	return (kind == JOBKIND_COMPARE || kind == JOBKIND_BISECT) && !s->job.device_uuid[0] && !plan_is_benchmark(&s->plan) &&
	       !s->plan.request.side[1].untrusted && !config_worker_is_on_call(s->worker);
}

int split_group_could_help(struct slot *s, const struct slot *leader, struct msg_device *device, int64_t *id, struct fw_err *err)
{
	struct store_job job;
	if (s == leader || s->phase != PHASE_FREE || !s->has_hello || config_worker_is_on_call(s->worker) ||
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

int split_group_log_partitions(
	const struct split_group *c, const struct slot *leader, const char *what, int first, struct fw_err *err)
{
	struct buf line;
	buf_init(&line, 4096);
	buf_printf(&line, "%s:", what);
	for (int p = first; p < c->n_partitions; p++)
		buf_printf(&line, "%s %d cells on %s", p > first ? "," : "", c->partition[p].share.n,
			c->partition[p].slot->device.uuid);
	int result = txn_begin(leader->host->txn, err);
	if (result == 0)
		result = txn_end(leader->host->txn,
			store_job_log(leader->host->txn->db, leader->job.id, clock_utc_ms(), line.data, err), err);
	buf_fini(&line);
	return result;
}

void split_group_plan(const struct split_group *c, const struct plan *whole, const struct share *s, struct plan *out)
{
	plan_copy_cells(whole, s->cell, s->n, out);
	out->request.sentinels_elsewhere = s->elsewhere;
	out->request.sustained_runs = s->requested;
	if (c->confirms)
		out->request.rule.confirm = false; /* each partition decides by its own first set; another device confirms */
}

/* Quick jobs and CPU devices have no sustained runs. */
static bool has_sustained_runs(const struct slot *leader)
{
	return !leader->job.quick && leader->device.kind != DEVICE_CPU;
}

static void partition_plan(struct split_group *c, struct slot *leader)
{
	int n = leader->plan.request.n_cells, *partition_of = mem_alloc_zero((size_t)n, sizeof *partition_of);
	struct share share[PLAN_PARTITIONS_MAX] = { { .n = 0 } };
	plan_partition(&leader->plan, c->n_partitions, partition_of);
	for (int p = 0; p < c->n_partitions; p++) {
		share[p].cell = c->partition[p].share.cell = mem_alloc_zero((size_t)n, sizeof *share[p].cell);
		for (int i = 0; i < n; i++)
			if (partition_of[i] == p)
				share[p].cell[share[p].n++] = i;
	}
	if (has_sustained_runs(leader))
		sentinels_assign(&leader->plan, share, c->n_partitions);
	for (int p = 0; p < c->n_partitions; p++) {
		c->partition[p].share = share[p];
		if (p > 0)
			split_group_plan(c, &leader->plan, &share[p], &c->partition[p].slot->plan);
	}
	free(partition_of);
}

/* The leader's plan becomes that of its partition, and the result gets the whole plan. */
static void make_leader(struct split_group *c, struct slot *leader)
{
	struct plan mine;
	split_group_plan(c, &leader->plan, &c->partition[0].share, &mine);
	c->whole = result_new(&leader->plan);
	leader->plan = mine;
	c->whole->cell_device = mem_alloc_zero((size_t)c->whole->plan.request.n_cells + 1, sizeof *c->whole->cell_device);
	c->whole->confirmed_on = mem_alloc_zero((size_t)c->whole->plan.request.n_cells + 1, sizeof *c->whole->confirmed_on);
}

void split_group_recruit(
	struct slot *s, const struct slot *leader, struct split_group *c, const struct msg_device *device, int64_t device_id)
{
	s->split_group = c;
	s->device = *device;
	s->device_id = device_id;
	s->job = leader->job;
	s->state = leader->state;
	s->measures = false;
	memcpy(s->repo_path, leader->repo_path, sizeof s->repo_path);
}

/* Undo a creation that failed: no worker has a job of the split group yet. */
static void disband(struct split_group *c)
{
	for (int p = 1; p < c->n_partitions; p++) {
		struct slot *s = c->partition[p].slot;
		plan_fini(&s->plan);
		plan_init(&s->plan);
		s->job.id = 0;
		s->device.uuid[0] = 0;
		s->split_group = NULL;
	}
	c->partition[0].slot->split_group = NULL;
	split_group_free(c);
}

int split_group_gather(struct slot *leader, struct fw_err *err)
{
	const struct config *config = leader->host->config;
	int most = leader->plan.request.n_cells < PLAN_PARTITIONS_MAX ? leader->plan.request.n_cells : PLAN_PARTITIONS_MAX,
	    result = 0;
	if (!may_split(leader) || !(config->split || config->confirm_elsewhere))
		return 0;
	struct split_group *c = mem_alloc_zero(1, sizeof *c);
	c->partition[c->n_partitions++] = (struct split_group_partition){ .slot = leader, .device_id = leader->device_id };
	int others = config->confirm_elsewhere && !leader->job.quick
			     ? store_class_has_other(leader->host->txn->db, leader->device_id, err)
			     : 0;
	c->confirms = others == 1;
	result = others < 0 ? -1 : 0;
	for (int i = 0; config->split && c->n_partitions < most && result == 0; i++) {
		struct msg_device device;
		int64_t id;
		struct slot *s = leader->host->nth_slot(leader->host->arg, i);
		int helps = s ? split_group_could_help(s, leader, &device, &id, err) : 0;
		if (!s)
			break;
		if (helps < 0)
			result = -1;
		if (helps != 1)
			continue;
		split_group_recruit(s, leader, c, &device, id); /* its device is in use from now on */
		c->partition[c->n_partitions++] = (struct split_group_partition){ .slot = s, .device_id = id };
	}
	leader->split_group = c;
	bool is_needed = c->n_partitions > 1 || c->confirms;
	if (result == 0 && is_needed)
		partition_plan(c, leader);
	if (result == 0 && c->n_partitions > 1)
		result = split_group_log_partitions(c, leader, "split", 0, err);
	if (result != 0 || !is_needed) {
		disband(c);
		return result;
	}
	make_leader(c, leader);
	for (int p = 1; p < c->n_partitions; p++)
		if (slot_open_helper(c->partition[p].slot, err) != 0)
			return -1; /* the leader ends its job, and the split group with it */
	return 0;
}

static struct split_group_partition *find_partition(struct split_group *c, const struct slot *s)
{
	for (int p = 0; p < c->n_partitions; p++)
		if (c->partition[p].slot == s && !c->partition[p].is_done)
			return &c->partition[p];
	return NULL;
}

/* The result names the leader's worker; each cell names its device. */
static void copy_device(struct split_group *c, const struct slot *leader, const struct result *partition)
{
	c->whole->device = partition->device;
	c->whole->device_id = leader->device_id;
	snprintf(c->whole->isolation, sizeof c->whole->isolation, "%s", leader->hello.isolation);
	snprintf(c->whole->worker_version, sizeof c->whole->worker_version, "%s", leader->hello.version);
}

static bool has_times(const struct result *partition, int cell)
{
	for (int i = 0; i < partition->n_cells; i++)
		if (partition->cell[i]->cell == cell)
			return true;
	return false;
}

int split_group_take(struct slot *s, struct result *partition, struct fw_err *err)
{
	struct split_group *c = s->split_group;
	struct slot *leader = split_group_leader(s);
	struct split_group_partition *p = find_partition(c, s);
	bool is_second = c->n_first > 0;
	const struct share *share = &p->share;
	for (int i = 0; i < share->n; i++)
		if (!is_second)
			c->whole->cell_device[share->cell[i]] = p->device_id;
		else if (c->whole->cell_device[share->cell[i]] != p->device_id && has_times(partition, i))
			c->whole->confirmed_on[share->cell[i]] = p->device_id;
	p->share.sustained_runs = partition->done.sustained_runs;
	if (p == &c->partition[0])
		copy_device(c, s, partition);
	int result = result_join(c->whole, partition, share->cell, share->n, is_second ? 2 : 0, err);
	result_free(partition);
	p->is_done = true;
	c->n_done++;
	if (s != leader) {
		p->slot = NULL;
		s->split_group = NULL;
	}
	return result;
}

int split_group_continue(struct slot *leader, struct result **whole, struct fw_err *err)
{
	struct split_group *c = leader->split_group;
	*whole = NULL;
	if (c->n_done == c->n_partitions && c->n_first == 0 && c->n_again < AGAIN_MAX &&
		split_group_repeat_sentinels(c, leader, err) != 0)
		return -1;
	if (c->n_done == c->n_partitions && c->confirms && c->n_first == 0 && split_group_confirm(c, leader, err) != 0)
		return -1;
	if (c->n_done < c->n_partitions)
		return 0;
	*whole = c->whole;
	c->whole = NULL;
	result_end(*whole);
	return 0;
}

void split_group_dismiss(struct slot *leader)
{
	struct split_group *c = leader->split_group;
	if (!c || c->partition[0].slot != leader)
		return;
	leader->split_group = NULL;
	for (int p = 1; p < c->n_partitions; p++)
		if (c->partition[p].slot && c->partition[p].slot != leader) {
			c->partition[p].slot->split_group = NULL;
			slot_cancel_partition(c->partition[p].slot);
		}
	split_group_free(c);
}

void split_group_forget(struct slot *s)
{
	struct split_group *c = s->split_group;
	if (!c)
		return;
	s->split_group = NULL;
	if (c->partition[0].slot != s) {
		find_partition(c, s)->slot = NULL;
		return;
	}
	for (int p = 1; p < c->n_partitions; p++)
		if (c->partition[p].slot)
			c->partition[p].slot->split_group = NULL;
	split_group_free(c);
}
