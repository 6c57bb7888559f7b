/* matmul.c - C = A B on one core, in blocks that stay in its caches; its check, and the calls that are timed. */
#include "flopwatch.h"

enum { N_MAX = 512, BLOCK = 64 };

static float a[N_MAX * N_MAX], b[N_MAX * N_MAX], c[N_MAX * N_MAX];
static int size;

static void add_block(int n, int row, int inner, int column)
{
	for (int i = row; i < row + BLOCK; i++)
		for (int k = inner; k < inner + BLOCK; k++) {
			const float left = a[i * n + k];
			for (int j = column; j < column + BLOCK; j++) /* along rows of B and C, so that it becomes vectors */
				c[i * n + j] += left * b[k * n + j];
		}
}

static void matmul(int n)
{
	memset(c, 0, sizeof(float) * (size_t)(n * n));
	for (int row = 0; row < n; row += BLOCK)
		for (int inner = 0; inner < n; inner += BLOCK)
			for (int column = 0; column < n; column += BLOCK)
				add_block(n, row, inner, column);
}

/* The diagonal, where each element has a row and a column of its own, in double. */
static const char *check(void *argument)
{
	static float got[N_MAX], wanted[N_MAX];

	(void)argument;
	for (int i = 0; i < size; i++) {
		double sum = 0;
		for (int k = 0; k < size; k++)
			sum += (double)a[i * size + k] * b[k * size + i];
		wanted[i] = (float)sum;
		got[i] = c[i * size + i];
	}
	return flopwatch_compare(got, wanted, (size_t)size, 1e-4F, 1e-3F);
}

int main(void)
{
	static const struct {
		int n;
		const char *key;
	} cell[] = { { 256, "matmul/256" }, { 512, "matmul/512" } };

	for (unsigned i = 0; i < N_MAX * N_MAX; i++) { /* never zeros: they cost less power than what people compute */
		a[i] = (float)(i * 7919 % 1009) / 1009 - 0.5F;
		b[i] = (float)(i * 104729 % 997) / 997 - 0.5F;
	}
	flopwatch_check(check, NULL);
	for (int i = 0; i < 2; i++) {
		size = cell[i].n;
		FLOPWATCH(cell[i].key, 2.0 * size * size * size, 3.0 * sizeof(float) * size * size)
		{
			matmul(size);
		}
	}
	return 0;
}
