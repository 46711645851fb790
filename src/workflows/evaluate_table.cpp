#include "radir/workflows/evaluate_table.h"

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

}  // namespace

EvaluateTableResult evaluate_table(const TableModel& model,
                                   const data::TableSource& source,
                                   const TablePredictionOptions& options,
                                   ThreadPool* pool) {
  Scorer all(model, options, pool);
  // A single draw of a chain says little, other than one network of several.
  std::optional<TableModel> first_model;
  std::optional<Scorer> first;
  if (model.networks.size() > 1 && train::Model(model.spec).has_noise()) {
    first_model = model;
    first_model->networks.resize(1);
    first_model->weights.clear();
    first_model->correction = {};  // it is that of all of them together
    first.emplace(*first_model, options, pool);
  }
  EvaluateTableResult result;
  Beside scoring(pool);  // a chunk is scored while the next one is read
  data::for_each_chunk(
      source, options.seed, model.encoder, true,
      [&](const data::TableChunk& chunk) {
        const auto rows = std::make_shared<const data::EncodedRows>(
            model.encoder.encode(chunk.table, true, chunk.file_rows_before));
        model.seen_rows.count(*rows, model.encoder.input_size(), result.seen);
        result.dropped += chunk.table.rows() - rows->count;
        add_unseen(rows->unseen, chunk.rows_before, result.unseen);
        scoring.run([&all, &first, rows, before = chunk.rows_before] {
          all.add(*rows, before);
          if (first) first->add(*rows, before);
        });
      });
  scoring.finish();
  result.metrics = all.metrics(source);
  if (model.encoder.is_classification()) {
    result.classes = class_tables(model.classes(), all.scores().classes());
  }
  result.left_out = all.left_out();
  if (first) result.first_network = first->metrics(source);
  return result;
}

}  // namespace radir::workflows
