#include "radir/files/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "radir/core/error.h"
#include "radir/files/posix_file.h"
#include "radir/files/system_error.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace radir::files {
namespace {

using testing::expect_error;
using testing::read_bytes;
using testing::TemporaryFolder;

std::size_t files_in(const TemporaryFolder& folder) {
  const std::filesystem::directory_iterator files(folder.path());
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

TEST(AtomicFile, AppearsWholeAtTheCommit) {
  const TemporaryFolder folder;
  const std::string path = folder.write("out.csv", "old");
  AtomicFile file(path);
  file.write("new ");
  file.write("bytes");
  EXPECT_EQ(read_bytes(path), "old");
  file.commit();
  EXPECT_EQ(read_bytes(path), "new bytes");
  EXPECT_EQ(files_in(folder), 1u);
}

TEST(AtomicFile, LeavesNothingBehindWithoutACommit) {
  const TemporaryFolder folder;
  const std::string path = folder.write("out.csv", "old");
  { AtomicFile(path).write("half"); }
  EXPECT_EQ(read_bytes(path), "old");
  EXPECT_EQ(files_in(folder), 1u);
}

TEST(AtomicFile, RemovesWhatKilledProcessesLeft) {
  const TemporaryFolder folder;
  folder.write("out.csv.417-0.tmp", "longer than what comes now");
  folder.write("out.csv.5-12.tmp", "");
  write_file(folder / "out.csv", "short");
  EXPECT_EQ(read_bytes(folder / "out.csv"), "short");
  EXPECT_EQ(files_in(folder), 1u);
}

TEST(AtomicFile, TouchesNoFileOfOthers) {
  const TemporaryFolder folder;
  const char* const names[] = {"out.csv.tmp", "out.csv.1-x.tmp",
                               "out.csv.2.tmp", "other.csv.1-1.tmp",
                               "out.csv.1-1.tmp.bak"};
  for (const char* name : names) folder.write(name, "keep");
  write_file(folder / "out.csv", "new");
  for (const char* name : names) {
    EXPECT_EQ(read_bytes(folder / name), "keep") << name;
  }
}

TEST(NamesInFolder, AreAllButTheFolderItself) {
  const TemporaryFolder folder;
  folder.write("b", "");
  EXPECT_EQ(names_in_folder(folder.path()), std::vector<std::string>{"b"});
  EXPECT_EQ(names_in_folder(folder / "absent"), std::nullopt);
  EXPECT_EQ(errno, ENOENT);
}

TEST(AtomicFile, RefusesASecondWriterOfTheSameFile) {
  const TemporaryFolder folder;
  AtomicFile first(folder / "out.csv");
  expect_error<IoError>([&] { AtomicFile(folder / "out.csv"); },
                        "another process is writing it");
  first.write("first");
  first.commit();
  EXPECT_EQ(read_bytes(folder / "out.csv"), "first");
}

TEST(AtomicFile, FollowsASymbolicLink) {
  const TemporaryFolder folder;
  const std::string target = folder.write("target", "old");
  std::filesystem::create_symlink("target", folder / "link");
  write_file(folder / "link", "new");
  EXPECT_EQ(read_bytes(target), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
}

TEST(AtomicFile, GetsThePermissionsOfAnOrdinaryFile) {
  const TemporaryFolder folder;
  const mode_t mask = ::umask(022);
  write_file(folder / "out.csv", "x");
  ::umask(mask);
  struct stat status;
  ASSERT_EQ(::stat((folder / "out.csv").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644u);
}

TEST(AtomicFile, ExplainsPlacesThatCannotBeWritten) {
  const TemporaryFolder folder;
  expect_error<IoError>([&] { AtomicFile(folder / "absent/out.csv"); },
                        "no such file or folder; check the spelling, or create "
                        "the folder first");
  expect_error<IoError>([&] { AtomicFile(folder.path()); },
                        "it is a folder, not a file");
  expect_error<IoError>([] { AtomicFile("/dev/null"); },
                        "it is a device or pipe, not a file");
  folder.write("file", "");
  expect_error<IoError>([&] { AtomicFile(folder / "file/out.csv"); },
                        "a part of the path is a file");
}

TEST(AtomicFile, ReadOnlyFoldersAreExplained) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write to any folder";
  const TemporaryFolder folder;
  std::filesystem::permissions(
      folder.path(),
      std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  expect_error<IoError>([&] { AtomicFile(folder / "out.csv"); },
                        "permission denied");
  std::filesystem::permissions(folder.path(),
                               std::filesystem::perms::owner_all);
}

// A limit on file sizes stands in for a full disk: the write fails half-way.
TEST(AtomicFile, KeepsTheOldFileWhenAWriteFails) {
  const TemporaryFolder folder;
  const std::string path = folder.write("out.csv", "old");
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit tiny = before;
  tiny.rlim_cur = 1000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tiny), 0);
  expect_error<IoError>([&] { write_file(path, std::string(5000, 'x')); },
                        "largest size allowed");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(read_bytes(path), "old");
  EXPECT_EQ(files_in(folder), 1u);
}

TEST(AtomicFile, RefusesWorkAfterTheCommit) {
  const TemporaryFolder folder;
  AtomicFile file(folder / "out.csv");
  file.commit();
  expect_error<ArgumentError>([&] { file.write("x"); }, "already committed");
  expect_error<ArgumentError>([&] { file.commit(); }, "already committed");
}

TEST(SystemError, SaysWhatToDo) {
  EXPECT_NE(explain_errno(ENOSPC).find("free some space"), std::string::npos);
  EXPECT_NE(explain_errno(EDQUOT).find("quota is full"), std::string::npos);
  EXPECT_NE(explain_errno(EACCES).find("permission denied"), std::string::npos);
  EXPECT_NE(explain_errno(EROFS).find("read-only"), std::string::npos);
  EXPECT_NE(explain_errno(ENAMETOOLONG).find("too long"), std::string::npos);
  EXPECT_NE(explain_errno(ELOOP).find("symbolic links"), std::string::npos);
  EXPECT_NE(explain_errno(EMFILE).find("too many open files"),
            std::string::npos);
  EXPECT_NE(explain_errno(EIO).find("input/output"), std::string::npos);
  EXPECT_FALSE(explain_errno(EXDEV).empty());
  expect_error<IoError>([] { throw_file_error("write", "x.csv", ENOSPC); },
                        "cannot write x.csv: the disk or quota is full");
}

}  // namespace
}  // namespace radir::files
