#include "radir/workflows/shared_run.h"

#include <chrono>
#include <filesystem>
#include <thread>

#include "radir/collective/launch.h"
#include "radir/collective/lease_keeper.h"
#include "radir/core/cpu.h"
#include "radir/core/version.h"

namespace radir::workflows {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr const char* kFolderKey = "run/folder";
constexpr const char* kBeginLease = "run begin";
constexpr const char* kFinishLease = "run finish";
const std::string kPartLease = "part ";
constexpr std::chrono::milliseconds kPause{50};

/// Where the data is on a machine; it may differ, what it is may not.
bool is_place(const std::string& key) {
  return key == "data_dir" || key == "table" || key == "more_tables" ||
         key == "data" || key == "model";
}

/// The settings one by one, so that a message can name the one that differs.
void add_settings(const Json& options, collective::Fingerprint& fingerprint) {
  for (const auto& [key, value] : options.items()) {
    if (is_place(key)) continue;
    if (value.is_object()) {
      add_settings(value, fingerprint);
    } else {
      fingerprint.push_back({"setting " + key, value.dump(),
                             "give all workers the same command line"});
    }
  }
}

/// Other workers may have another working folder.
std::string absolute(const std::string& path) {
  return std::filesystem::absolute(path).string();
}

/// Gives a lease back at the end.
struct Held {
  collective::LeaseKeeper& leases;
  std::string name;
  ~Held() {
    try {
      leases.give_back(name);
    } catch (const Error&) {
      // Without the store it ends by itself.
    }
  }
};

}  // namespace

void SharedRun::check_same(const Json& config) {
  const std::string isa = to_string(active_isa());
  collective::Fingerprint fingerprint = {
      {"version", version(), "start all workers with the same program"},
      {"instruction set", isa,
       "they round differently; set RADIR_ISA to the lower one (generic, "
       "avx2, avx512) for all workers"},
      {"number of workers", std::to_string(job_->size()),
       "give all workers the same WORLD_SIZE"}};
  const Json command = config.value("command", Json::object());
  fingerprint.push_back({"command", command.value("name", ""),
                         "start all workers with the same command"});
  const Json data = config.value("data", Json::object());
  fingerprint.push_back({"fingerprint of the data",
                         data.value("fingerprint", ""),
                         "give all workers the same data"});
  fingerprint.push_back({"number of shards",
                         config.value("shards", Json(0)).dump(),
                         "give all workers the same --shards"});
  if (config.value("shards", 0) > 0) {
    fingerprint.push_back(
        {"place of large sums",
         job_->memory() == nullptr ? "the store"
                                   : "the memory " + job_->memory()->name(),
         "give all workers the same RADIR_JOB_MEMORY, or none"});
  }
  add_settings(command.value("options", command), fingerprint);
  job_->check_same(fingerprint);
}

bool SharedRun::is_finished() {
  return job_->store().get(collective::kFinishedKey).has_value();
}

void SharedRun::check_not_finished() {
  if (is_finished()) {
    throw FinishedElsewhere("the other workers have finished the run");
  }
}

io::RunFolder SharedRun::folder_of_first(
    const std::function<io::RunFolder()>& create) {
  const Clock::time_point end = Clock::now() + job_->settings().timeout;
  for (;;) {
    check_not_finished();
    if (const auto path = job_->store().get(kFolderKey)) {
      return io::RunFolder::join(*path);
    }
    if (leases().take(kBeginLease)) {
      const Held held{leases(), kBeginLease};
      if (job_->store().get(kFolderKey)) continue;
      io::RunFolder folder = create();
      folder.share();
      job_->store().set(kFolderKey, folder.path());
      return folder;
    }
    RADIR_CHECK(Clock::now() < end, IoError, "worker ", job_->rank(),
                ": no worker has begun the run within ",
                job_->settings().timeout.count() / 1000,
                " s; see what the others say");
    std::this_thread::sleep_for(kPause);
  }
}

io::RunFolder SharedRun::begin(const std::string& path, const Json& config) {
  check_same(config);
  return folder_of_first([&] {
    io::RunFolder folder = io::RunFolder::create(absolute(path));
    folder.write_config(config.dump(2) + "\n");
    return folder;
  });
}

io::RunFolder SharedRun::open(const std::string& path) {
  return folder_of_first([&] { return io::RunFolder::open(absolute(path)); });
}

bool SharedRun::finish(const std::function<void()>& work) {
  for (;;) {
    if (is_finished()) return false;
    if (leases().take(kFinishLease)) {
      const Held held{leases(), kFinishLease};
      if (is_finished()) return false;
      work();
      job_->store().set(collective::kFinishedKey, "");
      // Of a worker that wrote one before it could know.
      if (const auto path = job_->store().get(kFolderKey)) {
        io::RunFolder::look_at(*path).remove_checkpoints();
      }
      return true;
    }
    std::this_thread::sleep_for(kPause);
  }
}

bool SharedRun::take(const std::string& part) {
  return leases().take(kPartLease + part);
}

void SharedRun::give_back(const std::string& part) {
  leases().give_back(kPartLease + part);
}

bool SharedRun::has_lost(const std::string& part) const {
  return leases().has_lost(kPartLease + part);
}

bool SharedRun::is_own(const std::string& part) const {
  return leases().is_inside(kPartLease + part);
}

bool SharedRun::is_done(const std::string& part) {
  return job_->store().get("done/" + part).has_value();
}

void SharedRun::mark_done(const std::string& part) {
  job_->store().set("done/" + part, "");
}

}  // namespace radir::workflows
