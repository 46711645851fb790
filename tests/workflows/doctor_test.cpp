#include "radir/workflows/doctor.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/temporary_folder.h"

namespace radir::workflows {
namespace {

using Kind = Finding::Kind;
using data::DataSetState;

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

/// A machine with nothing to complain about.
MachineFacts good_machine() {
  MachineFacts facts;
  facts.cpu = "A processor";
  facts.isa = Isa::Avx2;
  facts.threads = 4;
  facts.granted = 4;
  facts.load = 1;
  facts.memory_bytes = 16 * kGiB;
  facts.available_memory_bytes = 8 * kGiB;
  facts.free_disk_bytes = 50 * kGiB;
  facts.can_write_here = true;
  facts.speeds = {100, 90, 85};
  facts.blas = "/usr/lib/openblas-pthread/libblas.so.3";
  facts.can_download = true;
  facts.data_dir = "data";
  facts.has_data_dir = true;
  facts.data_sets = {{"mnist", {DataSetState::Complete, ""}}};
  return facts;
}

/// The findings about a subject that are not good.
std::vector<Finding> complaints(const MachineFacts& facts,
                                const std::string& subject) {
  std::vector<Finding> found;
  for (const Finding& finding : diagnose(facts)) {
    const bool is_good = finding.kind == Kind::Good;
    EXPECT_EQ(finding.fix.empty(), is_good) << finding.text;
    if (!is_good) {
      EXPECT_EQ(finding.subject, subject) << finding.text;
      found.push_back(finding);
    }
  }
  return found;
}

void expect_complaint(const MachineFacts& facts, Kind kind,
                      const std::string& subject, const std::string& text,
                      const std::string& fix) {
  const std::vector<Finding> found = complaints(facts, subject);
  ASSERT_EQ(found.size(), 1u) << subject;
  EXPECT_EQ(found[0].kind, kind) << found[0].text;
  EXPECT_NE(found[0].text.find(text), std::string::npos) << found[0].text;
  EXPECT_NE(found[0].fix.find(fix), std::string::npos) << found[0].fix;
}

TEST(Doctor, FindsNothingWrongWithAGoodMachine) {
  EXPECT_TRUE(complaints(good_machine(), "").empty());
}

TEST(Doctor, NoticesASlowInstructionSet) {
  MachineFacts facts = good_machine();
  facts.isa = Isa::Generic;
  expect_complaint(facts, Kind::Note, "processor", "no AVX2", "host's");
  facts.wished_isa = "generic";
  expect_complaint(facts, Kind::Note, "processor", "set by RADIR_ISA",
                   "unset RADIR_ISA");
}

TEST(Doctor, NoticesAControlGroupThatGrantsLess) {
  MachineFacts facts = good_machine();
  facts.granted = 1.5;
  expect_complaint(facts, Kind::Problem, "threads", "only 1.5 processors",
                   "--threads 1");
  facts.granted = 0;  // no limit
  EXPECT_TRUE(complaints(facts, "").empty());
}

TEST(Doctor, NoticesOtherPrograms) {
  MachineFacts facts = good_machine();
  facts.load = 9;
  expect_complaint(facts, Kind::Note, "threads", "9.0 are running",
                   "fewer --threads");
  facts = good_machine();
  facts.speeds = {100, 30, 29};
  expect_complaint(facts, Kind::Note, "speed", "30 % of the 100.0",
                   "start again");
}

TEST(Doctor, NoticesASlowBlas) {
  MachineFacts facts = good_machine();
  facts.speeds.blas = 20;
  expect_complaint(facts, Kind::Problem, "blas", "22 % of our product's",
                   "OPENBLAS_CORETYPE=Haswell");
  facts.isa = Isa::Avx512;
  expect_complaint(facts, Kind::Problem, "blas", "does not recognise",
                   "OPENBLAS_CORETYPE=SkylakeX");
  facts.blas = "/usr/lib/blas/libblas.so.3";
  expect_complaint(facts, Kind::Problem, "blas", ": slow",
                   "libopenblas0-pthread");
}

TEST(Doctor, NoticesThatLibtorchIsMissing) {
  MachineFacts facts = good_machine();
  facts.no_libtorch = "no such file";
  facts.speeds.blas = 0;
  expect_complaint(facts, Kind::Note, "libtorch", "not found; only bench step",
                   "RADIR_WITH_TORCH=ON");
}

TEST(Doctor, SaysThatGraphicsProcessorsAreNotUsed) {
  MachineFacts facts = good_machine();
  facts.has_cuda_driver = true;
  facts.cuda_devices = {"One", "Two"};
  EXPECT_TRUE(complaints(facts, "").empty());
  const std::vector<Finding> findings = diagnose(facts);
  const auto cuda =
      std::find_if(findings.begin(), findings.end(),
                   [](const Finding& f) { return f.subject == "cuda"; });
  ASSERT_NE(cuda, findings.end());
  EXPECT_EQ(cuda->text.rfind("One, Two; used with --device cuda", 0), 0u);
  facts.cuda_status = 999;
  expect_complaint(facts, Kind::Note, "cuda", "cuInit returns 999",
                   "nvidia-smi");
}

TEST(Doctor, NoticesThatMemoryOrDiskRunOut) {
  MachineFacts facts = good_machine();
  facts.available_memory_bytes = kGiB / 2;
  expect_complaint(facts, Kind::Problem, "memory", "0.5 GiB of 16.0 GiB free",
                   "close programs");
  facts = good_machine();
  facts.free_disk_bytes = kGiB / 10;
  expect_complaint(facts, Kind::Problem, "disk", "0.1 GiB free", "--out");
  facts.can_write_here = false;
  expect_complaint(facts, Kind::Note, "disk", "not writable", "--out");
}

TEST(Doctor, NoticesWhatIsWrongWithTheData) {
  MachineFacts facts = good_machine();
  facts.data_sets = {{"mnist", {DataSetState::Complete, ""}},
                     {"yacht", {DataSetState::Damaged, "data.txt: is cut"}}};
  expect_complaint(facts, Kind::Problem, "data", "data.txt: is cut",
                   "radir data fetch yacht --data-dir data");
  facts.data_sets[1].check.state = DataSetState::Incomplete;
  expect_complaint(facts, Kind::Problem, "data", "data.txt: is cut",
                   "radir data fetch yacht --data-dir data");
  facts.data_sets[1].check.state = DataSetState::Absent;
  expect_complaint(facts, Kind::Note, "data", "yacht not in data",
                   "radir data fetch all --data-dir data");
  facts.has_data_dir = false;
  expect_complaint(facts, Kind::Problem, "data", "data does not exist",
                   "radir data fetch all --data-dir data");
  facts.data_dir = "";
  expect_complaint(facts, Kind::Note, "data", "no data folder given",
                   "RADIR_DATA_DIR");
  facts = good_machine();
  facts.can_download = false;
  expect_complaint(facts, Kind::Note, "data", "without libcurl",
                   "RADIR_WITH_CURL=ON");
}

TEST(Doctor, ExaminesThisMachine) {
  const testing::TemporaryFolder folder;
  const MachineFacts facts = examine_machine(folder.path());
  EXPECT_EQ(facts.isa, active_isa());
  EXPECT_EQ(facts.threads, available_threads());
  EXPECT_GT(facts.speeds.peak, 0);
  EXPECT_GT(facts.speeds.product, 0);
  // Nothing outruns registers, but another program may have had its turn.
  EXPECT_LT(facts.speeds.product, 1.5 * facts.speeds.peak);
  EXPECT_EQ(facts.speeds.blas > 0, facts.no_libtorch.empty());
  EXPECT_GT(facts.available_memory_bytes, 0);
  EXPECT_LE(facts.available_memory_bytes, facts.memory_bytes);
  EXPECT_GT(facts.free_disk_bytes, 0);
  EXPECT_EQ(facts.data_sets.size(), data::data_sets().size());
}

TEST(Doctor, NamesTheMachineInALine) {
  const std::string line = machine_line();
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_NE(line.find(to_string(active_isa()) + std::string(" kernels, ")),
            std::string::npos);
  EXPECT_NE(line.find(" GiB"), std::string::npos);
  EXPECT_EQ(line, machine_line());
}

}  // namespace
}  // namespace radir::workflows
