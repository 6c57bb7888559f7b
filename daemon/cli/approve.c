/* approve: lists pull and merge requests that wait for approval, or approves one commit of one. */

#include "cli/internal.h"

static void print_pulls(const json_t *answer)
{
	size_t i;
	json_t *pull;
	json_array_foreach(json_object_get(answer, "items"), i, pull)
	{
		const char *who = value_text(pull, "approved_by"), *problem = value_text(pull, "problem");
		plain_line(stdout, "%s  %lld  %s  %s%s%s%s%s", value_text(pull, "repo"), value_integer(pull, "number"),
			value_text(pull, "head"), value_text(pull, "state"), *who ? " by " : "", who, *problem ? ": " : "",
			problem);
	}
	puts("next: read the commit, then flopwatch approve NUMBER COMMIT");
}

int verb_approve(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	struct buf path;
	json_t *answer = NULL;
	char repo[256];
	if (o->n_arg == 1)
		return verb_usage("flopwatch: approve takes the number of a request and the full hash of its commit");
	if (o->n_arg == 2 && !verb_is_number(o->arg[0]))
		return verb_usage("flopwatch: %s is not a pull request number", o->arg[0]);
	if (o->n_arg == 2 && !oid_is_whole(o->arg[1]))
		return verb_usage("flopwatch: %s is not a full hash; an approval holds for one commit", o->arg[1]);
	int status = checkout_repo(c, o, NULL, repo, sizeof repo);
	if (status != EXIT_OK)
		return status;
	buf_init(&path, 4096);
	buf_puts(&path, "/api/v1/repos/");
	client_argument(&path, repo);
	buf_puts(&path, "/pulls");
	if (o->n_arg == 0) {
		const struct member query[] = { { "all", .text = o->all ? "yes" : NULL }, { 0 } };
		status = verb_show(c, o, path.data, query, print_pulls, "no request waits for approval");
	} else {
		const struct member request[] = { { "commit", .text = o->arg[1] }, { 0 } };
		buf_printf(&path, "/%s/approvals", o->arg[0]);
		if (client_post_members(c, path.data, request, &answer, &err) != 0)
			status = verb_fail(&err);
		else if (o->json)
			verb_print_json(answer);
		else
			plain_line(stdout, "approved %s of request %s\nnext: flopwatch wait pull:%s", o->arg[1], o->arg[0],
				o->arg[0]);
	}
	json_decref(answer);
	buf_fini(&path);
	return status;
}
