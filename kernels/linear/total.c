/*
 * total.c - the parts of a call: one for a single direction; for the total, forward, dgrad and wgrad with consecutive ranges of
 * workspace and persist, so that their phases may also run one by one. Their configurations are one string, joined by " | ".
 */
#include "linear/total.h"

#include <stdlib.h>

enum { PARTS = 3, CONFIG_BYTES = 160 };

static const char between[] = " | ";

struct part {
	struct fw_plan *plan;
	struct fw_info info;
	uint64_t workspace_at, persist_at;
};

struct fw_plan {
	const struct fw_provider *of;
	int n;
	struct part part[PARTS];
	uint64_t workspace_bytes, persist_bytes;
	char config[CONFIG_BYTES];
	char error[CONTRACT_TEXT_BYTES];
};

static const char *const names[PARTS] = { "forward", "dgrad", "wgrad" };

static int count_parts(const struct fw_problem *problem)
{
	return problem && problem->direction == FW_TOTAL ? PARTS : 1;
}

/* The problem of part `i`. */
static struct fw_problem part_of(const struct fw_problem *problem, int i)
{
	static const int directions[PARTS] = { FW_FORWARD, FW_DGRAD, FW_WGRAD };
	struct fw_problem part = *problem;
	if (problem->direction == FW_TOTAL)
		part.direction = directions[i];
	return part;
}

/* Return a part's status as that of the whole; a reason is prefixed with the part's name. */
static int pass_on(int status, int n, int i, const char *inner, char *why, size_t why_size)
{
	if (status == FW_OK)
		return FW_OK;
	return n == 1 ? contract_refuse(status, why, why_size, "%s", inner)
		      : contract_refuse(status, why, why_size, "%s: %s", names[i], inner);
}

int total_can(const struct fw_provider *of, const struct fw_problem *problem, char *why, size_t why_size)
{
	const int n = count_parts(problem);
	int status = problem ? FW_OK : FW_INVALID;
	for (int i = 0; status == FW_OK && i < n; i++) {
		const struct fw_problem part = part_of(problem, i);
		char inner[CONTRACT_TEXT_BYTES] = "";
		status = pass_on(of->can(&part, inner, sizeof inner), n, i, inner, why, why_size);
	}
	return status;
}

/* The configuration in `config` for part `i`: NULL if the part is to choose. */
static const char *config_of(const char *config, int n, int i, char out[CONFIG_BYTES])
{
	if (!config || n == 1)
		return config;
	for (; i > 0; i--) {
		const char *const next = strstr(config, between);
		config = next ? next + strlen(between) : "";
	}
	const char *const end = strstr(config, between);
	snprintf(out, CONFIG_BYTES, "%.*s", end ? (int)(end - config) : (int)strlen(config), config);
	return out;
}

static int plan_part(
	struct fw_plan *p, const struct fw_problem *problem, const char *config, int index, int i, char *why, size_t size)
{
	const struct fw_problem part = part_of(problem, i);
	struct part *const q = &p->part[i];
	char mine[CONFIG_BYTES], inner[CONTRACT_TEXT_BYTES] = "";
	q->info.struct_size = sizeof q->info;
	const int status = p->of->plan(&part, config_of(config, p->n, i, mine), index, &q->plan, &q->info, inner, sizeof inner);
	if (status != FW_OK) {
		q->plan = NULL;
		return pass_on(status, p->n, i, inner, why, size);
	}
	q->workspace_at = p->workspace_bytes;
	q->persist_at = p->persist_bytes;
	p->workspace_bytes += (uint64_t)contract_align((int64_t)q->info.workspace_bytes);
	p->persist_bytes += (uint64_t)contract_align((int64_t)q->info.persist_bytes);
	return FW_OK;
}

/* Combine the parts' descriptions. */
static struct fw_info describe(struct fw_plan *p)
{
	struct fw_info all = p->part[0].info;
	size_t used = 0;
	if (p->n == 1)
		return all;
	all.phases = 0;
	for (int i = 0; i < p->n && used < sizeof p->config; i++) {
		const char *const config = p->part[i].info.config;
		all.phases |= p->part[i].info.phases;
		used += (size_t)snprintf(
			p->config + used, sizeof p->config - used, "%s%s", i ? between : "", config ? config : "");
	}
	all.once = 0; /* weights change with every step of training */
	all.workspace_bytes = p->workspace_bytes;
	all.persist_bytes = p->persist_bytes;
	all.config = p->config;
	all.candidate = NULL;
	all.n_candidates = 0;
	return all;
}

int total_plan(const struct fw_provider *of, const struct fw_problem *problem, const char *config, int index,
	struct fw_plan **out, struct fw_info *info, char *why, size_t why_size)
{
	if (!problem || !out || !info)
		return contract_refuse(FW_INVALID, why, why_size, "problem, plan and info must not be NULL");
	struct fw_plan *const p = calloc(1, sizeof *p);
	if (!p)
		return contract_refuse(FW_FAILED, why, why_size, "out of memory");
	p->of = of;
	p->n = count_parts(problem);
	int status = FW_OK;
	for (int i = 0; status == FW_OK && i < p->n; i++)
		status = plan_part(p, problem, config, index, i, why, why_size);
	if (status != FW_OK) {
		total_destroy(p);
		return status;
	}
	struct fw_info answer = describe(p);
	answer.struct_size = contract_answer_bytes(info->struct_size, sizeof answer);
	memcpy(info, &answer, answer.struct_size);
	*out = p;
	return FW_OK;
}

static int set_status(struct fw_plan *p, int i, int status)
{
	return pass_on(status, p->n, i, status == FW_OK ? "" : p->of->error(p->part[i].plan), p->error, sizeof p->error);
}

int total_bind(struct fw_plan *p, const struct fw_io *io)
{
	int status = p && io ? FW_OK : FW_INVALID;
	for (int i = 0; status == FW_OK && i < p->n; i++) {
		const struct part *const q = &p->part[i];
		struct fw_io mine = *io;
		p->error[0] = '\0';
		mine.workspace = io->workspace ? (unsigned char *)io->workspace + q->workspace_at : NULL;
		mine.persist = io->persist ? (unsigned char *)io->persist + q->persist_at : NULL;
		status = set_status(p, i, p->of->bind(q->plan, &mine));
	}
	return status;
}

int total_enqueue(struct fw_plan *p, uint32_t phases, void *stream)
{
	int status = p ? FW_OK : FW_INVALID;
	for (int i = 0; status == FW_OK && i < p->n; i++) {
		p->error[0] = '\0';
		status = set_status(p, i, p->of->enqueue(p->part[i].plan, phases, stream));
	}
	return status;
}

int total_count(const struct fw_provider *of, const struct fw_problem *problem, const char *config, const struct fw_io *host,
	struct fw_work *work)
{
	const int n = count_parts(problem);
	struct fw_work sum = { 0 };
	int status = of->count ? FW_OK : FW_UNSUPPORTED;
	for (int i = 0; status == FW_OK && i < n; i++) {
		const struct fw_problem part = part_of(problem, i);
		struct fw_work one = { .struct_size = sizeof one };
		char mine[CONFIG_BYTES];
		status = of->count(&part, config_of(config, n, i, mine), host, &one);
		if (i == 0)
			sum = one;
		else {
			sum.flops_issued += one.flops_issued;
			sum.bytes_moved += one.bytes_moved;
		}
	}
	if (status != FW_OK)
		return status;
	sum.struct_size = contract_answer_bytes(work->struct_size, sizeof sum);
	memcpy(work, &sum, sum.struct_size);
	return FW_OK;
}

const char *total_error(const struct fw_plan *p)
{
	return p ? p->error : "";
}

void total_destroy(struct fw_plan *p)
{
	for (int i = 0; p && i < p->n; i++)
		p->of->destroy(p->part[i].plan);
	free(p);
}
