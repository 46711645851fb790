#include "radir/core/device.h"

#include "radir/core/error.h"

namespace radir {

const char* to_string(Device device) {
  switch (device) {
    case Device::Cuda:
      return "cuda";
    case Device::Cpu:
      break;
  }
  return "cpu";
}

Device parse_device(const std::string& name) {
  if (name == "cuda") return Device::Cuda;
  RADIR_CHECK(name == "cpu" || name == "auto", ArgumentError,
              "device: must be cpu, cuda or auto, but is \"", name, "\"");
  return Device::Cpu;
}

}  // namespace radir
