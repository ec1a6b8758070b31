// sqlite3 with owners for its handles, and its errors as StoreError. For report/*.cpp alone.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "report/run_info.hpp"
#include "report/table.hpp"

namespace headroom::report {

/// How long to wait for another connection that holds the file locked.
inline constexpr int busy_milliseconds = 10'000;

class Connection;

/// A prepared statement. Columns and parameters are numbered as sqlite does: from 0 and from 1.
class Statement {
 public:
  Statement(const Connection& connection, std::string_view sql);
  bool step();  ///< true: a row is there
  void reset() { sqlite3_reset(get()); }
  /// Binds, steps once and resets.
  template <class... Values>
  void run(const Values&... values) {
    int at = 0;
    (bind(++at, values), ...);
    step();
    reset();
  }
  void bind(int at, std::int64_t value) { sqlite3_bind_int64(get(), at, value); }
  void bind(int at, double value) { sqlite3_bind_double(get(), at, value); }
  void bind(int at, const std::string& value);
  void bind(int at, std::monostate) { sqlite3_bind_null(get(), at); }
  void bind(int at, const AxisValue& value);

  std::int64_t integer(int column) { return sqlite3_column_int64(get(), column); }
  /// NULL is infinite. SQLite reads it as zero, so few values need a look at their type.
  double real(int column) {
    const double value = sqlite3_column_double(get(), column);
    return value == 0 && sqlite3_column_type(get(), column) == SQLITE_NULL
               ? std::numeric_limits<double>::infinity()
               : value;
  }
  std::string text(int column);
  Value value(int column);
  sqlite3_stmt* get() const { return statement_.get(); }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
  };
  const Connection* connection_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

enum class Access { read, write };

class Connection {
 public:
  /// Opens the file and checks that it is a database of this program and of this schema.
  /// Access::write creates one if the file is missing or empty, and renews its views.
  Connection(std::filesystem::path file, Access access);
  void execute(const std::string& sql) const;
  std::int64_t integer(const std::string& sql) const;
  sqlite3* get() const { return database_.get(); }
  const std::filesystem::path& file() const { return file_; }
  /// Throws StoreError for the last failure, in words.
  [[noreturn]] void fail() const;

 private:
  struct Close {
    void operator()(sqlite3* d) const { sqlite3_close_v2(d); }
  };
  void create() const;
  void check_ours() const;
  std::filesystem::path file_;
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace headroom::report
