/**
 * makefile.h - which rules a Makefile has, as far as its text alone says: variables that are plain words, targets, recipes. Pure.
 *
 * It does not evaluate conditions or functions: what they would give is left out, and nobody finds it.
 */
#ifndef CLI_MAKEFILE_H
#define CLI_MAKEFILE_H

#include <stdbool.h>
#include <stddef.h>

struct makefile;

/** Read. Own: makefile_free. NULL without memory. */
struct makefile *makefile_read(const char *text);
void makefile_free(struct makefile *m);

/** Whether DEVICE is one of its variables: it then builds for the kind of device that it is told. */
bool makefile_knows_device(const struct makefile *m);
/**
 * The target that builds a program called `stem` (or, with `source`, what a pattern rule makes of it), and the file that it becomes; "{device}" stands for $(DEVICE).
 * Shape: target[size], file[size].
 */
bool makefile_program(const struct makefile *m, const char *stem, const char *source, char *target, char *file, size_t size);
/** The first shared object that it builds. Shape: file[size]. */
bool makefile_module(const struct makefile *m, char *file, size_t size);
/** The first rule whose recipe holds `word`: its target and its recipe (borrowed). Shape: target[size]. */
bool makefile_recipe(const struct makefile *m, const char *word, char *target, size_t size, const char **recipe);

#endif
