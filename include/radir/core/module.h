#pragma once

#include <string>

namespace radir {

/// A part of the program that is loaded when it is needed.
struct Module {
  std::string name;    ///< the file, "radir_cuda.so"
  std::string needs;   ///< what else it takes, "a CUDA device"
  std::string remedy;  ///< where it is missing, "build with ..."
};

/// A function of a module. Modules lie beside the program, or in the library
/// folder of its installation, and stay loaded. Throws UnsupportedError when
/// the module cannot be loaded or has no such function.
void* module_symbol(const Module& module, const std::string& function);

template <typename Function>
Function* module_function(const Module& module, const std::string& function) {
  return reinterpret_cast<Function*>(module_symbol(module, function));
}

}  // namespace radir
