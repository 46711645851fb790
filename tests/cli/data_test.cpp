#include <gtest/gtest.h>

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "cli/running_program.h"
#include "radir/data/dataset.h"
#include "radir/data/download.h"
#include "support/data_dir.h"
#include "support/http_server.h"
#include "support/temporary_folder.h"

namespace radir {
namespace {

using ::radir::testing::contains;
using testing::HttpRequest;
using testing::HttpResponse;
using testing::HttpServer;
using testing::ProgramResult;
using testing::read_bytes;
using testing::run_program;
using testing::TemporaryFolder;
using Json = nlohmann::json;

TEST(Data, ListSaysWhatThereIsAndWhatIsHere) {
  const TemporaryFolder folder;
  const std::string option = "--data-dir " + folder.path();
  folder.write("uci/yacht/data.txt", "1 2 3\n");
  const ProgramResult text = run_program("data list " + option);
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_TRUE(contains(text.out, "damaged")) << text.out;
  EXPECT_TRUE(contains(text.err, "radir data fetch yacht")) << text.err;

  const Json document =
      Json::parse(run_program("data list --json " + option).out);
  ASSERT_EQ(document["sets"].size(), data::data_sets().size());
  for (const Json& set : document["sets"]) {
    const bool is_yacht = set["name"] == "yacht";
    EXPECT_EQ(set["state"], is_yacht ? "damaged" : "absent");
    EXPECT_EQ(set["files"][0]["sha256"].get<std::string>().size(), 64u);
  }
}

TEST(Data, ListNeedsNoFolder) {
  const ProgramResult result =
      run_program("data list", "", "unset RADIR_DATA_DIR");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(contains(result.out, "mnist"));
  EXPECT_TRUE(contains(result.err, "no data folder given"));
}

TEST(Data, FetchAsksForAFolderAndAKnownName) {
  const ProgramResult nowhere =
      run_program("data fetch yacht", "", "unset RADIR_DATA_DIR");
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_TRUE(contains(nowhere.err, "add --data-dir DIR")) << nowhere.err;
  const ProgramResult unknown = run_program("data fetch minst --data-dir d");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_TRUE(contains(unknown.err, "did you mean \"mnist\"?")) << unknown.err;
}

class DataFetch : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!data::has_download()) GTEST_SKIP() << "built without libcurl";
  }

  const TemporaryFolder folder_;
};

TEST_F(DataFetch, AServerWithoutTheFileIsExitCode4) {
  HttpServer server([](const HttpRequest&) { return HttpResponse{404}; });
  const ProgramResult result =
      run_program("data fetch yacht --data-dir " + folder_ / "data" +
                  " --from " + server.url("/there"));
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(contains(
      result.err, "/there/uci/yacht/data.txt: the server says 404, not found"))
      << result.err;
}

TEST_F(DataFetch, BringsARealSet) {
  RADIR_SKIP_WITHOUT_DATA("uci/yacht");
  const std::string real = testing::data_set("uci/yacht");
  HttpServer server([&](const HttpRequest& request) {
    return testing::serve(request, read_bytes(real + "/data.txt"));
  });
  const ProgramResult result =
      run_program("data fetch yacht --json --data-dir " + folder_ / "data" +
                  " --from " + server.url("/"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(Json::parse(result.out)["fetched"][0]["name"], "yacht");
  for (const auto& entry : std::filesystem::directory_iterator(real)) {
    const std::string name = entry.path().filename().string();
    EXPECT_EQ(read_bytes(folder_ / ("data/uci/yacht/" + name)),
              read_bytes(entry.path().string()))
        << name;
  }
}

TEST_F(DataFetch, ASignalEndsItAndSaysHowToGoOn) {
  std::mutex mutex;
  std::condition_variable change;
  bool is_asked = false;
  bool is_over = false;
  HttpServer server([&](const HttpRequest&) {
    std::unique_lock<std::mutex> lock(mutex);
    is_asked = true;
    change.notify_all();
    change.wait(lock, [&] { return is_over; });
    return HttpResponse{};
  });
  testing::RunningProgram program({"data", "fetch", "yacht", "--data-dir",
                                   folder_ / "data", "--from",
                                   server.url("/")});
  std::unique_lock<std::mutex> lock(mutex);
  change.wait(lock, [&] { return is_asked; });
  lock.unlock();
  program.send(SIGINT);
  EXPECT_EQ(program.wait(), 128 + SIGINT);
  EXPECT_TRUE(contains(program.err(), "run the same command again to resume"))
      << program.err();
  lock.lock();
  is_over = true;
  change.notify_all();
}

}  // namespace
}  // namespace radir
