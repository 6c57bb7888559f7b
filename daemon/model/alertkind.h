/** alertkind.h - kinds of alerts: a commit's regression, or a device for which jobs wait. */
#ifndef MODEL_ALERTKIND_H
#define MODEL_ALERTKIND_H

enum alertkind {
	ALERTKIND_REGRESSION,
	ALERTKIND_DRIFT,   /* the history became slower in small steps */
	ALERTKIND_FAILING, /* cells fail, or nothing can be measured */
	ALERTKIND_MISSING, /* cells disappeared */
	ALERTKIND_DEVICE_OFFLINE,
	ALERTKIND_QUARANTINED,
	ALERTKIND_ENVIRONMENT, /* cells became slower by another compiler, library, driver or setting */
	ALERTKIND_N
};

const char *alertkind_name(enum alertkind v);
/** ALERTKIND_N for an unknown word. */
enum alertkind alertkind_from_name(const char *name);

#endif
