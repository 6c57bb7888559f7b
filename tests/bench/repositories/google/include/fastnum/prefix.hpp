// prefix.hpp - running sums, and the first position at which one exceeds a limit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fastnum {

inline void add_prefixes(const std::vector<uint32_t> &x, std::vector<uint64_t> &out)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < x.size(); i++)
		out[i] = sum += x[i];
}

inline size_t find_limit(const std::vector<uint64_t> &sums, uint64_t limit)
{
	return (size_t)(std::upper_bound(sums.begin(), sums.end(), limit) - sums.begin());
}

} // namespace fastnum
