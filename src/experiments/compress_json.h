#pragma once

#include "io/json_object.h"
#include "radir/experiments/compress.h"

// Private to experiments.

namespace radir::experiments {

/// What to_json(figures) wrote. Throws IoError when it is none of those.
NetworkFigures figures_from_json(io::JsonObject json);

}  // namespace radir::experiments
