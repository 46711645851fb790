#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace radir::io {

// The format: eight bytes of header length (little endian), the header (JSON,
// padded with spaces), then the tensors' bytes without gaps.
inline constexpr std::size_t kLengthBytes = 8;
inline constexpr std::size_t kAlignment = 8;
/// The limit of the format's own implementation.
inline constexpr std::uint64_t kMostHeaderBytes = 100'000'000;
inline constexpr const char* kMetadataKey = "__metadata__";

/// Our checksum: the CRC-32 (of zlib) of the complete file, in eight
/// hexadecimal digits, computed with these digits as zeros.
inline constexpr const char* kChecksumKey = "radir.crc32";
inline constexpr std::string_view kChecksumEntry = "\"radir.crc32\":\"";
inline constexpr std::string_view kNoChecksum = "00000000";

}  // namespace radir::io
