#include "cli/watched_buffer.h"

#include <cerrno>

namespace radir::cli {

WatchedBuffer::WatchedBuffer(std::ostream& stream)
    : stream_(stream), target_(stream.rdbuf(this)) {}

WatchedBuffer::~WatchedBuffer() { stream_.rdbuf(target_); }

bool WatchedBuffer::note(bool done) {
  if (!done && error_ == 0) error_ = errno;
  return done;
}

WatchedBuffer::int_type WatchedBuffer::overflow(int_type character) {
  if (traits_type::eq_int_type(character, traits_type::eof())) return 0;
  const int_type result = target_->sputc(traits_type::to_char_type(character));
  note(!traits_type::eq_int_type(result, traits_type::eof()));
  return result;
}

std::streamsize WatchedBuffer::xsputn(const char* text, std::streamsize size) {
  const std::streamsize done = target_->sputn(text, size);
  note(done == size);
  return done;
}

int WatchedBuffer::sync() {
  const int result = target_->pubsync();
  note(result == 0);
  return result;
}

}  // namespace radir::cli
