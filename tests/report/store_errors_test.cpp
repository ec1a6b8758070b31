// Files that a store refuses, and writing without room.
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "fixture.hpp"
#include "report/read.hpp"
#include "store_message.hpp"

namespace headroom::report {
namespace {

TEST(StoreErrors, AFileThatIsNoDatabase) {
  Folder folder;
  std::ofstream(folder / "text.sqlite") << std::string(5000, 'x');
  EXPECT_NE(message_of([&] { Store store(folder / "text.sqlite"); }).find("not an sqlite database"),
            std::string::npos);
  EXPECT_NE(message_of([&] { Database database(folder / "text.sqlite"); }).find("not an sqlite"),
            std::string::npos);
}

void change(const std::filesystem::path& file, const char* sql) {
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &raw), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(raw, sql, nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(raw);
}

TEST(StoreErrors, ADatabaseOfSomethingElse) {
  Folder folder;
  change(folder / "r.sqlite", "CREATE TABLE notes (a)");
  EXPECT_NE(message_of([&] { Store store(folder / "r.sqlite"); }).find("not one of headroom's"),
            std::string::npos);
}

TEST(StoreErrors, AnotherSchemaVersion) {
  Folder folder;
  write_all(folder / "r.sqlite", small_run());
  change(folder / "r.sqlite", "PRAGMA user_version = 7");
  const auto message = message_of([&] { Store store(folder / "r.sqlite"); });
  EXPECT_NE(message.find("schema 00000007"), std::string::npos) << message;
  EXPECT_NE(message_of([&] { Database database(folder / "r.sqlite"); }).find("schema 00000007"),
            std::string::npos);
}

TEST(StoreErrors, ACutOffFile) {
  Folder folder;
  write_all(folder / "r.sqlite", small_run());
  std::filesystem::resize_file(folder / "r.sqlite", 20000);
  const auto message = message_of([&] {
    Database database(folder / "r.sqlite");
    database.query("SELECT count(*) FROM result_all", 0);
  });
  EXPECT_NE(message.find("damaged or cut off"), std::string::npos) << message;
}

TEST(StoreErrors, AxesThatAreNotAsASweepWritesThem) {
  for (const char* sql :
       {"UPDATE axis_value SET position = position + 1", "UPDATE axis_value SET grid = grid + 2",
        "UPDATE axis_value SET digit = -1", "UPDATE axis_value SET digit = 1 << 40",
        "UPDATE axis_value SET axis = 'x' || axis"}) {
    Folder folder;
    write_all(folder / "r.sqlite", small_run());
    change(folder / "r.sqlite", sql);
    const auto message = message_of([&] { Database(folder / "r.sqlite").run(1); });
    EXPECT_NE(message.find("the axes of run 1"), std::string::npos) << sql << ": " << message;
  }
}

TEST(StoreErrors, ExtentsThatAreNowhere) {
  for (const char* sql :
       {"UPDATE extent SET shift = 9223372036854775807", "UPDATE extent SET first = -5",
        "UPDATE extent SET last = 9223372036854775807", "UPDATE extent SET last = first - 1"}) {
    Folder folder;
    write_all(folder / "r.sqlite", small_run());
    change(folder / "r.sqlite", sql);
    const auto message = message_of([&] { Database(folder / "r.sqlite").extents(1); });
    EXPECT_NE(message.find("is nowhere"), std::string::npos) << sql << ": " << message;
  }
}

TEST(StoreErrors, NoSuchFileToRead) {
  Folder folder;
  EXPECT_NE(message_of([&] { Database database(folder / "none.sqlite"); }).find("no such database"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder / "none.sqlite"));
}

TEST(StoreErrors, ASecondSweepOnTheSameFile) {
  Folder folder;
  {
    Store store(folder / "r.sqlite");
    EXPECT_NE(message_of([&] { Store second(folder / "r.sqlite"); }).find("another sweep"),
              std::string::npos);
  }
  EXPECT_EQ(message_of([&] { Store third(folder / "r.sqlite"); }), "no error");
  EXPECT_FALSE(std::filesystem::exists(folder / "r.sqlite-lock"));
}

TEST(StoreErrors, AFolderThatCannotBeMade) {
  Folder folder;
  std::ofstream(folder / "file") << "x";
  const auto message = message_of([&] { Store store(folder / "file" / "r.sqlite"); });
  EXPECT_NE(message.find("file"), std::string::npos);
  EXPECT_NE(message, "no error");
}

/// Lets no file of this process grow beyond `bytes` while it lives: as near to a full disk as any
/// user gets.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(StoreErrors, NoRoomLeftKeepsWhatWasCommittedAndResumes) {
  Folder folder;
  const auto file = folder / "r.sqlite";
  RunInfo large = small_run("large");
  large.grids[0].digits.push_back({numbers("prompt_tokens", std::vector<std::int64_t>(5000, 1))});
  {
    Store store(file);
    store.begin_run(large);
    store.append(0, made_up(0, 1000));
    const FileSizeLimit limit(2'000'000);
    EXPECT_NE(message_of([&] { store.append(1000, made_up(1000, 50'000)); }), "no error");
    EXPECT_EQ(store.next_point(), 1000);
  }
  Store store(file);
  store.begin_run(large);
  EXPECT_EQ(store.next_point(), 1000);
  store.append(1000, made_up(1000, 59'000));
  store.finish_run();
  EXPECT_EQ(number(Database(file).query("SELECT count(*) FROM result", 0).rows[0][0]), 60'000);
}

}  // namespace
}  // namespace headroom::report
