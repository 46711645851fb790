#pragma once

#include <cstdint>
#include <string>

#include "radir/collective/store.h"

namespace radir::collective {

/// What the workers of a job do together. All of them call the same functions
/// in the same order. Throws ConnectionError when one does not come within the
/// timeout, naming its rank.
class Collective {
 public:
  /// `store` must outlive the object. `name` keeps several of them apart.
  Collective(Store& store, int rank, int size, Milliseconds timeout,
             std::string name = "all");

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// Returns when all workers have called it.
  void barrier();
  /// The value that the worker `root` gives.
  std::string broadcast(const std::string& value, int root = 0);
  /// Replaces each number by its sum over all workers, added in the order of
  /// their ranks: every worker gets the same bits.
  void all_reduce(double* numbers, std::int64_t count);
  void all_reduce(float* numbers, std::int64_t count);

 private:
  template <typename T>
  void sum(T* numbers, std::int64_t count);
  std::string key(const std::string& what, int rank) const;
  SharedText value_of(const std::string& key, int rank);
  void forget_last();

  Store* store_;
  int rank_;
  int size_;
  Milliseconds timeout_;
  std::string name_;
  std::int64_t round_ = 0;
};

}  // namespace radir::collective
