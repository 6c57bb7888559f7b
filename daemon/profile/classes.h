/** classes.h - the classes of evidence; each adds its findings. */
#ifndef PROFILE_CLASSES_H
#define PROFILE_CLASSES_H

#include "profile/finding.h"

/** Find nodes that only one side has (node.c). Units: `left_ms` signed, not explained by kernels of both sides. */
void node_find(const struct pairing *p, double left_ms, struct findings *f);
/** Find a different configuration, by the target's time with the base's (given.c). */
void setting_find(const struct cause_evidence *e, struct findings *f);
/** Find the shares of clock and host, measured by the comparison (given.c). */
void given_find(const struct cause_evidence *e, struct findings *f);

void pipe_find(const struct look *l, struct findings *f);
void spill_find(const struct look *l, struct findings *f);
void shared_find(const struct look *l, struct findings *f);
void traffic_find(const struct look *l, struct findings *f);
void launch_find(const struct look *l, struct findings *f);
void wait_find(const struct look *l, struct findings *f);
/** Return whether machine code or ptxas show that products became serial, or are no longer; in words (wait.c). */
bool wait_serial(const struct look *l, char what[FINDING_SIZE]);
/** Find differences of machine code and launches without counters (machinecode.c). */
void machinecode_find(const struct look *l, struct findings *f);

#endif
