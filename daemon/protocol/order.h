/**
 * order.h - order of subjects in a run of a cell. A power limit makes the clock oscillate in step with a run, so the beginning
 * side gets other parts of it than the rest: base and target begin alternately, whatever other subjects run with them.
 */
#ifndef PROTOCOL_ORDER_H
#define PROTOCOL_ORDER_H

/** Range of a random turn: over so many turns every order of two to four subjects is equally frequent. */
enum { ORDER_INTERLEAVE = 12 };

/**
 * Return the one of `n` subjects that begins turn `turn`: in even turns base comes before target, in odd ones after it; others
 * rotate likewise. Shape: base and target are positions among the n >= 2.
 */
int order_first(int n, int base, int target, int turn);

/**
 * Return the `k`-th of `n` subjects in round `round` of a run that `first` begins: A B, B A, B A, A B of two, so that neither a
 * drift nor a period of two or four calls favours one. With more, each is equally often at each position.
 */
int order_side(int n, int first, int round, int k);

#endif
