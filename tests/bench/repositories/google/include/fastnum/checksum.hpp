// checksum.hpp - CRC-32 of bytes, by a table.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace fastnum {

inline std::array<uint32_t, 256> make_table()
{
	std::array<uint32_t, 256> table;

	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int k = 0; k < 8; k++)
			c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
		table[i] = c;
	}
	return table;
}

inline uint32_t checksum(const std::vector<uint8_t> &bytes)
{
	static const std::array<uint32_t, 256> table = make_table();
	uint32_t c = ~0u;

	for (uint8_t b : bytes)
		c = table[(c ^ b) & 255] ^ (c >> 8);
	return ~c;
}

} // namespace fastnum
