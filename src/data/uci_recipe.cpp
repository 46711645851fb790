#include "data/uci_recipe.h"

#include <cmath>
#include <numeric>
#include <random>
#include <utility>

namespace radir::data {
namespace {

using Indices = std::vector<std::int64_t>;

/// One number per line.
std::string lines(Indices::const_iterator begin, Indices::const_iterator end) {
  std::string text;
  for (auto index = begin; index != end; ++index) {
    text += std::to_string(*index) + "\n";
  }
  return text;
}

std::string line(std::int64_t number) { return std::to_string(number) + "\n"; }

/// A uniform number from 0 to `largest`: the bits that may be set, until they
/// are no more than it.
std::uint32_t draw(std::mt19937& generator, std::uint32_t largest) {
  std::uint32_t mask = largest;
  for (int shift = 1; shift < 32; shift *= 2) mask |= mask >> shift;
  for (;;) {
    const auto number = static_cast<std::uint32_t>(generator()) & mask;
    if (number <= largest) return number;
  }
}

/// numpy.random.permutation(n) of NumPy's first generator, whose numbers have
/// been frozen since version 1.17 (NEP 19).
Indices permutation(std::mt19937& generator, std::int64_t n) {
  Indices indices(static_cast<std::size_t>(n));
  std::iota(indices.begin(), indices.end(), 0);
  for (std::size_t i = indices.size() - 1; i > 0; --i) {
    std::swap(indices[i],
              indices[draw(generator, static_cast<std::uint32_t>(i))]);
  }
  return indices;
}

}  // namespace

std::vector<NamedText> make_uci_files(const UciRecipe& recipe) {
  Indices features(static_cast<std::size_t>(recipe.features));
  std::iota(features.begin(), features.end(), 0);
  std::vector<NamedText> files = {
      {"index_features.txt", lines(features.begin(), features.end())},
      {"index_target.txt", line(recipe.features)},
      {"n_splits.txt", line(recipe.splits)},
      {"n_hidden.txt", line(recipe.hidden_units)},
      {"n_epochs.txt", line(recipe.epochs)}};
  std::mt19937 generator(1);
  const std::int64_t train =
      std::llround(static_cast<double>(recipe.rows) * 0.9);
  for (int split = 0; split < recipe.splits; ++split) {
    const Indices order = permutation(generator, recipe.rows);
    const std::string ending = "_" + std::to_string(split) + ".txt";
    files.push_back(
        {"index_train" + ending, lines(order.begin(), order.begin() + train)});
    files.push_back(
        {"index_test" + ending, lines(order.begin() + train, order.end())});
  }
  return files;
}

}  // namespace radir::data
