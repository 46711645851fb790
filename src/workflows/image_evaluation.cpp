#include "radir/workflows/image_evaluation.h"

#include <algorithm>

#include "radir/core/error.h"
#include "radir/core/memory.h"
#include "radir/data/data_kind.h"
#include "radir/kernels/network.h"
#include "radir/likelihood/class_prediction.h"
#include "radir/train/predictor.h"

namespace radir::workflows {
namespace {

/// Images whose outputs are in memory at a time.
constexpr std::int64_t kImagesAtOnce = 1000;

/// Adds the scores of images `first` on, whose outputs are
/// [draw][count][class].
void add(likelihood::ClassScores& scores, const data::ImageRows& images,
         std::int64_t first, std::int64_t count,
         const std::vector<float>& outputs, std::int64_t draws,
         std::int64_t classes) {
  for (std::int64_t i = 0; i < count; ++i) {
    scores.add(likelihood::predict_class(outputs.data() + i * classes, draws,
                                         classes, count * classes),
               images.labels[static_cast<std::size_t>(first + i)]);
  }
}

}  // namespace

bool is_image_model(const io::SavedModel& model) {
  return data::data_kind(model.preprocessing) == data::kImageKind;
}

likelihood::ClassScores evaluate(const network::PlainNetwork<float>& network,
                                 const data::ImageRows& images,
                                 ThreadPool* pool) {
  const std::vector<float> outputs =
      kernels::run_network(network, images.pixels.data(), images.count, pool);
  likelihood::ClassScores scores;
  if (images.count > 0) {
    add(scores, images, 0, images.count, outputs, 1,
        static_cast<std::int64_t>(outputs.size()) / images.count);
  }
  return scores;
}

likelihood::ClassScores evaluate(const train::Model& model,
                                 const std::vector<float>& parameters,
                                 const data::ImageRows& images,
                                 std::int64_t samples, std::uint64_t seed,
                                 ThreadPool* pool) {
  train::Predictor<float> predictor(model, parameters, samples, seed, pool);
  const std::int64_t classes = model.output_size();
  likelihood::ClassScores scores;
  std::vector<float> outputs;
  check_memory({samples, std::min(kImagesAtOnce, images.count), classes,
                static_cast<std::int64_t>(sizeof(float))},
               "the outputs of all draws", "use fewer samples");
  for (std::int64_t first = 0; first < images.count; first += kImagesAtOnce) {
    const std::int64_t count = std::min(kImagesAtOnce, images.count - first);
    outputs.resize(static_cast<std::size_t>(samples * count * classes));
    predictor.run(images.pixels.data() + first * images.shape.size(), count,
                  outputs.data());
    add(scores, images, first, count, outputs, samples, classes);
  }
  return scores;
}

double classification_error(const network::PlainNetwork<float>& network,
                            const data::ImageRows& images, ThreadPool* pool) {
  return metric(evaluate(network, images, pool), "error");
}

double metric(const likelihood::ClassScores& scores, const std::string& name) {
  const auto metrics = scores.metrics();
  const auto found =
      std::find_if(metrics.begin(), metrics.end(),
                   [&](const auto& one) { return one.first == name; });
  RADIR_ASSERT(found != metrics.end());
  return found->second;
}

}  // namespace radir::workflows
