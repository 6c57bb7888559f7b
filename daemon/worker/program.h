/** program.h - start of a benchmark program: command line, sandbox, environment. */
#ifndef WORKER_PROGRAM_H
#define WORKER_PROGRAM_H

#include "lib/proc.h"
#include "worker/bench.h"
#include "worker/sandbox/build.h"

enum { PROGRAM_INTERLEAVE_FD = 3 /* descriptor of the interleave socket in the program */ };

/** Arguments of proc_spawn. `spec` borrows from the rest: do not move it. */
struct program {
	struct proc_spec spec;
	struct sandbox_argv words;
	struct sandbox_environment environment;
	char job[PATH_MAX + 160], cwd[PATH_MAX + 160 + MANIFEST_TEXT_SIZE], path[PATH_MAX + 32];
	char device[96], libraries[4096];
};

/**
 * Prepare subject `s` for a start. `interleave`: its environment names the socket, which the caller puts on descriptor
 * PROGRAM_INTERLEAVE_FD. Err: too many words.
 */
int program_prepare(struct program *p, const struct bench *b, const struct build_context *c, const struct msg_subject *s,
	bool interleave, struct fw_err *err);

#endif
