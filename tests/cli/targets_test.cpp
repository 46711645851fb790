#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/program.h"
#include "cli/running_program.h"
#include "support/temporary_folder.h"

namespace radir {
namespace {

namespace fs = std::filesystem;
using ::radir::testing::contains;
using ::radir::testing::expect_failure;
using ::radir::testing::ProgramResult;
using ::radir::testing::read_bytes;
using ::radir::testing::run_program;
using ::radir::testing::RunningProgram;
using ::radir::testing::TemporaryFolder;
using Json = nlohmann::json;

/// Two numbers and a class to predict from two columns; a rent is missing in
/// every tenth row.
std::string lines(int rows) {
  std::string text = "area,age,price,rent,kind\n";
  for (int i = 0; i < rows; ++i) {
    const int area = 20 + i * 37 % 100;
    const int age = i * 53 % 60;
    text += std::to_string(area) + "," + std::to_string(age) + "," +
            std::to_string(3 * area - age) + "," +
            (i % 10 == 0 ? "" : std::to_string(area / 2.0 + i % 3)) + "," +
            (area > 70 ? "house" : "flat") + "\n";
  }
  return text;
}

class SeveralTargets : public ::testing::Test {
 protected:
  std::string run() const { return folder_ / "run"; }
  std::string of(const std::string& target) const {
    return run() + "/targets/" + target;
  }
  std::string table() const { return folder_.write("t.csv", lines(120)); }

  /// Trains for a moment.
  ProgramResult train(const std::string& options) const {
    return run_program("train '" + table() +
                       "' --method rdp --hidden 5 --steps 60 " + options);
  }
  ProgramResult train_all(const std::string& options = "") const {
    return train("--target price,rent,kind --out '" + run() + "' " + options);
  }
  std::string run_and_table() const {
    return "'" + run() + "' '" + (folder_ / "t.csv") + "' ";
  }

  TemporaryFolder folder_;
};

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> result;
  std::istringstream text(line);
  for (std::string cell; std::getline(text, cell, ',');) {
    result.push_back(cell);
  }
  return result;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

TEST_F(SeveralTargets, EachModelIsThatOfARunOfItsOwn) {
  const ProgramResult trained = train_all();
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_TRUE(contains(trained.err, "target 2 of 3: rent")) << trained.err;
  EXPECT_TRUE(contains(trained.err, "rent: ignored 12 of 120 rows"))
      << trained.err;
  EXPECT_TRUE(contains(trained.out, "a model for each of 3 targets"));
  EXPECT_TRUE(contains(trained.out, "share in 90 % intervals"));
  const std::vector<std::string> targets = {"price", "rent", "kind"};
  for (const std::string& target : targets) {
    std::string others;
    for (const std::string& other : targets) {
      if (other != target) others += (others.empty() ? "" : ",") + other;
    }
    const std::string alone = folder_ / ("alone-" + target);
    const ProgramResult result = train("--target " + target + " --exclude " +
                                       others + " --out '" + alone + "'");
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(read_bytes(of(target) + "/holdout.json"),
              read_bytes(alone + "/holdout.json"))
        << target;
    const auto predicted = [&](const std::string& path) {
      return run_program("predict '" + path + "' '" + table() + "'").out;
    };
    EXPECT_EQ(predicted(of(target)), predicted(alone)) << target;
  }
  const std::string page = read_bytes(run() + "/report.html");
  EXPECT_TRUE(contains(page, "href=\"targets/rent/report.html\""));
  EXPECT_TRUE(contains(page, "Typical error"));
}

TEST_F(SeveralTargets, TheColumnsSayWhichAreOtherTargets) {
  const ProgramResult trained = train_all("--exclude age --no-holdout");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const std::string other = "ignored: a target with a model of its own\n";
  // Once while each of the two others is trained.
  for (const char* line : {"price   ", "rent    ", "kind    "}) {
    const std::size_t first = trained.err.find(line + other);
    ASSERT_NE(first, std::string::npos) << trained.err;
    EXPECT_NE(trained.err.find(line + other, first + 1), std::string::npos);
  }
  EXPECT_TRUE(contains(trained.err, "age     ignored: not asked for\n"));
  EXPECT_TRUE(contains(read_bytes(of("rent") + "/report.html"),
                       "ignored: a target with a model of its own"));
}

TEST_F(SeveralTargets, TheyArePredictedBesideEachOther) {
  ASSERT_EQ(train_all("--no-holdout").exit_code, 0);
  const ProgramResult all =
      run_program("predict " + run_and_table() + "--quantiles 0.1");
  ASSERT_EQ(all.exit_code, 0) << all.err;
  EXPECT_EQ(all.err, "");
  EXPECT_EQ(first_line(all.out),
            "row,price_mean,price_sd,price_epistemic_sd,price_aleatoric_sd,"
            "price_q10,rent_mean,rent_sd,rent_epistemic_sd,rent_aleatoric_sd,"
            "rent_q10,kind_class,kind_p(flat),kind_p(house),kind_entropy,"
            "kind_mutual_information");
  // A line of all has those of each target behind each other.
  std::vector<std::istringstream> alone;
  for (const char* target : {"price", "rent", "kind"}) {
    const ProgramResult result = run_program("predict '" + of(target) + "' '" +
                                             table() + "' --quantiles 0.1");
    ASSERT_EQ(result.exit_code, 0) << result.err;
    alone.emplace_back(result.out);
  }
  std::istringstream together(all.out);
  int rows = -1;
  for (std::string line; std::getline(together, line); ++rows) {
    std::string joined;
    for (std::istringstream& text : alone) {
      std::string part;
      std::getline(text, part);
      joined += joined.empty() ? part : part.substr(part.find(','));
    }
    if (rows >= 0) {
      EXPECT_EQ(line, joined);
    }
  }
  EXPECT_EQ(rows, 120);

  const ProgramResult streamed =
      run_program("predict '" + run() + "' - --out p.csv --json", "p.csv",
                  "cd '" + folder_.path() + "' && exec 0<t.csv");
  ASSERT_EQ(streamed.exit_code, 0) << streamed.err;
  const Json document = Json::parse(streamed.out);
  EXPECT_EQ(document["rows"], 120);
  EXPECT_EQ(document["targets"]["kind"]["rows_without_prediction"], 0);
  EXPECT_EQ(cells(first_line(streamed.file)).size(), 1u + 7u + 7u + 5u);
  expect_failure("predict " + run_and_table() + "--out '" + of("rent") +
                     "/model.safetensors' --force",
                 2, "is the file that is read");
}

TEST_F(SeveralTargets, EachIsEvaluatedAndInspected) {
  const ProgramResult trained = train_all("--json");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const Json document = Json::parse(trained.out);
  EXPECT_EQ(document["targets"]["rent"]["config"]["data"]["rows"], 108);
  EXPECT_EQ(document["targets"]["price"]["run"], of("price"));

  const ProgramResult scores =
      run_program("evaluate " + run_and_table() + "--json");
  ASSERT_EQ(scores.exit_code, 0) << scores.err;
  EXPECT_TRUE(contains(scores.err, "rent: dropped 12 rows")) << scores.err;
  const Json targets = Json::parse(scores.out)["targets"];
  EXPECT_EQ(targets["rent"]["rows_dropped"], 12);
  EXPECT_EQ(targets["price"]["rows_dropped"], 0);
  for (const char* target : {"price", "rent", "kind"}) {
    const ProgramResult alone =
        run_program("evaluate '" + of(target) + "' '" + table() + "' --json");
    EXPECT_EQ(targets[target], Json::parse(alone.out)) << target;
  }
  const ProgramResult text = run_program("evaluate " + run_and_table());
  EXPECT_TRUE(contains(text.out, "target rent\n-----------\n")) << text.out;

  expect_failure(
      "evaluate '" + run() + "' '" +
          folder_.write("half.csv", "area,age,price,kind\n9,8,7,flat\n") + "'",
      4,
      "half.csv: the target \"rent\" of one of the models is "
      "missing; add it, or give the folder of each other target by "
      "itself");

  const ProgramResult inspected = run_program("inspect '" + run() + "' --json");
  ASSERT_EQ(inspected.exit_code, 0) << inspected.err;
  EXPECT_EQ(Json::parse(inspected.out)["targets"]["kind"]["likelihood"],
            "categorical");
  EXPECT_TRUE(contains(run_program("inspect '" + run() + "'").out,
                       "target        kind\n"));
}

TEST_F(SeveralTargets, CommandsForOneModelNameItsFolder) {
  ASSERT_EQ(train_all("--no-holdout").exit_code, 0);
  expect_failure("prune '" + run() + "' --out small.safetensors", 2,
                 "radir prune " + of("price") + " --out small.safetensors");
  expect_failure("export '" + run() + "' --onnx p.onnx", 2,
                 "radir export " + of("price") + " --onnx p.onnx");
  expect_failure("report '" + run() + "' --out p.html", 2,
                 "radir report " + of("price") + " --out p.html");
  const ProgramResult exported =
      run_program("prune '" + of("rent") + "' --out small.safetensors");
  EXPECT_EQ(exported.exit_code, 0) << exported.err;

  const ProgramResult page = run_program("report '" + run() + "' --test '" +
                                         (folder_ / "t.csv") + "'");
  ASSERT_EQ(page.exit_code, 0) << page.err;
  EXPECT_TRUE(contains(page.out, "finished, 3 of 3 targets")) << page.out;
  EXPECT_TRUE(contains(read_bytes(of("kind") + "/report.html"), "t.csv"));
}

TEST_F(SeveralTargets, AStoppedRunIsResumedWhereItWas) {
  ASSERT_EQ(run_program("train '" + table() +
                        "' --target price,rent --method rdp --steps 3000 "
                        "--no-holdout --out '" +
                        (folder_ / "once") + "'")
                .exit_code,
            0);
  {
    RunningProgram program({"train", table(), "--target", "price", "--target",
                            "rent", "--method", "rdp", "--steps", "3000",
                            "--no-holdout", "--checkpoint-every", "2ms",
                            "--out", run()});
    ASSERT_TRUE(program.waits_for(of("rent") + "/checkpoint.safetensors"))
        << program.err();
    program.send(SIGINT);
    EXPECT_EQ(program.wait(), 130);
    EXPECT_TRUE(contains(program.err(),
                         "stopped; resume with: radir train --resume " + run()))
        << program.err();
  }
  EXPECT_FALSE(fs::exists(run() + "/lock"));
  expect_failure("predict " + run_and_table(), 4,
                 "its target \"rent\" is not finished; resume with: radir "
                 "train --resume " +
                     run());
  const ProgramResult report = run_program("report '" + run() + "'");
  EXPECT_TRUE(contains(report.out, "unfinished, 1 of 2 targets")) << report.err;
  const auto price = fs::last_write_time(of("price") + "/model.safetensors");
  const ProgramResult resumed =
      run_program("train --resume '" + run() + "' --json");
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_TRUE(contains(resumed.err, "price: is already finished"))
      << resumed.err;
  EXPECT_EQ(fs::last_write_time(of("price") + "/model.safetensors"), price);
  for (const char* target : {"price", "rent"}) {
    const std::string model =
        "/targets/" + std::string(target) + "/model.safetensors";
    EXPECT_EQ(read_bytes(run() + model),
              read_bytes((folder_ / "once") + model));
  }
  expect_failure("train --resume '" + run() + "' --target price", 2,
                 "--target cannot be used with --resume");
  const std::string again =
      "train '" + table() + "' --target price,rent --out '" + run() + "'";
  expect_failure(again, 2, "already contains a finished run; choose another");
  fs::remove(of("rent") + "/model.safetensors");
  expect_failure(again, 2, "already contains a run; resume it (--resume ");
}

TEST_F(SeveralTargets, BadTargetsAreRefusedAndLeaveNothing) {
  const auto refused = [&](const std::string& options,
                           const std::string& part) {
    expect_failure("train '" + table() + "' --out '" + run() + "' " + options,
                   2, part);
    EXPECT_FALSE(fs::exists(run())) << options;
  };
  refused("--target price,price", "the target \"price\" is named twice");
  refused("--target price --target 3", "the target \"price\" is named twice");
  refused("--target price,rend", "did you mean \"rent\"?");
  refused("--target price,", "no column named \"\"");
  refused("--target price,rent --exclude rent",
          "\"rent\" is a target, so it cannot be excluded");
  refused("--target price,rent --include area,rent",
          "\"rent\" is a target, so it cannot be an input");
  refused("--target price,rent --id price",
          "\"price\" is a target, so it cannot name the rows");
  refused("--target price,rent --weights rent",
          "\"rent\" is a target, so it cannot hold weights");
  refused("--target area,age,price,rent,kind", "no column is left as an input");
  refused("--target price,kind --target-scale log", "target \"kind\": ");
  refused("--target kind,price --class-weights balanced", "target \"price\": ");
  refused("--target kind,price --tune --tune-for rmse", "target \"kind\": ");
  refused("--target price,kind --conformal", "target \"kind\": ");
  refused("--target price,rent --batch 0", "batch must be");
  expect_failure("train - --target price --target rent <'" + table() + "'", 2,
                 "standard input can be read only once");
  expect_failure("train /dev/null --target price --target rent", 2,
                 "/dev/null can be read only once");
  expect_failure("train - --target price,rent <'" + table() + "'", 2,
                 "no column named \"price,rent\"");
  expect_failure("train '" + table() + "' --target ''", 2,
                 "a table and its --target are required");
}

TEST_F(SeveralTargets, AFailureAtOnceLeavesNothing) {
  const ProgramResult result = train_all("--learning-rate 1e10");
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_TRUE(contains(result.err, "target \"price\": ")) << result.err;
  EXPECT_FALSE(fs::exists(run() + "/config.json"));
  EXPECT_FALSE(fs::exists(run() + "/targets"));
}

TEST_F(SeveralTargets, NamesOfColumnsBecomeNamesOfFolders) {
  std::string text = "x,../a b,\"c,d\",c,c_epistemic\n";
  for (int i = 0; i < 40; ++i) {
    const std::string x = std::to_string(i * 7 % 20);
    text += x + "," + x + ".5," + x + "," + x + "," + x + "\n";
  }
  const std::string odd = folder_.write("odd.csv", text);
  const std::string begin = "train '" + odd +
                            "' --method rdp --hidden 3 --steps 20 "
                            "--no-holdout --out '" +
                            run() + "' --target ";
  // A column with a comma in its name is one column.
  ASSERT_EQ(run_program(begin + "'../a b' --target 'c,d'").exit_code, 0);
  EXPECT_TRUE(fs::exists(of("_._a_b") + "/model.safetensors"));
  EXPECT_TRUE(fs::exists(of("c_d") + "/model.safetensors"));
  const ProgramResult page = run_program(
      "train '" + odd + "' --target 'c,d' --steps 20 --method rdp --out r");
  EXPECT_EQ(page.exit_code, 0) << page.err;
  const ProgramResult piped = run_program(
      "train - --target 'c,d' --steps 20 --method rdp --out r2 <'" + odd + "'");
  EXPECT_EQ(piped.exit_code, 0) << piped.err;
  fs::remove_all(run());
  ASSERT_EQ(run_program(begin + "c,c_epistemic").exit_code, 0);
  expect_failure("predict '" + run() + "' '" + odd + "'", 2,
                 "would be called \"c_epistemic_sd\"");
}

}  // namespace
}  // namespace radir
