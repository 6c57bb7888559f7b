/* main.c - flopwatch-git: the verbs table, the options, and one run. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "git/internal.h"

static const char USAGE[] =
	"flopwatch-git - run one git operation of flopwatch; prints JSON lines\n"
	"\n"
	"  tips     --repo PATH [PULLS]                           branches and their commits\n"
	"  heads    --url URL [ACCESS]                            the same of a server, without fetching\n"
	"  fetch    --url URL --mirror DIR [ACCESS] [PULLS]       make or update a bare mirror, then as tips\n"
	"  base     --repo PATH --target SHA [--upstream NAME | --with SHA] [--first-parents N]\n"
	"  contains --repo PATH --commit SHA                      whether a branch contains a commit\n"
	"  tree     --repo PATH --commit SHA [--blob FILE]... [--oid FILE]...\n"
	"  tar      --repo PATH --oid OID                         a tree (or one file) as ustar\n"
	"  log      --repo PATH --from SHA [--not SHA | --first-parent] [--count N]\n"
	"  changes  --repo PATH --from SHA --commit SHA [--count N]  files that differ between two commits\n"
	"  note     --repo PATH --commit SHA --file FILE [--push URL [ACCESS]]  write refs/notes/flopwatch, and push it\n"
	"  snapshot --worktree DIR                                store uncommitted files as a commit without a ref\n"
	"\n"
	"ACCESS: [--ssh-key FILE] [--known-hosts FILE] [--host-keys SHA256:...,SHA256:...] for ssh://,\n"
	"[--token-file FILE] [--token-user NAME] [--ca-file FILE] for https://. Keys and tokens are read from files of mode 600.\n"
	"PULLS: --pulls pull|merge-requests:head|merge [--pull N=SHA]... lists requests, and has the commit of those at these heads.\n"
	"Branch names are percent-encoded, hashes are full. Exit: 0 done, 1 error, 2 usage,\n"
	"3 the requested object does not exist, 75 a failure of system or network: a later attempt may succeed.\n";

enum { OPTIONS_MAX = 10 };

struct verb {
	const char *name;
	verb_fn *run; /* NULL: `body` writes the response */
	verb_body_fn *body;
	int cpu_s; /* processor time */
	int n_needed;
	const char *option[OPTIONS_MAX]; /* the first n_needed are required, the others optional */
};

/* As struct git_access. */
#define ACCESS "--ssh-key", "--known-hosts", "--host-keys", "--token-file", "--token-user", "--ca-file"

#define PULLS "--pulls", "--pull"

static const struct verb verbs[] = {
	{ "tips", NULL, body_tips, 20, 1, { "--repo", PULLS } },
	{ "heads", verb_heads, NULL, 20, 1, { "--url", ACCESS } },
	{ "fetch", verb_fetch, NULL, 300, 2, { "--url", "--mirror", ACCESS, PULLS } },
	{ "base", NULL, body_base, 20, 2, { "--repo", "--target", "--upstream", "--with", "--first-parents" } },
	{ "contains", NULL, body_contains, 20, 2, { "--repo", "--commit" } },
	{ "tree", NULL, body_tree, 20, 2, { "--repo", "--commit", "--blob", "--oid" } },
	{ "tar", verb_tar, NULL, 60, 2, { "--repo", "--oid" } },
	{ "log", NULL, body_log, 20, 2, { "--repo", "--from", "--count", "--first-parent", "--not" } },
	{ "changes", NULL, body_changes, 20, 3, { "--repo", "--from", "--commit", "--count" } },
	{ "note", NULL, body_note, 60, 3, { "--repo", "--commit", "--file", "--push", ACCESS } },
	{ "snapshot", NULL, body_snapshot, 60, 1, { "--worktree" } },
};

static int usage(const char *what, const char *about)
{
	fprintf(stderr, "flopwatch-git: %s%s%s; see --help\n", what, about && *about ? " " : "", about ? about : "");
	return 2;
}

static int number(const char *text, int *out)
{
	char *end;
	long v = strtol(text, &end, 10);

	if (end == text || *end || v < 1 || v > 100000)
		return -1;
	*out = (int)v;
	return 0;
}

static int add_value(const char **list, int *n, int max, const char *path)
{
	if (*n >= max)
		return -1;
	list[(*n)++] = path;
	return 0;
}

/* Store the value of an option. Returns 0; -1 if it is not a number, or there are too many values. */
static int set_option(struct verb_args *a, const struct verb *verb, const char *name, const char *value)
{
	struct {
		const char *name;
		const char **position;
	} texts[] = { { "--repo", &a->repo }, { "--url", &a->url }, { "--mirror", &a->mirror },
		{ "--ssh-key", &a->access.ssh_key }, { "--known-hosts", &a->access.known_hosts },
		{ "--host-keys", &a->access.host_keys }, { "--token-file", &a->access.token_file },
		{ "--token-user", &a->access.token_user }, { "--ca-file", &a->access.ca_file }, { "--target", &a->target },
		{ "--upstream", &a->upstream }, { "--with", &a->with }, { "--commit", &a->commit }, { "--from", &a->from },
		{ "--not", &a->without }, { "--file", &a->file }, { "--worktree", &a->worktree }, { "--push", &a->push },
		{ "--pulls", &a->pulls } };
	size_t i;

	for (i = 0; i < sizeof texts / sizeof texts[0]; i++)
		if (strcmp(name, texts[i].name) == 0) {
			*texts[i].position = value;
			return 0;
		}
	if (strcmp(name, "--first-parent") == 0) {
		a->first_parent = true;
		return 0;
	}
	if (strcmp(name, "--first-parents") == 0)
		return number(value, &a->first_parents);
	if (strcmp(name, "--count") == 0)
		return number(value, &a->count);
	if (strcmp(name, "--pull") == 0)
		return add_value(a->pull, &a->n_pull, PULLS_WANTED_MAX, value);
	if (strcmp(name, "--blob") == 0)
		return add_value(a->blob, &a->n_blobs, VERBS_PATHS_MAX, value);
	if (verb->run == verb_tar) {
		a->oid = value;
		return 0;
	}
	return add_value(a->oids, &a->n_oids, VERBS_PATHS_MAX, value);
}

/* Parse the options. Abbreviated names are rejected, because their meaning would change with new options. */
static int parse(struct verb_args *a, const struct verb *verb, char **argv, int argc)
{
	struct option known[OPTIONS_MAX + 1] = { 0 };
	bool given[OPTIONS_MAX] = { false };
	const char *word = argv[1];
	int i, found;

	for (i = 0; i < OPTIONS_MAX && verb->option[i]; i++)
		known[i] = (struct option){ .name = verb->option[i] + 2,
			.has_arg = strcmp(verb->option[i], "--first-parent") == 0 ? no_argument : required_argument,
			.val = i };
	for (; word && (found = getopt_long(argc, argv, "+:", known, NULL)) != -1; word = argv[optind]) {
		i = found == ':' ? optopt : found;
		if (found == '?' || !known[i].name || strcspn(word + 2, "=") != strlen(known[i].name))
			return usage("unknown option", word);
		if (found == ':')
			return usage("no value after", word);
		if (set_option(a, verb, verb->option[i], optarg) != 0)
			return usage("bad or too many values of", verb->option[i]);
		given[i] = true;
	}
	if (optind < argc)
		return usage("unknown option", argv[optind]);
	for (i = 0; i < verb->n_needed; i++)
		if (!given[i])
			return usage("missing", verb->option[i]);
	return 0;
}

/* Return the exit status for an error: whether the object does not exist, or a later attempt may succeed. */
static int exit_of(enum err_code code)
{
	switch (code) {
	case ERR_NOT_FOUND:
		return PROC_EXIT_GONE;
	case ERR_IO:
	case ERR_FULL:
	case ERR_BUSY:
	case ERR_TIMEOUT:
		return PROC_EXIT_AGAIN;
	default:
		return 1;
	}
}

int main(int argc, char **argv)
{
	struct verb_args args = { 0 };
	struct fw_err err = { 0 };
	size_t i;
	int status;

	mem_end_program("flopwatch-git", PROC_EXIT_AGAIN); /* what it could not read must not look absent */
	if (argc < 2)
		return usage("no verb given", "");
	if (strcmp(argv[1], "--help") == 0) {
		fputs(USAGE, stdout);
		return fflush(stdout) == 0 ? 0 : 1;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("flopwatch-git %s\n", FW_VERSION);
		return fflush(stdout) == 0 ? 0 : 1;
	}
	for (i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
		if (strcmp(argv[1], verbs[i].name) == 0)
			break;
	if (i == sizeof verbs / sizeof verbs[0])
		return usage("unknown verb", argv[1]);
	status = parse(&args, &verbs[i], argv + 1, argc - 1);
	if (status)
		return status;
	status = limits_set(verbs[i].cpu_s, &err);
	if (status == 0)
		status = git_repo_library_start(args.url ? args.url : args.push, &err);
	if (status == 0) {
		status = verbs[i].run ? verbs[i].run(&args, &err) : verb_answer(&args, verbs[i].body, &err);
		git_repo_library_stop();
	}
	if (status < 0 && err.code == ERR_DAMAGED && args.repo)
		mirror_rebuild_request(args.repo, &err);
	if (status < 0)
		fprintf(stderr, "flopwatch-git: %s\n", err.text);
	return status < 0 ? exit_of(err.code) : 0;
}
