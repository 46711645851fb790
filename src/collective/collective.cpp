#include "radir/collective/collective.h"

#include <cstring>
#include <utility>
#include <vector>

namespace radir::collective {

Collective::Collective(Store& store, int rank, int size, Milliseconds timeout,
                       std::string name)
    : store_(&store),
      rank_(rank),
      size_(size),
      timeout_(timeout),
      name_(std::move(name)) {
  RADIR_CHECK(size >= 1 && rank >= 0 && rank < size, ArgumentError,
              "collective: the rank must be from 0 to ", size - 1, ", but is ",
              rank);
}

std::string Collective::key(const std::string& what, int rank) const {
  return "collective/" + name_ + "/" + what + "/" + std::to_string(round_) +
         "/" + std::to_string(rank);
}

SharedText Collective::value_of(const std::string& key, int rank) {
  SharedText value = store_->wait(key, timeout_);
  RADIR_CHECK(value != nullptr, collective::ConnectionError, "worker ", rank,
              " of ", size_, " did not come within ", timeout_.count() / 1000,
              " s; see whether it runs");
  return value;
}

// Whoever enters a round has left the one before the last, because every round
// waits for all workers of the one before it.
void Collective::forget_last() {
  ++round_;
  const std::int64_t now = round_;
  round_ -= 2;
  for (const char* what : {"sum", "barrier", "broadcast"}) {
    if (round_ >= 0) store_->erase(key(what, rank_));
  }
  round_ = now;
}

void Collective::barrier() {
  store_->set(key("barrier", rank_), "");
  for (int r = 0; r < size_; ++r) value_of(key("barrier", r), r);
  forget_last();
}

std::string Collective::broadcast(const std::string& value, int root) {
  RADIR_CHECK(root >= 0 && root < size_, ArgumentError,
              "collective: there is no worker ", root, " to send");
  if (rank_ == root) store_->set(key("broadcast", root), value);
  std::string result =
      rank_ == root ? value : *value_of(key("broadcast", root), root);
  barrier();
  return result;
}

template <typename T>
void Collective::sum(T* numbers, std::int64_t count) {
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
  store_->set(key("sum", rank_),
              {reinterpret_cast<const char*>(numbers), bytes});
  std::vector<T> part(static_cast<std::size_t>(count));
  std::vector<T> total(part.size());
  for (int r = 0; r < size_; ++r) {
    const SharedText value = value_of(key("sum", r), r);
    RADIR_CHECK(value->size() == bytes, collective::ConnectionError, "worker ",
                r, " sums up ", value->size() / sizeof(T),
                " numbers, this one ", count, "; all workers must do the same");
    std::memcpy(part.data(), value->data(), bytes);
    for (std::size_t i = 0; i < part.size(); ++i) {
      total[i] = r == 0 ? part[i] : total[i] + part[i];
    }
  }
  if (count > 0) std::memcpy(numbers, total.data(), bytes);
  forget_last();
}

void Collective::all_reduce(double* numbers, std::int64_t count) {
  sum(numbers, count);
}
void Collective::all_reduce(float* numbers, std::int64_t count) {
  sum(numbers, count);
}

}  // namespace radir::collective
