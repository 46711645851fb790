#pragma once

#include <cstdint>
#include <string>

#include "radir/io/model_file.h"
#include "radir/kernels/rdp.h"
#include "radir/workflows/table_model.h"

namespace radir::workflows {

struct ExportOptions {
  /// Which of a model's networks, counted from 1.
  std::int64_t network = 1;
  /// The weights that stand for their distribution.
  kernels::PointWeight weights = kernels::PointWeight::Mean;
};

/// What was written.
struct ExportSummary {
  std::string input;            ///< shape of one example, "1x28x28"
  std::int64_t outputs = 0;     ///< per example
  std::int64_t parameters = 0;  ///< weights and biases
  std::int64_t networks = 0;    ///< of the model
  std::string input_note;       ///< what the inputs must be
  std::string output_note;      ///< what the outputs are
};

/// Writes one network of a model file, or of a run's folder, as an ONNX file.
/// How data become inputs stands in the file's metadata as "preprocessing".
/// Throws ArgumentError when the model has no such network, IoError when the
/// model cannot be read or the file not be written, UnsupportedError where the
/// network has no ONNX form or the library was built without ONNX.
ExportSummary export_onnx(const std::string& model, const std::string& file,
                          const ExportOptions& options = {});

/// The same of a model in memory, which messages call `name`.
ExportSummary export_onnx(const std::string& name, const io::SavedModel& model,
                          const std::string& file,
                          const ExportOptions& options = {});

/// Writes the predictions of a table's model as one ONNX file: raw columns in,
/// what TableModel::predict gives out, for fixed draws of the weights.
///
/// Each input column is a tensor [batch, 1] under its name: a number is double
/// (NaN: missing), a date the same as days since 1970-01-01, text is string
/// (empty: missing). Outputs, [batch, 1] unless said otherwise: mean, sd,
/// epistemic_sd, aleatoric_sd and quantiles [batch, quantiles], all double; of
/// classes class (string), probabilities [batch, classes], entropy and
/// mutual_information. A column of such a name makes it "output.mean". Rows
/// that have no prediction are NaN.
///
/// Throws ArgumentError for impossible options, IoError when the file cannot be
/// written, UnsupportedError where the library was built without ONNX.
ExportSummary export_predictions(const TableModel& model,
                                 const std::string& file,
                                 const TablePredictionOptions& options = {});

/// The network of export_onnx as a TorchScript file (workflows/torchscript.h),
/// with the same strings as its extra files. Throws as export_onnx, and
/// NumericalError when libtorch computes something else.
ExportSummary export_torchscript(const std::string& model,
                                 const std::string& file,
                                 const ExportOptions& options = {});

}  // namespace radir::workflows
