#include "radir/data/download.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "data/part_file.h"
#include "radir/files/sha256.h"
#include "support/expect_error.h"
#include "support/http_server.h"
#include "support/temporary_folder.h"

namespace radir::data {
namespace {

using testing::expect_error;
using testing::HttpRequest;
using testing::HttpResponse;
using testing::HttpServer;
using testing::read_bytes;
using testing::serve;
using testing::TemporaryFolder;

std::string make_file(std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) {
    bytes += static_cast<char>((i * i + i / 251) % 256);
  }
  return bytes;
}

/// A file that servers have, and a place where it is wanted.
class DownloadTest : public ::testing::Test {
 protected:
  Download request(const std::vector<std::string>& urls) const {
    Download request;
    request.path = path_;
    request.urls = urls;
    request.most_bytes = static_cast<std::int64_t>(file_.size()) + 100;
    request.verify = [wanted = files::sha256(file_)](const std::string& path) {
      RADIR_CHECK(files::sha256(read_bytes(path)) == wanted, IoError,
                  "another SHA-256");
    };
    request.wait = std::chrono::milliseconds(0);
    return request;
  }

  /// The file is there, and nothing else.
  void expect_done() const {
    EXPECT_EQ(read_bytes(path_), file_);
    EXPECT_FALSE(std::filesystem::exists(part_));
  }

  /// Nothing is under the file's name, and this beside it.
  void expect_part(const std::string& bytes) const {
    EXPECT_FALSE(std::filesystem::exists(path_));
    EXPECT_EQ(std::filesystem::exists(part_), !bytes.empty());
    EXPECT_EQ(read_bytes(part_), bytes);
  }

  HttpResponse good(const HttpRequest& request) const {
    return serve(request, file_);
  }

  /// The first half of what is asked for, and the end of the connection.
  HttpResponse cut(const HttpRequest& request) const {
    HttpResponse response = good(request);
    response.claimed_length = response.body.size();
    response.body.resize(response.body.size() / 2);
    return response;
  }

  const std::string file_ = make_file(100000);
  const TemporaryFolder folder_;
  const std::string path_ = folder_ / "data.bin";
  const std::string part_ = path_ + ".part";
};

TEST_F(DownloadTest, GetsAFile) {
  HttpServer server([&](const HttpRequest& r) { return good(r); });
  std::int64_t done = 0;
  std::int64_t total = 0;
  Download wanted = request({server.url("/data.bin")});
  wanted.progress = [&](std::int64_t bytes, std::int64_t all) {
    done = bytes;
    total = all;
    return true;
  };
  download(wanted);
  expect_done();
  EXPECT_EQ(done, 100000);
  EXPECT_EQ(total, 100000);
  ASSERT_EQ(server.requests().size(), 1u);
  EXPECT_EQ(server.requests()[0].range, "");
}

TEST_F(DownloadTest, ReplacesWhatIsThere) {
  folder_.write("data.bin", "an old one");
  HttpServer server([&](const HttpRequest& r) { return good(r); });
  download(request({server.url("/data.bin")}));
  expect_done();
}

TEST_F(DownloadTest, GoesOnAfterACutConnection) {
  HttpServer server(
      [&](const HttpRequest& r) { return r.range.empty() ? cut(r) : good(r); });
  download(request({server.url("/")}));
  expect_done();
  ASSERT_EQ(server.requests().size(), 2u);
  EXPECT_EQ(server.requests()[1].range, "bytes=50000-");
}

TEST_F(DownloadTest, KeepsWhatHasComeAndGoesOnTheNextTime) {
  {
    HttpServer server([&](const HttpRequest& r) {
      return r.range.empty() ? cut(r) : HttpResponse{503, {}, "busy"};
    });
    expect_error<IoError>([&] { download(request({server.url("/")})); },
                          "the server says 503; check the network");
    expect_part(file_.substr(0, 50000));
  }
  HttpServer server([&](const HttpRequest& r) { return good(r); });
  download(request({server.url("/")}));
  expect_done();
  EXPECT_EQ(server.requests()[0].range, "bytes=50000-");
}

TEST_F(DownloadTest, SaysThatAPartIsKept) {
  folder_.write("data.bin.part", file_.substr(0, 10));
  HttpServer server([&](const HttpRequest&) { return HttpResponse{404}; });
  expect_error<IoError>([&] { download(request({server.url("/")})); },
                        "data.bin.part; the next download resumes from it");
  expect_part(file_.substr(0, 10));
}

TEST_F(DownloadTest, StartsAfreshWhereTheServerKnowsNoRanges) {
  folder_.write("data.bin.part", file_.substr(0, 70000));
  HttpServer server([&](const HttpRequest&) {
    return HttpResponse{200, {}, file_};
  });
  download(request({server.url("/")}));
  expect_done();
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST_F(DownloadTest, StartsAfreshWhenThePartIsOfAnotherFile) {
  folder_.write("data.bin.part", std::string(70000, 'x'));
  HttpServer server([&](const HttpRequest& r) { return good(r); });
  download(request({server.url("/")}));
  expect_done();
  ASSERT_EQ(server.requests().size(), 2u);
  EXPECT_EQ(server.requests()[1].range, "");
}

TEST_F(DownloadTest, StartsAfreshWhenAnotherRangeComes) {
  folder_.write("data.bin.part", file_.substr(0, 70000));
  HttpServer server([&](const HttpRequest& r) {
    if (r.range.empty()) return good(r);
    return HttpResponse{
        206, {"Content-Range: bytes 5-9/100000"}, file_.substr(5, 5)};
  });
  download(request({server.url("/")}));
  expect_done();
}

TEST_F(DownloadTest, APartThatIsWholeNeedsNoMore) {
  folder_.write("data.bin.part", file_);
  HttpServer server([&](const HttpRequest& r) { return good(r); });  // 416
  download(request({server.url("/")}));
  expect_done();
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST_F(DownloadTest, APartThatIsTooLongIsForgotten) {
  folder_.write("data.bin.part", file_ + "more");
  HttpServer server([&](const HttpRequest& r) { return good(r); });
  download(request({server.url("/")}));
  expect_done();
  EXPECT_EQ(server.requests().size(), 2u);
}

TEST_F(DownloadTest, TakesTheNextMirror) {
  HttpServer gone([&](const HttpRequest&) { return HttpResponse{404}; });
  HttpServer wrong([&](const HttpRequest&) {
    return HttpResponse{200, {}, std::string(file_.size(), 'x')};
  });
  HttpServer right([&](const HttpRequest& r) { return good(r); });
  download(request({gone.url("/"), wrong.url("/"), right.url("/")}));
  expect_done();
  EXPECT_EQ(gone.requests().size(), 1u);
  EXPECT_EQ(wrong.requests().size(), 1u);
}

TEST_F(DownloadTest, AMirrorGoesOnWhereTheOtherStopped) {
  HttpServer failing([&](const HttpRequest& r) {
    return r.range.empty() ? cut(r) : HttpResponse{404};
  });
  HttpServer right([&](const HttpRequest& r) { return good(r); });
  download(request({failing.url("/"), right.url("/")}));
  expect_done();
  EXPECT_EQ(right.requests()[0].range, "bytes=50000-");
}

TEST_F(DownloadTest, RefusesAnotherFile) {
  HttpServer server([&](const HttpRequest&) {
    return HttpResponse{200, {}, std::string(file_.size(), 'x')};
  });
  expect_error<IoError>([&] { download(request({server.url("/")})); },
                        "another SHA-256");
  expect_part("");
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST_F(DownloadTest, RefusesALengthThatIsTooShort) {
  HttpServer server([&](const HttpRequest& r) {
    HttpResponse response = good(r);
    response.claimed_length = 1000;
    return response;
  });
  expect_error<IoError>([&] { download(request({server.url("/")})); },
                        "another SHA-256");
  expect_part("");
}

TEST_F(DownloadTest, ALengthThatIsTooLongIsACutConnection) {
  HttpServer server([&](const HttpRequest& r) {
    HttpResponse response = good(r);
    response.claimed_length = response.body.size() + 1;
    return response;
  });
  download(request({server.url("/")}));  // the second request answers 416
  expect_done();
}

TEST_F(DownloadTest, TakesNoMoreThanTheFileCanHave) {
  HttpServer server([&](const HttpRequest&) {
    return HttpResponse{200, {}, file_ + file_};
  });
  expect_error<IoError>(
      [&] { download(request({server.url("/")})); },
      "more than 100100 bytes received, so it is a different file");
  expect_part("");
}

TEST_F(DownloadTest, FollowsRedirections) {
  HttpServer server([&](const HttpRequest& r) {
    if (r.path == "/data.bin") return good(r);
    return HttpResponse{302, {"Location: /data.bin"}, "moved"};
  });
  download(request({server.url("/old")}));
  expect_done();
}

TEST_F(DownloadTest, StopsInALoopOfRedirections) {
  HttpServer server([&](const HttpRequest&) {
    return HttpResponse{302, {"Location: /again"}, ""};
  });
  expect_error<IoError>([&] { download(request({server.url("/")})); },
                        "Maximum (5) redirects followed");
  expect_part("");
  EXPECT_EQ(server.requests().size(), 6u);
}

TEST_F(DownloadTest, FollowsNoRedirectionToAFile) {
  HttpServer server([&](const HttpRequest&) {
    return HttpResponse{302, {"Location: file:///etc/passwd"}, ""};
  });
  expect_error<IoError>([&] { download(request({server.url("/")})); },
                        "\"file\" not supported or disabled");
  expect_part("");
}

TEST_F(DownloadTest, KnowsOnlyHttp) {
  expect_error<IoError>([&] { download(request({"file:///etc/passwd"})); },
                        "\"file\" not supported or disabled");
  expect_part("");
}

TEST_F(DownloadTest, ExplainsAServerThatIsNotThere) {
  std::string url;
  {
    HttpServer server([&](const HttpRequest& r) { return good(r); });
    url = server.url("/data.bin");
  }
  expect_error<IoError>([&] { download(request({url})); }, "Failed to connect");
  expect_part("");
}

TEST_F(DownloadTest, UsesTheProxyOfTheEnvironment) {
  HttpServer proxy([&](const HttpRequest& r) { return good(r); });
  ::setenv("http_proxy", proxy.url("").c_str(), 1);
  download(request({"http://radir.invalid/data.bin"}));
  ::unsetenv("http_proxy");
  expect_done();
  EXPECT_EQ(proxy.requests()[0].path, "http://radir.invalid/data.bin");
}

TEST_F(DownloadTest, StopsWhenItIsTold) {
  HttpServer server([&](const HttpRequest& r) { return good(r); });
  Download wanted = request({server.url("/")});
  wanted.progress = [](std::int64_t done, std::int64_t) { return done == 0; };
  expect_error<DownloadStopped>([&] { download(wanted); }, "stopped after ");
  const std::string come = read_bytes(part_);
  EXPECT_FALSE(come.empty());
  expect_part(file_.substr(0, come.size()));
}

TEST_F(DownloadTest, OneProcessDownloadsAFile) {
  PartFile held(path_);
  expect_error<IoError>([&] { download(request({"http://127.0.0.1:1/"})); },
                        "another process is downloading it");
}

// A limit on file sizes stands in for a full disk.
TEST_F(DownloadTest, AFullDiskKeepsWhatFitted) {
  HttpServer server([&](const HttpRequest& r) { return good(r); });
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit tiny = before;
  tiny.rlim_cur = 20000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tiny), 0);
  expect_error<IoError>([&] { download(request({server.url("/")})); },
                        "largest size allowed");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  expect_part(file_.substr(0, 20000));
  download(request({server.url("/")}));
  expect_done();
}

TEST_F(DownloadTest, AServerThatDripsIsCut) {
  HttpServer server([&](const HttpRequest& r) {
    HttpResponse response = good(r);
    response.pause = std::chrono::milliseconds(500);
    return response;
  });
  Download wanted = request({server.url("/")});
  wanted.patience = std::chrono::seconds(1);
  const auto start = std::chrono::steady_clock::now();
  expect_error<IoError>([&] { download(wanted); }, "too slow");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST_F(DownloadTest, ExplainsAFolderThatIsNotThere) {
  Download wanted = request({"http://127.0.0.1:1/"});
  wanted.path = folder_ / "absent/data.bin";
  expect_error<IoError>([&] { download(wanted); }, "no such file or folder");
}

}  // namespace
}  // namespace radir::data
