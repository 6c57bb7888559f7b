/** job_request.h - what somebody wants measured, as it is handed in. */
#ifndef CORE_ASK_JOB_REQUEST_H
#define CORE_ASK_JOB_REQUEST_H

#include <stdbool.h>

struct job_request {
	const char *repo;        /* name in the configuration */
	const char *target;      /* commit (40 or 64 digits, or at least 7 that are unambiguous here) or branch */
	const char *base;        /* likewise; NULL or "": found by the rules */
	const char *suite;       /* NULL or "": as configured, else as the manifest says */
	const char *device_kind; /* NULL or "": any */
	const char *cells_glob;  /* NULL or "": all cells */
	const char *base_provider, *target_provider;   /* NULL or "": the module's default */
	const char *base_config, *target_config;       /* NULL or "": the provider chooses */
	const char *base_toolchain, *target_toolchain; /* folders of compilers; NULL or "": the worker's own */
	const char *base_flags, *target_flags;         /* words that the compilers get last; NULL or "": none */
	bool quick;
	bool every_cell;       /* of a profile: each cell that fits, instead of the three that lost most */
	int alert, comparison; /* of a profile: whose sides and worst cells; 0: those that are named above */
};

#endif
