#include "radir/io/run_folder.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <utility>

#include "radir/core/error.h"
#include "radir/core/shell_text.h"
#include "radir/files/atomic_file.h"
#include "radir/files/byte_source.h"
#include "radir/files/json_object.h"
#include "radir/files/posix_file.h"
#include "radir/files/system_error.h"
#include "radir/io/target_runs.h"

namespace radir::io {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = "config.json";
constexpr const char* kModel = "model.safetensors";
constexpr const char* kLock = "lock";
constexpr const char* kCheckpoint = "checkpoint";
constexpr const char* kTensors = ".safetensors";
constexpr std::size_t kMaxConfigBytes = std::size_t{1} << 24;

bool exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  RADIR_CHECK(!error, IoError, "cannot create the folder ", path, ": ",
              error.message(), "; choose another folder");
  // "run/" is the same folder as "run", but its parent path is "run".
  files::sync_folder_of((fs::path(path) / "").parent_path().string());
}

/// "checkpoint-1" for part 1, "checkpoint" for the complete run.
std::string checkpoint_stem(const std::string& part) {
  return kCheckpoint + (part.empty() ? "" : "-" + part);
}

/// Checkpoints of a part and of its parts, including incomplete ones whose
/// writing was interrupted.
bool is_checkpoint(const std::string& name, const std::string& part) {
  const std::string stem = checkpoint_stem(part);
  return name.rfind(stem, 0) == 0 &&
         name.find_first_of("-.", stem.size()) == stem.size() &&
         name.find(kTensors) != std::string::npos;
}

/// The files of a process that was killed before it had written config.json.
bool is_leftover(const std::string& name) {
  const std::string_view temporary = ".tmp";
  return name == kLock ||
         (name.rfind(kConfig + std::string("."), 0) == 0 &&
          name.find(temporary) == name.size() - temporary.size());
}

/// Whoever can place a link in a run could have any file overwritten.
void check_no_links(const std::string& path) {
  for (const std::string& name :
       files::names_in_folder(path).value_or(std::vector<std::string>())) {
    const std::string file = (fs::path(path) / name).string();
    struct stat status;
    RADIR_CHECK(::lstat(file.c_str(), &status) != 0 || !S_ISLNK(status.st_mode),
                IoError, file,
                ": is a symbolic link, and links inside a run are ",
                "not followed; replace it by the file that it names");
  }
}

}  // namespace

RunFolder::RunFolder(std::string path, int lock)
    : path_(std::move(path)), lock_(lock) {}

RunFolder::RunFolder(RunFolder&& other) noexcept
    : path_(std::move(other.path_)),
      lock_(std::exchange(other.lock_, -1)),
      created_(other.created_),
      shared_(other.shared_),
      config_(std::move(other.config_)) {}

// The last of those who share a folder removes its lock.
RunFolder::~RunFolder() {
  if (lock_ < 0) return;
  if (!shared_ || ::flock(lock_, LOCK_EX | LOCK_NB) == 0) {
    ::unlink(file(kLock).c_str());
  }
  if (created_) ::rmdir(path_.c_str());
  ::close(lock_);
}

int RunFolder::take(const std::string& path, bool shared) {
  check_no_links(path);
  const std::string name = (fs::path(path) / kLock).string();
  const int lock = files::open_locked(
      name, name, shared ? files::Lock::Shared : files::Lock::Alone);
  RADIR_CHECK(lock >= 0, IoError, path, ": another process is training here ",
              "(it holds ", name, "); wait for it or choose another folder");
  return lock;
}

void RunFolder::check_free(const std::string& path) {
  if (!exists(path)) return;
  std::error_code error;
  RADIR_CHECK(fs::is_directory(path, error), ArgumentError, path,
              ": already exists and is not a directory; choose another --out");
  const RunFolder found(path, -1);
  if (exists(found.config_file())) {
    RADIR_CHECK(!found.is_finished() && !has_finished_targets(path),
                ArgumentError, path, ": already contains a finished run; ",
                "choose another --out");
    detail::throw_error<ArgumentError>(
        path, ": already contains a run; resume it (--resume ",
        shell_word(path), ") or choose another --out");
  }
  const auto names = files::names_in_folder(path);
  if (!names) files::throw_file_error("read the folder", path, errno);
  RADIR_CHECK(std::all_of(names->begin(), names->end(), is_leftover),
              ArgumentError, path, ": already exists; choose another --out");
}

RunFolder RunFolder::create(const std::string& path) {
  check_free(path);
  const bool is_new = !exists(path);
  make_folder(path);
  RunFolder folder(path, take(path));
  folder.created_ = is_new;
  check_free(path);  // no other process was faster
  return folder;
}

RunFolder RunFolder::open(const std::string& path) {
  look_at(path);
  RunFolder folder(path, take(path));
  folder.config_ = folder.config();
  return folder;
}

RunFolder RunFolder::join(const std::string& path) {
  look_at(path);
  RunFolder folder(path, take(path, true));
  folder.shared_ = true;
  folder.config_ = folder.config();
  return folder;
}

void RunFolder::share() {
  const std::string name = file(kLock);
  RADIR_CHECK(files::change_lock(lock_, files::Lock::Shared, name), IoError,
              path_, ": another process has locked it");
  shared_ = true;
}

bool RunFolder::is_begun(const std::string& path) {
  return exists(RunFolder(path, -1).config_file());
}

std::vector<std::string> RunFolder::names_in(const std::string& path) {
  std::vector<std::string> names;
  if (!is_begun(path) && !RunFolder(path, -1).is_finished()) return names;
  for (const std::string& name : files::names_in_folder(path).value_or(names)) {
    const std::string kind = fs::path(name).extension().string();
    if (kind == ".json" || kind == ".jsonl" || name == kModel ||
        name == kLock || is_checkpoint(name, "")) {
      names.push_back(name);
    }
  }
  return names;
}

RunFolder RunFolder::look_at(const std::string& path) {
  RunFolder folder(path, -1);
  RADIR_CHECK(is_begun(path), IoError, path, ": contains no ", kConfig,
              ", so it is not a run; start one with --out ", shell_word(path));
  return folder;
}

std::string RunFolder::file(const std::string& name) const {
  return (fs::path(path_) / name).string();
}

std::string RunFolder::config_file() const { return file(kConfig); }
std::string RunFolder::metrics_file() const { return file("metrics.jsonl"); }
std::string RunFolder::model_file() const { return file(kModel); }

std::string RunFolder::checkpoint_file(const std::string& part) const {
  return file(checkpoint_stem(part) + kTensors);
}

bool RunFolder::is_finished() const { return exists(model_file()); }

std::string RunFolder::config() const {
  std::string text =
      files::read_all(*files::open_byte_source(config_file()), kMaxConfigBytes);
  check_config(config_file(), text);
  return text;
}

void RunFolder::write_config(const std::string& text) {
  config_ = text;
  files::write_file(config_file(), config_);
}

void RunFolder::restore() const {
  if (!exists(path_)) make_folder(path_);
  if (!config_.empty() && !exists(config_file())) {
    files::write_file(config_file(), config_);
  }
}

std::vector<std::string> RunFolder::checkpoints(const std::string& part) const {
  std::vector<std::string> found;
  for (const std::string& name :
       files::names_in_folder(path_).value_or(found)) {
    if (is_checkpoint(name, part)) found.push_back(file(name));
  }
  return found;
}

std::vector<std::string> RunFolder::checkpoint_parts() const {
  std::vector<std::string> parts;
  for (const std::string& path : checkpoints()) {
    const fs::path name = fs::path(path).filename();
    if (name.extension() != kTensors) continue;
    const std::string part =
        name.stem().string().substr(std::string_view(kCheckpoint).size());
    parts.push_back(part.empty() ? part : part.substr(1));
  }
  std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
    return std::pair(a.size(), a) < std::pair(b.size(), b);
  });
  return parts;
}

void RunFolder::remove_checkpoints(const std::string& part) const {
  std::error_code error;
  for (const std::string& path : checkpoints(part)) fs::remove(path, error);
}

void RunFolder::discard_if_nothing_done() const {
  if (shared_) return;
  const auto names = files::names_in_folder(path_);
  if (!names) return;
  for (const std::string& name : *names) {
    if (name != kConfig && !is_leftover(name)) return;
  }
  std::error_code error;
  fs::remove(config_file(), error);
}

void check_config(const std::string& name, std::string_view text) {
  const auto json = files::parse_json<files::JsonObject::Json>(
      name, text, files::JsonLimits());
  files::JsonObject(json, name);
}

}  // namespace radir::io
