/* Access tokens: add, list, revoke. */
#include <stdlib.h>

#include "cli/internal.h"

static int add(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	json_t *answer = NULL, *request = json_pack("{s:s, s:s}", "name", o->arg[1], "scope", o->scope ? o->scope : "read");
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

static int list(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	json_t *answer, *item;
	size_t i;
	if (client_get(c, "/api/v1/tokens", &answer, &err) != 0)
		return verb_fail(&err);
	if (o->json) {
		json_dumpf(answer, stdout, JSON_INDENT(1));
		putchar('\n');
	} else {
		printf("%-24s %-8s %-20s %-20s %-20s %s\n", "name", "scope", "made", "by", "last used", "revoked");
		json_array_foreach(json_object_get(answer, "items"), i, item)
		{
			const char *text[6];
			static const char *const keys[] = { "name", "scope", "created_at", "made_by", "used_at", "revoked_at" };
			for (int k = 0; k < 6; k++) {
				text[k] = json_string_value(json_object_get(item, keys[k]));
				text[k] = text[k] ? text[k] : "-";
			}
			printf("%-24s %-8s %-20.19s %-20s %-20.19s %.19s\n", text[0], text[1], text[2], text[3], text[4],
				text[5]);
		}
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
