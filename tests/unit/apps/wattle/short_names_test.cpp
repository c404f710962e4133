#include "stream/short_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wattle::app {
namespace {

using testing::ElementsAre;

TEST(ShortNames, AreWholeWhereThereIsRoom) {
  EXPECT_THAT(short_names({"node1:4938", "node2:4938"}, 10, "…"),
              ElementsAre("node1:4938", "node2:4938"));
}

TEST(ShortNames, AreCutInTheMiddle) {
  EXPECT_THAT(short_names({"node1.example.org:4938", "n"}, 11, "…"),
              ElementsAre("node1…:4938", "n"));
}

TEST(ShortNames, DifferWhereTheNamesDifferAtTheEnd) {
  EXPECT_THAT(short_names({"rack-a-node:12345671", "rack-a-node:12345672"}, 10, "…"),
              ElementsAre("rack…45671", "rack…45672"));
}

TEST(ShortNames, DifferWhereTheNamesDifferInTheMiddle) {
  EXPECT_THAT(
      short_names({"gpu-node-0001.example.org:4938", "gpu-node-0002.example.org:4938"}, 12, "…"),
      ElementsAre("…1.example.…", "…2.example.…"));
}

TEST(ShortNames, AreCutAtCharacters) {
  EXPECT_THAT(short_names({"größe-größe-größe"}, 7, "…"), ElementsAre("grö…öße"));
}

TEST(ShortNames, HaveAMarkOfAscii) {
  EXPECT_THAT(short_names({"node1.example.org:4938"}, 11, "..."), ElementsAre("node...4938"));
}

TEST(ShortNames, FitNoRoomAtAll) {
  EXPECT_THAT(short_names({"node1", "node2"}, 1, "..."), ElementsAre(".", "."));
}

}  // namespace
}  // namespace wattle::app
