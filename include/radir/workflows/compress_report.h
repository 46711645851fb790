#pragma once

#include <string>

#include "radir/workflows/compress.h"

namespace radir::workflows {

/// The result as one HTML page: a table of the networks, their layers, how the
/// network shrank in the course of training, and what the removals cost.
std::string compress_report(const CompressSettings& settings,
                            const std::string& data,
                            const CompressResult& result);

}  // namespace radir::workflows
