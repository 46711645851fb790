#include "radir/data/row_order.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <tuple>

#include "radir/core/hash.h"

namespace radir::data {
namespace {

using Hashes = std::vector<std::uint64_t>;

constexpr std::uint64_t kMissing = 0x9e3779b97f4a7c15u;

std::uint64_t hash_of(double number) {
  if (std::isnan(number)) return kMissing;
  const double value = number + 0.0;  // both zeros are one
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = kHashOfNothing;
  for (const char c : text) {
    hash = hash_with(hash, static_cast<unsigned char>(c));
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
    rows[i] = mixed_hash(rows[i] ^ cell);
  }
}

}  // namespace

std::vector<std::int64_t> content_order(const Table& table,
                                        const std::vector<std::int64_t>& ties) {
  Hashes hashes(static_cast<std::size_t>(table.rows()), kHashOfNothing);
  for (const Column& column : table.columns()) add(column, hashes);
  std::vector<std::int64_t> order(hashes.size());
  std::iota(order.begin(), order.end(), 0);
  const auto place_of = [&](std::int64_t row) {
    const auto i = static_cast<std::size_t>(row);
    return std::tuple(hashes[i], ties.empty() ? 0 : ties[i], row);
  };
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return place_of(a) < place_of(b);
  });
  return order;
}

}  // namespace radir::data
