#include "top/view.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "made_up_machine.hpp"

namespace wattle::app {
namespace {

const TopHits kHits{.line = 9,
                    .columns = {{TopSort::share, 0, 7}, {TopSort::cpu, 9, 14}},
                    .page = 4,
                    .furthest = 10};

TopEffect type(std::string_view bytes, TopView& view) {
  KeyDecoder decoder;
  TopEffect effect = TopEffect::none;
  for (const Key& key : decoder.take(bytes)) effect = apply(key, view, kHits);
  return effect;
}

TEST(TopView, ChangesWithEachKey) {
  TopView view;
  view.units = {{}, {.dimension = TopUnit::Dimension::kilowatt_hours}};
  EXPECT_EQ(type("s", view), TopEffect::redraw);
  EXPECT_EQ(view.sort, TopSort::cpu);
  EXPECT_EQ(type("o", view), TopEffect::redraw);
  EXPECT_TRUE(view.is_reversed);
  EXPECT_EQ(type("g", view), TopEffect::redraw);
  EXPECT_EQ(view.key, TopKey::user);
  EXPECT_EQ(type("t", view), TopEffect::redraw);
  EXPECT_EQ(view.shown_key(), TopKey::process);
  EXPECT_EQ(type("p", view), TopEffect::redraw);
  EXPECT_TRUE(view.is_paused);
  EXPECT_EQ(type("u", view), TopEffect::redraw);
  EXPECT_EQ(view.shown_unit().dimension, TopUnit::Dimension::kilowatt_hours);
  EXPECT_EQ(type("?", view), TopEffect::redraw);
  EXPECT_TRUE(view.shows_help);
  EXPECT_EQ(type("r", view), TopEffect::reset);
  EXPECT_EQ(type("\x0c", view), TopEffect::repaint);
  EXPECT_EQ(type("x", view), TopEffect::none);
  EXPECT_EQ(type("q", view), TopEffect::quit);
  EXPECT_EQ(type("\x03", view), TopEffect::quit);
}

TEST(TopView, ComesBackToWhereItWasWhenKeysAreRepeated) {
  TopView view;
  (void)type("sssssggggggttppuoo", view);
  EXPECT_EQ(view.sort, TopSort::share);
  EXPECT_EQ(view.key, TopKey::command);
  EXPECT_FALSE(view.is_tree || view.is_paused || view.is_reversed);
}

TEST(TopView, TypesAFilterInWhichLettersAreNoKeys) {
  TopView view;
  EXPECT_EQ(type("/qs\xc3\xa4\x7f", view), TopEffect::redraw);
  EXPECT_EQ(view.filter, "qs");
  EXPECT_TRUE(view.is_typing);
  EXPECT_EQ(type("\r", view), TopEffect::redraw);
  EXPECT_FALSE(view.is_typing);
  EXPECT_EQ(view.filter, "qs");
  EXPECT_EQ(apply({.kind = KeyKind::escape}, view, kHits), TopEffect::redraw);
  EXPECT_EQ(view.filter, "");
  EXPECT_EQ(type("/a\x03", view), TopEffect::quit) << "Ctrl-C quits everywhere";
}

TEST(TopView, ScrollsWithinTheTable) {
  TopView view;
  (void)type("\x1b[6~\x1b[B", view);
  EXPECT_EQ(view.offset, 5U);
  (void)type("\x1b[F", view);
  EXPECT_EQ(view.offset, 10U);
  (void)type("j\x1b[<65;1;1M", view);
  EXPECT_EQ(view.offset, 10U);
  (void)type("\x1b[5~k", view);
  EXPECT_EQ(view.offset, 5U);
  (void)type("\x1b[H\x1b[A", view);
  EXPECT_EQ(view.offset, 0U);
}

TEST(TopView, SortsByTheColumnThatIsClicked) {
  TopView view;
  EXPECT_EQ(type("\x1b[<0;10;10M", view), TopEffect::redraw);
  EXPECT_EQ(view.sort, TopSort::cpu);
  EXPECT_FALSE(view.is_reversed);
  (void)type("\x1b[<0;10;10M", view);
  EXPECT_TRUE(view.is_reversed);
  EXPECT_EQ(type("\x1b[<0;10;3M", view), TopEffect::none) << "another line";
}

TEST(TopView, ChangesTheSpeedOfAReplayAlone) {
  TopView view;
  EXPECT_EQ(type(">", view), TopEffect::none);
  view.is_replay = true;
  EXPECT_EQ(type(">>", view), TopEffect::speed);
  EXPECT_EQ(view.speed, 4.0);
  EXPECT_EQ(type("<", view), TopEffect::speed);
  EXPECT_EQ(view.speed, 2.0);
}

double sum_of_shares(const ShownRows& shown) {
  double sum = 0.0;
  for (const GroupRow& row : shown.rows) sum += row.share.value_or(0.0);
  return sum;
}

TEST(ShownRows, AddUpTo100WhateverIsHidden) {
  const TopObservation seen = made_up_machine();
  for (const TopKey key : {TopKey::command, TopKey::user, TopKey::process}) {
    const GroupTable table = group_rows(seen, key);
    for (std::size_t room = 1; room < 12; ++room) {
      for (const char* filter : {"", "gcc", "nobody"}) {
        for (const std::size_t offset : {0U, 2U, 100U}) {
          TopView view;
          view.filter = filter;
          view.offset = offset;
          view.is_tree = key == TopKey::process;
          const ShownRows shown = shown_rows(table, seen.processes, view, room);
          EXPECT_LE(shown.rows.size(), room);
          EXPECT_NEAR(sum_of_shares(shown), 100.0, 1e-9) << room << filter << offset;
        }
      }
    }
  }
}

TEST(ShownRows, OfATreeKeepTheParentsOfWhatMatches) {
  const TopObservation seen = made_up_machine();
  TopView view{.is_tree = true};
  view.filter = "PYTHON";
  const ShownRows shown = shown_rows(group_rows(seen, TopKey::process), seen.processes, view, 20);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < shown.groups; ++i) names.push_back(shown.rows[i].name);
  EXPECT_EQ(names, (std::vector<std::string>{"systemd", "bash", "python"}));
}

TEST(ShownRows, AreInTheOrderThatWasAskedFor) {
  const TopObservation seen = made_up_machine();
  const GroupTable table = group_rows(seen, TopKey::command);
  const auto first = [&](TopSort sort, bool is_reversed) {
    TopView view{.sort = sort, .is_reversed = is_reversed};
    return shown_rows(table, seen.processes, view, 20).rows.front().name;
  };
  EXPECT_EQ(first(TopSort::share, false), "python");
  EXPECT_EQ(first(TopSort::share, true), "systemd");
  EXPECT_EQ(first(TopSort::memory, false), "gcc");
  EXPECT_EQ(first(TopSort::gpu, false), "python");
  EXPECT_EQ(first(TopSort::name, false), "bash");
}

}  // namespace
}  // namespace wattle::app
