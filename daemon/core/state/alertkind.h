/** alertkind.h - what an alert is about: of a commit what it lost, of a device why jobs wait for it. */
#ifndef CORE_STATE_ALERTKIND_H
#define CORE_STATE_ALERTKIND_H

enum alertkind {
	ALERTKIND_REGRESSION,     /* cells became slower */
	ALERTKIND_DRIFT,          /* so did the history, a little at a time */
	ALERTKIND_FAILING,        /* cells fail, or nothing can be measured */
	ALERTKIND_MISSING,        /* cells are gone */
	ALERTKIND_DEVICE_OFFLINE, /* a device does not answer */
	ALERTKIND_QUARANTINED,    /* a device is not trusted */
	ALERTKIND_ENVIRONMENT,    /* cells became slower by another compiler, library, driver or setting */
	ALERTKIND_N
};

/** As in rows and JSON; "" for ALERTKIND_N. */
const char *alertkind_name(enum alertkind v);
/** ALERTKIND_N for an unknown word. */
enum alertkind alertkind_from_name(const char *name);

#endif
