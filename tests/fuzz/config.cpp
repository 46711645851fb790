#include "fuzz/targets.h"
#include "radir/data/table_encoder.h"
#include "radir/io/run_folder.h"
#include "radir/workflows/compress.h"
#include "radir/workflows/table_fit.h"

namespace radir::fuzz {
namespace {

void run_config(std::string_view bytes) {
  io::check_config("config.json", bytes);
}

void table_settings(std::string_view bytes) {
  const auto settings = workflows::settings_from_json(std::string(bytes));
  const std::string text = workflows::to_json(settings);
  require(workflows::to_json(workflows::settings_from_json(text)) == text,
          "settings of a table survive a round trip");
}

void compress_settings(std::string_view bytes) {
  const auto settings =
      workflows::compress_settings_from_json(std::string(bytes));
  const std::string text = workflows::to_json(settings);
  require(
      workflows::to_json(workflows::compress_settings_from_json(text)) == text,
      "settings of a compression survive a round trip");
}

void encoder(std::string_view bytes) {
  using data::TableEncoder;
  const auto encoder = TableEncoder::from_json(std::string(bytes));
  const std::string text = encoder.to_json();
  require(TableEncoder::from_json(text).to_json() == text,
          "an encoder survives a round trip");
}

}  // namespace

void config(std::string_view bytes) {
  for (const Target part :
       {run_config, table_settings, compress_settings, encoder}) {
    feed(part, bytes);
  }
}

}  // namespace radir::fuzz
