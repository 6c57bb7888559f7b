/* Its provider has a name of one byte more than the longest that is possible. */
#define NAME "an_attention_for_the_lab_with_a_name_of_48_bytes"
#include "good.c"
