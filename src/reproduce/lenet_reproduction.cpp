#include <nlohmann/json.hpp>

#include "radir/data/data_dir.h"
#include "radir/data/images.h"
#include "radir/report/page.h"
#include "radir/report/table.h"
#include "radir/reproduce/lenet.h"
#include "radir/reproduce/lenet_methods.h"
#include "radir/reproduce/reproduction.h"
#include "radir/reproduce/unpublished.h"
#include "radir/workflows/compress_result.h"
#include "radir/workflows/resumable_run.h"
#include "radir/workflows/run_config.h"
#include "reproduce/reproduction_json.h"

namespace radir::reproduce {
namespace {

using Json = nlohmann::ordered_json;
using workflows::NetworkFigures;

Json run_json(const LenetRun& run) {
  const auto figures = [](const NetworkFigures& f) {
    return Json{{"architecture", f.architecture},
                {"flops", f.cost.flops},
                {"parameters", f.cost.parameters},
                {"train_error", f.train_error},
                {"test_error", f.test_error}};
  };
  return {{"seed", run.seed},
          {"unpruned", figures(run.unpruned)},
          {"pruned", figures(run.pruned)},
          {"fine_tuned", figures(run.fine_tuned)},
          {"seconds", run.seconds}};
}

Json method_json(const LenetMethodSummary& one) {
  Json json = {{"method", one.line},
               {"seeds", one.seeds},
               {"architecture", one.architecture},
               {"pruned_error", json_of(one.pruned_error)},
               {"test_error", json_of(one.error)},
               {"flops", json_of(one.flops)},
               {"parameters", json_of(one.parameters)},
               {"seconds", one.seconds}};
  if (one.compared) json["less_rdp"] = json_of(one.less_rdp);
  return json;
}

Reproduction benchmark(const LenetOptions& options,
                       const std::vector<LenetRun>& runs,
                       const std::vector<UnpublishedSet>& unpublished) {
  Json list = Json::array();
  for (const LenetRun& one : runs) list.push_back(run_json(one));
  Reproduction result;
  result.json = {{"not_the_published_data", json_of(unpublished)},
                 {"median", run_json(median_run(runs))},
                 {"runs", std::move(list)}};
  result.text = to_text(lenet_table(options, runs)) + note_line(unpublished);
  result.page = with_note(lenet_page(options, runs), unpublished);
  return result;
}

Reproduction comparison(const LenetOptions& options,
                        const std::vector<LenetMethodRun>& runs,
                        const std::vector<UnpublishedSet>& unpublished) {
  Json methods = Json::array(), list = Json::array();
  for (const auto& one : lenet_summaries(options.dense, runs)) {
    methods.push_back(method_json(one));
  }
  for (const LenetMethodRun& one : runs) {
    Json entry = {{"method", one.line}};
    entry.update(run_json(one.run));
    list.push_back(std::move(entry));
  }
  Reproduction result;
  result.json = {{"not_the_published_data", json_of(unpublished)},
                 {"methods", std::move(methods)},
                 {"runs", std::move(list)}};
  result.text =
      to_text(lenet_method_table(options.dense, runs)) + note_line(unpublished);
  result.page = with_note(lenet_method_page(options.dense, runs), unpublished);
  result.page_name = kMethodsPage;
  return result;
}

}  // namespace

std::string lenet_command(bool dense) {
  return std::string("reproduce ") + (dense ? "lenet300" : "lenet5");
}

nlohmann::ordered_json lenet_config(const LenetOptions& options,
                                    const data::ImageSplit& images) {
  return workflows::run_config(
      workflows::image_data_entry(options.data_dir + "/mnist", images),
      workflows::command_entry(lenet_command(options.dense), to_json(options)));
}

data::ImageSplit read_mnist(const LenetOptions& options) {
  return data::read_images(data::data_set_dir(options.data_dir, "mnist"), "",
                           0);
}

Reproduction reproduce_lenet(const LenetOptions& options,
                             const data::ImageSplit& images, ThreadPool& pool,
                             const ReproductionProgress& progress,
                             const workflows::ResumableRun* run) {
  const auto unpublished = unpublished_sets(options.data_dir, {"mnist"});
  if (options.methods.empty()) {
    return benchmark(options, run_lenet(options, images, pool, progress, run),
                     unpublished);
  }
  return comparison(options,
                    run_lenet_methods(options, images, pool, progress, run),
                    unpublished);
}

}  // namespace radir::reproduce
