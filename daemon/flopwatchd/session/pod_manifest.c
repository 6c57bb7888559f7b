/* pod_manifest.c - the manifest of a worker's pod: the template of the configuration, and the additions of the daemon. */
#include "flopwatchd/session/internal.h"

#include <jansson.h>

/*
 * The first process of a pod. It ends, and with it the pod, when PODS_RUN ends, also if the daemon was killed or the connection
 * broke; or after ten minutes if no worker was started. A FIFO shows the end of every process that has it open.
 */
#define HOLD                                                                                                                     \
	"f=${TMPDIR:-/tmp}/flopwatch-hold; mkfifo \"$f\" || exit; trap 'exit 0' TERM; "                                          \
	"(sleep 600; [ -e \"$f.used\" ] || kill $$) & cat \"$f\" & wait $!"

const char PODS_RUN[] =
	"f=${TMPDIR:-/tmp}/flopwatch-hold; until [ -p \"$f\" ]; do sleep 0.1; done; : >\"$f.used\"; exec 9>\"$f\"; \"$@\" 9>&-; exit $?";

/* Make an object from "NAME=VALUE" texts, which the configuration has checked. */
static json_t *make_pairs(const char (*text)[CONFIG_PAIR_SIZE], int n)
{
	json_t *pairs = json_object();
	for (int i = 0; i < n; i++) {
		const char *equals = strchr(text[i], '=');
		json_object_setn_new(pairs, text[i], (size_t)(equals - text[i]), json_string(equals + 1));
	}
	return pairs;
}

static json_t *get_object(json_t *in, const char *key)
{
	json_t *value = json_object_get(in, key);
	if (!json_is_object(value))
		json_object_set_new(in, key, value = json_object());
	return value;
}

static json_t *get_array(json_t *in, const char *key)
{
	json_t *value = json_object_get(in, key);
	if (!json_is_array(value))
		json_object_set_new(in, key, value = json_array());
	return value;
}

/*
 * Require a node by its name, in addition to what the template requires: each term of a node affinity is an alternative. The label
 * kubernetes.io/hostname may differ from the name.
 */
static void require_node(json_t *spec, const char *node)
{
	json_t *required = get_object(
		get_object(get_object(spec, "affinity"), "nodeAffinity"), "requiredDuringSchedulingIgnoredDuringExecution");
	json_t *terms = get_array(required, "nodeSelectorTerms"), *term;
	size_t i;
	if (json_array_size(terms) == 0)
		json_array_append_new(terms, json_object());
	json_array_foreach(terms, i, term)
	{
		if (json_is_object(term)) /* the server rejects another kind */
			json_array_append_new(get_array(term, "matchFields"),
				json_pack("{s: s, s: s, s: [s]}", "key", "metadata.name", "operator", "In", "values", node));
	}
}

/* The first container of the template is the worker's. */
static json_t *get_container(json_t *spec)
{
	json_t *list = get_array(spec, "containers");
	if (!json_is_object(json_array_get(list, 0)))
		json_array_insert_new(list, 0, json_object());
	return json_array_get(list, 0);
}

static json_t *read_template(const struct config_kubernetes *k, struct fw_err *err)
{
	json_error_t where;
	json_t *pod = k->template[0] ? json_load_file(k->template, JSON_REJECT_DUPLICATES, &where) : json_object();
	if (!pod) {
		err_set(err, ERR_INVALID, "kubernetes.template %s is not JSON: line %d: %s", k->template, where.line, where.text);
		return NULL;
	}
	const char *kind = json_string_value(json_object_get(pod, "kind"));
	if (json_is_object(pod) && (!kind || !strcmp(kind, "Pod")))
		return pod;
	err_set(err, ERR_INVALID, "kubernetes.template %s is not a pod, but %s", k->template, kind ? kind : "another object");
	json_decref(pod);
	return NULL;
}

int pods_manifest(const struct config_kubernetes *k, const char *owner, const char *name, const char *node, struct buf *out,
	struct fw_err *err)
{
	json_t *pod = read_template(k, err);
	if (!pod)
		return -1;
	json_t *meta = get_object(pod, "metadata"), *spec = get_object(pod, "spec"), *container = get_container(spec);
	json_object_set_new(pod, "apiVersion", json_string("v1"));
	json_object_set_new(pod, "kind", json_string("Pod"));
	json_object_set_new(meta, "name", json_string(name));
	json_object_set_new(get_object(meta, "labels"), PODS_OWNER_LABEL, json_string(owner));
	json_object_set_new(spec, "restartPolicy", json_string("Never"));
	if (k->time_ms)
		json_object_set_new(spec, "activeDeadlineSeconds", json_integer(k->time_ms / 1000));
	if (k->n_selectors)
		json_object_update_new(get_object(spec, "nodeSelector"), make_pairs(k->selector, k->n_selectors));
	if (*node)
		require_node(spec, node);
	json_object_set_new(container, "name", json_string(PODS_CONTAINER));
	json_object_set_new(container, "image", json_string(k->image));
	json_object_set_new(container, "command", json_pack("[s, s, s]", "sh", "-c", HOLD));
	json_object_update_new(get_object(get_object(container, "resources"), "limits"), make_pairs(k->resource, k->n_resources));
	json_array_append_new(get_array(container, "env"), json_pack("{s: s, s: {s: {s: s}}}", "name", "FLOPWATCH_NODE",
								   "valueFrom", "fieldRef", "fieldPath", "spec.nodeName"));
	char *text = json_dumps(pod, JSON_COMPACT);
	json_decref(pod);
	if (!text)
		return err_set(err, ERR_INTERNAL, "cannot write the manifest of a pod");
	buf_puts(out, text);
	free(text);
	return 0;
}
