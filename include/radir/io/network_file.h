#pragma once

#include <string>
#include <string_view>

#include "radir/network/spec.h"
#include "radir/train/model.h"

namespace radir::io {

/// Reads the description of a network from a JSON file:
///
///   {"input": [1, 28, 28],
///    "layers": [{"type": "conv2d", "outputs": 20, "kernel": 5},
///               {"type": "max-pool2d", "kernel": 2},
///               {"type": "flatten"},
///               {"type": "dense", "outputs": 10}]}
///
/// The input is [channels, height, width] or [features]. Layers and their keys,
/// with the defaults of optional keys:
///
///   dense       outputs, bias (true)
///   conv2d      outputs, kernel, stride (1), padding (0), dilation (1),
///               groups (1), bias (true)
///   max-pool2d  kernel, stride (as kernel), padding (0)
///   relu
///   flatten
///   select      indices, increasing, of the features to keep
///
/// kernel, stride, padding and dilation are a number or [vertical, horizontal].
///
/// Throws IoError that names the file and, counted from 1, the layer: a file
/// over 1 MiB, text that is not JSON, a key that is missing, unknown,
/// repeated or of another type, more than 1000 layers, a layer that does not
/// fit the shape before it, or one of more than 2^30 features or weights.
network::NetworkSpec read_network_file(const std::string& path);

/// The same from the text of a file; `name` is for messages.
network::NetworkSpec read_network_text(const std::string& name,
                                       std::string_view text);

/// Writes a file that read_network_file reads, every key in it, atomically.
/// Throws ArgumentError when the layers do not fit each other, IoError when the
/// file cannot be written.
void write_network_file(const std::string& path,
                        const network::NetworkSpec& network);

}  // namespace radir::io
