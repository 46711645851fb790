#include "radir/io/checkpoint.h"

#include "fuzz/targets.h"
#include "radir/files/utf8.h"
#include "radir/io/safetensors.h"

namespace radir::fuzz {
namespace {

constexpr const char* kConfiguration = R"({"settings":{"epochs":[3,4]}})";

/// A history of two epochs, the second with a validation, and one parameter.
void add_tensors(io::SafetensorsWriter& writer) {
  static constexpr double kNumbers[2] = {};
  static constexpr float kParameter = 0;
  static constexpr std::int64_t kSteps[2] = {10, 20};
  static constexpr std::int64_t kEpoch = 2;
  static constexpr std::uint8_t kSelected[2] = {1, 0};
  for (const char* name :
       {"nll", "kl", "kl_weight", "learning_rate", "seconds"}) {
    writer.add(std::string("history.") + name, {2}, kNumbers);
  }
  for (const char* name :
       {"parameters", "first_moment", "second_moment", "selected_parameters"}) {
    writer.add(name, {1}, &kParameter);
  }
  writer.add("history.step", {2}, kSteps);
  writer.add("history.selected", {2}, kSelected);
  writer.add("history.validation_epoch", {1}, &kEpoch);
  writer.add("history.validation_nll", {1}, kNumbers);
}

}  // namespace

void checkpoint(std::string_view bytes) {
  if (!files::is_utf8(bytes)) return;  // no file can hold it
  io::SafetensorsWriter writer;
  writer.set_metadata("radir.checkpoint", std::string(bytes));
  add_tensors(writer);
  const auto progress =
      io::read_checkpoint<float>("checkpoint", writer.bytes(), kConfiguration);
  require(progress.history.size() == 2, "the history is that of the file");
}

}  // namespace radir::fuzz
