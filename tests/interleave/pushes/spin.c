/* spin.c - two cells of fixed work on the host, using the kit. The file `share` in the same folder contains the fraction of added
 * work, e.g. 0.02. */
#include "flopwatch.h"

static volatile unsigned sink;

int main(void)
{
	double share = 0;
	FILE *f = fopen("share", "r");

	if (!f || fscanf(f, "%lf", &share) != 1)
		return 1;
	fclose(f);

	unsigned additions = (unsigned)(400000 * (1 + share)), multiplications = (unsigned)(300000 * (1 + share));

	FLOPWATCH("additions", additions, 0)
	{
		for (unsigned i = 0; i < additions; i++)
			sink += i;
	}
	FLOPWATCH("multiplications", multiplications, 0)
	{
		double x = 1;

		for (unsigned i = 0; i < multiplications; i++)
			x = x * 1.0000001 + 1e-9;
		sink = (unsigned)x;
	}
	return 0;
}
