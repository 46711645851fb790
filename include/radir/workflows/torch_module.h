#pragma once

#include <string>

namespace radir::workflows {

/// A function of one of the modules that link libtorch, "radir_baselines.so".
/// The module is loaded when first asked for, so that nothing else pays for
/// loading libtorch, and stays. Throws UnsupportedError when it cannot be
/// loaded or has no such function.
void* module_symbol(const std::string& module, const std::string& function);

template <typename Function>
Function* module_function(const std::string& module,
                          const std::string& function) {
  return reinterpret_cast<Function*>(module_symbol(module, function));
}

}  // namespace radir::workflows
