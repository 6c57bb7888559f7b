/* Access tokens: add, list, revoke. */

#include "cli/internal.h"

static int add(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	json_t *answer = NULL, *request = json_pack("{s:s, s:s, s:s?}", "name", o->arg[1], "scope", o->scope ? o->scope : "read",
				       "expires", o->expires);
	char *body = request ? json_dumps(request, JSON_COMPACT) : NULL;
	int result = body ? client_post(c, "/api/v1/tokens", body, &answer, &err)
			  : err_set(&err, ERR_INVALID, "the name is not UTF-8");
	free(body);
	json_decref(request);
	if (result != 0)
		return verb_fail(&err);
	const char *token = json_string_value(json_object_get(answer, "token"));
	if (o->json)
		json_dumpf(answer, stdout, JSON_INDENT(1));
	else
		fputs(token ? token : "", stdout);
	putchar('\n');
	json_decref(answer);
	if (!o->quiet)
		fputs("This token is not printed again: store it in a file that only you can read.\n", stderr);
	return EXIT_OK;
}

static void print_list(const json_t *items)
{
	static const struct column columns[] = { { "name", .key = "name" }, { "scope", .key = "scope" },
		{ "~made", .key = "created_at", .cut = 19 }, { "~by", .key = "made_by" },
		{ "~last used", .key = "used_at", .cut = 19 }, { "~expires", .key = "expires_at", .cut = 19 },
		{ "~revoked", .key = "revoked_at", .cut = 19 } };
	size_t n = json_array_size(items);
	if (n == 0) {
		puts("no token yet; write: flopwatch token add NAME --scope read|trigger|admin");
		return;
	}
	printf("%zu token%s\n", n, n == 1 ? "" : "s");
	table_print_rows(items, 7, columns, stdout);
}

static int list(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	json_t *answer;
	if (client_get(c, "/api/v1/tokens", &answer, &err) != 0)
		return verb_fail(&err);
	if (o->json) {
		json_dumpf(answer, stdout, JSON_INDENT(1));
		putchar('\n');
	} else {
		print_list(json_object_get(answer, "items"));
	}
	json_decref(answer);
	return EXIT_OK;
}

int verb_token(struct client *c, const struct options *o)
{
	if (strcmp(o->arg[0], "add") == 0 && o->n_arg == 2)
		return add(c, o);
	if (strcmp(o->arg[0], "revoke") == 0 && o->n_arg == 2)
		return verb_step(c, "tokens", o->arg[1], "revoke");
	if (strcmp(o->arg[0], "list") == 0 && o->n_arg == 1)
		return list(c, o);
	return verb_usage(
		"flopwatch: write: flopwatch token add NAME --scope read|trigger|admin, token list, or token revoke NAME");
}
