#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "radir/core/thread_pool.h"
#include "radir/data/images.h"
#include "radir/io/model_file.h"
#include "radir/likelihood/class_scores.h"
#include "radir/network/plain_network.h"
#include "radir/train/model.h"

namespace radir::workflows {

/// Whether a model was trained on images, as its preprocessing says.
bool is_image_model(const io::SavedModel& model);

/// Scores of the softmax of a plain network's outputs.
likelihood::ClassScores evaluate(const network::PlainNetwork<float>& network,
                                 const data::ImageRows& images,
                                 ThreadPool* pool = nullptr);

/// Scores of the mean softmax over `samples` draws of a Bayesian network's
/// weights.
likelihood::ClassScores evaluate(const train::Model& model,
                                 const std::vector<float>& parameters,
                                 const data::ImageRows& images,
                                 std::int64_t samples, std::uint64_t seed,
                                 ThreadPool* pool = nullptr);

/// The share of the images that a plain network puts in a wrong class.
double classification_error(const network::PlainNetwork<float>& network,
                            const data::ImageRows& images,
                            ThreadPool* pool = nullptr);

/// One of ClassScores::metrics(), which must exist.
double metric(const likelihood::ClassScores& scores, const std::string& name);

}  // namespace radir::workflows
