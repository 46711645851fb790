#include "data/part_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "radir/core/error.h"
#include "radir/files/posix_file.h"
#include "radir/files/system_error.h"

namespace radir::data {

PartFile::PartFile(std::string path)
    : path_(std::move(path)),
      name_(path_ + ".part"),
      descriptor_(files::open_locked(name_, name_)) {
  RADIR_CHECK(descriptor_ >= 0, IoError, "cannot write ", path_,
              ": another process is downloading it (it holds ", name_,
              "); wait for it");
  size_ = ::lseek(descriptor_, 0, SEEK_END);
}

PartFile::~PartFile() {
  if (size_ == 0) ::unlink(name_.c_str());
  ::close(descriptor_);
}

void PartFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) files::throw_file_error("write", name_, errno);
    bytes.remove_prefix(static_cast<std::size_t>(count));
    size_ += count;
  }
}

void PartFile::clear() {
  if (::ftruncate(descriptor_, 0) != 0 ||
      ::lseek(descriptor_, 0, SEEK_SET) != 0) {
    files::throw_file_error("write", name_, errno);
  }
  size_ = 0;
}

void PartFile::commit() {
  if (::fsync(descriptor_) != 0) files::throw_file_error("write", name_, errno);
  if (std::rename(name_.c_str(), path_.c_str()) != 0) {
    files::throw_file_error("write", path_, errno);
  }
  files::sync_folder_of(path_);
}

}  // namespace radir::data
