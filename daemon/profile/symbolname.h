/**
 * symbolname.h - readable form of a compiler's symbol: "_Z4gemmILi128ELb1EEvPf" becomes "gemm<128, true>".
 *
 * It reads names, namespaces and template arguments, which distinguish functions, in one pass and bounded memory, for any
 * input. Parameters and results are left out. Unknown parts (substitutions, expressions) become arguments "<...>", or leave the
 * symbol as it is.
 */
#ifndef PROFILE_SYMBOLNAME_H
#define PROFILE_SYMBOLNAME_H

#include <stddef.h>

enum { SYMBOLNAME_SIZE = 256 };

/** Convert without unnamed namespaces, cut to fit. Shape: out[SYMBOLNAME_SIZE]. */
void symbolname(const char *symbol, char *out);

#endif
