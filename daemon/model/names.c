/* names.c - all closed lists of names except the states of a job, whose transitions are in jobstate.c. */
#include "model/internal.h"

#include <stdio.h>

int name_find(const char *const *names, int n, const char *name)
{
	int i = 0;
	while (i < n && strcmp(names[i], name) != 0)
		i++;
	return i;
}

/* Define TYPE_name ("" for an invalid value) and TYPE_from_name (`n` for an unknown name) by the table TYPE_names. */
#define NAMED(type, n)                                                                                                           \
	const char *type##_name(enum type v)                                                                                     \
	{                                                                                                                        \
		return v < (n) ? type##_names[v] : "";                                                                           \
	}                                                                                                                        \
	enum type type##_from_name(const char *name)                                                                             \
	{                                                                                                                        \
		return (enum type)name_find(type##_names, n, name);                                                              \
	}

const char *const direction_names[DIRECTIONS] = { [DIRECTION_FORWARD] = "forward",
	[DIRECTION_BACKWARD] = "backward",
	[DIRECTION_DGRAD] = "dgrad",
	[DIRECTION_WGRAD] = "wgrad",
	[DIRECTION_TOTAL] = "total",
	[DIRECTION_ONCE] = "once" };

const char *direction_name(enum direction d)
{
	return d >= DIRECTION_FORWARD && d < DIRECTIONS ? direction_names[d] : "unknown";
}

const char *const series_names[SERIES_N + 1] = {
	[SERIES_DEVICE] = "device",
	[SERIES_CALL] = "call",
	[SERIES_PHASE] = "phase",
	[SERIES_SUSTAINED] = "sustained",
	[SERIES_PROCESS] = "process",
};

const char *series_name(enum series series)
{
	return series_names[series < SERIES_N ? series : SERIES_DEVICE];
}

enum series series_from_name(const char *name)
{
	int at = name_find(series_names, SERIES_N, name);
	return at < SERIES_N ? (enum series)at : SERIES_DEVICE;
}

static const char *const format_names[FORMAT_N] = {
	[FORMAT_FLOPWATCH] = "flopwatch",
	[FORMAT_FFA] = "ffa",
	[FORMAT_NVBENCH] = "nvbench",
	[FORMAT_GOOGLE_BENCHMARK] = "google-benchmark",
	[FORMAT_HYPERFINE] = "hyperfine",
	[FORMAT_TRITON] = "triton",
	[FORMAT_TORCHAO] = "torchao",
	[FORMAT_NCU] = "ncu",
	[FORMAT_NSYS] = "nsys",
	[FORMAT_CUTLASS] = "cutlass",
	[FORMAT_ROCPROF] = "rocprof",
	[FORMAT_HIPBLASLT] = "hipblaslt",
	[FORMAT_LIGER] = "liger",
	[FORMAT_PYTEST] = "pytest-benchmark",
	[FORMAT_ASV] = "asv",
	[FORMAT_CRITERION] = "criterion",
	[FORMAT_JMH] = "jmh",
	[FORMAT_LLAMA_BENCH] = "llama-bench",
	[FORMAT_TRITONBENCH] = "tritonbench",
	[FORMAT_TORCH_COMPARE] = "torch-compare",
	[FORMAT_CATCH2] = "catch2",
};

enum format format_from_name(const char *name)
{
	return (enum format)name_find(format_names, FORMAT_N, name);
}

bool format_has_times(enum format format)
{
	return format == FORMAT_GOOGLE_BENCHMARK;
}

const char *const device_kind_names[DEVICE_KINDS + 1] = {
	[DEVICE_ANY] = "",
	[DEVICE_CUDA] = "cuda",
	[DEVICE_CPU] = "cpu",
	[DEVICE_SIM] = "sim",
};

NAMED(device_kind, DEVICE_KINDS)

static const char *const devicestate_names[DEVICESTATE_N] = {
	[DEVICESTATE_OK] = "ok",
	[DEVICESTATE_PAUSED] = "paused",
	[DEVICESTATE_QUARANTINED] = "quarantined",
	[DEVICESTATE_HEALTH_CHECK] = "health_check",
	[DEVICESTATE_ABSENT] = "absent",
};

NAMED(devicestate, DEVICESTATE_N)

const char *const role_names[ROLES + 1] = {
	[ROLE_NONE] = "",
	[ROLE_BASE] = "base",
	[ROLE_TARGET] = "target",
	[ROLE_REFERENCE] = "reference",
	[ROLE_DEVICE] = "device",
	[ROLE_WORKER] = "worker",
};

NAMED(role, ROLES)

const char *const task_mode_names[TASK_MODES + 1] = {
	[TASK_CHECK] = "check",
	[TASK_TIME] = "time",
	[TASK_CAPTURE] = "capture",
	[TASK_PROFILE] = "profile",
	[TASK_AUDIT] = "audit",
	[TASK_IDLE] = "idle",
	[TASK_DEVICE_CHECK] = "device_check",
	[TASK_HEALTH_CHECK] = "health_check",
	[TASK_CLOCKS] = "clocks",
};

const char *const jobkind_names[JOBKIND_N] = {
	[JOBKIND_COMPARE] = "compare",
	[JOBKIND_SELFCHECK] = "selfcheck",
	[JOBKIND_REFERENCE] = "reference",
	[JOBKIND_VERIFY] = "verify",
	[JOBKIND_BACKFILL] = "backfill",
	[JOBKIND_CALIBRATE] = "calibrate",
	[JOBKIND_BISECT] = "bisect",
	[JOBKIND_PEER] = "peer",
	[JOBKIND_IMPORT] = "import",
	[JOBKIND_CONFIG] = "config",
	[JOBKIND_ENVIRONMENT] = "environment",
	[JOBKIND_PROFILE] = "profile",
};

NAMED(jobkind, JOBKIND_N)

bool jobkind_is_itself(enum jobkind kind)
{
	return kind == JOBKIND_SELFCHECK || kind == JOBKIND_CALIBRATE;
}

bool jobkind_is_side_by_side(enum jobkind kind)
{
	return kind == JOBKIND_PEER || kind == JOBKIND_CONFIG || kind == JOBKIND_ENVIRONMENT;
}

bool jobkind_is_upkeep(enum jobkind kind)
{
	return kind == JOBKIND_REFERENCE || kind == JOBKIND_VERIFY || kind == JOBKIND_BACKFILL || kind == JOBKIND_CALIBRATE ||
	       kind == JOBKIND_BISECT || kind == JOBKIND_PEER || kind == JOBKIND_PROFILE;
}

static const char *const alertkind_names[ALERTKIND_N] = {
	[ALERTKIND_REGRESSION] = "regression",
	[ALERTKIND_DRIFT] = "drift",
	[ALERTKIND_FAILING] = "failing",
	[ALERTKIND_MISSING] = "missing",
	[ALERTKIND_DEVICE_OFFLINE] = "device_offline",
	[ALERTKIND_QUARANTINED] = "quarantined",
	[ALERTKIND_ENVIRONMENT] = "environment",
	[ALERTKIND_COST] = "cost",
};

NAMED(alertkind, ALERTKIND_N)

static const char *const alertstate_names[ALERTSTATE_N] = {
	[ALERTSTATE_OPEN] = "open",
	[ALERTSTATE_ACKNOWLEDGED] = "acknowledged",
	[ALERTSTATE_ACCEPTED] = "accepted",
	[ALERTSTATE_RESOLVED] = "resolved",
	[ALERTSTATE_INVALID] = "invalid",
};

NAMED(alertstate, ALERTSTATE_N)

bool alertstate_is_live(enum alertstate v)
{
	return v == ALERTSTATE_OPEN || v == ALERTSTATE_ACKNOWLEDGED;
}

#define STEP_NAME(step, name) [step] = name,
const char *const device_step_names[DEVICE_STEPS + 1] = { DEVICE_STEP_LIST(STEP_NAME) };

enum device_step device_step_from_name(const char *name)
{
	return (enum device_step)name_find(device_step_names, DEVICE_STEPS, name);
}

void device_step_summary(const double s[DEVICE_STEPS], char *out, size_t size)
{
	bool written[DEVICE_STEPS] = { false };
	double sum = 0, rest = 0;
	size_t used = 0;

	for (int i = 0; i < DEVICE_STEPS; i++)
		sum += s[i];
	out[0] = '\0';
	for (int n = 0; n < DEVICE_STEPS && sum > 0; n++) {
		int longest = -1;

		for (int i = 0; i < DEVICE_STEPS; i++)
			if (!written[i] && (longest < 0 || s[i] > s[longest]))
				longest = i;
		written[longest] = true;
		if (s[longest] < sum / 100)
			rest += s[longest];
		else if (used < size)
			used += (size_t)snprintf(out + used, size - used, "%s%s %.0f %%", used ? ", " : "",
				device_step_names[longest], 100 * s[longest] / sum);
	}
	if (sum > 0 && rest >= sum / 200 && used < size)
		snprintf(out + used, size - used, "%srest %.0f %%", used ? ", " : "", 100 * rest / sum);
}
