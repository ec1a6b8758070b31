// Shards of a run become one run again.
#include <gtest/gtest.h>

#include "diff_runs.hpp"
#include "model/infer/estimate.hpp"
#include "report/sqlite.hpp"
#include "report/store.hpp"

namespace headroom::report {
namespace {

TEST(Shards, AdoptedInOrderTheyAreTheWhole) {
  Folder folder;
  const RunInfo info = run_of({"a", "b"}, {1, 2}, {1, 2});
  const auto whole = folder / "whole.sqlite", merged = folder / "merged.sqlite";
  write(whole, info, {10, 20, 30, 40});
  const std::vector<double> speeds{10, 20, 30, 40};
  for (const auto& [name, shard] : {std::pair("1", Shard{0, 3}), {"2", Shard{3, 4}}}) {
    Store store(folder / name);
    store.begin_run(info, Unfinished::resume, shard);
    EXPECT_EQ(store.next_point(), shard.first);
    std::vector<model::Estimate> all;
    for (Size p = shard.first; p < shard.end; ++p)
      all.push_back(outcome(speeds[static_cast<std::size_t>(p)]));
    store.append(shard.first, all);
    store.finish_run();
  }
  EXPECT_THROW(Database(folder / "1").latest_run(), StoreError) << "a shard is no answer";
  EXPECT_EQ(number(Database(folder / "1").query("SELECT count(*) FROM result", 0).rows[0][0]), 0);
  {
    Store store(merged);
    store.begin_run(info);
    EXPECT_THROW(store.adopt(folder / "2", 1), std::logic_error) << "the first comes first";
    store.adopt(folder / "1", 1);
    store.adopt(folder / "2", 1);
    store.finish_run();
  }
  EXPECT_EQ(csv_of(merged, 1), csv_of(whole, 1));
  {
    Store store(merged);  // another night, whose rows have other ids than in the shards
    store.begin_run(info, Unfinished::leave);
    store.adopt(folder / "1", 1);
    store.adopt(folder / "2", 1);
    store.finish_run();
  }
  EXPECT_EQ(csv_of(merged, 2), csv_of(whole, 1));
  EXPECT_EQ(csv_of(merged, 1), csv_of(whole, 1));
}

/// Rows of points that the shard does not have are none of the merged run.
TEST(Shards, ARowTooManyStaysOutside) {
  Folder folder;
  const RunInfo info = run_of({"a", "b"}, {1, 2}, {1, 2});
  const auto shard = folder / "1", merged = folder / "merged.sqlite";
  {
    Store store(shard);
    store.begin_run(info, Unfinished::resume, Shard{0, 3});
    store.append(0, std::vector<model::Estimate>(3, outcome(10)));
    store.finish_run();
  }
  {
    const Connection connection(shard, Access::write);
    connection.execute(
        "CREATE TEMP TABLE extra AS SELECT * FROM outcome WHERE id = (SELECT max(id) "
        "FROM outcome); UPDATE extra SET id = id + 1; INSERT INTO outcome SELECT * "
        "FROM extra");
  }
  {
    Store store(merged);
    store.begin_run(info);
    store.adopt(shard, 1);
    EXPECT_EQ(store.stored_points(), 3);
    EXPECT_EQ(store.next_point(), 3);
    store.append(3, std::vector<model::Estimate>{outcome(40)});  // its id is free
    store.finish_run();
  }
}

}  // namespace
}  // namespace headroom::report
