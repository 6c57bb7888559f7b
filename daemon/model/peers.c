/* peers.c - parser of peers. */
#include "model/model.h"

#include <stdio.h>

static const char provider_bytes[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:+";

bool peers_is_provider(const char *text)
{
	size_t len = strlen(text);
	return len > 0 && len < PEERS_PROVIDER_SIZE && strspn(text, provider_bytes) == len;
}

/* Add the peer in `word`. Returns NULL, or a description of the fault. */
static const char *add(struct peers *p, const char *word, size_t len)
{
	_Static_assert(PEERS_PROVIDER_SIZE == 48, "the message below names the limit");
	char text[PEERS_PROVIDER_SIZE + 8];
	const char *end = memchr(word, '@', len);
	if ((end ? (size_t)(end - word) : len) >= PEERS_PROVIDER_SIZE)
		return "is longer than the 47 bytes of a provider's name";
	if (len >= sizeof text)
		return "names no kind of device after the @; it is cuda, cpu or sim";
	memcpy(text, word, len);
	text[len] = 0;
	char *at = strchr(text, '@');
	enum device_kind device = at ? device_kind_from_name(at + 1) : DEVICE_ANY;
	if (at)
		*at = 0;
	if (!peers_is_provider(text))
		return "is not a provider; write its name as the module reports it, e.g. cudnn, or cudnn@cuda";
	if (device == DEVICE_KINDS || (at && device == DEVICE_ANY))
		return "names no kind of device after the @; it is cuda, cpu or sim";
	for (int i = 0; i < p->n; i++)
		if (strcmp(p->of[i].provider, text) == 0)
			return "is named twice";
	if (p->n == PEERS_MAX)
		return "is one too many; at most 8 peers";
	p->of[p->n].at = (struct yaml_position){ 0, 0 };
	snprintf(p->of[p->n].provider, sizeof p->of[0].provider, "%.47s", text); /* no provider's name is longer */
	p->of[p->n].device = device;
	p->n++;
	return NULL;
}

static void read_one(struct yaml *y, struct yaml_node *node, struct peers *out)
{
	const char *text = NULL;
	if (yaml_string(y, node, &text) != 0 || !text)
		return;
	const char *wrong = add(out, text, strlen(text));
	if (wrong)
		yaml_mistake(y, node, "%s", wrong);
	else
		out->of[out->n - 1].at = yaml_position(node);
}

void peers_read(struct yaml *y, struct yaml_node *node, struct peers *out)
{
	if (!node)
		return;
	out->n = 0;
	if (!yaml_is_list(node)) {
		read_one(y, node, out);
		return;
	}
	for (int i = 0; i < yaml_count(node); i++)
		read_one(y, yaml_item(y, node, i), out);
}

void peers_write(const struct peers *p, char *text)
{
	size_t used = 0;
	text[0] = 0;
	for (int i = 0; i < p->n; i++) {
		const char *device = device_kind_name(p->of[i].device);
		int n = snprintf(text + used, PEERS_TEXT_SIZE - used, "%s%s%s%s", i ? " " : "", p->of[i].provider,
			device[0] ? "@" : "", device);
		used += n > 0 ? (size_t)n : 0;
	}
}

void peers_parse(const char *text, struct peers *out)
{
	out->n = 0;
	for (const char *word = text + strspn(text, " "); *word; word += strspn(word, " ")) {
		size_t len = strcspn(word, " ");
		(void)add(out, word, len);
		word += len;
	}
}

int peers_find(const struct peers *p, const char *provider)
{
	for (int i = 0; i < p->n; i++)
		if (strcmp(p->of[i].provider, provider) == 0)
			return i;
	return -1;
}

int peers_next(const struct peers *p, int i, enum device_kind kind)
{
	while (i < p->n && p->of[i].device != DEVICE_ANY && p->of[i].device != kind)
		i++;
	return i;
}
