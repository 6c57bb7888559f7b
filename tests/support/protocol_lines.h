/* Shared by the tests of the protocol's lines: a good cell, a good job, and a message that survives writing and reading. */
#ifndef TESTS_PROTOCOL_LINES_H
#define TESTS_PROTOCOL_LINES_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attention_cell.h"
#include "protocol/protocol.h"

#define OID            "0123456789abcdef0123456789abcdef01234567"
#define SHA256         "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define COPY(to, text) snprintf((to), sizeof(to), "%s", (text))

/* Write `in`, read it into `out`, write that again: the two lines must be equal. */
static inline void round_trip(const struct msg *in, struct msg *out)
{
	struct fw_err err = { 0 };
	struct buf first, second;

	buf_init(&first, PROTOCOL_LINE_MAX);
	buf_init(&second, PROTOCOL_LINE_MAX);
	protocol_write(&first, in);
	assert_false(first.failed);
	assert_int_equal(first.data[first.len - 1], '\n');
	assert_null(memchr(first.data, '\n', first.len - 1));
	if (protocol_parse(first.data, first.len, out, &err))
		fail_msg("%s: %.300s", err.text, first.data);
	assert_int_equal(out->t, in->t);
	protocol_write(&second, out);
	assert_string_equal(first.data, second.data);
	buf_fini(&first);
	buf_fini(&second);
}

static inline struct cell a_cell(bool sparse)
{
	struct cell c = {
		.direction = sparse ? DIRECTION_BACKWARD : DIRECTION_FORWARD,
		.threshold_pct = 1.5,
	};
	set_attention(&c,
		&(struct attention_case){ .mask = sparse ? FW_BLOCKS : FW_CAUSAL,
			.seqlen = 1024,
			.nhq = 8,
			.nhk = 2,
			.headdim = 64,
			.dtype = FW_BF16,
			.n_seqs = 1 },
		UINT64_MAX);

	attention_of(&c)->length[0] = 1024;
	if (sparse) {
		attention_of(&c)->block = 64;
		attention_of(&c)->sparsity_ratio = 0.3;
	}
	case_name(&c);
	return c;
}

static inline void fill_job(struct msg_job *job, struct cell *cells)
{
	job->job = 12;
	job->attempt = 2;
	COPY(job->nonce, "5f2c");
	job->kind = JOBKIND_COMPARE;
	COPY(job->device, "cpu-ab12");
	job->seed = UINT64_C(18446744073709551557);
	job->n_sides = 2;
	for (int i = 0; i < 2; i++) {
		struct msg_side *s = &job->side[i];

		s->role = i ? ROLE_TARGET : ROLE_BASE;
		COPY(s->commit, OID);
		s->n_inputs = 1;
		COPY(s->input[0].path, "kernels");
		COPY(s->input[0].oid, OID);
		struct manifest usual;

		manifest_default(&usual);
		s->build = usual.build;
	}
	COPY(job->side[1].provider, "hopper.v1");
	job->cell = cells;
	job->n_cells = 2;
	rule_default(&job->rule, 2);
	job->limits = (struct msg_limits){ 900, 300, 300, 600.5, 120, 1 << 20 };
}

#endif
