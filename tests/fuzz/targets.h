#pragma once

#include <string_view>

// What fuzzers feed with bytes. Each target reads them as one kind of file;
// radir::IoError and radir::UnsupportedError are the readers' answers to what
// they cannot use, and everything else that is thrown is a fault of ours.

namespace radir::fuzz {

void table(std::string_view bytes);        ///< a table, plain or gzip
void idx(std::string_view bytes);          ///< images and labels, plain or gzip
void safetensors(std::string_view bytes);  ///< the container of both below
void model(std::string_view bytes);        ///< a model file's JSON document
void checkpoint(std::string_view bytes);   ///< a checkpoint's JSON document
void network(std::string_view bytes);      ///< a network in JSON
void config(std::string_view bytes);       ///< the settings of a run in JSON
void record(std::string_view bytes);       ///< what a run reached in JSON
void onnx(std::string_view bytes);         ///< a network in ONNX

using Target = void (*)(std::string_view bytes);

/// Feeds a target and passes over the answers named above. Checks of a target
/// itself fail with std::logic_error.
void feed(Target target, std::string_view bytes);

/// Throws std::logic_error unless a property that a target checks holds.
void require(bool holds, const char* property);

}  // namespace radir::fuzz
