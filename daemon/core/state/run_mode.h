/** run_mode.h - what one process of the runner is for, as an enum and as the word in its `run` line. */
#ifndef CORE_STATE_RUN_MODE_H
#define CORE_STATE_RUN_MODE_H

enum run_mode {
	RUN_CHECK,        /* of subjects, in cells: are results right? */
	RUN_TIME,         /* time them */
	RUN_CAPTURE,      /* calls by themselves, for a profiler; only from the command line */
	RUN_PROFILE,      /* read counters of each kernel of a call */
	RUN_AUDIT,        /* time them by the clock of whoever waits for the process */
	RUN_IDLE,         /* of the device alone, from here on: does somebody else use it? */
	RUN_DEVICE_CHECK, /* what it says of itself */
	RUN_HEALTH_CHECK, /* whether it still computes and times rightly */
	RUN_CLOCKS,       /* the clock that it runs at, again and again */
	RUN_MODES
};

/** "check" "run" "capture" "profile" "audit" "idle" "device_check" "health check" "clocks". Shape: ends with NULL. Those from RUN_IDLE on name states of a device, too. */
extern const char *const run_mode_names[RUN_MODES + 1];

const char *run_mode_name(enum run_mode mode);

#endif
