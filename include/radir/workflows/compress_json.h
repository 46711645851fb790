#pragma once

#include "radir/files/json_object.h"
#include "radir/workflows/compress.h"

namespace radir::workflows {

/// What to_json(figures) wrote. Throws IoError when it is none of those.
NetworkFigures figures_from_json(files::JsonObject json);

}  // namespace radir::workflows
