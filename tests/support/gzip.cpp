#include "support/gzip.h"

#include <zlib.h>

#include <stdexcept>

namespace radir::testing {

std::string gzip(std::string_view bytes) {
  constexpr int kGzip = 16;
  z_stream stream{};
  if (::deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + kGzip, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("zlib cannot be initialised");
  }
  std::string out(::deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = ::deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::runtime_error("zlib did not finish");
  return out;
}

}  // namespace radir::testing
