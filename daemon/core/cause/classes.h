/** classes.h - the classes of evidence; each looks for its own, and adds what it finds. */
#ifndef CORE_CAUSE_CLASSES_H
#define CORE_CAUSE_CLASSES_H

#include "core/cause/finding.h"

/* of the call */
/** Nodes that only one side has (node.c). Units: `left_ms` what is not explained by kernels of both sides, signed. */
void node_find(const struct pairing *p, double left_ms, struct findings *f);
/** A configuration that differs, by how the target runs with the base's (given.c). */
void setting_find(const struct cause_evidence *e, struct findings *f);
/** The clock's part and the host's, which the comparison has measured (given.c). */
void given_find(const struct cause_evidence *e, struct findings *f);

/* of a kernel of both sides */
void pipe_find(const struct look *l, struct findings *f);
void spill_find(const struct look *l, struct findings *f);
void shared_find(const struct look *l, struct findings *f);
void traffic_find(const struct look *l, struct findings *f);
void launch_find(const struct look *l, struct findings *f);
void wait_find(const struct look *l, struct findings *f);
/** Whether machine code or ptxas show that its products became serial, or ceased to be; in words (wait.c). */
bool wait_serial(const struct look *l, char what[FINDING_SIZE]);
/** What machine code and launches tell without counters (machinecode.c). */
void machinecode_find(const struct look *l, struct findings *f);

#endif
