#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace radir::io {

/// The folder of a training run, used by one process at a time, or by those
/// that share it:
///
///   config.json                 every setting, written before training
///   checkpoint*.safetensors     during training, one per network
///   PART.json                   results of the parts of a benchmark
///   lock                        while a process uses it
///   metrics.jsonl, model.safetensors    when it is finished
class RunFolder {
 public:
  /// Creates a folder and locks it. Throws ArgumentError when it already
  /// exists, with a hint if it contains a run that can be resumed; IoError when
  /// it cannot be created or another process has locked it.
  static RunFolder create(const std::string& path);
  /// Locks the folder of an existing run. Throws IoError when it is not a run,
  /// another process has locked it, or config() throws.
  static RunFolder open(const std::string& path);
  /// Opens the folder of a run that other processes share(). Throws IoError
  /// when it is not a run, or a process has locked it alone.
  static RunFolder join(const std::string& path);
  /// Opens the folder of an existing run without a lock. Throws IoError when it
  /// is not a run.
  static RunFolder look_at(const std::string& path);
  /// Lets other processes join(); none can lock the folder alone until all of
  /// them are gone.
  void share();
  /// Whether a run was begun there: open() would find its config.json.
  static bool is_begun(const std::string& path);
  /// The names of the files there that are part of a run: not those that a user
  /// added, nor its page. None where there is neither a run nor a model.
  static std::vector<std::string> names_in(const std::string& path);
  /// Throws ArgumentError if create(path) would.
  static void check_free(const std::string& path);

  /// Unlocks the folder and deletes it if it is empty and was created here.
  ~RunFolder();
  RunFolder(RunFolder&& other) noexcept;
  RunFolder& operator=(RunFolder&&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const;
  std::string config_file() const;
  std::string metrics_file() const;
  std::string model_file() const;
  /// The checkpoint of the only network, or of the named part of the run.
  std::string checkpoint_file(const std::string& part = "") const;

  /// The parts that have a checkpoint, in the order of their numbers; "" is the
  /// only network.
  std::vector<std::string> checkpoint_parts() const;

  bool is_finished() const;
  /// The text of config.json. Throws IoError when it cannot be read, and as
  /// check_config does.
  std::string config() const;
  /// Writes config.json and remembers it for restore().
  void write_config(const std::string& text);
  /// Creates the folder and its config.json again if they were deleted.
  void restore() const;
  /// Removes the checkpoints of a finished part and of its parts, or of the
  /// complete run.
  void remove_checkpoints(const std::string& part = "") const;
  /// Removes a run that has nothing to resume from, unless other processes may
  /// share it.
  void discard_if_nothing_done() const;

 private:
  RunFolder(std::string path, int lock);
  static int take(const std::string& path, bool shared = false);
  std::vector<std::string> checkpoints(const std::string& part = "") const;

  std::string path_;
  int lock_ = -1;
  bool created_ = false;
  bool shared_ = false;
  std::string config_;  // as last written or read by this process
};

/// Throws IoError, which begins with `name`, unless a text is one JSON object,
/// at most 32 levels deep, of at most 1000 keys each, none of them twice.
void check_config(const std::string& name, std::string_view text);

}  // namespace radir::io
