#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "radir/collective/collective.h"
#include "radir/collective/lease_keeper.h"
#include "radir/collective/shared_memory.h"
#include "radir/collective/store.h"
#include "radir/collective/store_server.h"

namespace radir::collective {

/// One worker of a job and where the others are.
struct JobSettings {
  int rank = 0;
  int size = 1;
  StoreAddress address;
  /// Whether another process, such as `radir launch`, has the store; if not,
  /// the worker with rank 0 has.
  bool has_store = false;
  /// SharedMemory::place() where all workers are on one machine; empty: none.
  std::string memory;
  /// For workers to come and to answer.
  Milliseconds timeout = std::chrono::minutes(2);
  /// After this time without a sign of life another worker takes the tasks.
  Milliseconds lease = std::chrono::seconds(10);
};

/// The value of a variable of the environment; null if there is none.
using Environment = std::function<const char*(const char*)>;

/// The job that the environment describes; none without MASTER_ADDR. Reads
/// RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT as libtorch does, the ranks
/// and sizes of Slurm, Open MPI and MPICH where the first two are missing, and
/// RADIR_JOB_TOKEN, RADIR_STORE_PORT, RADIR_JOB_MEMORY, RADIR_JOB_TIMEOUT and
/// RADIR_JOB_LEASE (seconds). Throws ArgumentError that names the variable.
std::optional<JobSettings> job_settings(const Environment& environment);

/// The environment of worker `rank`, for job_settings() in its process.
std::vector<std::pair<std::string, std::string>> job_environment(
    const JobSettings& settings, int rank);

/// What must be the same for all workers: a name for people, its value, and
/// what to do where it differs.
struct FingerprintPart {
  std::string name;
  std::string value;
  std::string advice;
};
using Fingerprint = std::vector<FingerprintPart>;

/// Membership of a job.
class Job {
 public:
  /// Starts the store if it is this worker's, else connects to it. Throws as
  /// StoreServer, connect_store and SharedMemory::open do.
  explicit Job(const JobSettings& settings);
  /// The worker with the store waits a while for the others to leave.
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  int rank() const { return settings_.rank; }
  int size() const { return settings_.size; }
  const JobSettings& settings() const { return settings_; }
  Store& store() { return *store_; }
  LeaseKeeper& leases() { return *leases_; }
  /// Null where values go through the store.
  SharedMemory* memory() { return memory_.get(); }
  /// Of all workers.
  Collective collective(const std::string& name);

  /// Compares with what the first worker gave. Throws ArgumentError that names
  /// the first part that differs, with both values and what to do.
  void check_same(const Fingerprint& fingerprint);

 private:
  JobSettings settings_;
  std::unique_ptr<StoreServer> server_;
  std::unique_ptr<Store> connection_;
  Store* store_ = nullptr;
  std::unique_ptr<LeaseKeeper> leases_;
  std::unique_ptr<SharedMemory> memory_;
};

}  // namespace radir::collective
