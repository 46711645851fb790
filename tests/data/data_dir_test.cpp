#include "radir/data/data_dir.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdlib>
#include <string>

#include "radir/core/error.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace radir::data {
namespace {

using testing::expect_error;
using testing::TemporaryFolder;

// Sets RADIR_DATA_DIR for one test.
class DataDirVariable {
 public:
  explicit DataDirVariable(const char* value) {
    if (const char* before = std::getenv("RADIR_DATA_DIR")) before_ = before;
    value ? ::setenv("RADIR_DATA_DIR", value, 1) : ::unsetenv("RADIR_DATA_DIR");
  }
  ~DataDirVariable() {
    before_.empty() ? ::unsetenv("RADIR_DATA_DIR")
                    : ::setenv("RADIR_DATA_DIR", before_.c_str(), 1);
  }

 private:
  std::string before_;
};

TEST(DataDir, TheOptionWinsOverTheVariable) {
  const TemporaryFolder option;
  const TemporaryFolder variable;
  const DataDirVariable set(variable.path().c_str());
  EXPECT_EQ(data_dir(option.path()), option.path());
  EXPECT_EQ(data_dir(), variable.path());
}

TEST(DataDir, SaysWhatToDoWhenThereIsNone) {
  {
    const DataDirVariable unset(nullptr);
    expect_error<IoError>([] { data_dir(); },
                          "add --data-dir FOLDER or set RADIR_DATA_DIR");
    expect_error<IoError>([] { data_dir("/no/such"); },
                          "the data folder /no/such (from --data-dir) does not "
                          "exist");
  }
  const DataDirVariable set("/no/such");
  expect_error<IoError>([] { data_dir(); }, "(from RADIR_DATA_DIR)");
}

TEST(DataDir, FindsSetsAndListsWhatIsThere) {
  const TemporaryFolder folder;
  folder.write("uci/yacht/data.txt", "");
  folder.write("uci/energy/data.txt", "");
  EXPECT_EQ(data_set_dir(folder.path(), "uci/yacht"), folder / "uci/yacht");
  expect_error<IoError>([&] { data_set_dir(folder.path(), "uci/yatch"); },
                        "holds energy, yacht; did you mean \"yacht\"?");
  expect_error<IoError>([&] { data_set_dir(folder.path(), "uci/yacht/x"); },
                        "holds no folder; check --data-dir");
}

TEST(DataDir, SaysHowToFetchASet) {
  const TemporaryFolder folder;
  expect_error<IoError>(
      [&] { data_set_dir(folder.path(), "uci/yacht"); },
      "fetch it with: radir data fetch yacht --data-dir " + folder.path());
}

TEST(DataDir, ItsNameNeedsNoFolder) {
  const DataDirVariable set("/no/such");
  EXPECT_EQ(data_dir_name("/other"), "/other");
  EXPECT_EQ(data_dir_name(""), "/no/such");
  const DataDirVariable unset(nullptr);
  EXPECT_EQ(data_dir_name(""), "");
}

}  // namespace
}  // namespace radir::data
