/** run_mode.h - task of one runner process, and its name in the `run` line. */
#ifndef MODEL_RUN_MODE_H
#define MODEL_RUN_MODE_H

enum run_mode {
	RUN_CHECK,        /* check results of subjects in cells */
	RUN_TIME,         /* time them */
	RUN_CAPTURE,      /* single calls, for a profiler; only from the command line */
	RUN_PROFILE,      /* read counters of each kernel of a call */
	RUN_AUDIT,        /* time them by the clock of the waiting process */
	RUN_IDLE,         /* from here on probes of the device only: do other processes use it? */
	RUN_DEVICE_CHECK, /* its readings */
	RUN_HEALTH_CHECK, /* whether it computes and times correctly */
	RUN_CLOCKS,       /* its clock, repeatedly */
	RUN_MODES
};

/**
 * "check" "time" "capture" "profile" "audit" "idle" "device_check" "health_check" "clocks". Shape: ends with NULL. Those from
 * RUN_IDLE on are also names of device probes.
 */
extern const char *const run_mode_names[RUN_MODES + 1];

const char *run_mode_name(enum run_mode mode);

#endif
