#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "radir/train/plain_network.h"

// The functions of the module src/torchscript.

namespace radir::experiments {

using TorchScriptNotes = std::map<std::string, std::string>;

/// The numbers must fit the description.
using WriteTorchScript = void(const train::PlainNetwork<float>& network,
                              const TorchScriptNotes& notes,
                              std::string& bytes);
/// Throws IoError, which begins with `path`, when the bytes are no TorchScript
/// or do not take the rows.
using RunTorchScript = void(const std::string& path, const std::string& bytes,
                            const kernels::Shape& input, const float* rows,
                            std::int64_t count, std::vector<float>& outputs);

}  // namespace radir::experiments

extern "C" {
radir::experiments::WriteTorchScript radir_write_torchscript;
radir::experiments::RunTorchScript radir_run_torchscript;
}
