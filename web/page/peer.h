/** peer.h - what a comparison's page says of peers: how fast its sides are beside providers that are yardsticks. */
#ifndef WEB_PAGE_PEER_H
#define WEB_PAGE_PEER_H

#include "web/page/comparison.h"

/** Whether it sets providers or configurations beside each other (model/jobkind.h). */
bool comparison_is_side_by_side(const struct comparison *c);
/** Providers that some cell has figures of, in their order. Shape: out[COMPARISON_PEERS_MAX]; the body's texts. How many. */
int comparison_peers(const struct comparison *c, const char **out);
/** A cell's figures beside `provider`; NULL none. Own: the cell's. */
const struct comparison_peer *comparison_peer(const struct comparison_cell *cell, const char *provider);

/** The lead of a comparison against a peer, after its verdict. */
void comparison_peer_sentence(struct buf *out, const struct comparison *c);
/** A card with a line a peer; nothing without peers. */
void comparison_peer_card(struct buf *out, const struct comparison *c);
/** Rows of "name, base, target, change" for an opened cell. */
void comparison_peer_rows(struct buf *out, const struct comparison_cell *cell);
/** The target's percent as a table cell. */
void comparison_peer_column(struct buf *out, const struct comparison_cell *cell, const char *provider);

#endif
