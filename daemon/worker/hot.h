/** hot.h - warp stalls of a kernel, as notes on its machine code, and the instructions with the most stalls. */
#ifndef WORKER_HOT_H
#define WORKER_HOT_H

#include "worker/sassdiff_print.h"
#include "worker/buffered.h"

/** Find the samples of one kernel; NULL: not sampled. Own: borrowed from `s`. */
const struct msg_stalls *hot_find(const struct buffered_stalls *s, const char *symbol_sha256);
/** Return whether its samples are a relevant share of all. */
bool hot_matters(const struct buffered_stalls *s, const struct msg_stalls *kernel);

/**
 * Write a note such as "12.3 % gmma" for instructions with at least two of a thousand samples (a sassdiff_note_fn). `arg`:
 * struct hot_sides.
 */
struct hot_sides {
	const struct msg_stalls *of[2]; /* base, target; NULL none */
};
void hot_note(void *arg, int side, uint32_t address, char *note);

/** Fill in the instructions with the most samples; `sass` and `code` give their text, NULL none. */
void hot_fill(struct evidence_hot *h, const struct msg_stalls *kernel, const struct sass *sass, const struct sass_function *code);

#endif
