#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "radir/c_api.h"
#include "radir/core/thread_pool.h"
#include "radir/io/model_file.h"
#include "radir/workflows/table_model.h"
#include "radir/workflows/table_predictor.h"

namespace radir::c_api {

/// Draws of the weights, and the options that they were made with.
struct KeptPredictor {
  KeptPredictor(const workflows::TableModel& model,
                const radir_predict_options& options);

  radir_predict_options options;
  ThreadPool pool;
  workflows::TablePredictor predictor;
};

/// A fitted table with what its file says of its training.
class ModelObject {
 public:
  ModelObject(workflows::TableModel model, io::SavedModel origin)
      : model_(std::move(model)), origin_(std::move(origin)) {
    origin_.networks.clear();
  }
  /// From what a file says; messages begin with `name`.
  static std::shared_ptr<ModelObject> make(const std::string& name,
                                           io::SavedModel saved);

  const workflows::TableModel& model() const { return model_; }
  /// What a file would say.
  io::SavedModel saved() const;

  /// Calls use(predictor) with the draws of these options, one caller at a
  /// time.
  template <typename Use>
  void predict(const radir_predict_options& options, const Use& use) {
    const std::lock_guard<std::mutex> lock(mutex_);
    use(predictor(options));
  }

 private:
  workflows::TablePredictor& predictor(const radir_predict_options& options);

  workflows::TableModel model_;
  io::SavedModel origin_;  // without networks
  std::mutex mutex_;
  std::optional<KeptPredictor> kept_;
};

/// A new handle.
radir_model add_model(std::shared_ptr<ModelObject> model);
/// The model behind a handle.
std::shared_ptr<ModelObject> model_of(radir_model handle);

}  // namespace radir::c_api
