#include "radir/workflows/evaluate_table.h"

#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <system_error>

#include "radir/core/error.h"
#include "radir/data/table.h"
#include "radir/data/table_source.h"
#include "radir/train/model.h"
#include "radir/workflows/table_predictor.h"

namespace radir::workflows {
namespace {

/// Gathers the scores of one set of networks.
class Scorer {
 public:
  Scorer(const TableModel& model, const TablePredictionOptions& options,
         ThreadPool* pool)
      : predictor_(model, options.samples, options.seed, pool),
        scores_(model.encoder, model.correction) {}

  void add(const data::EncodedRows& rows, std::int64_t rows_before) {
    left_out_.add(scores_.add(predictor_, rows), rows_before);
  }

  const RowList& left_out() const { return left_out_; }

  TableMetrics metrics(const data::TableSource& source) const {
    RADIR_CHECK(scores_.count() > 0 || left_out_.count == 0, NumericalError,
                source.name(), ": no row can be scored: in all ",
                left_out_.count, " values are too large for a float");
    return scores_.metrics();
  }

  const TableScores& scores() const { return scores_; }

 private:
  TablePredictor predictor_;
  TableScores scores_;
  RowList left_out_;
};

/// Runs one piece of work after another in another thread, while the caller
/// prepares the next; here where there is to be no other, or none can be
/// started.
class Beside {
 public:
  explicit Beside(const ThreadPool* pool)
      : is_threaded_(pool != nullptr && pool->size() > 1) {}

  /// Waits for the piece before. Throws what that threw.
  template <typename Work>
  void run(const Work& work) {
    finish();
    if (is_threaded_) {
      try {
        running_ = std::async(std::launch::async, work);
        return;
      } catch (const std::system_error&) {
        is_threaded_ = false;
      }
    }
    work();
  }

  void finish() {
    if (running_.valid()) running_.get();
  }

 private:
  bool is_threaded_;
  std::future<void> running_;
};

/// The scores of one model, a chunk of rows at a time.
class Evaluation {
 public:
  Evaluation(const TableModel& model, const TablePredictionOptions& options,
             ThreadPool* pool)
      : model_(model), all_(model, options, pool) {
    // A single draw of a chain says little, other than one network of several.
    if (model.networks.size() < 2 || !train::Model(model.spec).has_noise()) {
      return;
    }
    first_model_ = model;
    first_model_->networks.resize(1);
    first_model_->weights.clear();
    first_model_->correction = {};  // it is that of all of them together
    first_.emplace(*first_model_, options, pool);
  }

  /// Rows that score() takes, also in another thread while the next ones are
  /// encoded.
  data::EncodedRows encode(const data::TableChunk& chunk) {
    data::EncodedRows rows =
        model_.encoder.encode(chunk.table, true, chunk.file_rows_before);
    model_.seen_rows.count(rows, model_.encoder.input_size(), result_.seen);
    result_.dropped += chunk.table.rows() - rows.count;
    add_unseen(rows.unseen, chunk.rows_before, result_.unseen);
    return rows;
  }

  void score(const data::EncodedRows& rows, std::int64_t rows_before) {
    all_.add(rows, rows_before);
    if (first_) first_->add(rows, rows_before);
  }

  EvaluateTableResult result(const data::TableSource& source) const {
    EvaluateTableResult result = result_;
    const std::string& target = model_.encoder.target().name;
    RADIR_CHECK(result.dropped == 0 || all_.scores().count() > 0 ||
                    all_.left_out().count > 0,
                IoError, source.name(), ": no row can be scored: in all ",
                result.dropped, " the target \"", target, "\"",
                model_.encoder.missing() == data::MissingValues::Drop
                    ? " or another value is missing"
                    : " is missing");
    result.metrics = all_.metrics(source);
    if (model_.encoder.is_classification()) {
      result.classes = class_tables(model_.classes(), all_.scores().classes());
    }
    result.left_out = all_.left_out();
    if (first_) result.first_network = first_->metrics(source);
    return result;
  }

 private:
  const TableModel& model_;
  Scorer all_;
  std::optional<TableModel> first_model_;
  std::optional<Scorer> first_;
  EvaluateTableResult result_;
};

}  // namespace

EvaluateTableResult evaluate_table(const TableModel& model,
                                   const data::TableSource& source,
                                   const TablePredictionOptions& options,
                                   ThreadPool* pool) {
  return evaluate_table(std::vector{&model}, source, options, pool).front();
}

std::vector<EvaluateTableResult> evaluate_table(
    const std::vector<const TableModel*>& models,
    const data::TableSource& source, const TablePredictionOptions& options,
    ThreadPool* pool) {
  std::vector<const data::TableEncoder*> encoders;
  std::deque<Evaluation> evaluations;
  for (const TableModel* model : models) {
    encoders.push_back(&model->encoder);
    evaluations.emplace_back(*model, options, pool);
  }
  Beside scoring(pool);  // a chunk is scored while the next one is read
  data::for_each_chunk(
      source, options.seed, encoders, true, [&](const data::TableChunk& chunk) {
        const auto rows = std::make_shared<std::vector<data::EncodedRows>>();
        for (Evaluation& evaluation : evaluations) {
          rows->push_back(evaluation.encode(chunk));
        }
        scoring.run([&evaluations, rows, before = chunk.rows_before] {
          for (std::size_t i = 0; i < rows->size(); ++i) {
            evaluations[i].score((*rows)[i], before);
          }
        });
      });
  scoring.finish();
  std::vector<EvaluateTableResult> results;
  for (const Evaluation& evaluation : evaluations) {
    results.push_back(evaluation.result(source));
  }
  return results;
}

}  // namespace radir::workflows
