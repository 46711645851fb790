#include "radir/workflows/run_config.h"

#include "radir/core/cpu.h"
#include "radir/core/version.h"
#include "radir/workflows/doctor.h"

namespace radir::workflows {

using Json = nlohmann::ordered_json;

Json run_config(const Json& data, const Json& command) {
  return {{"data", data},
          {"program", version()},
          {"machine", machine_line()},
          {"isa", to_string(active_isa())},
          {"command", command}};
}

Json image_data_entry(const std::string& source,
                      const data::ImageSplit& images) {
  return {{"source", source},
          {"train", images.train.count},
          {"test", images.test.count},
          {"fingerprint", images.fingerprint}};
}

Json command_entry(const std::string& name, const std::string& options) {
  return {{"name", name}, {"options", Json::parse(options)}};
}

}  // namespace radir::workflows
