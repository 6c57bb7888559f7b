/**
 * attention_compare.cuh - how far outputs may be from the exact result, for attention_check.cu.
 *
 * X is a kernel's output, R the exact result, N a plain bf16 attention on the same inputs. Accepted is:
 *   max |X - R| <= 2 max |N - R| + 2 max |(R + 0.3) - 0.3 - R|, the last sum in bf16: an unavoidable rounding;
 *   |X - R| <= 1.1 |N - R| in the 2-norm, plus the noise of the final rounding;
 *   at most twice N's elements beyond a relative 5 % (O, dV), 15 % (dK), 30 % (dQ), plus the noise of such counts, at most 75 %;
 *   LSE to 1e-4; rows without keys exactly O 0, LSE -inf, gradients 0; no NaN or Inf anywhere.
 */
#ifndef GPU_ATTENTION_COMPARE_CUH
#define GPU_ATTENTION_COMPARE_CUH

#include "attention_setup.cuh"

#include <math.h>

static const double max_factor = 2.0, norm_factor = 1.1, noise_factor = 4.0, mismatch_factor = 2.0, mismatch_most = 0.75,
		    lse_tolerance = 1e-4;

static void exceed(struct outcome *o, double error, double allowed)
{
	if (error <= allowed * o->ratio || error == 0)
		return;
	o->ratio = allowed > 0 ? error / allowed : INFINITY;
	o->error = error;
	o->allowed = allowed;
}

/* `tolerance`: relative; `width`: elements of a row. */
static void compare(struct outcome *o, const char *name, const std::vector<uint16_t> &got, const std::vector<double> &exact,
	const std::vector<double> &plain, double tolerance, int width)
{
	double worst = 0, plain_worst = 0, floor_worst = 0, norm = 0, plain_norm = 0, exact_norm = 0, rounding_norm = 0;
	size_t where = 0, misses = 0, plain_misses = 0;
	for (size_t i = 0; i < got.size(); i++) {
		const double x = bf16_value(got[i]), r = exact[i], off = fabs(x - r), plain_off = fabs(plain[i] - r);
		const double rounding = round_bf16(r) - r, limit = 1e-8 + tolerance * fabs(r);
		if (!std::isfinite(x)) {
			fail(o, "%s[%zu] is %g, not %g", name, i, x, r);
			return;
		}
		if (off > worst) {
			worst = off;
			where = i;
		}
		plain_worst = std::max(plain_worst, plain_off);
		floor_worst = std::max(floor_worst, fabs(round_bf16(round_bf16(r + 0.3) - 0.3) - r));
		norm += off * off;
		plain_norm += plain_off * plain_off;
		exact_norm += r * r;
		rounding_norm += rounding * rounding;
		misses += off > limit;
		plain_misses += plain_off > limit;
	}
	const double allowed = max_factor * (plain_worst + floor_worst);
	exceed(o, worst, allowed);
	if (!(worst <= allowed))
		fail(o, "%s[%zu] is %g, not %g: error %.3g, allowed %.3g", name, where, bf16_value(got[where]), exact[where],
			worst, allowed);
	const double rows = std::max(1.0, (double)got.size() / width);
	const double norm_allowed = norm_factor * sqrt(plain_norm) + noise_factor * sqrt(rounding_norm / rows);
	exceed(o, sqrt(norm), norm_allowed);
	if (!(sqrt(norm) <= norm_allowed))
		fail(o, "%s is off by %.3g in the 2-norm, plain bf16 by %.3g, allowed %.3g", name, sqrt(norm), sqrt(plain_norm),
			norm_allowed);
	if (plain_norm >= 0.25 * exact_norm) /* the result is rounding noise, for which a relative error is meaningless */
		return;
	const double expected = (double)plain_misses;
	double misses_allowed = mismatch_factor * expected + noise_factor * sqrt(2 * expected) + width / 8.0;
	misses_allowed = std::min(misses_allowed, mismatch_most * (double)got.size());
	if ((double)misses > misses_allowed)
		fail(o, "%s: %zu of %zu elements are off by more than %g %%, plain bf16 has %zu, allowed %.0f", name, misses,
			got.size(), tolerance * 100, plain_misses, misses_allowed);
}

static void compare_lse(struct outcome *o, const std::vector<float> &got, const std::vector<double> &exact)
{
	for (size_t i = 0; i < got.size(); i++) {
		const bool same = std::isinf(exact[i]) ? std::isinf(got[i]) && got[i] < 0
						       : fabs(got[i] - exact[i]) <= lse_tolerance * std::max(1.0, fabs(exact[i]));
		if (!same) {
			fail(o, "LSE[%zu] is %g, not %g", i, got[i], exact[i]);
			return;
		}
	}
}

/* Elements of a row without keys, or of a key that no row attends to, are exactly 0. `empty`: whether a row of `got` is one of
 * these. */
template <typename F>
static void compare_zero(struct outcome *o, const char *name, const std::vector<uint16_t> &got, int width, F empty)
{
	for (size_t i = 0; i < got.size(); i++)
		if ((got[i] & 0x7fff) != 0 && empty(i / width)) {
			fail(o, "%s[%zu] is %g where nothing is seen", name, i, bf16_value(got[i]));
			return;
		}
}

static void check_values(
	struct outcome *o, const struct setup *u, int backward, const struct answer &exact, const struct answer &plain)
{
	const int d = u->p.d, nhq = u->p.nhq;
	const auto no_keys = [&](size_t row) { /* rows of O and dQ are (token, head), LSE is (head, token) */
		return std::isinf(exact.lse[(row % nhq) * u->total_q + row / nhq]);
	};
	const auto unseen = [&](size_t row) {
		for (int i = 0; i < d; i++)
			if (exact.dv[row * d + i] != 0)
				return false;
		return true;
	};
	if (backward) {
		const std::vector<uint16_t> dq = fetch<uint16_t>(u->slot[FW_DQ]), dk = fetch<uint16_t>(u->slot[FW_DK]),
					    dv = fetch<uint16_t>(u->slot[FW_DV]);
		compare(o, "dQ", dq, exact.dq, plain.dq, 0.3, d);
		compare(o, "dK", dk, exact.dk, plain.dk, 0.15, d);
		compare(o, "dV", dv, exact.dv, plain.dv, 0.05, d);
		compare_zero(o, "dQ", dq, d, no_keys);
		compare_zero(o, "dK", dk, d, unseen);
		compare_zero(o, "dV", dv, d, unseen);
	} else {
		const std::vector<uint16_t> out = fetch<uint16_t>(u->slot[FW_O]);
		compare(o, "O", out, exact.o, plain.o, 0.05, d);
		compare_lse(o, fetch<float>(u->slot[FW_LSE]), exact.lse);
		compare_zero(o, "O", out, d, no_keys);
	}
	for (int s = 0; s < FW_ATTENTION_SLOTS; s++)
		if (!redzone_is_intact(u->slot[s]))
			fail(o, "bytes behind %s were overwritten", slot_name(s));
	if (u->workspace.data && !redzone_is_intact(u->workspace))
		fail(o, "bytes behind the workspace were overwritten");
	if (u->persist.data && !redzone_is_intact(u->persist))
		fail(o, "bytes behind the persistent scratch were overwritten");
}

#endif
