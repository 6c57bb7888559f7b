#include "flopwatch.h"
#include <benchmark/benchmark.h>
/* comment */ // more
static const char *s = "/* no comment */";
__global__ void k() {}
BENCHMARK(b)->Arg(1);
int main(int argc, char **argv) { return 0; }
