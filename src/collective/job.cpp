#include "radir/collective/job.h"

#include <unistd.h>

#include <charconv>
#include <cstring>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <thread>

#include "collective/connection.h"
#include "radir/files/json_object.h"

namespace radir::collective {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kAddress = "MASTER_ADDR";
constexpr const char* kPort = "MASTER_PORT";
constexpr const char* kToken = "RADIR_JOB_TOKEN";
constexpr const char* kStorePort = "RADIR_STORE_PORT";
constexpr const char* kHasStore = "RADIR_JOB_HAS_STORE";
constexpr const char* kMemory = "RADIR_JOB_MEMORY";
constexpr const char* kTimeout = "RADIR_JOB_TIMEOUT";
constexpr const char* kLease = "RADIR_JOB_LEASE";
constexpr int kMostWorkers = 1000;
constexpr int kMostPort = 65535;
/// How long the worker with the store stays for the others.
constexpr std::chrono::seconds kStay{10};

/// The first of these variables that is set, as a number in a range.
std::optional<int> number_of(const Environment& environment,
                             std::initializer_list<const char*> names, int from,
                             int to) {
  for (const char* name : names) {
    const char* const text = environment(name);
    if (text == nullptr) continue;
    int number = 0;
    const char* const end = text + std::strlen(text);
    const auto read = std::from_chars(text, end, number);
    RADIR_CHECK(read.ec == std::errc() && read.ptr == end && number >= from &&
                    number <= to,
                ArgumentError, name, " must be an integer from ", from, " to ",
                to, ", but is \"", text, "\"");
    return number;
  }
  return std::nullopt;
}

std::optional<Milliseconds> seconds_of(const Environment& environment,
                                       const char* name) {
  const char* const text = environment(name);
  if (text == nullptr) return std::nullopt;
  constexpr double kMost = 86400;
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  RADIR_CHECK(
      *text != '\0' && *end == '\0' && seconds >= 0.1 && seconds <= kMost,
      ArgumentError, name, " must be a number of seconds from 0.1 to ", kMost,
      ", but is \"", text, "\"");
  return Milliseconds(static_cast<std::int64_t>(1000 * seconds));
}

int needed(std::optional<int> number, const char* names) {
  RADIR_CHECK(number, ArgumentError, kAddress, " asks for a job of several ",
              "workers, but ", names, " is missing; set it, use radir launch, ",
              "or unset ", kAddress);
  return *number;
}

/// torchrun's own store may have the port of the job.
int store_port(const Environment& environment) {
  const auto own = number_of(environment, {kStorePort}, 1, kMostPort);
  if (own) return *own;
  const int port =
      needed(number_of(environment, {kPort}, 1, kMostPort - 1), kPort);
  const char* const taken = environment("TORCHELASTIC_USE_AGENT_STORE");
  return taken != nullptr && std::strcmp(taken, "True") == 0 ? port + 1 : port;
}

std::string to_text(const Fingerprint& fingerprint) {
  Json json = Json::object();
  for (const FingerprintPart& part : fingerprint) json[part.name] = part.value;
  return json.dump();
}

}  // namespace

std::optional<JobSettings> job_settings(const Environment& environment) {
  const char* const address = environment(kAddress);
  if (address == nullptr || *address == '\0') return std::nullopt;
  JobSettings settings;
  settings.rank = needed(
      number_of(environment,
                {"RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK"}, 0,
                kMostWorkers - 1),
      "RANK");
  settings.size = needed(number_of(environment,
                                   {"WORLD_SIZE", "SLURM_NTASKS",
                                    "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"},
                                   1, kMostWorkers),
                         "WORLD_SIZE");
  RADIR_CHECK(settings.rank < settings.size, ArgumentError, "RANK is ",
              settings.rank, ", but must be less than WORLD_SIZE, ",
              settings.size);
  settings.address.host = address;
  settings.address.port = store_port(environment);
  const char* const token = environment(kToken);
  RADIR_CHECK(token != nullptr && std::strlen(token) >= kLeastTokenBytes,
              ArgumentError, kToken, " must be a secret of at least ",
              kLeastTokenBytes, " characters that all workers of the job are ",
              "given; make one with: openssl rand -hex 16");
  settings.address.token = token;
  settings.has_store = environment(kHasStore) != nullptr;
  const char* const memory = environment(kMemory);
  if (memory != nullptr) settings.memory = memory;
  settings.timeout =
      seconds_of(environment, kTimeout).value_or(settings.timeout);
  settings.lease = seconds_of(environment, kLease).value_or(settings.lease);
  return settings;
}

std::vector<std::pair<std::string, std::string>> job_environment(
    const JobSettings& settings, int rank) {
  const auto seconds = [](Milliseconds time) {
    return std::to_string(static_cast<double>(time.count()) / 1000);
  };
  const std::string port = std::to_string(settings.address.port);
  return {{"RANK", std::to_string(rank)},
          {"WORLD_SIZE", std::to_string(settings.size)},
          {kAddress, settings.address.host},
          {kPort, port},
          {kStorePort, port},
          {kToken, settings.address.token},
          {kHasStore, "1"},
          {kMemory, settings.memory},
          {kTimeout, seconds(settings.timeout)},
          {kLease, seconds(settings.lease)}};
}

Job::Job(const JobSettings& settings) : settings_(settings) {
  if (!settings.memory.empty()) {
    memory_ = SharedMemory::open(settings.memory, settings.rank);
  }
  if (settings.rank == 0 && !settings.has_store) {
    server_ = std::make_unique<StoreServer>(settings.address);
    store_ = &server_->store();
  } else {
    connection_ = connect_store(settings.address, settings.timeout);
    store_ = connection_.get();
  }
  // A process that is started again is another owner than the one that died.
  const std::string owner = std::to_string(settings.rank) + " " + random_hex(8);
  leases_ = std::make_unique<LeaseKeeper>(
      connect_store(settings.address, settings.timeout), owner, settings.lease);
}

Job::~Job() {
  leases_.reset();
  connection_.reset();
  const auto end = std::chrono::steady_clock::now() + kStay;
  while (server_ && server_->clients() > 0 &&
         std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(Milliseconds(20));
  }
}

Collective Job::collective(const std::string& name) {
  return Collective(*store_, rank(), size(), settings_.timeout, name);
}

void Job::check_same(const Fingerprint& fingerprint) {
  const std::string key = "job/fingerprint";
  const std::string own = to_text(fingerprint);
  if (store_->compare_and_set(key, std::nullopt, own)) return;
  const std::string text = store_->get(key).value_or("{}");
  if (text == own) return;
  const Json first =
      files::parse_json<Json>("fingerprint of the job", text, {});
  for (const FingerprintPart& part : fingerprint) {
    const Json value = first.value(part.name, Json());
    const std::string other =
        value.is_string() ? value.get<std::string>() : "nothing";
    RADIR_CHECK(other == part.value, ArgumentError, "worker ", rank(), ": the ",
                part.name, " is ", part.value, ", but the job's is ", other,
                "; ", part.advice);
  }
  detail::throw_error<ArgumentError>(
      "worker ", rank(), " runs another command than the other workers of ",
      "the job");
}

}  // namespace radir::collective
