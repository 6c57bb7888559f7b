/**
 * loop.h - the daemon's single thread: epoll, timers, signals, children. Callbacks run one after another and must not block. A
 * callback may add, change or remove any source, including its own. The source of a timer or child is freed when its callback
 * returns: drop the pointer in the callback.
 */
#ifndef LIB_LOOP_H
#define LIB_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/err.h"
#include "lib/proc.h"

enum { LOOP_CLOCK_SET_MS = 5000 }; /* smaller steps of the wall clock are corrections, not settings */

struct loop;
struct loop_source;

typedef void loop_fn(void *arg, uint32_t events); /* EPOLLIN ... */
typedef void loop_timer_fn(void *arg);
typedef int loop_clock_fn(void *arg, int64_t by_ms);
typedef void loop_child_fn(void *arg, const struct proc_exit *how);

int loop_new(struct loop **out, struct fw_err *err);
/** Accepts NULL. Running children get proc_end; no callback runs. */
void loop_free(struct loop *l);
/** Run until loop_stop. Err: the system refuses to wait at all. */
int loop_run(struct loop *l, struct fw_err *err);
void loop_stop(struct loop *l);

/** Watch a descriptor; the loop does not close it. Own: `*out` (may be NULL) until loop_remove, which must precede close. */
int loop_watch(struct loop *l, int fd, uint32_t events, loop_fn *fn, void *arg, struct loop_source **out, struct fw_err *err);
/** Set the events of a watched descriptor; 0 pauses it. */
int loop_change(struct loop *l, struct loop_source *s, uint32_t events, struct fw_err *err);
/** Call `fn` once after `delay_ms`. Timers with the same deadline run in the order of creation. */
int loop_after(struct loop *l, int64_t delay_ms, loop_timer_fn *fn, void *arg, struct loop_source **out, struct fw_err *err);
/**
 * Call `fn` when the child ends. Past `deadline_ms` (0: none) the child gets proc_stop, and `how->timed_out` is set. The rest
 * of its process group is killed when it ends. Own: takes `p` over, also on -1, when it kills the child.
 */
int loop_child(struct loop *l, struct proc p, int64_t deadline_ms, loop_child_fn *fn, void *arg, struct loop_source **out,
	struct fw_err *err);
/** Deliver a signal as a callback (signalfd); one callback a signal. Blocks it for the process. */
int loop_signal(struct loop *l, int signal, loop_timer_fn *fn, void *arg, struct fw_err *err);
/**
 * Call `fn` when the wall clock was set by LOOP_CLOCK_SET_MS or more, before any later callback. `by_ms`: the step, negative if
 * set back. If `fn` returns -1, it is called again in the next iteration with the whole step since.
 */
void loop_on_clock_set(struct loop *l, loop_clock_fn *fn, void *arg);
/** Remove a source; accepts NULL. A child gets proc_stop and is reaped without blocking and without its callback. */
void loop_remove(struct loop *l, struct loop_source *s);

#endif
