/**
 * symbolname.h - a compiler's symbol as people write the function: "_Z4gemmILi128ELb1EEvPf" is "gemm<128, true>".
 *
 * It reads names, namespaces and template arguments, which tell functions apart, in one pass and in bounded memory, whatever a branch
 * wrote. Parameters and results are left out, and what it does not know (substitutions, expressions) makes arguments "<...>", or leaves
 * the symbol as it is.
 */
#ifndef CORE_MACHINE_SYMBOLNAME_H
#define CORE_MACHINE_SYMBOLNAME_H

#include <stddef.h>

enum { SYMBOLNAME_SIZE = 256 };

/** Without unnamed namespaces, and cut where it does not fit. Shape: out[SYMBOLNAME_SIZE]. */
void symbolname(const char *symbol, char *out);

#endif
