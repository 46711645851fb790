#include "radir/files/sha256.h"

#include <algorithm>
#include <cstring>

namespace radir::files {
namespace {

// The first 32 bits of the fractional parts of the cube roots of the first 64
// primes (FIPS 180-4, 4.2.2).
constexpr std::uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

constexpr std::uint32_t rotate(std::uint32_t x, int bits) {
  return x >> bits | x << (32 - bits);
}

std::uint32_t read_big_endian(const unsigned char* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | std::uint32_t{bytes[3]};
}

// FIPS 180-4, 6.2.2, step 1.
void expand(const unsigned char* block, std::uint32_t* schedule) {
  for (int t = 0; t < 16; ++t) schedule[t] = read_big_endian(block + 4 * t);
  for (int t = 16; t < 64; ++t) {
    const std::uint32_t x = schedule[t - 15];
    const std::uint32_t y = schedule[t - 2];
    schedule[t] = schedule[t - 16] + schedule[t - 7] +
                  (rotate(x, 7) ^ rotate(x, 18) ^ x >> 3) +
                  (rotate(y, 17) ^ rotate(y, 19) ^ y >> 10);
  }
}

}  // namespace

void Sha256::add_block(const unsigned char* block) {
  std::uint32_t schedule[64];
  expand(block, schedule);
  auto [a, b, c, d, e, f, g, h] = state_;
  for (int t = 0; t < 64; ++t) {
    const std::uint32_t first = h +
                                (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
                                ((e & f) ^ (~e & g)) + kRound[t] + schedule[t];
    const std::uint32_t second =
        (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
        ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const std::uint32_t words[] = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < state_.size(); ++i) state_[i] += words[i];
}

void Sha256::add(std::string_view bytes) {
  total_bytes_ += bytes.size();
  while (!bytes.empty()) {
    if (pending_size_ == 0 && bytes.size() >= kBlockBytes) {
      add_block(reinterpret_cast<const unsigned char*>(bytes.data()));
      bytes.remove_prefix(kBlockBytes);
      continue;
    }
    const std::size_t count =
        std::min(bytes.size(), kBlockBytes - pending_size_);
    std::memcpy(pending_.data() + pending_size_, bytes.data(), count);
    bytes.remove_prefix(count);
    pending_size_ += count;
    if (pending_size_ == kBlockBytes) {
      add_block(pending_.data());
      pending_size_ = 0;
    }
  }
}

// The padding of FIPS 180-4, 5.1.1: a bit, zeros, and the length in bits as
// eight bytes at the end of a block.
std::string Sha256::hex() {
  const std::uint64_t bits = total_bytes_ * 8;
  std::string padding = "\x80";
  while ((total_bytes_ + padding.size()) % kBlockBytes != kBlockBytes - 8) {
    padding += '\0';
  }
  for (int shift = 56; shift >= 0; shift -= 8) {
    padding += static_cast<char>(bits >> shift & 0xFF);
  }
  add(padding);
  std::string digits;
  for (const std::uint32_t word : state_) {
    for (int shift = 28; shift >= 0; shift -= 4) {
      digits += "0123456789abcdef"[word >> shift & 0xF];
    }
  }
  return digits;
}

std::string sha256(std::string_view bytes) {
  Sha256 sum;
  sum.add(bytes);
  return sum.hex();
}

}  // namespace radir::files
