/**
 * loop.h - the daemon's one thread: epoll, timers, signals, children.
 *
 * Callbacks run one after the other; none may block. A callback may add, change or remove any source, its own included.
 * Timers and children end by themselves: their source is gone when the callback returns, so forget the pointer in it.
 */
#ifndef FLOPWATCHD_RUNTIME_LOOP_H
#define FLOPWATCHD_RUNTIME_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/proc.h"

enum { LOOP_CLOCK_SET_MS = 5000 }; /* a smaller step of the wall clock is a correction and nothing that was set */

struct loop;
struct loop_source;

typedef void loop_fn(void *arg, uint32_t events); /* EPOLLIN ... */
typedef void loop_timer_fn(void *arg);
typedef int loop_clock_fn(void *arg, int64_t by_ms);
typedef void loop_child_fn(void *arg, const struct proc_exit *how);

int loop_new(struct loop **out, struct fw_err *err);
/** Accepts NULL. Children still running get proc_end; no callback runs. */
void loop_free(struct loop *l);
/** Run until loop_stop. Err: only when the system refuses to wait at all. */
int loop_run(struct loop *l, struct fw_err *err);
void loop_stop(struct loop *l);

/** Watch a descriptor; not closed by the loop. Own: `*out` (may be NULL) until loop_remove, which comes before close. */
int loop_watch(struct loop *l, int fd, uint32_t events, loop_fn *fn, void *arg, struct loop_source **out, struct fw_err *err);
/** Other events for a watched descriptor; 0 pauses it. */
int loop_change(struct loop *l, struct loop_source *s, uint32_t events, struct fw_err *err);
/** Call `fn` once after `delay_ms`. Timers that are due together run in the order in which they were made. */
int loop_after(struct loop *l, int64_t delay_ms, loop_timer_fn *fn, void *arg, struct loop_source **out, struct fw_err *err);
/**
 * Call `fn` when the child ends; past `deadline_ms` (0: none) proc_stop comes first and `how->timed_out` is set. What is
 * left of its process group is killed when it ends. Own: takes over `p`, also on -1, when the child is killed.
 */
int loop_child(struct loop *l, struct proc p, int64_t deadline_ms, loop_child_fn *fn, void *arg, struct loop_source **out,
	struct fw_err *err);
/** Deliver a signal as a callback (signalfd); one callback a signal. Blocks it for the process. */
int loop_signal(struct loop *l, int signal, loop_timer_fn *fn, void *arg, struct fw_err *err);
/**
 * Call `fn` when the wall clock was set by LOOP_CLOCK_SET_MS or more, before any callback that comes after it. `by_ms` is what it gained, negative
 * when it was set back. Where `fn` returns -1 it is called again at the next turn, with all that the clock gained since.
 */
void loop_on_clock_set(struct loop *l, loop_clock_fn *fn, void *arg);
/** Forget a source; accepts NULL. A child gets proc_stop first; it is waited for without blocking, and without its callback. */
void loop_remove(struct loop *l, struct loop_source *s);

#endif
