#pragma once

#include <cstdint>

namespace radir::collective {

/// What a client asks of the store: Message::kind.
enum class Request : std::uint8_t {
  Set = 1,
  Get,
  Wait,  ///< number: milliseconds
  Erase,
  CompareAndSet,  ///< second: the expected value
  Add,
  Lease,  ///< value: the owner; number: milliseconds
  EndLease,
  EraseRange,  ///< value: the end
};

/// What it answers.
enum class Answer : std::uint8_t {
  Done = 1,
  No,       ///< no value, not set, not leased
  Refused,  ///< value: why
};

}  // namespace radir::collective
