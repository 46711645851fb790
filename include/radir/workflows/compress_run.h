#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "radir/data/images.h"
#include "radir/io/run_folder.h"
#include "radir/workflows/compress_result.h"
#include "radir/workflows/compress_settings.h"

// A compression in a run folder: what its config.json says, and the files that
// it leaves.

namespace radir::workflows {

/// The command that starts and resumes such runs.
inline constexpr const char* kCompressCommand = "compress";
/// Files besides those of every run.
inline constexpr const char* kCompressOnnxFile = "network.onnx";
inline constexpr const char* kCompressTorchScriptFile = "network.pt";

/// What decides a run; config.json keeps it.
struct CompressRunOptions {
  std::string data = "digits";   ///< as data::read_images takes it
  std::string data_dir;          ///< as data::read_images takes it
  std::string model = "lenet5";  ///< lenet5, lenet300 or a JSON file
  bool torchscript = false;      ///< write a TorchScript file too
  CompressSettings settings;     ///< the network comes from `model`
};

/// A run that can be trained: compress(run.images, run.options.settings).
struct CompressRun {
  CompressRunOptions options;
  data::ImageSplit images;
  nlohmann::ordered_json config;  ///< of config.json
};

/// Reads the network and the images of a new run. `kept` are the same options
/// with paths that another folder finds too, for config.json. Throws
/// ArgumentError when settings are invalid or the images do not fit the
/// network, IoError when a file cannot be read, and as check_torchscript does.
CompressRun begin_compress(const CompressRunOptions& options,
                           const CompressRunOptions& kept);

/// The run that config.json describes; `config_file` names it in messages.
/// `data` and `data_dir` take the place of the run's own unless they are "".
/// Throws IoError
/// when an entry is invalid or a file cannot be read; whether the images are
/// those of the run is for the caller to check.
CompressRun resume_compress(const nlohmann::ordered_json& config,
                            const std::string& config_file,
                            const std::string& data_dir,
                            const std::string& data = "");

/// metrics.jsonl: a line for each removal.
std::string metrics_lines(const CompressResult& result);

/// Writes the report, the network as ONNX (where the program has it) and
/// TorchScript (where asked for), and last the model.
void write_compress_files(const io::RunFolder& folder, const CompressRun& run,
                          const CompressResult& result);

}  // namespace radir::workflows
