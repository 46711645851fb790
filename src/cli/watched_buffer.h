#pragma once

#include <ostream>
#include <streambuf>

namespace radir::cli {

/// While it exists, keeps the error number of the first write to a stream that
/// fails.
class WatchedBuffer final : public std::streambuf {
 public:
  explicit WatchedBuffer(std::ostream& stream);
  ~WatchedBuffer() override;
  WatchedBuffer(const WatchedBuffer&) = delete;
  WatchedBuffer& operator=(const WatchedBuffer&) = delete;

  /// 0 while no write has failed.
  const int& error() const { return error_; }

 protected:
  int_type overflow(int_type character) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  /// Notes a failure; whether it is none.
  bool note(bool done);

  std::ostream& stream_;
  std::streambuf* target_;
  int error_ = 0;
};

}  // namespace radir::cli
