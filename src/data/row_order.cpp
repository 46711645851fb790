#include "radir/data/row_order.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

namespace radir::data {
namespace {

using Hashes = std::vector<std::uint64_t>;

constexpr std::uint64_t kStart = 0xcbf29ce484222325u;
constexpr std::uint64_t kMissing = 0x9e3779b97f4a7c15u;

/// The finaliser of MurmurHash3: every bit of the result depends on all bits.
std::uint64_t mixed(std::uint64_t hash) {
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdu;
  hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53u;
  return hash ^ (hash >> 33);
}

std::uint64_t hash_of(double number) {
  if (std::isnan(number)) return kMissing;
  const double value = number + 0.0;  // both zeros are one
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = kStart;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  return hash;
}

Hashes hashes_of(const Dictionary& texts) {
  Hashes hashes;
  for (std::int32_t i = 0; i < texts.size(); ++i) {
    hashes.push_back(hash_of(texts.text(i)));
  }
  return hashes;
}

void add(const Column& column, Hashes& rows) {
  const bool is_text = column.type() == ColumnType::Categorical;
  const Hashes texts = is_text ? hashes_of(column.categories()) : Hashes();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    std::uint64_t cell = kMissing;
    if (!is_text) {
      cell = hash_of(column.number(row));
    } else if (column.code(row) >= 0) {
      cell = texts[static_cast<std::size_t>(column.code(row))];
    }
    rows[i] = mixed(rows[i] ^ cell);
  }
}

}  // namespace

std::vector<std::int64_t> content_order(const Table& table) {
  Hashes hashes(static_cast<std::size_t>(table.rows()), kStart);
  for (const Column& column : table.columns()) add(column, hashes);
  std::vector<std::pair<std::uint64_t, std::int64_t>> places;
  places.reserve(hashes.size());
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    places.emplace_back(hashes[i], static_cast<std::int64_t>(i));
  }
  std::sort(places.begin(), places.end());
  std::vector<std::int64_t> order;
  order.reserve(places.size());
  for (const auto& [hash, row] : places) order.push_back(row);
  return order;
}

}  // namespace radir::data
