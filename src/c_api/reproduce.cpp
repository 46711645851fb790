#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>
#include <utility>

#include "c_api/guard.h"
#include "c_api/handles.h"
#include "c_api/progress.h"
#include "c_api/settings.h"
#include "radir/core/error.h"
#include "radir/core/thread_pool.h"
#include "radir/data/data_dir.h"
#include "radir/data/images.h"
#include "radir/data/uci.h"
#include "radir/io/run_folder.h"
#include "radir/report/page.h"
#include "radir/reproduce/figures.h"
#include "radir/reproduce/lenet.h"
#include "radir/reproduce/lenet_methods.h"
#include "radir/reproduce/reproduction.h"
#include "radir/reproduce/uci.h"
#include "radir/reproduce/uci_methods.h"
#include "radir/workflows/compress_settings.h"
#include "radir/workflows/resumable_run.h"
#include "radir/workflows/run_report.h"
#include "radir/workflows/training_run.h"

namespace radir::c_api {
namespace {

using Json = nlohmann::ordered_json;

/// Numbers and a page.
struct DocumentObject {
  std::string json;
  std::string html;
};

Handles<radir_document, DocumentObject>& documents() {
  static Handles<radir_document, DocumentObject> handles("document");
  return handles;
}

/// "a,b" as a list; none of "".
std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    parts.push_back(part);
  }
  return parts;
}

/// The folder of a run: a new one, or one that the same call has begun.
io::RunFolder begin_or_resume(const std::string& path,
                              const std::string& command, const Json& config) {
  RADIR_CHECK(!path.empty(), ArgumentError,
              "the setting run is missing: the folder of the results, where a ",
              "run that was stopped resumes");
  if (!io::RunFolder::is_begun(path)) return workflows::begin_run(path, config);
  io::RunFolder folder = io::RunFolder::open(path);
  const Json begun =
      workflows::read_run_config(folder, command, [](const std::string&) {});
  workflows::check_same_data(
      begun, path, config.at("data").at("fingerprint").get<std::string>());
  const auto options = [](const Json& of) {
    Json json = Json::parse(workflows::run_options_text(of));
    json.erase("data_dir");  // the data may have moved
    return json;
  };
  RADIR_CHECK(options(begun) == options(config), ArgumentError, path,
              ": this run has other settings; choose another folder");
  return folder;
}

/// Runs `work(pool, progress, run)` in its folder.
template <typename Work>
DocumentObject in_folder(const io::RunFolder& folder,
                         const std::string& command, std::int64_t threads,
                         Progress& progress, const Work& work) {
  ThreadPool pool(static_cast<int>(threads));
  workflows::CheckpointOptions checkpoints;
  checkpoints.stop_requested = [&] { return !progress.ask(); };
  // From here on work without news can be stopped, too.
  progress.tell(share_progress(0));
  reproduce::Reproduction result;
  workflows::train_in(folder, command, checkpoints,
                      [&](const workflows::ResumableRun& run) {
                        result = work(
                            pool,
                            [&](double share, const std::string&) {
                              progress.tell(share_progress(share));
                            },
                            run);
                      });
  finish_reproduction(folder, result);
  return {result.json.dump(), to_html(result.page)};
}

DocumentObject reproduce_uci(const UciSettings& settings, Progress& progress) {
  reproduce::UciOptions options = settings.options;
  options.sets = listed(settings.sets);
  options.methods = listed(settings.methods);
  options.data_dir = workflows::absolute_path(data::data_dir(options.data_dir));
  reproduce::uci_methods_of(options);  // rejects unknown ones
  const auto sets = reproduce::read_uci_sets(options);
  const io::RunFolder folder = begin_or_resume(
      settings.run, reproduce::kUciCommand,
      reproduce::uci_config(options, reproduce::fingerprint(sets)));
  return in_folder(folder, reproduce::kUciCommand, settings.threads, progress,
                   [&](ThreadPool& pool, const auto& tell, const auto& run) {
                     return reproduce::reproduce_uci(options, sets, pool, tell,
                                                     &run);
                   });
}

DocumentObject reproduce_lenet(const LenetSettings& settings, bool dense,
                               Progress& progress) {
  reproduce::LenetOptions options = reproduce::default_lenet_options(dense);
  options.seeds = settings.seeds.value_or(options.seeds);
  options.methods = listed(settings.methods);
  options.data_dir =
      workflows::absolute_path(data::data_dir(settings.data_dir));
  workflows::CompressSettings& passes = options.settings;
  passes.seed = settings.seed;
  passes.epochs = settings.epochs.value_or(passes.epochs);
  passes.prune_every = settings.prune_every.value_or(passes.prune_every);
  passes.fine_tune_epochs =
      settings.fine_tune_epochs.value_or(passes.fine_tune_epochs);
  reproduce::lenet_lines_of(options);  // rejects unknown ones
  const data::ImageSplit images = reproduce::read_mnist(options);
  const std::string command = reproduce::lenet_command(dense);
  const io::RunFolder folder = begin_or_resume(
      settings.run, command, reproduce::lenet_config(options, images));
  return in_folder(folder, command, settings.threads, progress,
                   [&](ThreadPool& pool, const auto& tell, const auto& run) {
                     return reproduce::reproduce_lenet(options, images, pool,
                                                       tell, &run);
                   });
}

DocumentObject reproduce_figures(const char* settings) {
  settings_of<NoSettings>(settings);
  const report::Page page = reproduce::figures();
  return {Json{{"title", page.title}}.dump(), to_html(page)};
}

DocumentObject reproduce_named(const std::string& what, const char* settings,
                               Progress& progress) {
  if (what == "figures") return reproduce_figures(settings);
  if (what == "uci") {
    return reproduce_uci(settings_of<UciSettings>(settings), progress);
  }
  RADIR_CHECK(what == "lenet5" || what == "lenet300", UnsupportedError,
              "cannot reproduce \"", what,
              "\"; there are figures, uci, lenet5 and lenet300");
  return reproduce_lenet(settings_of<LenetSettings>(settings),
                         what == "lenet300", progress);
}

DocumentObject report(const std::string& run) {
  const workflows::RunReport report = workflows::report_run(run);
  const Json json = {
      {"run", run}, {"state", report.state}, {"missing", report.missing}};
  return {json.dump(), report.page};
}

radir_document add(DocumentObject document) {
  return documents().add(std::make_shared<DocumentObject>(std::move(document)));
}

}  // namespace

// The functions of the interface.
extern "C" {

radir_status radir_reproduce(const char* what, const char* settings,
                             radir_progress_callback callback, void* user,
                             radir_document* document) {
  return guarded([&] {
    check_pointer(document, "document");
    Progress progress("reproduce", callback, user);
    *document =
        add(reproduce_named(required_text(what, "what"), settings, progress));
  });
}

radir_status radir_report(const char* run, radir_document* document) {
  return guarded([&] {
    check_pointer(document, "document");
    *document = add(report(required_text(run, "run")));
  });
}

radir_status radir_document_free(radir_document document) {
  return guarded([&] { documents().remove(document); });
}

radir_status radir_document_json(radir_document document, char* text,
                                 int64_t capacity, int64_t* length) {
  return guarded([&] {
    copy_text(documents().get(document)->json, text, capacity, length);
  });
}

radir_status radir_document_html(radir_document document, char* text,
                                 int64_t capacity, int64_t* length) {
  return guarded([&] {
    copy_text(documents().get(document)->html, text, capacity, length);
  });
}

}  // extern "C"
}  // namespace radir::c_api
