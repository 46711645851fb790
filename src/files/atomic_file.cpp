#include "radir/files/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>

#include "radir/core/error.h"
#include "radir/files/posix_file.h"
#include "radir/files/system_error.h"

namespace radir::files {
namespace {

// The file a symbolic link leads to, whether that exists yet or not; any other
// path as it is.
std::string follow_link(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) return path;
  const std::filesystem::path target =
      std::filesystem::weakly_canonical(path, error);
  if (error) throw_file_error("write", path, error.value());
  return target.string();
}

// Renaming over a device or a folder would destroy or fail, so only regular
// files are replaced.
void check_replaceable(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) return;
  if (S_ISDIR(status.st_mode)) throw_file_error("write", path, EISDIR);
  RADIR_CHECK(S_ISREG(status.st_mode), IoError, "cannot write ", path,
              ": it is a device or pipe, not a file; give the path of a file");
}

constexpr std::string_view kSuffix = ".tmp";

/// "out.csv.417-2.tmp": process and file.
std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> number{0};
  return path + "." + std::to_string(::getpid()) + "-" +
         std::to_string(number.fetch_add(1)) + std::string(kSuffix);
}

/// Whether `name` is a temporary_name of the file `of`.
bool is_temporary(std::string_view name, const std::string& of) {
  if (name.substr(0, of.size() + 1) != of + ".") return false;
  name.remove_prefix(of.size() + 1);
  if (name.size() < kSuffix.size() ||
      name.substr(name.size() - kSuffix.size()) != kSuffix) {
    return false;
  }
  name.remove_suffix(kSuffix.size());
  const std::size_t dash = name.find('-');
  const auto is_number = [](std::string_view text) {
    return !text.empty() &&
           text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  return dash != std::string_view::npos && is_number(name.substr(0, dash)) &&
         is_number(name.substr(dash + 1));
}

/// Removes a temporary file unless a process is writing it; whether one is.
bool is_in_use(const std::string& temporary) {
  const int descriptor =
      ::open(temporary.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) return false;
  const bool locked = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  const bool in_use = !locked && errno == EWOULDBLOCK;
  if (locked && is_own_file(descriptor) && is_file_at(descriptor, temporary)) {
    ::unlink(temporary.c_str());
  }
  ::close(descriptor);
  return in_use;
}

/// Removes what killed processes left of earlier files at `path`.
void remove_leftovers(const std::string& path) {
  const std::filesystem::path file(path);
  const std::filesystem::path folder = file.parent_path();
  const auto names = names_in_folder(folder.empty() ? "." : folder.string());
  if (!names) return;
  for (const std::string& name : *names) {
    if (!is_temporary(name, file.filename().string())) continue;
    const std::string temporary = (folder / name).string();
    RADIR_CHECK(!is_in_use(temporary), IoError, "cannot write ", path,
                ": another process is writing it (it holds ", temporary,
                "); wait for it or choose another path");
  }
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(follow_link(path)) {
  check_replaceable(path_);
  remove_leftovers(path_);
  open_temporary();
  // A new file has the usual mode, another that of the file it replaces.
  struct stat status;
  const bool replaces = ::stat(path_.c_str(), &status) == 0;
  if (replaces && ::fchmod(descriptor_, status.st_mode & 07777) != 0) {
    const int error = errno;
    discard();
    throw_file_error("write", path_, error);
  }
}

// The lock tells others that the file is in use. Another process may have taken
// it for a leftover before it was locked; then a second one is made.
void AtomicFile::open_temporary() {
  for (;;) {
    temporary_ = temporary_name(path_);
    descriptor_ = repeat_interrupted([&] {
      return ::open(temporary_.c_str(),
                    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    });
    if (descriptor_ < 0 && errno == EEXIST) continue;
    if (descriptor_ < 0) throw_file_error("write", path_, errno);
    const bool taken =
        ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!taken && is_file_at(descriptor_, temporary_)) return;
    ::close(descriptor_);
  }
}

void AtomicFile::discard() {
  ::unlink(temporary_.c_str());
  ::close(descriptor_);
  descriptor_ = -1;
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) discard();
}

void AtomicFile::write(std::string_view bytes) {
  RADIR_CHECK(descriptor_ >= 0, ArgumentError, "AtomicFile::write: ", path_,
              " is already committed");
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_file_error("write", path_, errno);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void AtomicFile::commit() {
  RADIR_CHECK(descriptor_ >= 0, ArgumentError, "AtomicFile::commit: ", path_,
              " is already committed");
  if (repeat_interrupted([&] { return ::fsync(descriptor_); }) != 0) {
    throw_file_error("write", path_, errno);
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    throw_file_error("write", path_, errno);
  }
  ::close(descriptor_);
  descriptor_ = -1;
  sync_folder_of(path_);
}

void write_file(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

}  // namespace radir::files
