/** oomkills.h - number of processes that the out-of-memory killer ended, on this machine and in this control group. */
#ifndef WORKER_SANDBOX_OOMKILLS_H
#define WORKER_SANDBOX_OOMKILLS_H

/** Counters at one moment; -1: not shown by the system. */
struct oomkills {
	long machine, group;
};

void oomkills_read(struct oomkills *out);
/** Return the value of `name` in lines of "NAME VALUE"; -1: no such line. */
long oomkills_count(const char *text, const char *name);

#endif
