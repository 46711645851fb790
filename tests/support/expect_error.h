#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <string>

namespace radir::testing {

/// Fails unless `action` throws an `Exception` whose text holds `part`.
template <typename Exception, typename Action>
void expect_error(Action action, const std::string& part) {
  try {
    action();
    ADD_FAILURE() << "nothing was thrown; expected \"" << part << "\"";
  } catch (const Exception& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
        << "the message is \"" << error.what() << "\", expected \"" << part
        << "\"";
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another kind was thrown: " << error.what();
  }
}

}  // namespace radir::testing
