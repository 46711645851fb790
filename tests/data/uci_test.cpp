#include "radir/data/uci.h"

#include <gtest/gtest.h>

#include <map>

#include "radir/core/error.h"
#include "support/data_dir.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace radir::data {
namespace {

using testing::data_set;
using testing::expect_error;
using testing::TemporaryFolder;

// A set of three rows and two splits that each test breaks in one place.
class UciFolder {
 public:
  UciFolder() {
    write("data.txt", " 1.0 2.0\t3.0 \n4 5 6\n7 8 9\n\n");
    write("index_features.txt", "2\n0.0\n");
    write("index_target.txt", "1\n");
    write("n_hidden.txt", "50\n");
    write("n_splits.txt", "2\n");
    write("index_train_0.txt", "0.000000000000000000e+00\n2.0\n");
    write("index_test_0.txt", "1\n");
    write("index_train_1.txt", "1\n2\n");
    write("index_test_1.txt", "0\n");
  }
  void write(const std::string& name, const std::string& text) const {
    folder_.write("small/" + name, text);
  }
  void remove(const std::string& name) const {
    std::filesystem::remove(folder_ / ("small/" + name));
  }
  std::string path() const { return folder_ / "small"; }

 private:
  TemporaryFolder folder_;
};

TEST(Uci, ReadsTheFolderLayout) {
  const UciFolder folder;
  for (const std::string& path : {folder.path(), folder.path() + "/"}) {
    const UciSet set = read_uci(path);
    EXPECT_EQ(set.name, "small");
    EXPECT_EQ(set.rows, 3);
    EXPECT_EQ(set.features, 2);
    EXPECT_EQ(set.inputs, (std::vector<double>{3, 1, 6, 4, 9, 7}));
    EXPECT_EQ(set.targets, (std::vector<double>{2, 5, 8}));
    EXPECT_EQ(set.hidden_units, 50);
    ASSERT_EQ(set.splits.size(), 2u);
    EXPECT_EQ(set.splits[0].train, (std::vector<std::int64_t>{0, 2}));
    EXPECT_EQ(set.splits[1].test, (std::vector<std::int64_t>{0}));
  }
}

TEST(Uci, TellsItsFoldersFromOthers) {
  const UciFolder folder;
  EXPECT_TRUE(is_uci_folder(folder.path()));
  folder.remove("index_target.txt");
  EXPECT_FALSE(is_uci_folder(folder.path()));
  EXPECT_FALSE(is_uci_folder("no such folder"));
}

struct Fault {
  const char* file;
  const char* text;
  const char* message;
};

TEST(Uci, NamesFileRowAndColumnOfEveryFault) {
  const Fault faults[] = {
      {"data.txt", "1 2 3\n4 x 6\n", "data.txt: row 2 (line 2), column 2"},
      {"data.txt", "1 2 3\n4 5\n", "row 2 (line 2) has 2 columns"},
      {"data.txt", "1 2 3\n4 nan 6\n7 8 9\n",
       "data.txt: row 2, column 2 is missing"},
      {"index_features.txt", "0\n3\n",
       "index_features.txt: row 2, column 1: 3 must be an integer from 0 "
       "to 2"},
      {"index_features.txt", "0\n0.5\n", "0.5 must be an integer"},
      {"index_features.txt", "0\n-1\n", "-1 must be an integer"},
      {"index_features.txt", "0\n0\n", "row 2: the index 0 is used a second"},
      {"index_target.txt", "0\n",
       "index_target.txt: row 1: the index 0 is used a second time"},
      {"index_target.txt", "1\n2\n", "holds 2 numbers, but exactly one"},
      {"n_splits.txt", "0\n", "0 must be an integer from 1 to 10000"},
      {"n_splits.txt", "3\n", "index_train_2.txt: no such file"},
      {"n_hidden.txt", "1e30\n", "must be an integer from 1 to 1000000"},
      {"index_train_1.txt", "1\n3\n",
       "index_train_1.txt: row 2, column 1: 3 must be an integer from 0 "
       "to 2"},
      {"index_test_1.txt", "2\n",
       "index_test_1.txt: row 1: the index 2 is used a second time"},
      {"index_train_0.txt", "", "index_train_0.txt: the file is empty"},
  };
  for (const Fault& fault : faults) {
    const UciFolder folder;
    folder.write(fault.file, fault.text);
    expect_error<IoError>([&] { read_uci(folder.path()); }, fault.message);
  }
}

TEST(Uci, ReadsTheNineRealSets) {
  RADIR_SKIP_WITHOUT_DATA("uci");
  // Rows and features as distributed.
  const std::map<std::string, std::pair<std::int64_t, std::int64_t>> sizes = {
      {"bostonHousing", {506, 13}},
      {"concrete", {1030, 8}},
      {"energy", {768, 8}},
      {"kin8nm", {8192, 8}},
      {"naval-propulsion-plant", {11934, 16}},
      {"power-plant", {9568, 4}},
      {"protein-tertiary-structure", {45730, 9}},
      {"wine-quality-red", {1599, 11}},
      {"yacht", {308, 6}}};
  ASSERT_EQ(uci_set_names().size(), sizes.size());
  for (const std::string& name : uci_set_names()) {
    const UciSet set = read_uci(data_set("uci/" + name));
    EXPECT_EQ(set.name, name);
    EXPECT_EQ(set.rows, sizes.at(name).first) << name;
    EXPECT_EQ(set.features, sizes.at(name).second) << name;
    const bool protein = name == "protein-tertiary-structure";
    EXPECT_EQ(set.splits.size(), protein ? 5u : 20u) << name;
    EXPECT_EQ(set.hidden_units, protein ? 100 : 50) << name;
    for (const UciSplit& split : set.splits) {
      EXPECT_EQ(split.train.size() + split.test.size(),
                static_cast<std::size_t>(set.rows))
          << name;
    }
  }
}

}  // namespace
}  // namespace radir::data
