/**
 * peers.h - providers of a repository's modules ("cudnn") to which its kernels are compared.
 *
 * Written PROVIDER, or PROVIDER@DEVICE if it exists on one kind of device only: [cudnn@cuda, naive].
 */
#ifndef MODEL_PEERS_H
#define MODEL_PEERS_H

#include "lib/yaml.h"
#include "model/device_kind.h"

enum { PEERS_MAX = 8, PEERS_PROVIDER_SIZE = 48, PEERS_TEXT_SIZE = 512 };

struct peers {
	int n;
	struct {
		char provider[PEERS_PROVIDER_SIZE];
		enum device_kind device;
		struct yaml_position at; /* position in the file; none if read from a stored line */
	} of[PEERS_MAX];
};

/** Return whether `text` can be a provider's name: 1 to 47 of A-Z a-z 0-9 _ - . : + */
bool peers_is_provider(const char *text);

/** Read a list of peers, or a single one; an empty list is none. Absent leaves `out` unchanged. Mistakes go into `y`. */
void peers_read(struct yaml *y, struct yaml_node *node, struct peers *out);

/** Write the stored form: "cudnn@cuda naive". Shape: text[PEERS_TEXT_SIZE]. */
void peers_write(const struct peers *p, char *text);
/** Parse the stored form; invalid words are left out. */
void peers_parse(const char *text, struct peers *out);

/** Return the position of a provider, -1 if missing. */
int peers_find(const struct peers *p, const char *provider);

/** Return the first peer at or after `i` that exists on this kind of device; p->n: none. */
int peers_next(const struct peers *p, int i, enum device_kind kind);

#endif
