/**
 * profile_case.h - a cell of a profile from a file of tests/data/profiles, as evidence for the causes; its README describes the
 * first line.
 */
#ifndef TESTS_PROFILE_CASE_H
#define TESTS_PROFILE_CASE_H

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/lib.h"
#include "profile/profile.h"
#include "protocol/protocol.h"

enum { PROFILE_CASE_LINES = 256 };

struct profile_case {
	char file[256];
	json_t *verdict;
	struct cause_evidence e;
	struct cause_kernel kernel[PROFILE_CASE_LINES];
	struct cause_code code[PROFILE_CASE_LINES];
	/* the memory to which those point */
	size_t n_lines;
	struct msg line[PROFILE_CASE_LINES];
	struct cause_value *value[PROFILE_CASE_LINES];
	struct cause_opcode opcode[PROFILE_CASE_LINES][EVIDENCE_OPCODES_MAX];
};

/** End the program with one line. */
static inline void profile_case_stop(const struct profile_case *c, const char *what)
{
	fprintf(stderr, "%s: %s\n", c->file, what);
	exit(1);
}

static inline void profile_case_kernel(struct profile_case *c, const struct msg_kernel *m)
{
	size_t at = c->e.n_kernels;
	struct cause_kernel *k = &c->kernel[c->e.n_kernels++];

	*k = (struct cause_kernel){ .of_target = m->role == ROLE_TARGET,
		.repeat = m->repeat,
		.n = m->n,
		.phase = m->phase,
		.name = m->kernel,
		.code = m->code_sha256,
		.ms = m->ms,
		.registers = m->registers,
		.local_bytes = m->local_bytes,
		.shared_bytes = m->shared_bytes,
		.ctas_per_sm = m->ctas_per_sm,
		.n_values = (size_t)m->n_values };
	memcpy(k->grid, m->grid, sizeof k->grid);
	memcpy(k->block, m->block, sizeof k->block);
	k->value = c->value[at] = calloc(k->n_values + 1, sizeof *k->value);
	for (int i = 0; c->value[at] && i < m->n_values; i++)
		c->value[at][i] = (struct cause_value){ m->value[i].metric, m->value[i].value };
}

static inline struct cause_takes profile_case_takes(const struct evidence_takes *t)
{
	return (struct cause_takes){ t->registers, t->local_bytes, t->shared_bytes, t->ctas_per_sm };
}

static inline void profile_case_code(struct profile_case *c, const struct msg_code *m)
{
	size_t at = c->e.n_codes++;

	for (int i = 0; i < m->n_opcodes; i++)
		c->opcode[at][i] = (struct cause_opcode){ m->opcode[i].opcode, m->opcode[i].base, m->opcode[i].target };
	c->code[at] = (struct cause_code){ .base = m->base,
		.target = m->target,
		.what = evidence_code_names[m->what],
		.n_opcodes = (size_t)m->n_opcodes,
		.opcode = c->opcode[at],
		.base_takes = profile_case_takes(&m->base_takes),
		.target_takes = profile_case_takes(&m->target_takes) };
}

static inline double profile_case_number(const struct profile_case *c, const char *key)
{
	return json_number_value(json_object_get(c->verdict, key));
}

static inline void profile_case_line(struct profile_case *c, const char *text, size_t len)
{
	struct fw_err wrong = { 0 };

	if (!c->verdict) {
		c->verdict = json_loadb(text, len, 0, NULL);
		if (!c->verdict)
			profile_case_stop(c, "its first line is no JSON");
		return;
	}
	struct msg *m = &c->line[c->n_lines++];

	if (c->n_lines == PROFILE_CASE_LINES || protocol_parse(text, len, m, &wrong) != 0)
		profile_case_stop(c, wrong.text[0] ? wrong.text : "too many lines");
	if (m->t == MSG_KERNEL) {
		profile_case_kernel(c, &m->u.kernel);
	} else if (m->t == MSG_CODE) {
		profile_case_code(c, m->u.code);
	} else if (m->t == MSG_COUNTERFACTUAL) {
		c->e.with_base_ms = m->u.counterfactual.base_ms;
		c->e.with_target_ms = m->u.counterfactual.target_ms;
		c->e.with_ms = m->u.counterfactual.with_ms;
	} else if (m->t == MSG_PROFILE) {
		c->e.base_config = m->u.profile.base_config;
		c->e.target_config = m->u.profile.target_config;
		c->e.is_counted = m->u.profile.path == EVIDENCE_RANGE || m->u.profile.path == EVIDENCE_NCU;
	}
}

/** Own: profile_case_free. A file that cannot be read ends the program. */
static inline struct profile_case *profile_case_new(const char *file)
{
	struct profile_case *c = calloc(1, sizeof *c);
	struct buf text;
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	if (!c)
		abort();
	snprintf(c->file, sizeof c->file, "%s", file);
	buf_init(&text, 4 << 20);
	if (fd < 0 || buf_read_fd(&text, fd) != 0)
		profile_case_stop(c, "cannot be read");
	close(fd);
	for (char *at = text.data, *end = text.data + text.len; at < end;) {
		char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t len = stop ? (size_t)(stop - at) : (size_t)(end - at);

		if (len > 0)
			profile_case_line(c, at, len);
		at += len + 1;
	}
	buf_fini(&text);
	c->e.kernel = c->kernel;
	c->e.code = c->code;
	c->e.base_ms = profile_case_number(c, "base_ms");
	c->e.target_ms = profile_case_number(c, "target_ms");
	c->e.noise_ms = profile_case_number(c, "noise_ms");
	c->e.clock_ms = profile_case_number(c, "clock_ms");
	c->e.host_ms = profile_case_number(c, "host_ms");
	c->e.device = (struct cause_device){ (int)profile_case_number(c, "sms"), profile_case_number(c, "mhz"),
		profile_case_number(c, "dram_gb_s"), profile_case_number(c, "l2_gb_s") };
	return c;
}

static inline void profile_case_free(struct profile_case *c)
{
	for (size_t i = 0; i < c->n_lines; i++)
		msg_fini(&c->line[i]);
	for (size_t i = 0; i < c->e.n_kernels; i++)
		free(c->value[i]);
	json_decref(c->verdict);
	free(c);
}

/** Whether the list `key` of the first line contains the string. */
static inline bool profile_case_has(const struct profile_case *c, const char *key, const char *word)
{
	json_t *list = json_object_get(c->verdict, key);

	for (size_t i = 0; i < json_array_size(list); i++)
		if (strcmp(json_string_value(json_array_get(list, i)), word) == 0)
			return true;
	return false;
}

#endif
