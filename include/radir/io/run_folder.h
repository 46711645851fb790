#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace radir::io {

/// The folder of a training run, taken by one process at a time:
///
///   config.json                 every setting, written before training
///   checkpoint*.safetensors     while it is trained, one per network
///   PART.json                   results of the parts of a benchmark
///   lock                        while a process works in it
///   metrics.jsonl, model.safetensors    when it is finished
class RunFolder {
 public:
  /// Makes a folder and takes it. Throws ArgumentError when there is something
  /// already, saying so if a run can be gone on with; IoError when it cannot be
  /// made or another process has it.
  static RunFolder create(const std::string& path);
  /// Takes a folder in which a run was begun. Throws IoError when none was,
  /// another process has it, or config() throws.
  static RunFolder open(const std::string& path);
  /// Looks at a folder in which a run was begun, whoever has it. Throws IoError
  /// when none was.
  static RunFolder look_at(const std::string& path);
  /// ArgumentError unless create(path) would find nothing in its way.
  static void check_free(const std::string& path);

  /// Gives the folder back; one that is empty goes.
  ~RunFolder();
  RunFolder(RunFolder&& other) noexcept;
  RunFolder& operator=(RunFolder&&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const;
  std::string config_file() const;
  std::string metrics_file() const;
  std::string model_file() const;
  /// The checkpoint of the only network, or of the part of the run so named.
  std::string checkpoint_file(const std::string& part = "") const;

  /// The parts that have a checkpoint, in the order of their numbers; "" is the
  /// only network.
  std::vector<std::string> checkpoint_parts() const;

  bool is_finished() const;
  /// The text of config.json. Throws IoError when it cannot be read, and as
  /// check_config does.
  std::string config() const;
  /// Writes config.json, which restore() then knows.
  void write_config(const std::string& text);
  /// Makes the folder and its config.json again in case somebody removed them.
  void restore() const;
  /// Removes the checkpoints of what is finished: a part with the parts of it,
  /// or the whole run.
  void remove_checkpoints(const std::string& part = "") const;
  /// Removes a run in which nothing was done that could be gone on with.
  void discard_if_nothing_done() const;

 private:
  RunFolder(std::string path, int lock);
  static int take(const std::string& path);
  std::vector<std::string> checkpoints(const std::string& part = "") const;

  std::string path_;
  int lock_ = -1;
  std::string config_;  // as last written or read by this process
};

/// Throws IoError, which begins with `name`, unless a text is one JSON object,
/// at most 32 levels deep, of at most 1000 keys each, none of them twice.
void check_config(const std::string& name, std::string_view text);

}  // namespace radir::io
