#pragma once

#include <string>
#include <string_view>

namespace radir::files {

/// Writes a file so that no reader sees an incomplete one: the bytes go to a
/// new file `path.PROCESS-NUMBER.tmp` in the same folder, and `commit` syncs
/// it, renames it to `path` and syncs the folder. Without a commit nothing of
/// it stays and what was at `path` is untouched. What killed processes left of
/// the same file is removed; one that another process is writing at this moment
/// is an error. A file that replaces another has its mode.
///
/// Throws IoError with what to do when the folder is missing or read-only, the
/// disk is full, or `path` is a folder or a device. A symbolic link is
/// followed: the file it points to is replaced.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  void commit();

 private:
  void open_temporary();
  void discard();

  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
};

/// One AtomicFile with these bytes, committed.
void write_file(const std::string& path, std::string_view bytes);

}  // namespace radir::files
