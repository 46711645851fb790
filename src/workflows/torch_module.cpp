#include "radir/workflows/torch_module.h"

#include "radir/core/module.h"

namespace radir::workflows {

void* module_symbol(const std::string& module, const std::string& function) {
  return radir::module_symbol(
      {module, "libtorch", "build with RADIR_WITH_TORCH=ON"}, function);
}

}  // namespace radir::workflows
