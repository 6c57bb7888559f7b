/**
 * oomkills.h - how many processes the system's out-of-memory killer has ended, on this machine and in this control group.
 */
#ifndef WORKER_BOX_OOMKILLS_H
#define WORKER_BOX_OOMKILLS_H

/** Counters of one moment; -1: the system does not show it. */
struct oomkills {
	long machine, group;
};

/** Read both. */
void oomkills_read(struct oomkills *out);
/** The value behind `name` in lines of "NAME VALUE"; -1: there is no such line. */
long oomkills_count(const char *text, const char *name);

#endif
