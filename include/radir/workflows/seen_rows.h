#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "radir/data/table_encoder.h"

namespace radir::workflows {

/// Rows whose inputs were checked, and those of them that were seen before.
struct SeenCount {
  std::int64_t checked = 0;
  std::int64_t seen = 0;

  /// NaN where nothing was checked.
  double share() const;
};

/// Which encoded inputs the training rows had, as a sorted list of 48-bit
/// hashes. Of a long table only the smallest kMostHashes are kept; rows with a
/// larger hash are then not checked. A hash does not depend on how often a row
/// is there, so those that are checked are a random sample. With n training
/// rows, the inputs of a new row pass for seen by chance with a probability of
/// n/2^48.
class SeenRows {
 public:
  static constexpr std::size_t kMostHashes = 10000;

  SeenRows() = default;
  /// `inputs` is TableEncoder::input_size().
  SeenRows(const data::EncodedRows& rows, std::int64_t inputs);

  bool is_empty() const { return hashes_.empty(); }
  /// Adds what other rows, of as many inputs, show.
  void count(const data::EncodedRows& rows, std::int64_t inputs,
             SeenCount& count) const;

  /// A JSON object; {} of none.
  std::string to_json() const;
  /// Throws IoError, which begins with `where`, when it is invalid.
  static SeenRows from_json(const std::string& where, const std::string& text);

 private:
  std::vector<std::uint64_t> hashes_;  // in increasing order
  bool complete_ = true;               // all of the table
};

}  // namespace radir::workflows
