/**
 * total.h - direction FW_TOTAL for any provider that has the other three: forward, dgrad and wgrad, one after the other, in one
 * call.
 * Other directions are passed through to the provider. A problem of which one part is unsupported is unsupported; the reason
 * names the part.
 */
#ifndef LINEAR_TOTAL_H
#define LINEAR_TOTAL_H

#include "linear/contract.h"

#include <stddef.h>

int total_can(const struct fw_provider *, const struct fw_problem *, char *why, size_t why_size);
int total_plan(const struct fw_provider *, const struct fw_problem *, const char *config, int index, struct fw_plan **,
	struct fw_info *, char *why, size_t why_size);
int total_bind(struct fw_plan *, const struct fw_io *);
int total_enqueue(struct fw_plan *, uint32_t phases, void *stream);
/** Err: FW_UNSUPPORTED if the provider does not count. */
int total_count(
	const struct fw_provider *, const struct fw_problem *, const char *config, const struct fw_io *host, struct fw_work *);
const char *total_error(const struct fw_plan *);
void total_destroy(struct fw_plan *);

/** Define `static const struct fw_provider with_total_NAME`: linear_NAME, which runs on `on`, with FW_TOTAL added. */
#define TOTAL_PROVIDER(which, on, called)                                                                                        \
	static int can_##which(const struct fw_problem *problem, char *why, size_t size)                                         \
	{                                                                                                                        \
		return total_can(&linear_##which, problem, why, size);                                                           \
	}                                                                                                                        \
	static int plan_##which(const struct fw_problem *problem, const char *config, int index, struct fw_plan **plan,          \
		struct fw_info *info, char *why, size_t size)                                                                    \
	{                                                                                                                        \
		return total_plan(&linear_##which, problem, config, index, plan, info, why, size);                               \
	}                                                                                                                        \
	static int count_##which(                                                                                                \
		const struct fw_problem *problem, const char *config, const struct fw_io *host, struct fw_work *work)            \
	{                                                                                                                        \
		return total_count(&linear_##which, problem, config, host, work);                                                \
	}                                                                                                                        \
	static const struct fw_provider with_total_##which = {                                                                   \
		.struct_size = sizeof(struct fw_provider),                                                                       \
		.device = (on),                                                                                                  \
		.family = FW_LINEAR,                                                                                             \
		.name = (called),                                                                                                \
		.can = can_##which,                                                                                              \
		.plan = plan_##which,                                                                                            \
		.bind = total_bind,                                                                                              \
		.enqueue = total_enqueue,                                                                                        \
		.count = count_##which,                                                                                          \
		.error = total_error,                                                                                            \
		.destroy = total_destroy,                                                                                        \
	}

#endif
