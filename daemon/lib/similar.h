/** similar.h - what somebody may have meant who has mistyped a word. */
#ifndef LIB_SIMILAR_H
#define LIB_SIMILAR_H

/** Letters to add, drop or change between two words; 99 where one has more than 64. */
int similar_distance(const char *a, const char *b);

#endif
