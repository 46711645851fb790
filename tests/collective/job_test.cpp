#include "radir/collective/job.h"

#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "support/expect_error.h"

namespace radir::collective {
namespace {

using ::radir::testing::expect_error;

using Variables = std::map<std::string, std::string>;

std::optional<JobSettings> settings_of(const Variables& variables) {
  return job_settings([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

Variables usual() {
  return {{"RANK", "1"},
          {"WORLD_SIZE", "4"},
          {"MASTER_ADDR", "10.0.0.1"},
          {"MASTER_PORT", "29500"},
          {"RADIR_JOB_TOKEN", "0123456789abcdef"}};
}

TEST(JobSettings, AreThoseOfATorchJob) {
  EXPECT_FALSE(settings_of({{"RANK", "1"}, {"WORLD_SIZE", "4"}}));
  const auto settings = settings_of(usual());
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->rank, 1);
  EXPECT_EQ(settings->size, 4);
  EXPECT_EQ(settings->address.host, "10.0.0.1");
  EXPECT_EQ(settings->address.port, 29500);
  EXPECT_FALSE(settings->has_store);
}

TEST(JobSettings, AreFoundUnderSlurmAndMpi) {
  const std::pair<const char*, const char*> names[] = {
      {"SLURM_PROCID", "SLURM_NTASKS"},
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
      {"PMI_RANK", "PMI_SIZE"}};
  for (const auto& [rank, size] : names) {
    Variables variables = usual();
    variables.erase("RANK");
    variables.erase("WORLD_SIZE");
    variables[rank] = "2";
    variables[size] = "3";
    EXPECT_EQ(settings_of(variables)->rank, 2) << rank;
    EXPECT_EQ(settings_of(variables)->size, 3) << size;
  }
}

TEST(JobSettings, LeaveTorchrunItsPort) {
  Variables variables = usual();
  variables["TORCHELASTIC_USE_AGENT_STORE"] = "True";
  EXPECT_EQ(settings_of(variables)->address.port, 29501);
  variables["RADIR_STORE_PORT"] = "4000";
  EXPECT_EQ(settings_of(variables)->address.port, 4000);
}

TEST(JobSettings, SayWhatIsMissingOrInvalid) {
  const auto refused = [](const char* name, const char* value,
                          const std::string& part) {
    Variables variables = usual();
    variables.erase(name);
    if (value != nullptr) variables[name] = value;
    expect_error<ArgumentError>([&] { settings_of(variables); }, part);
  };
  refused("RANK", nullptr, "but RANK is missing; set it, use radir launch");
  refused("WORLD_SIZE", nullptr, "but WORLD_SIZE is missing");
  refused("MASTER_PORT", nullptr, "but MASTER_PORT is missing");
  refused("RADIR_JOB_TOKEN", nullptr, "RADIR_JOB_TOKEN must be a secret");
  refused("RADIR_JOB_TOKEN", "short", "of at least 16 characters");
  refused("RANK", "4", "RANK is 4, but must be less than WORLD_SIZE, 4");
  refused("RANK", "-1", "RANK must be an integer from 0 to 999");
  refused("RANK", "1x", "but is \"1x\"");
  refused("WORLD_SIZE", "0", "WORLD_SIZE must be an integer from 1");
  refused("MASTER_PORT", "70000", "MASTER_PORT must be an integer from 1");
  refused("RADIR_JOB_LEASE", "0",
          "RADIR_JOB_LEASE must be a number of seconds");
}

TEST(JobSettings, PassThroughTheEnvironmentOfAWorker) {
  JobSettings settings = *settings_of(usual());
  settings.timeout = Milliseconds(1500);
  settings.memory = "/proc/1/fd/5";
  Variables variables;
  for (const auto& [name, value] : job_environment(settings, 3)) {
    variables[name] = value;
  }
  const auto read = settings_of(variables);
  EXPECT_EQ(read->rank, 3);
  EXPECT_EQ(read->size, settings.size);
  EXPECT_EQ(read->timeout, settings.timeout);
  EXPECT_EQ(read->lease, settings.lease);
  EXPECT_EQ(read->address.token, settings.address.token);
  EXPECT_TRUE(read->has_store);
  EXPECT_EQ(read->memory, settings.memory);
}

class TwoWorkers : public ::testing::Test {
 protected:
  TwoWorkers() {
    settings_.size = 2;
    settings_.timeout = std::chrono::seconds(5);
    settings_.address.token = random_token();
    // A port that is free: that of a server that has just ended.
    settings_.address.port = StoreServer(settings_.address).port();
    first_.emplace(settings_);
    settings_.rank = 1;
    second_.emplace(settings_);
  }
  ~TwoWorkers() override {
    second_.reset();
    first_.reset();
  }

  JobSettings settings_;
  std::optional<Job> first_;
  std::optional<Job> second_;
};

TEST_F(TwoWorkers, ShareAStore) {
  first_->store().set("key", "value");
  EXPECT_EQ(second_->store().get("key"), "value");
  EXPECT_TRUE(first_->leases().take("task"));
  EXPECT_FALSE(second_->leases().take("task"));
  std::thread other([&] { second_->collective("test").barrier(); });
  first_->collective("test").barrier();
  other.join();
}

TEST_F(TwoWorkers, MustHaveTheSameFingerprint) {
  const Fingerprint first = {
      {"version", "1", "use the same program"},
      {"instruction set", "avx2", "set RADIR_ISA=avx2 for all workers"}};
  Fingerprint second = first;
  first_->check_same(first);
  second_->check_same(second);
  second[1].value = "generic";
  expect_error<ArgumentError>(
      [&] { second_->check_same(second); },
      "worker 1: the instruction set is generic, but the job's is avx2; set "
      "RADIR_ISA=avx2 for all workers");
  second.pop_back();
  expect_error<ArgumentError>([&] { second_->check_same(second); },
                              "runs another command");
}

TEST(Job, SaysWhereItLookedForTheStore) {
  JobSettings settings;
  settings.rank = 1;
  settings.size = 2;
  settings.timeout = Milliseconds(100);
  settings.address.token = random_token();
  settings.address.port = StoreServer(settings.address).port();
  expect_error<ConnectionError>([&] { const Job job(settings); },
                                "check MASTER_ADDR and MASTER_PORT");
}

}  // namespace
}  // namespace radir::collective
