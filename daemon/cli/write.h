/** write.h - a proposal as the text of .flopwatch.yaml, with what was guessed and why beside each line. Pure. */
#ifndef CLI_WRITE_H
#define CLI_WRITE_H

#include "lib/buf.h"
#include "cli/propose.h"

enum { WRITE_WORD_MAX = 250 }; /* bytes of one word of a command that a manifest takes */

void write_manifest(const struct proposal *p, struct buf *out);
/** The build as one line of the shell. */
void write_shell(const struct proposal *p, struct buf *out);

#endif
