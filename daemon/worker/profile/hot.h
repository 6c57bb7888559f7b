/** hot.h - where a kernel's warps wait, as notes beside its machine code, and its instructions at which they wait most. */
#ifndef WORKER_PROFILE_HOT_H
#define WORKER_PROFILE_HOT_H

#include "worker/machine/sassdiff_print.h"
#include "worker/profile/buffered.h"

/** What the warps of one kernel were seen at; NULL: it was not sampled. Own: borrowed from `s`. */
const struct msg_stalls *hot_find(const struct buffered_stalls *s, const char *symbol_sha256);
/** Whether its samples are more than a trifle of those of all kernels. */
bool hot_matters(const struct buffered_stalls *s, const struct msg_stalls *kernel);

/** A sassdiff_note_fn: "12.3 % gmma", of instructions that two of a thousand samples fell on. `arg`: struct hot_sides. */
struct hot_sides {
	const struct msg_stalls *of[2]; /* base, target; NULL none */
};
void hot_note(void *arg, int side, uint32_t address, char *note);

/** Fill in those with the most samples; `sass` and `code` give them words, NULL none. */
void hot_fill(struct evidence_hot *h, const struct msg_stalls *kernel, const struct sass *sass, const struct sass_function *code);

#endif
