#pragma once

#include <unistd.h>

#include <cstdint>
#include <memory>
#include <mutex>

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

/// Deletes a predictor in the process that made it. The threads of its pool do
/// not exist in a child that was forked from that process, and the pool would
/// wait for them for ever: there it is left as it is.
struct DeleteInItsProcess {
  bool is_here() const { return ::getpid() == process; }
  void operator()(KeptPredictor* kept) const {
    if (is_here()) delete kept;
  }

  pid_t process = ::getpid();
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
  std::unique_ptr<KeptPredictor, DeleteInItsProcess> kept_;
};

/// A new handle.
radir_model add_model(std::shared_ptr<ModelObject> model);
/// The model behind a handle.
std::shared_ptr<ModelObject> model_of(radir_model handle);

}  // namespace radir::c_api
