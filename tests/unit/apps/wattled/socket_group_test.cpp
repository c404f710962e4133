// The texts about who may connect.
#include "http/socket_group.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "fakes/temp_folder.hpp"
#include "http/listening.hpp"
#include "report/golden.hpp"
#include "serve/options.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

class WhoMayConnect : public testing::Test {
 protected:
  /// The text for a socket of root with that mode and group.
  [[nodiscard]] std::string said(mode_t mode, gid_t group,
                                 std::optional<uid_t> owner = std::nullopt) const {
    const std::string path = (folder_.path() / "socket").string();
    const ListeningSocket listener =
        listen_at_file({.path = path, .mode = mode, .owner = owner, .group = group});
    const std::string text = who_may_connect(path) + "\n";
    ::unlink(path.c_str());
    return text;
  }
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root gives a socket away";
  }
  fakes::TempFolder folder_;
};

TEST_F(WhoMayConnect, IsEveryUserWhereTheModeSaysSo) {
  testing_support::expect_golden("socket_for_everybody.txt", said(0666, 54321));
}

TEST_F(WhoMayConnect, IsTheOwnerWhereTheGroupMayNot) {
  testing_support::expect_golden("socket_for_its_owner.txt", said(0600, 54321));
}

TEST_F(WhoMayConnect, IsTheGroupWithHowToJoinIt) {
  testing_support::expect_golden("socket_for_its_group.txt", said(0660, 54321));
}

TEST_F(WhoMayConnect, IsNotToBeMadeAMemberOfTheGroupRoot) {
  testing_support::expect_golden("socket_for_root.txt", said(0660, 0));
}

TEST_F(WhoMayConnect, IsItsOwnerAndRootWhereTheGroupIsRoots) {
  testing_support::expect_golden("socket_for_its_owner_and_root.txt", said(0660, 0, 54321));
}

TEST(SocketGroup, ThatIsNotThereIsNamedWithHowToMakeIt) {
  ServeOptions options;
  options.socket_group = "no-such-group";
  try {
    choose_socket_group(options);
    FAIL() << "there is such a group";
  } catch (const Error& error) {
    testing_support::expect_golden("socket_group_absent.txt", std::string(error.what()) + "\n");
  }
}

}  // namespace
}  // namespace wattle::daemon
