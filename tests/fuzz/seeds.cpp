#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "radir/io/checkpoint.h"
#include "radir/io/model_file.h"
#include "radir/io/network_file.h"
#include "radir/io/onnx.h"
#include "radir/io/safetensors.h"
#include "radir/network/spec.h"
#include "radir/train/model.h"
#include "radir/train/trainer.h"
#include "radir/workflows/compress.h"
#include "radir/workflows/metrics_lines.h"
#include "radir/workflows/table_fit.h"
#include "support/gzip.h"
#include "support/plain_networks.h"
#include "support/temporary_folder.h"

// Writes the inputs that fuzzing starts from, what our own writers write:
//   radir_fuzz_seeds CORPUS

namespace radir::fuzz {
namespace {

using namespace std::string_literals;
using testing::gzip;
using testing::read_bytes;

/// Larger inputs make a fuzzer slow.
constexpr std::size_t kMostBytes = 8192;

class Corpus {
 public:
  explicit Corpus(std::filesystem::path folder) : folder_(std::move(folder)) {}

  void add(const std::string& target, const std::string& name,
           const std::string& bytes) const {
    if (bytes.size() > kMostBytes) return;
    std::filesystem::create_directories(folder_ / target);
    std::ofstream(folder_ / target / name, std::ios::binary) << bytes;
  }

 private:
  std::filesystem::path folder_;
};

void add_tables(const Corpus& corpus) {
  const std::pair<const char*, std::string> tables[] = {
      {"header.csv", "x,y,colour\n1,2.5,red\n-3e2,?,blue\n,4,red\n"},
      {"semicolons.csv", "x;y\r\n1,5;2\r\n3;4,25\r\n"},
      {"tabs.tsv", "1\t2\n3\t4\n"},
      {"spaces.txt", "  1 2.0   3\n 4 5.0 NaN\n"},
      {"quotes.csv", "name,\"a \"\"b\"\"\"\n\"line\none\",1\n\"c,d\",2\n\n"},
      {"utf8.csv", "\xEF\xBB\xBFn\xC3\xB6,m\n\xE2\x82\xAC,1\n"}};
  for (const auto& [name, text] : tables) {
    corpus.add("table", name, text);
    corpus.add("table", name + ".gz"s, gzip(text));
  }
  corpus.add("table", "two_members.gz", gzip("a,b\n1,") + gzip("2\n"));
}

void add_images(const Corpus& corpus) {
  const std::string images =
      "\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x03"s
      "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0A\x0B\xFF";
  const std::string labels = "\0\0\x08\x01\0\0\0\x02\x07\x09"s;
  corpus.add("idx", "images", images);
  corpus.add("idx", "images.gz", gzip(images));
  corpus.add("idx", "labels", labels);
  corpus.add("idx", "labels.gz", gzip(labels));
  corpus.add("idx", "claims_4_gigabytes",
             "\0\0\x08\x03\0\0\0\x04\x40\0\0\0\0\0\0\x01x"s);
  corpus.add("idx", "claims_too_much",
             "\0\0\x08\x03"s + std::string(12, '\xFF'));
}

/// A file whose every byte may be changed: its checksum has another name.
std::string without_checksum(std::string bytes) {
  const std::string name = "radir.crc32";
  return bytes.replace(bytes.find(name), name.size(), "other.crc32");
}

io::SavedModel small_model() {
  io::SavedModel model;
  model.spec.network = network::multilayer_perceptron(2, {3}, 1);
  model.networks.emplace_back(
      static_cast<std::size_t>(train::Model(model.spec).parameter_count()));
  model.preprocessing = R"({"kind":"table"})";
  return model;
}

train::TrainerProgress<float> small_progress() {
  train::TrainerProgress<float> progress;
  progress.parameters = {0};
  progress.state = train::state_from<float>({0}, 15);
  progress.state.step = 7;
  progress.history.resize(2);
  progress.history[1].epoch = 2;
  progress.history[1].validation_nll = 1.5;
  return progress;
}

void add_tensor_files(const Corpus& corpus) {
  const testing::TemporaryFolder folder;
  io::write_model(folder / "model", small_model());
  io::write_checkpoint(folder / "checkpoint", small_progress(),
                       R"({"settings":{"epochs":[3,4]}})");
  for (const std::string kind : {"model", "checkpoint"}) {
    const std::string bytes = read_bytes(folder / kind);
    corpus.add("safetensors", kind + ".safetensors", without_checksum(bytes));
    corpus.add("safetensors", kind + "_with_checksum.safetensors", bytes);
    corpus.add(kind, kind + ".json",
               io::SafetensorsFile(kind, bytes).metadata("radir." + kind));
  }
  io::SafetensorsWriter writer;
  const double wide[2] = {1, -0.5};
  const std::int32_t index = -7;
  const std::uint8_t mask[3] = {0, 1, 255};
  writer.set_metadata("note", "text");
  writer.add("wide", {2, 1}, wide);
  writer.add("index", {}, &index);
  writer.add("mask", {3}, mask);
  writer.add("none", {0, 4}, mask);
  corpus.add("safetensors", "types.safetensors",
             without_checksum(writer.bytes()));
}

void add_networks(const Corpus& corpus) {
  const testing::TemporaryFolder folder;
  for (const auto& [name, spec] : testing::small_networks()) {
    io::write_network_file(folder / name, spec);
    corpus.add("network", name + ".json", read_bytes(folder / name));
    io::OnnxOptions options;
    options.input_scale = name == "dense" ? 1.0F / 255 : 1;
    io::write_onnx(folder / name, testing::random_network(spec), options);
    corpus.add("onnx", name + ".onnx", read_bytes(folder / name));
  }
}

void add_settings(const Corpus& corpus) {
  const std::string table = workflows::to_json(workflows::TableSettings());
  corpus.add("config", "table_settings.json", table);
  workflows::CompressSettings compress;
  compress.network_name = "lenet5";
  compress.warp = 0.15;
  compress.keep = {4, 7, 59, 28};
  corpus.add("config", "compress.json", workflows::to_json(compress));
  corpus.add("config", "run.json",
             R"({"program":"0.1","command":{"name":"train","settings":)" +
                 table + "}}");
  corpus.add("config", "encoder.json",
             R"({"kind":"table","missing":"mean","inputs":[{"name":"x",)"
             R"("type":"numeric","mean":1.5,"scale":2}],"target":{"name":"y",)"
             R"("type":"categorical","categories":["a","b"]}})");
}

workflows::NetworkFigures small_figures() {
  workflows::NetworkFigures figures;
  figures.architecture = "3-4";
  figures.cost = {{{"layer1", "dense 4", 16, 16}}, 16, 16, 16, 16};
  figures.test_error = 0.25;
  figures.test_nll = 1.5;
  return figures;
}

void add_records(const Corpus& corpus) {
  workflows::MetricsLine line;
  std::string lines;
  for (const std::int64_t network : {1, 2}) {
    line.network = network;
    for (line.report.epoch = 1; line.report.epoch <= 3; ++line.report.epoch) {
      line.report.nll = 2.5 / static_cast<double>(line.report.epoch);
      lines += to_json(line) + "\n";
    }
  }
  corpus.add("record", "metrics.jsonl", lines);
  workflows::CompressResult result;
  result.unpruned = result.pruned = small_figures();
  corpus.add("record", "pruned.json", to_json(result));
  result.fine_tuned = result.mean_tuned = small_figures();
  result.removals.push_back({3, "3-4", 16, 16, 1.5, 0.5, 0.25, 0.25, {-2, 3}});
  result.curve.emplace_back();
  result.curve.back().cost = result.pruned.cost;
  corpus.add("record", "tuned.json", to_json(result));
}

}  // namespace
}  // namespace radir::fuzz

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: radir_fuzz_seeds CORPUS\n";
    return 2;
  }
  const radir::fuzz::Corpus corpus(argv[1]);
  radir::fuzz::add_tables(corpus);
  radir::fuzz::add_images(corpus);
  radir::fuzz::add_tensor_files(corpus);
  radir::fuzz::add_networks(corpus);
  radir::fuzz::add_settings(corpus);
  radir::fuzz::add_records(corpus);
}
