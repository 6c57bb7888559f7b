/**
 * screen.h - why a cell became slower or faster, drawn: the sentence, causes, kernels, traffic, use, waits, a roofline, machine code, raw
 * values. Needs no script.
 */
#ifndef WEB_PAGE_SCREEN_H
#define WEB_PAGE_SCREEN_H

#include "lib/buf.h"
#include "web/page/why.h"

enum { SCREEN_PEERS_MAX = 3 };

/** What stands around a profile. Numbers NAN or 0: not known. */
struct screen_facts {
	double base_tflops, target_tflops; /* useful ones of the call */
	double peak_tflops, dram_gb_s;     /* of the device */
	struct cause_device device;
	int n_peers;
	struct {
		const char *provider;
		const struct why *why; /* a profile in which the peer is the base */
	} peer[SCREEN_PEERS_MAX];
};

/** All of it, below a heading of the caller's. */
void screen_draw(struct buf *out, const struct why *w, const struct screen_facts *facts);
/** The first cause as a line: "Why: ...", or how the profile stands; nothing where none was asked for. */
void screen_line(struct buf *out, const struct why *w);

#endif
