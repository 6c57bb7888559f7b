/** job_request.h - a requested measurement, as submitted. */
#ifndef MODEL_JOB_REQUEST_H
#define MODEL_JOB_REQUEST_H

#include <stdbool.h>

struct job_request {
	const char *repo;        /* name in the configuration */
	const char *target;      /* commit (40 or 64 digits, or at least 7 that are unambiguous here) or branch */
	const char *base;        /* as target; NULL or "": found by the rules */
	const char *suite;       /* NULL or "": as configured, else as in the manifest */
	const char *device_kind; /* NULL or "": any */
	const char *cells_glob;  /* NULL or "": all cells */
	const char *base_provider, *target_provider;   /* NULL or "": the module's default */
	const char *base_config, *target_config;       /* NULL or "": the provider chooses */
	const char *base_toolchain, *target_toolchain; /* folders of compilers; NULL or "": the worker's own */
	const char *base_flags, *target_flags;         /* flags appended to compiler calls; NULL or "": none */
	bool quick;
	bool every_cell;       /* profile: every matching cell instead of the three largest regressions */
	int alert, comparison; /* profile: take sides and worst cells from this alert or comparison; 0: as named above */
};

#endif
