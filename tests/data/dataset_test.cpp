#include "radir/data/dataset.h"

#include <gtest/gtest.h>

#include <set>

#include "data/uci_recipe.h"
#include "radir/core/error.h"
#include "radir/data/data_dir.h"
#include "radir/data/download.h"
#include "radir/data/uci.h"
#include "radir/files/sha256.h"
#include "support/data_dir.h"
#include "support/expect_error.h"
#include "support/gzip.h"
#include "support/http_server.h"
#include "support/temporary_folder.h"

namespace radir::data {
namespace {

using testing::expect_error;
using testing::HttpRequest;
using testing::HttpResponse;
using testing::HttpServer;
using testing::read_bytes;
using testing::TemporaryFolder;

TEST(DataSets, EachHasAPlaceAHomeAndASum) {
  std::set<std::string> paths;
  for (const DataSet& set : data_sets()) {
    EXPECT_FALSE(set.title.empty() || set.licence.empty()) << set.name;
    EXPECT_EQ(set.home.rfind("http", 0), 0u) << set.home;
    EXPECT_GT(set.bytes(), 0) << set.name;
    for (const DataFile& file : set.files) {
      EXPECT_TRUE(paths.insert(file.path).second) << file.path;
      EXPECT_EQ(file.path.rfind(set.folder + "/", 0), 0u) << file.path;
      EXPECT_EQ(file.sha256.size(), 64u) << file.path;
      EXPECT_EQ(file.sha256.find_first_not_of("0123456789abcdef"),
                std::string::npos);
      EXPECT_GE(file.urls.size(), 2u) << "a mirror of " << file.path;
      for (const std::string& url : file.urls) {
        EXPECT_EQ(url.rfind("https://", 0), 0u) << url;
      }
    }
  }
}

TEST(DataSets, TheNineOfTheBenchmarkAreThere) {
  std::vector<std::string> names;
  for (const DataSet* set : find_data_sets("uci")) {
    names.push_back(set->name);
    EXPECT_EQ(set->folder, "uci/" + set->name);
  }
  EXPECT_EQ(names, uci_set_names());
  EXPECT_EQ(find_data_sets("all").size(), 10u);
  EXPECT_EQ(find_data_sets("mnist").at(0)->files.size(), 4u);
}

TEST(DataSets, SuggestsTheNearestName) {
  expect_error<ArgumentError>([] { find_data_sets("yatch"); },
                              "did you mean \"yacht\"?");
}

// Bit for bit what is in the data folder, with the sums of the catalogue.
TEST(DataSets, TheDataFolderHoldsThemAsPublished) {
  for (const DataSet& set : data_sets()) {
    const std::string folder = testing::data_set(set.folder);
    if (folder.empty()) GTEST_SKIP() << set.folder << " is not here";
    const std::string dir =
        folder.substr(0, folder.size() - set.folder.size() - 1);
    const DataSetCheck check = check_data_set(dir, set);
    EXPECT_EQ(check.state, DataSetState::Complete) << check.problem;
  }
}

// The split of `numpy.random.seed(1); numpy.random.permutation(10)`.
TEST(UciRecipe, DrawsWhatNumpyDraws) {
  UciRecipe recipe;
  recipe.rows = 10;
  recipe.features = 3;
  recipe.splits = 1;
  const std::vector<NamedText> files = make_uci_files(recipe);
  ASSERT_EQ(files.size(), 7u);
  EXPECT_EQ(files[0].name, "index_features.txt");
  EXPECT_EQ(files[0].text, "0\n1\n2\n");
  EXPECT_EQ(files[1].text, "3\n");
  EXPECT_EQ(files[2].text, "1\n");
  EXPECT_EQ(files[5].name, "index_train_0.txt");
  EXPECT_EQ(files[5].text, "2\n9\n6\n4\n0\n3\n1\n7\n8\n");
  EXPECT_EQ(files[6].name, "index_test_0.txt");
  EXPECT_EQ(files[6].text, "5\n");
}

std::string numbers() {
  std::string text;
  for (int row = 0; row < 40; ++row) {
    text += std::to_string(row) + " " + std::to_string(row * row % 7) + " " +
            std::to_string(2 * row) + "\n";
  }
  return text;
}

/// A small set in the UCI layout, and one packed file.
DataSet small_set() {
  const std::string data = numbers();
  const std::string packed = "what is in the packed file";
  DataSet set;
  set.name = "small";
  set.folder = "uci/small";
  set.files = {{"uci/small/data.txt",
                static_cast<std::int64_t>(data.size()),
                files::sha256(data),
                {"https://radir.invalid/data.txt"}},
               {"uci/small/more.gz",
                static_cast<std::int64_t>(packed.size()),
                files::sha256(packed),
                {"https://radir.invalid/more.gz"}}};
  set.recipe = UciRecipe{40, 2, 3, 7, 9};
  return set;
}

class FetchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_download()) GTEST_SKIP() << "built without libcurl";
  }

  static HttpResponse answer(const HttpRequest& request) {
    if (request.path == "/data/uci/small/data.txt") {
      return testing::serve(request, numbers());
    }
    if (request.path == "/data/uci/small/more.gz") {
      return testing::serve(request,
                            testing::gzip("what is in the packed file"));
    }
    return HttpResponse{404};
  }

  std::size_t fetch(const std::string& base = "/data") {
    const std::size_t before = server_.requests().size();
    FetchOptions options;
    options.from = server_.url(base);
    fetch_data_set(dir_, small_set(), options);
    return server_.requests().size() - before;
  }

  DataSetState state() const { return check_data_set(dir_, small_set()).state; }
  std::string problem() const {
    return check_data_set(dir_, small_set()).problem;
  }

  HttpServer server_{answer};
  const TemporaryFolder folder_;
  const std::string dir_ = folder_ / "data";
};

TEST_F(FetchTest, BringsASetThatCanBeRead) {
  EXPECT_EQ(state(), DataSetState::Absent);
  EXPECT_EQ(fetch(), 2u);
  EXPECT_EQ(state(), DataSetState::Complete) << problem();
  const UciSet set = read_uci(data_set_dir(dir_, "uci/small"));
  EXPECT_EQ(set.rows, 40);
  EXPECT_EQ(set.features, 2);
  EXPECT_EQ(set.hidden_units, 7);
  ASSERT_EQ(set.splits.size(), 3u);
  EXPECT_EQ(set.splits[0].train.size(), 36u);
}

TEST_F(FetchTest, LeavesAloneWhatIsRight) {
  fetch("/data/");
  EXPECT_EQ(fetch(), 0u);
}

TEST_F(FetchTest, MendsWhatIsNot) {
  fetch();
  folder_.write("data/uci/small/data.txt", "1 2 3\n");
  EXPECT_EQ(state(), DataSetState::Damaged);
  EXPECT_NE(problem().find("it has 6 bytes instead of the"), std::string::npos);
  std::string other = numbers();
  other[0] = '7';
  folder_.write("data/uci/small/data.txt", other);
  EXPECT_NE(problem().find("it is not the file that was published"),
            std::string::npos);
  folder_.write("data/uci/small/data.txt", numbers() + "1");
  EXPECT_NE(problem().find("it has more than the"), std::string::npos);
  EXPECT_EQ(fetch(), 1u);
  EXPECT_EQ(state(), DataSetState::Complete);

  folder_.write("data/uci/small/index_test_1.txt", "0\n");
  EXPECT_EQ(state(), DataSetState::Damaged);
  std::filesystem::remove(dir_ + "/uci/small/index_test_1.txt");
  EXPECT_EQ(state(), DataSetState::Incomplete);
  EXPECT_EQ(fetch(), 0u);
  EXPECT_EQ(state(), DataSetState::Complete);
}

TEST_F(FetchTest, AnUnpackedFileWillDo) {
  fetch();
  std::filesystem::remove(dir_ + "/uci/small/more.gz");
  EXPECT_EQ(state(), DataSetState::Incomplete);
  EXPECT_NE(problem().find("more.gz is missing"), std::string::npos);
  folder_.write("data/uci/small/more", "what is in the packed file");
  EXPECT_EQ(state(), DataSetState::Complete);
  EXPECT_EQ(fetch(), 0u);
}

// Readers take the unpacked file first, so a good one beside it is no help.
TEST_F(FetchTest, AWrongUnpackedFileIsNamed) {
  folder_.write("data/uci/small/more", "something else");
  expect_error<IoError>([&] { fetch(); },
                        "remove that file and fetch the set again");
}

TEST_F(FetchTest, AFailureLeavesTheSetAbsent) {
  expect_error<IoError>([&] { fetch("/elsewhere"); },
                        "/elsewhere/uci/small/data.txt: the server says 404, "
                        "not found");
  EXPECT_EQ(state(), DataSetState::Absent);
}

TEST_F(FetchTest, AFolderThatCannotBeMadeIsExplained) {
  folder_.write("data", "a file");
  expect_error<IoError>([&] { fetch(); }, "choose another --data-dir");
}

}  // namespace
}  // namespace radir::data
