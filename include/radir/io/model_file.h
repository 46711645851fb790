#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "radir/train/model.h"

namespace radir::io {

/// Trained networks of one architecture, with all that is needed to use them
/// and to know where they come from.
struct SavedModel {
  train::ModelSpec spec;
  /// Parameters of each network, laid out as train::Model::parameters(). More
  /// than one: they predict as a mixture.
  std::vector<std::vector<float>> networks;
  /// How much each of them counts in the mixture, with the sum 1; empty: all
  /// the same. In the file only where there are some; readers that do not know
  /// them refuse the file.
  std::vector<double> weights;
  std::uint64_t seed = 0;
  /// Of a model whose quantiles are corrected: what it predicted for rows that
  /// it was not fitted to (likelihood::QuantileCorrection). In the file only
  /// where there are some; readers that do not know it refuse the file.
  std::vector<double> conformal;

  // JSON objects, as text. What is in them belongs to whoever writes them.
  std::string preprocessing = "{}";  ///< how data becomes inputs and targets
  std::string training = "{}";       ///< every setting of the training
  std::string metrics = "{}";        ///< what the training reached
  std::string data = "{}";           ///< what it was trained on
  /// Which rows it was trained on. In the file only where it says something;
  /// readers that do not know it refuse the file.
  std::string training_rows = "{}";

  /// The version of the program that wrote the file; filled in by read_model.
  std::string program_version;
};

/// Writes one safetensors file, atomically. The metadata entry "radir.model"
/// is a JSON document of all but the numbers; the numbers are tensors named
/// "network1.layer1.weight.row_direction" and so on, as
/// train::Model::parameters() names them. Throws ArgumentError when a network's
/// parameters do not fit the architecture or a section is not a JSON object,
/// IoError when the file cannot be written.
void write_model(const std::string& path, const SavedModel& model);

/// The bytes of that file. Throws ArgumentError likewise.
std::string model_bytes(const SavedModel& model);

/// Reads what write_model wrote. Throws IoError that says what is wrong: not a
/// model file, a newer format, a key that is missing, unknown or of another
/// type, an architecture that does not fit itself, a tensor that is missing,
/// unknown or of another shape. Throws UnsupportedError for a posterior family
/// that this program does not have (posterior::register_family adds one).
SavedModel read_model(const std::string& path);

/// The same from the bytes of a file; `name` is for messages.
SavedModel read_model(const std::string& name, std::string_view bytes);

/// The model file of `path`: itself, or model.safetensors in it if it is a run
/// folder. Throws IoError when there is none, and as check_one_target() does.
std::string model_path(const std::string& path);

}  // namespace radir::io
