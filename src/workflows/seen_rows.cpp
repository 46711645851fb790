#include "radir/workflows/seen_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>

#include "radir/core/error.h"
#include "radir/core/hash.h"
#include "radir/files/json_object.h"

namespace radir::workflows {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kBits = 48;
constexpr std::size_t kDigits = kBits / 4;

/// FNV-1a of 32-bit words, then the finaliser of MurmurHash3, so that the top
/// bits depend on all of them.
std::uint64_t hash_of(const float* inputs, std::int64_t count) {
  std::uint64_t hash = kHashOfNothing;
  for (std::int64_t i = 0; i < count; ++i) {
    const float value = inputs[i] + 0.0f;  // both zeros are one
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    hash = hash_with(hash, bits);
    hash ^= hash >> 32;
  }
  return mixed_hash(hash) >> (64 - kBits);
}

}  // namespace

double SeenCount::share() const {
  return checked > 0 ? static_cast<double>(seen) / static_cast<double>(checked)
                     : std::numeric_limits<double>::quiet_NaN();
}

SeenRows::SeenRows(const data::EncodedRows& rows, std::int64_t inputs) {
  hashes_.reserve(static_cast<std::size_t>(rows.count));
  for (std::int64_t row = 0; row < rows.count; ++row) {
    hashes_.push_back(hash_of(rows.inputs.data() + row * inputs, inputs));
  }
  std::sort(hashes_.begin(), hashes_.end());
  hashes_.erase(std::unique(hashes_.begin(), hashes_.end()), hashes_.end());
  complete_ = hashes_.size() <= kMostHashes;
  if (!complete_) hashes_.resize(kMostHashes);
  hashes_.shrink_to_fit();
}

void SeenRows::count(const data::EncodedRows& rows, std::int64_t inputs,
                     SeenCount& count) const {
  if (is_empty()) return;
  for (std::int64_t row = 0; row < rows.count; ++row) {
    const std::uint64_t hash =
        hash_of(rows.inputs.data() + row * inputs, inputs);
    if (!complete_ && hash > hashes_.back()) continue;
    ++count.checked;
    if (std::binary_search(hashes_.begin(), hashes_.end(), hash)) ++count.seen;
  }
}

std::string SeenRows::to_json() const {
  if (is_empty()) return "{}";
  std::string text;
  text.reserve(hashes_.size() * kDigits);
  for (const std::uint64_t hash : hashes_) {
    fmt::format_to(std::back_inserter(text), "{:012x}", hash);
  }
  return Json{{"complete", complete_}, {"input_hashes", text}}.dump();
}

SeenRows SeenRows::from_json(const std::string& where,
                             const std::string& text) {
  const Json document = files::parse_json<Json>(where, text, {});
  SeenRows rows;
  if (document.empty()) return rows;
  files::JsonObject json(document, where);
  rows.complete_ = json.boolean("complete");
  const std::string digits = json.text("input_hashes");
  json.finish();
  bool valid =
      digits.size() % kDigits == 0 && !digits.empty() &&
      digits.find_first_not_of("0123456789abcdef") == std::string::npos;
  for (std::size_t at = 0; valid && at < digits.size(); at += kDigits) {
    rows.hashes_.push_back(
        std::stoull(digits.substr(at, kDigits), nullptr, 16));
    const std::size_t count = rows.hashes_.size();
    valid = count == 1 || rows.hashes_[count - 2] < rows.hashes_[count - 1];
  }
  RADIR_CHECK(valid, IoError, where, ": \"input_hashes\" must be numbers of ",
              kDigits, " hexadecimal digits in increasing order");
  return rows;
}

}  // namespace radir::workflows
