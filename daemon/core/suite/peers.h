/**
 * peers.h - whom a repository's kernels are measured beside: providers of its own modules ("cudnn") whose speed is a yardstick.
 *
 * One is written PROVIDER, or PROVIDER@DEVICE where it exists on one kind of device alone: [cudnn@cuda, naive].
 */
#ifndef CORE_SUITE_PEERS_H
#define CORE_SUITE_PEERS_H

#include "base/yaml.h"
#include "core/state/device_kind.h"

enum { PEERS_MAX = 8, PEERS_PROVIDER_SIZE = 48, PEERS_TEXT_SIZE = 512 };

struct peers {
	int n;
	struct {
		char provider[PEERS_PROVIDER_SIZE];
		enum device_kind device;
		struct yaml_place at; /* where it is named; nowhere for one that was read back from a line */
	} of[PEERS_MAX];
};

/** Whether `text` can be the name of a provider: 1 to 47 of A-Z a-z 0-9 _ - . : + */
bool peers_is_provider(const char *text);

/** A list of peers, or one alone; an empty list is none. Absent leaves `out` as it is. Mistakes go into `y`. */
void peers_read(struct yaml *y, struct yaml_node *node, struct peers *out);

/** As one line, as it is stored: "cudnn@cuda naive". Shape: text[PEERS_TEXT_SIZE]. */
void peers_write(const struct peers *p, char *text);
/** Back from that line; words that name no peer are left out. */
void peers_parse(const char *text, struct peers *out);

/** Position of a provider, -1 if it is none of them. */
int peers_find(const struct peers *p, const char *provider);

/** The first at or after `i` that exists on this kind of device; p->n: no more. */
int peers_next(const struct peers *p, int i, enum device_kind kind);

#endif
