#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "radir/network/plain_network.h"
#include "radir/network/spec.h"

// Networks as TorchScript files, which libtorch and PyTorch run without any of
// our code. What needs libtorch is a module of its own (src/torchscript) that
// is loaded when one of these functions is called.

namespace radir::workflows {

/// Throws UnsupportedError, which says what to do, where this build has no
/// libtorch or the module is missing.
void check_torchscript();

/// Writes a network as a TorchScript file, atomically. Its forward takes
/// [batch, channels, height, width], or [batch, features] for a vector, and
/// gives [batch, outputs], batch being any number; parameters are named
/// "layer1.weight" and so on, after the network's layers. `notes` are kept as
/// extra files of the archive (torch.jit.load, _extra_files).
///
/// What was made is loaded back and run on random examples first: throws
/// NumericalError, and writes nothing, unless its outputs are train::run's to
/// 1e-5 of the largest. Throws ArgumentError when the numbers do not fit the
/// description, IoError when the file cannot be written, UnsupportedError as
/// check_torchscript.
void write_torchscript(const std::string& path,
                       const network::PlainNetwork<float>& network,
                       const std::map<std::string, std::string>& notes = {});

/// The outputs, [count][outputs], that libtorch gives for
/// rows[count][inputs] of shape `input`. Throws IoError when the file is no
/// TorchScript or does not take such rows.
std::vector<float> run_torchscript(const std::string& path,
                                   const network::Shape& input,
                                   const float* rows, std::int64_t count);

}  // namespace radir::workflows
