#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace radir::testing {

/// The folder with the real data sets: RADIR_DATA_DIR, or shared/data beside
/// the repository; empty when `name` ("mnist", "uci/yacht") is in neither.
inline std::string data_set(const std::string& name) {
  const char* const variable = std::getenv("RADIR_DATA_DIR");
  const std::filesystem::path beside =
      std::filesystem::path(RADIR_TEST_DATA) / "../../../shared/data";
  const std::filesystem::path folder =
      (variable ? std::filesystem::path(variable) : beside) / name;
  std::error_code error;
  return std::filesystem::is_directory(folder, error) ? folder.string() : "";
}

}  // namespace radir::testing

/// Skips the test, saying so, when the data set is not on this machine.
#define RADIR_SKIP_WITHOUT_DATA(name)                                      \
  do {                                                                     \
    if (::radir::testing::data_set(name).empty()) {                        \
      GTEST_SKIP() << "the data set " << (name)                            \
                   << " is not here; set RADIR_DATA_DIR to run this test"; \
    }                                                                      \
  } while (false)
