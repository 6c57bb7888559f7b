/* side.c - the five steps of the kernel ABI, with checked answers. */
#include "runner/internal.h"

/* ---- sim_traits: Five traits, found by name. ---- */

/* Return the number after NAME=, else 0. */
static double trait(const char *config, const char *name)
{
	size_t len = strlen(name);
	for (const char *at = strstr(config, name); at; at = strstr(at + len, name)) {
		if ((at > config && at[-1] != ' ') || at[len] != '=')
			continue;
		double value = strtod(at + len + 1, NULL);
		return value > 0 && value < 1e6 ? value : 0;
	}
	return 0;
}

/* Fill the traits of `out` from `config`, except its flops. Unreadable values are ignored. */
static void sim_traits_read(const char *config, struct device_work *out)
{
	out->power_w = trait(config, "SIM_POWER_W");
	out->host_us = trait(config, "SIM_HOST_US");
	out->slow_share = trait(config, "SIM_SLOW_PCT") / 100;
	out->slow_factor = trait(config, "SIM_SLOW_FACTOR");
	out->once_factor = trait(config, "SIM_ONCE_FACTOR");
}

/* ---- side ---- */

/* Only the first CANDIDATES_MAX configurations of a search are recorded. */
enum { CANDIDATES_MAX = 4096, WHY_SIZE = 256 };
#define CANDIDATE_MS_MAX 1e6

/* Device sim: share of a call's time for each phase other than the main kernel. */
#define SIM_OTHER_PHASE 0.02

int failure_set(struct failure *f, const char *name, const char *format, ...)
{
	if (f->name[0])
		return -1;
	snprintf(f->name, sizeof f->name, "%s", name);
	va_list args;
	va_start(args, format);
	vsnprintf(f->detail, sizeof f->detail, format, args);
	va_end(args);
	return -1;
}

int failure_device(struct failure *f, const struct problem *p, const struct fw_err *err)
{
	struct fw_err broken = { 0 };
	if (p->ops->wait(p->dev, &broken) != 0) {
		f->lost = true;
		return failure_set(f, "crash", "%.500s", broken.text);
	}
	return failure_set(f, "device", "%.500s", err->text);
}

int side_load(struct side *s, enum role role, const char *module, const char *provider, struct failure *f)
{
	memset(s, 0, sizeof *s);
	s->role = role;
	snprintf(s->provider_name, sizeof s->provider_name, "%s", provider);
	struct fw_err err = { 0 };
	if (module_open(&s->module, module, &err) != 0)
		return failure_set(f, "abi", "%.500s", err.text);
	s->loaded = true;
	return 0;
}

void side_unload(struct side *s)
{
	side_unplan(s);
	tried_fini(&s->tried);
	module_close(&s->module);
	s->loaded = false;
}

/* Set the failure for a status other than FW_OK of plan, bind or enqueue. */
static int set_refused(struct side *s, const char *step, int status, const char *why, struct failure *f)
{
	if (!*why && s->plan && s->provider->error) {
		const char *text = s->provider->error(s->plan);
		why = text ? text : "";
	}
	const char *name = status == FW_UNSUPPORTED ? "unsupported" : status == FW_INVALID ? "abi" : "crash";
	const char *words = status == FW_UNSUPPORTED ? "is not supported"
			    : status == FW_INVALID   ? "was refused as a broken contract"
						     : "failed";
	return failure_set(
		f, name, "%.47s: %s %s%s%.300s (status %d)", s->provider->name, step, words, *why ? ": " : "", why, status);
}

static int check_info(struct side *s, const struct fw_info *info, struct failure *f)
{
	if (info->phases == 0 || (info->phases & ~(uint32_t)FW_ALL) != 0)
		return failure_set(f, "abi", "%.47s: plan declares phases 0x%x", s->provider->name, info->phases);
	if ((info->once & ~info->phases) != 0)
		return failure_set(f, "abi", "%.47s: plan declares phases 0x%x as done once, but does not have 0x%x of them",
			s->provider->name, info->once, info->once & ~info->phases);
	if (info->workspace_bytes > (uint64_t)1 << 37 || info->persist_bytes > (uint64_t)1 << 37)
		return failure_set(f, "abi", "%.47s: plan requests %llu + %llu bytes of workspace", s->provider->name,
			(unsigned long long)info->workspace_bytes, (unsigned long long)info->persist_bytes);
	return 0;
}

/* Store the provider's report of its search. Invalid times count as unknown. */
static void take_tried(struct side *s, const struct fw_info *info)
{
	/* a library of an earlier header has a shorter struct and passes its size */
	bool is_reported = info->struct_size >= sizeof *info && info->candidate && info->n_candidates;
	size_t n = is_reported && info->n_candidates < CANDIDATES_MAX ? (size_t)info->n_candidates
		   : is_reported                                      ? CANDIDATES_MAX
								      : 0;
	tried_fini(&s->tried);
	if (n == 0)
		return;
	s->tried.config = mem_alloc_zero(n, sizeof *s->tried.config);
	for (size_t i = 0; i < n; i++) {
		struct tried_config *c = &s->tried.config[i];
		const char *config = info->candidate[i].config;
		double ms = info->candidate[i].ms;
		snprintf(c->config, sizeof c->config, "%s", config ? config : "");
		c->ms = ms > 0 && ms < CANDIDATE_MS_MAX ? ms : 0;
	}
	s->tried.n = (int)n;
	s->tried.of = info->n_candidates < TRIED_OF_MAX ? (int)info->n_candidates : TRIED_OF_MAX;
	tried_sort(&s->tried);
	if (s->tried.n > TRIED_MAX)
		s->tried.n = TRIED_MAX;
}

void side_count(struct side *s)
{
	const struct problem *p = s->problem;
	s->flops = case_flops(s->abi == &p->abi ? &p->cell : &p->forward_cell);
	if (!s->provider->count)
		return;
	struct fw_io io = { .struct_size = sizeof io, .n_slots = (uint32_t)p->family->n_slots, .slot = p->host_tensor };
	struct fw_work work = { .struct_size = sizeof work };
	if (module_count(&s->module, s->provider, s->abi, s->config[0] ? s->config : NULL, &io, &work) != FW_OK)
		return;
	s->has_work = true;
	s->work = work;
	if (work.flops_issued > 0)
		s->flops = work.flops_issued;
}

static int divide_phases(struct side *s, enum direction direction, uint32_t once, struct failure *f)
{
	const struct problem *p = s->problem;
	bool is_called = direction == p->cell.direction;
	once &= is_called && p->family->once ? p->family->once(p->cell.shape.bytes, direction) : 0;
	uint32_t rest = once ? FW_ALL & ~once : FW_ALL;
	s->ahead = s->behind = 0;
	s->timed = rest;
	if (is_called && direction == DIRECTION_ONCE) {
		if (once == 0)
			return failure_set(
				f, "unsupported", "%.47s has no phase that is done once for this problem", s->provider->name);
		s->timed = once;
		s->behind = rest;
	} else {
		s->ahead = once;
	}
	return 0;
}

/* Plan with `config`; NULL: the provider chooses. Returns the provider's status. Shape: why[WHY_SIZE]. */
static int plan_once(struct side *s, const char *config, struct fw_info *info, char *why)
{
	const struct device_ops *ops = s->problem->ops;

	*info = (struct fw_info){ .struct_size = sizeof *info };
	why[0] = '\0';
	int status = module_plan(
		&s->module, s->provider, s->abi, config, ops->plan_index(s->problem->dev), &s->plan, info, why, WHY_SIZE);
	why[WHY_SIZE - 1] = '\0';
	if (status != FW_OK)
		s->plan = NULL;
	return status;
}

/*
 * Plan a request that is no complete configuration of the provider: with the provider's choice, in which the requested
 * values replace those of the keys that it has. Writes that configuration to `fitted`.
 */
static int plan_fitted(struct side *s, struct fw_info *info, char *why, char fitted[sizeof s->config])
{
	char own[sizeof s->config];
	int status = plan_once(s, NULL, info, why);

	if (status != FW_OK || !s->plan)
		return status;
	snprintf(own, sizeof own, "%s", info->config ? info->config : "");
	if (!config_fit(s->pin, own, fitted, sizeof s->config))
		snprintf(fitted, sizeof s->config, "%s", own);
	if (strcmp(own, fitted) == 0)
		return FW_OK;
	if (s->provider->destroy)
		s->provider->destroy(s->plan);
	s->plan = NULL;
	return plan_once(s, fitted, info, why);
}

int side_plan(struct side *s, struct problem *p, enum direction direction, struct failure *f)
{
	struct fw_err err = { 0 };
	s->problem = p;
	if (p->family->fits && p->family->fits(p->cell.shape.bytes, direction, &err) != 0)
		return failure_set(f, "unsupported", "%.500s", err.text);
	s->abi = direction == p->cell.direction ? &p->abi : &p->forward_abi;
	s->provider = module_choose(&s->module, s->provider_name, p->ops->abi_device, s->abi, &err);
	if (!s->provider)
		return failure_set(f, err.code == ERR_NOT_FOUND ? "provider" : "unsupported", "%.500s", err.text);

	struct fw_info info;
	char why[WHY_SIZE], fitted[sizeof s->config] = "";
	const char *pin = direction == p->cell.direction ? s->pin : NULL;
	int status = plan_once(s, pin, &info, why);
	if (status == FW_UNSUPPORTED && pin && s->is_request) {
		status = plan_fitted(s, &info, why, fitted);
		pin = fitted[0] ? fitted : NULL;
	}
	if (status != FW_OK)
		return set_refused(s, pin ? "plan with the requested configuration" : "plan", status, why, f);
	if (!s->plan)
		return failure_set(f, "abi", "%.47s: plan returned FW_OK but no plan", s->provider->name);
	if (check_info(s, &info, f) != 0)
		return -1;
	s->phases = info.phases;
	if (divide_phases(s, direction, info.once, f) != 0)
		return -1;
	s->workspace_bytes = info.workspace_bytes;
	s->persist_bytes = info.persist_bytes;
	snprintf(s->config, sizeof s->config, "%s", info.config ? info.config : "");
	if (direction == p->cell.direction)
		take_tried(s, &info);
	if (pin && !config_contains_all(pin, s->config))
		return failure_set(f, "abi",
			"%.47s: plan was given the configuration `%.150s` and chose `%.150s` (see doc/troubleshooting.md#requested-configuration)",
			s->provider->name, pin, s->config);
	if (s->workspace_bytes && p->ops->alloc(p->dev, s->workspace_bytes, &s->workspace, &err) != 0)
		return failure_device(f, p, &err);
	if (s->persist_bytes && (p->ops->alloc(p->dev, s->persist_bytes, &s->persist, &err) != 0 ||
					p->ops->fill_bytes(p->dev, s->persist, 0, s->persist_bytes, &err) != 0))
		return failure_device(f, p, &err);
	if (p->ops->work)
		side_count(s);
	return 0;
}

void side_unplan(struct side *s)
{
	if (s->plan && s->provider->destroy)
		s->provider->destroy(s->plan);
	if (s->problem) {
		s->problem->ops->release(s->problem->dev, s->workspace);
		s->problem->ops->release(s->problem->dev, s->persist);
	}
	s->problem = NULL;
	s->abi = NULL;
	s->provider = NULL;
	s->plan = NULL;
	s->workspace = s->persist = NULL;
	s->workspace_bytes = s->persist_bytes = 0;
	s->phases = s->ahead = s->timed = s->behind = 0;
	s->has_work = false;
	s->pass_time = false;
}

int side_plan_again(struct side *s, struct failure *f)
{
	struct problem *p = s->problem;
	char chosen[sizeof s->config];
	memcpy(chosen, s->config, sizeof chosen);
	if (!chosen[0] || strlen(chosen) == sizeof chosen - 1)
		return failure_set(f, "abi", "%.47s: reports a search, but no configuration of 1 to %zu bytes", s->provider->name,
			sizeof chosen - 2);
	struct tried tried = s->tried; /* from the first plan: this one searches nothing */
	s->tried = (struct tried){ 0 };
	side_unplan(s);
	s->pin = chosen;
	s->is_request = false;
	int result = side_plan(s, p, p->cell.direction, f);
	s->pin = NULL;
	tried_fini(&s->tried);
	s->tried = tried;
	if (result == 0 && strcmp(s->config, chosen) != 0)
		result = failure_set(f, "abi",
			"%.47s: plan was given the configuration `%.150s` and chose `%.150s` (see doc/troubleshooting.md#requested-configuration)",
			s->provider->name, chosen, s->config);
	return result;
}

int side_bind(struct side *s, struct failure *f)
{
	const struct problem *p = s->problem;
	memcpy(s->tensor, p->tensor, sizeof s->tensor);
	const struct cell *cell = s->abi == &p->abi ? &p->cell : &p->forward_cell;
	for (int i = 0; i < p->family->n_slots; i++)
		if (p->family->use(cell->shape.bytes, cell->direction, i) == SLOT_UNUSED)
			s->tensor[i] = (struct fw_tensor){ 0 };
	struct fw_io io = {
		.struct_size = sizeof io,
		.n_slots = (uint32_t)p->family->n_slots,
		.slot = s->tensor,
		.workspace = s->workspace,
		.persist = s->persist,
	};
	int status = s->provider->bind(s->plan, &io);
	return status == FW_OK ? 0 : set_refused(s, "bind", status, "", f);
}

/* Return FLOPs on device sim: a small fixed share for other phases, and the remaining reported FLOPs for the main kernel. */
static double flops_of(const struct side *s, uint32_t phases)
{
	uint32_t have = s->phases & phases;
	uint32_t main_phase = s->problem->family->main_phase;
	int others = __builtin_popcount(s->phases & ~main_phase), requested = __builtin_popcount(have & ~main_phase);
	double run = s->phases & main_phase ? 1 - SIM_OTHER_PHASE * others : 0;
	double share = (have & main_phase ? run : 0) +
		       (s->phases & main_phase ? SIM_OTHER_PHASE : 1.0 / (others ? others : 1)) * requested;
	return share * s->flops;
}

int side_enqueue(struct side *s, uint32_t phases, struct failure *f)
{
	const struct problem *p = s->problem;
	own_code_ran(s->role);
	if (s->pass_time && p->ops->work) {
		struct device_work work = { .flops = phases == FW_ALL ? s->flops : flops_of(s, phases) };
		sim_traits_read(s->config, &work);
		if (phases == s->timed && s->behind && work.once_factor > 0)
			work.flops *= work.once_factor;
		p->ops->work(p->dev, &work);
		return 0;
	}
	int status = s->provider->enqueue(s->plan, phases, p->ops->stream(p->dev));
	return status == FW_OK ? 0 : set_refused(s, "enqueue", status, "", f);
}

static bool is_unseen(const struct problem *p, int slot)
{
	return p->slot[slot].use == SLOT_INPUT &&
	       p->family->change(p->cell.shape.bytes, p->cell.direction, slot) == SLOT_ROLLS_FIRST;
}

int side_ahead(struct side *s, int filler, struct failure *f)
{
	struct problem *p = s->problem;
	struct fw_err err = { 0 };
	if (!s->ahead || s->pass_time)
		return 0;
	for (int i = 0; i < p->family->n_slots; i++)
		if (is_unseen(p, i) && p->ops->fill_bytes(p->dev, p->slot[i].data, filler, p->slot[i].bytes, &err) != 0)
			return failure_device(f, p, &err);
	if (side_enqueue(s, s->ahead, f) != 0)
		return -1;
	for (int i = 0; i < p->family->n_slots; i++)
		if (is_unseen(p, i) && variant_slot(p, i, &p->now, &err) != 0)
			return failure_device(f, p, &err);
	return 0;
}

int side_timed(struct side *s, struct failure *f)
{
	return side_enqueue(s, s->timed, f) == 0 ? own_code_check(OWN_CODE_IMPORTS, f) : -1;
}

int side_behind(struct side *s, struct failure *f)
{
	return s->behind && !s->pass_time ? side_enqueue(s, s->behind, f) : 0;
}

int side_mark(struct side *s, int slot, struct failure *f)
{
	struct fw_err err = { 0 };

	return s->problem->ops->mark(s->problem->dev, slot, &err) == 0 ? 0 : failure_device(f, s->problem, &err);
}

int side_wait(struct side *s, struct failure *f)
{
	struct fw_err err = { 0 };
	if (s->problem->ops->wait(s->problem->dev, &err) == 0)
		return 0;
	f->lost = true;
	return failure_set(f, "crash", "%.500s", err.text);
}

int side_stayed_inside(struct side *s, struct failure *f)
{
	const struct problem *p = s->problem;
	struct fw_err err = { 0 };
	void *which = NULL;
	if (p->ops->check_redzones(p->dev, &which, &err) != 0) {
		if (!which)
			return failure_device(f, p, &err);
		const char *name = which == s->workspace ? "its workspace"
				   : which == s->persist ? "its persistent workspace"
							 : problem_name(p, which);
		return failure_set(f, "oob",
			"wrote outside %s (bytes before or behind it changed; see doc/troubleshooting.md#out-of-bounds)",
			name ? name : "a buffer");
	}
	const char *modified;
	/* the outputs of a forward are inputs of the problem */
	if (s->abi != &p->abi)
		return 0;
	if (problem_modified(s->problem, &modified, &err) != 0)
		return failure_device(f, p, &err);
	if (modified)
		return failure_set(f, "oob", "wrote into its input %s", modified);
	return 0;
}

int side_call(struct side *s, const struct side_way *way, struct failure *f)
{
	struct problem *p = s->problem;
	struct fw_err err = { 0 };
	if (variant_inputs(p, way->inputs ? way->inputs : &p->named, &err) != 0)
		return failure_device(f, p, &err);
	if (side_ahead(s, way->poison, f) != 0 || problem_poison(p, way->poison, f) != 0)
		return -1;
	if ((s->workspace && p->ops->fill_bytes(p->dev, s->workspace, way->workspace_fill, s->workspace_bytes, &err) != 0) ||
		(way->cold && (p->ops->scrub(p->dev, &err) != 0 || p->ops->stamp(p->dev, 0, 0, &err) != 0)) ||
		p->ops->mark(p->dev, 0, &err) != 0)
		return failure_device(f, p, &err);
	for (uint32_t bit = 1; way->one_by_one && bit < FW_ALL; bit <<= 1)
		if ((s->phases & s->timed & bit) && side_enqueue(s, bit, f) != 0)
			return -1;
	if (!way->one_by_one && side_timed(s, f) != 0)
		return -1;
	if (p->ops->mark(p->dev, 1, &err) != 0 || (way->cold && p->ops->stamp(p->dev, 0, 1, &err) != 0))
		return failure_device(f, p, &err);
	if (side_behind(s, f) != 0 || side_wait(s, f) != 0)
		return -1;
	return side_stayed_inside(s, f);
}
