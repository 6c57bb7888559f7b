/**
 * order.h - who begins a run of a cell. A power limit makes the clock swing in step with a run, so that who begins has other places in it
 * than who follows: base and target begin by turns, whoever else is measured beside them.
 */
#ifndef CORE_PROTOCOL_ORDER_H
#define CORE_PROTOCOL_ORDER_H

/** What a turn that is drawn by chance is drawn from: of two to four subjects every order comes as often in as many turns. */
enum { ORDER_INTERLEAVE = 12 };

/**
 * The one of `n` subjects that begins turn `turn`: in even ones base comes before target, in odd ones behind it, and where there are more they
 * change over likewise. Shape: base and target are positions among the n >= 2.
 */
int order_first(int n, int base, int target, int turn);

/**
 * Who is `k`-th of `n` subjects in round `round` of a run that `first` begins: A B, B A, B A, A B of two, so that neither a drift nor what comes
 * back every two or four calls weighs on one of them. Of more, each comes as often in each place.
 */
int order_side(int n, int first, int round, int k);

#endif
