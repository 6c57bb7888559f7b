/* write.c - documented in internal.h. */
#include "cli/internal.h"

enum { BUDGET_S = 60 }; /* a push is decided in a minute, or `flopwatch wait` prints which budget would be enough */

void write_shell(const struct proposal *p, struct buf *out)
{
	for (int i = 0; i < p->n_steps; i++) {
		buf_puts(out, i ? " && " : "");
		command_put_shell(&p->step[i].command, out);
		if (p->step[i].output[0])
			buf_printf(out, " > %s", p->step[i].output);
	}
}

static void put_build(struct buf *out, const struct proposal *p)
{
	bool is_shell = p->n_steps > 1 || (p->n_steps == 1 && (p->step[0].command.is_shell || p->step[0].output[0]));
	struct command c = { 0 };
	struct buf line;

	if (p->n_steps == 0)
		return;
	buf_puts(out, "\n# How it is built: in a sandbox without a network, from the inputs alone.\n");
	for (int i = 0; i < p->n_reasons; i++)
		buf_printf(out, "# %s.\n", p->why[i]);
	if (is_shell) {
		buf_init(&line, (size_t)4 * COMMAND_WORD_SIZE);
		write_shell(p, &line);
		command_add(&c, "sh");
		command_add(&c, "-c");
		command_add(&c, line.data);
		buf_fini(&line);
	} else {
		c = p->step[0].command;
	}
	buf_puts(out, "build:\n  dir: .\n  command: ");
	command_put_yaml(&c, out);
	buf_putc(out, '\n');
	if (p->module[0]) {
		struct manifest usual;

		manifest_default(&usual);
		buf_printf(out, "  # %s.\n  outputs: {%s: ", p->module_why, usual.build.family[0]);
		command_put_word(p->module, out);
		buf_puts(out, "}\n");
	}
}

static void put_benchmark(struct buf *out, const struct propose_benchmark *b)
{
	buf_printf(out, "  # %s.\n", b->why);
	if (b->choices[0])
		buf_printf(out, "  # %s; copy the entry for the others.\n", b->choices);
	if (b->absent[0])
		buf_printf(out, "  # It imports a module that is missing on the machine that wrote this file: %s.\n", b->absent);
	buf_printf(out, "  %s:\n    command: ", b->name);
	command_put_yaml(&b->command, out);
	buf_printf(out, "\n    reader: %s\n", b->reader);
	if (b->output[0]) {
		buf_puts(out, "    outputs: [");
		command_put_word(b->output, out);
		buf_puts(out, "]\n");
	}
	if (b->artifact[0]) {
		buf_puts(out,
			"    # It opens no file that could be seen, so it runs from this alone, and a push that changes only\n"
			"    # comments is identical. Name its other inputs, or remove the line.\n    artifacts: [");
		command_put_word(b->artifact, out);
		buf_puts(out, "]\n");
	}
	buf_printf(out, "    budget_s: %d # of device time a push; what is not decided by then is undecided\n", BUDGET_S);
	if (!b->uses_gpu)
		buf_puts(out, "    gpu: false # the scan found no use of CUDA in it\n");
}

static void put_more(struct buf *out, const struct proposal *p)
{
	enum { COLUMNS = 110 };
	size_t column = COLUMNS;

	if (p->n_more == 0)
		return;
	buf_printf(out,
		"\n  # %d more like these. Copy an entry and change its name and file, or move this file away and write all of them\n"
		"  # with `flopwatch init --all`. Each takes device time of every push.",
		p->n_more);
	for (int i = 0; i < p->n_more; i++) {
		size_t n = strlen(p->more[i].path) + 1;

		buf_printf(out, "%s%s", column + n > COLUMNS ? "\n  # - " : " ", p->more[i].path);
		column = column + n > COLUMNS ? n : column + n;
	}
	buf_putc(out, '\n');
}

void write_manifest(const struct proposal *p, struct buf *out)
{
	buf_puts(out, "# Builds and benchmarks for flopwatch. Written once by `flopwatch init`; edit it.\n"
		      "# `flopwatch try` runs it once, without a daemon and without a commit. Every key: man flopwatch.yaml,\n"
		      "# and doc/reference.md of the sources.\n"
		      "flopwatch: 1\n\n"
		      "# Files that are copied to the sandbox; it has no others. Fewer folders mean fewer builds.\n"
		      "inputs: [.]\n");
	put_build(out, p);
	if (p->n_suites) {
		buf_printf(out, "\n# Which cells: %s.\nsuites: [", p->suite_why);
		for (int i = 0; i < p->n_suites; i++) {
			buf_puts(out, i ? ", " : "");
			command_put_word(p->suite[i], out);
		}
		buf_puts(out, "]\n");
	}
	if (p->n_benchmarks)
		buf_puts(out,
			"\n# Benchmark programs, the most certain first; every row that one reports is a cell.\nbenchmarks:\n");
	for (int i = 0; i < p->n_benchmarks; i++)
		put_benchmark(out, &p->benchmark[i]);
	put_more(out, p);
	if (p->environment[0])
		buf_printf(out, "\n# Environment: %s\n", p->environment);
	for (int i = 0; i < p->n_notes; i++)
		buf_printf(out, "%s# Note: %s.\n", i ? "" : "\n", p->note[i]);
	for (int i = 0; i < p->n_left; i++)
		buf_printf(out, "%s# Left out: %s: %s.\n", i ? "" : "\n", p->left[i].path, p->left[i].why);
}
