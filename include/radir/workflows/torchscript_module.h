#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "radir/network/plain_network.h"
#include "radir/network/spec.h"

// The functions of the module src/torchscript.

namespace radir::workflows {

using TorchScriptNotes = std::map<std::string, std::string>;

/// The numbers must fit the description.
using WriteTorchScript = void(const network::PlainNetwork<float>& network,
                              const TorchScriptNotes& notes,
                              std::string& bytes);
/// Throws IoError, which begins with `path`, when the bytes are no TorchScript
/// or do not take the rows.
using RunTorchScript = void(const std::string& path, const std::string& bytes,
                            const network::Shape& input, const float* rows,
                            std::int64_t count, std::vector<float>& outputs);

}  // namespace radir::workflows

extern "C" {
radir::workflows::WriteTorchScript radir_write_torchscript;
radir::workflows::RunTorchScript radir_run_torchscript;
}
