#pragma once

#include <map>
#include <string>
#include <string_view>

#include "radir/network/plain_network.h"

namespace radir::io {

/// What an ONNX file says besides the network.
struct OnnxOptions {
  /// The file multiplies its inputs by it (an operator Mul); 1: it does not.
  float input_scale = 1;
  /// For people: what the inputs must be, "pixels divided by 255", and what
  /// the outputs are. Kept as documentation and as metadata "radir.input" and
  /// "radir.output".
  std::string input_note = "numbers as the network was trained on";
  std::string output_note = "outputs of the last layer";
  /// More metadata, under names that do not begin with "radir.".
  std::map<std::string, std::string> metadata;
};

/// Whether this library was built with ONNX; the functions below throw
/// UnsupportedError when not.
bool has_onnx();

/// Writes a network as an ONNX file of operator set 13, atomically. Its input
/// "input" is [batch, channels, height, width], or [batch, features] for a
/// vector; its output "output" is [batch, outputs], batch being any number.
///
///   dense       Gemm (transB = 1), after a Flatten where it reads an image
///   conv2d      Conv
///   max-pool2d  MaxPool
///   relu        Relu
///   flatten     Flatten
///   select      Gather along axis 1, after a Flatten where it reads an image
///
/// Throws ArgumentError when the numbers do not fit the description or a name
/// of metadata is reserved, UnsupportedError when a convolution or a pooling
/// reads the output of a dense layer or the file would pass the format's limit
/// of 2 GiB, IoError when it cannot be written.
void write_onnx(const std::string& path,
                const network::PlainNetwork<float>& network,
                const OnnxOptions& options = {});

/// Reads what write_onnx wrote; the network computes the same, a Flatten that
/// was added stays. `options` receives what else the file says. Throws
/// UnsupportedError that names it for an operator, an attribute or an operator
/// set that write_onnx does not use (also for a scale of the inputs, if
/// `options` is null), IoError for a truncated or damaged file.
network::PlainNetwork<float> read_onnx(const std::string& path,
                                       OnnxOptions* options = nullptr);

/// The same from the bytes of a file; `name` is for messages.
network::PlainNetwork<float> read_onnx(const std::string& name,
                                       std::string_view bytes,
                                       OnnxOptions* options = nullptr);

}  // namespace radir::io
