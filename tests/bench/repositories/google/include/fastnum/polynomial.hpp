// polynomial.hpp - value of a polynomial with equal coefficients.
#pragma once

#include <vector>

namespace fastnum {

constexpr int terms = 200;

inline double evaluate(const std::vector<double> &x)
{
	double total = 0;

	for (double at : x) {
		double sum = 0;

		for (int k = 0; k < terms; k++)
			sum = sum * at + 0.5;
		total += sum;
	}
	return total;
}

} // namespace fastnum
