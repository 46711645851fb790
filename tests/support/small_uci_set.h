#pragma once

#include <string>
#include <vector>

#include "radir/kernels/random.h"
#include "support/temporary_folder.h"

namespace radir::testing {

/// Writes uci/yacht with 100 rows, two splits and a hidden layer of five units:
/// y = x1 - x2 with noise.
inline void write_small_uci_set(const TemporaryFolder& folder) {
  constexpr int kRows = 100;
  const auto write = [&](const std::string& name, const std::string& text) {
    folder.write("uci/yacht/" + name, text);
  };
  std::vector<double> noise(3 * kRows);
  kernels::fill_normal({1, 1, 0}, 0, 3 * kRows, noise.data());
  std::string data;
  for (std::size_t i = 0; i < kRows; ++i) {
    const double a = noise[3 * i], b = noise[3 * i + 1];
    data += std::to_string(a) + " " + std::to_string(b) + " " +
            std::to_string(a - b + 0.1 * noise[3 * i + 2]) + "\n";
  }
  write("data.txt", data);
  write("index_features.txt", "0\n1\n");
  write("index_target.txt", "2\n");
  write("n_splits.txt", "2\n");
  write("n_hidden.txt", "5\n");
  for (int split : {0, 1}) {
    std::string train, test;
    for (int i = 0; i < kRows; ++i) {
      (i % 5 == split ? test : train) += std::to_string(i) + "\n";
    }
    write("index_train_" + std::to_string(split) + ".txt", train);
    write("index_test_" + std::to_string(split) + ".txt", test);
  }
}

}  // namespace radir::testing
