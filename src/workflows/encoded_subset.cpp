#include "workflows/encoded_subset.h"

namespace radir::workflows {

data::EncodedRows encoded_subset(const data::EncodedRows& rows,
                                 std::int64_t inputs,
                                 const std::vector<std::int64_t>& chosen) {
  data::EncodedRows result;
  result.count = static_cast<std::int64_t>(chosen.size());
  result.inputs.reserve(chosen.size() * static_cast<std::size_t>(inputs));
  for (const std::int64_t row : chosen) {
    const float* from = rows.inputs.data() + row * inputs;
    result.inputs.insert(result.inputs.end(), from, from + inputs);
    const auto at = static_cast<std::size_t>(row);
    if (!rows.targets.empty()) result.targets.push_back(rows.targets[at]);
    if (!rows.labels.empty()) result.labels.push_back(rows.labels[at]);
    result.table_rows.push_back(rows.table_rows[at]);
  }
  return result;
}

data::EncodedRows encoded_sample(const data::EncodedRows& rows,
                                 std::int64_t inputs, std::int64_t most) {
  const std::int64_t stride = 1 + (rows.count - 1) / most;
  std::vector<std::int64_t> chosen;
  for (std::int64_t row = 0; row < rows.count; row += stride) {
    chosen.push_back(row);
  }
  return encoded_subset(rows, inputs, chosen);
}

}  // namespace radir::workflows
