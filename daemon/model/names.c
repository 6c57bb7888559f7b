/* names.c - every closed list of names but the states of a job, whose transitions are in jobstate.c. */
#include "model/internal.h"

int name_find(const char *const *words, int n, const char *word)
{
	int i = 0;
	while (i < n && strcmp(words[i], word) != 0)
		i++;
	return i;
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

enum direction direction_from_name(const char *name)
{
	int d = DIRECTION_FORWARD;

	while (d < DIRECTIONS && strcmp(direction_names[d], name) != 0)
		d++;
	return d < DIRECTIONS ? (enum direction)d : 0;
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

const char *device_kind_name(enum device_kind kind)
{
	return kind < DEVICE_KINDS ? device_kind_names[kind] : "";
}

enum device_kind device_kind_from_name(const char *name)
{
	return (enum device_kind)name_find(device_kind_names, DEVICE_KINDS, name);
}

static const char *const devicestate_names[DEVICESTATE_N] = {
	[DEVICESTATE_OK] = "ok",
	[DEVICESTATE_PAUSED] = "paused",
	[DEVICESTATE_QUARANTINED] = "quarantined",
	[DEVICESTATE_HEALTH_CHECK] = "health_check",
	[DEVICESTATE_ABSENT] = "absent",
};

const char *devicestate_name(enum devicestate v)
{
	return v < DEVICESTATE_N ? devicestate_names[v] : "";
}

enum devicestate devicestate_from_name(const char *name)
{
	return (enum devicestate)name_find(devicestate_names, DEVICESTATE_N, name);
}

const char *const role_names[ROLES + 1] = {
	[ROLE_NONE] = "",
	[ROLE_BASE] = "base",
	[ROLE_TARGET] = "target",
	[ROLE_REFERENCE] = "reference",
	[ROLE_DEVICE] = "device",
	[ROLE_WORKER] = "worker",
};

const char *role_name(enum role role)
{
	return role < ROLES ? role_names[role] : "";
}

enum role role_from_name(const char *name)
{
	return (enum role)name_find(role_names, ROLES, name);
}

const char *const run_mode_names[RUN_MODES + 1] = {
	[RUN_CHECK] = "check",
	[RUN_TIME] = "time",
	[RUN_CAPTURE] = "capture",
	[RUN_PROFILE] = "profile",
	[RUN_AUDIT] = "audit",
	[RUN_IDLE] = "idle",
	[RUN_DEVICE_CHECK] = "device_check",
	[RUN_HEALTH_CHECK] = "health_check",
	[RUN_CLOCKS] = "clocks",
};

const char *run_mode_name(enum run_mode mode)
{
	return mode < RUN_MODES ? run_mode_names[mode] : "";
}

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

const char *jobkind_name(enum jobkind kind)
{
	return kind < JOBKIND_N ? jobkind_names[kind] : "";
}

enum jobkind jobkind_from_name(const char *name)
{
	return (enum jobkind)name_find(jobkind_names, JOBKIND_N, name);
}

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
};

const char *alertkind_name(enum alertkind v)
{
	return v < ALERTKIND_N ? alertkind_names[v] : "";
}

enum alertkind alertkind_from_name(const char *name)
{
	return (enum alertkind)name_find(alertkind_names, ALERTKIND_N, name);
}

static const char *const alertstate_names[ALERTSTATE_N] = {
	[ALERTSTATE_OPEN] = "open",
	[ALERTSTATE_ACKNOWLEDGED] = "acknowledged",
	[ALERTSTATE_ACCEPTED] = "accepted",
	[ALERTSTATE_RESOLVED] = "resolved",
	[ALERTSTATE_INVALID] = "invalid",
};

const char *alertstate_name(enum alertstate v)
{
	return v < ALERTSTATE_N ? alertstate_names[v] : "";
}

enum alertstate alertstate_from_name(const char *name)
{
	return (enum alertstate)name_find(alertstate_names, ALERTSTATE_N, name);
}

bool alertstate_is_live(enum alertstate v)
{
	return v == ALERTSTATE_OPEN || v == ALERTSTATE_ACKNOWLEDGED;
}
