/**
 * cublaslt_product.h - one product in the library's terms, and the kernel that its heuristic chooses.
 *
 * The library uses column-major matrices: our row-major Y (m, n) is its (n, m) = W op X.
 */
#ifndef LINEAR_CUBLASLT_PRODUCT_H
#define LINEAR_CUBLASLT_PRODUCT_H

#include "linear/contract.h"
#include "linear/cublaslt/cublaslt_api.h"

struct cublaslt_product {
	const struct cublaslt_api *api;
	void *handle, *product, *a, *b, *d;
	struct cublaslt_choice choice;
	int index; /* index of the choice in the heuristic's list */
	char error[CONTRACT_TEXT_BYTES];
};

struct cublaslt_request {
	struct fw_linear_shape shape;
	int direction;
	bool is_fp8, is_fast;
};

/**
 * Describe the product and select kernel number `wanted` of the heuristic's list, below 0 for the first, on the current device.
 * Own: cublaslt_product_free, also after a failure. Err: FW_UNSUPPORTED, FW_FAILED; error contains the reason.
 */
int cublaslt_product_make(struct cublaslt_product *, const struct cublaslt_api *, const struct cublaslt_request *, int wanted);

/** Accepts zeros. */
void cublaslt_product_free(struct cublaslt_product *);

#endif
