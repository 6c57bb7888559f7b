/**
 * glossary.h - the words of doc/glossary.md, compiled in: all of them as a page, and at the foot of every other page those that it uses.
 *
 * Words are found in what a page says, so that a new one needs an entry in that file and nothing here.
 */
#ifndef WEB_HTML_GLOSSARY_H
#define WEB_HTML_GLOSSARY_H

#include <stddef.h>

#include "lib/buf.h"

/** Every entry, as a list that its reference commits lead to. */
void glossary_draw(struct buf *out);

/** Links to the entries of the words that stand in what `out` holds from `begin` on; nothing where there are none. What is code is not read. */
void glossary_foot(struct buf *out, size_t begin);

#endif
