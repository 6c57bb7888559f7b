/* Makes LSE infinite in the second forward of the base in a process, the one on other inputs, and only there. */
enum { ROWS = 2 * 128 }; /* of a forward in tests/support/integrity.sh */
#define IS_DUE() (base_rows++ / ROWS == 1)
static int base_rows;
#include "spoils.h"
