// The content of access pictures, before drawing.
#include "harness/explain/access_picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "metrics/counting/line_access.h"
#include "tests/harness/picture_accesses.h"

namespace warpgauge::access_picture_test {
namespace {

using metrics::AccessKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Picture, OfAColumnHasARowForEachLane) {
  const explain::AccessPicture picture = drawn(shared_stride(AccessKind::shared_load, 4, 128));
  ASSERT_EQ(picture.rows.size(), 32u);
  EXPECT_EQ(picture.rows[31].label, "32");
  EXPECT_EQ(picture.rows[31].lanes[0], 1u << 31);
  EXPECT_TRUE(picture.conflicts(0, 0));
  EXPECT_FALSE(picture.conflicts(0, 1));
  EXPECT_EQ(picture.caption, "32 lanes want 32 words of bank 0: 32 wavefronts; ideal 1");
  EXPECT_EQ(picture.what, "shared load of 4 bytes a lane; lanes 0-31 of warp 0, block (0, 0, 0)");
  EXPECT_THAT(picture.notes, ElementsAre("Neighbouring lanes are 128 bytes apart."));
  EXPECT_THAT(explain::shared_cells(picture), IsEmpty());
}

TEST(Picture, HasTheCureInsteadOfTheDistance) {
  metrics::LineAccess line = shared_stride(AccessKind::shared_load, 4, 128);
  line.cure = "Rows are 32 words apart: pad by 1 word.";
  EXPECT_THAT(drawn(line).notes, ElementsAre(line.cure));
}

TEST(Picture, CaptionsOfAccessesWithoutConflicts) {
  const auto caption = [](AccessKind kind, int width, std::uint32_t stride, std::uint32_t mask) {
    return drawn(shared_stride(kind, width, stride, mask)).caption;
  };
  const auto load = AccessKind::shared_load;
  EXPECT_EQ(caption(load, 4, 132, kAllLanes),
            "32 lanes want 32 words of 32 banks, each bank once at a time: 1 wavefront; ideal 1");
  EXPECT_EQ(caption(load, 4, 0, kAllLanes), "32 lanes want 1 word of bank 0: 1 wavefront; ideal 1");
  EXPECT_EQ(caption(load, 4, 0, 0x10), "1 lane wants 1 word of bank 0: 1 wavefront; ideal 1");
  EXPECT_EQ(caption(load, 1, 1, kAllLanes),
            "32 lanes want 8 words of 8 banks, each bank once at a time: 1 wavefront; ideal 1");
  EXPECT_EQ(caption(AccessKind::shared_store, 16, 16, kAllLanes),
            "32 lanes want 128 words of 32 banks, each bank once at a time: 4 wavefronts; ideal 4");
}

TEST(Picture, CaptionsOfConflicts) {
  const auto caption = [](AccessKind kind, int width, std::uint32_t stride) {
    return drawn(shared_stride(kind, width, stride)).caption;
  };
  EXPECT_EQ(
      caption(AccessKind::shared_load, 4, 8),
      "2 lanes want 2 words of bank 0, and likewise of 15 other banks: 2 wavefronts; ideal 1");
  EXPECT_EQ(caption(AccessKind::shared_store, 8, 256),
            "16 lanes among 0-15 want 16 words of bank 0, and likewise of 1 other bank: "
            "32 wavefronts; ideal 2");
  EXPECT_EQ(caption(AccessKind::shared_atomic, 4, 0),
            "32 lanes update bank 0, one after the other: 32 wavefronts; ideal 1");
}

TEST(Picture, NamesTheGroupsOfWideAccesses) {
  const explain::AccessPicture picture = drawn(shared_stride(AccessKind::shared_store, 8, 16));
  EXPECT_THAT(
      picture.notes,
      ElementsAre("Of 8 bytes a lane only a part of the warp is served at a time (wavefronts "
                  "1-2: lanes 0-15; wavefronts 3-4: lanes 16-31).",
                  "Neighbouring lanes are 16 bytes apart."));
}

TEST(Picture, SaysWhatIsNotKnown) {
  metrics::LineAccess copy = shared_stride(AccessKind::async_copy, 4, 128);
  copy.trust = {metrics::Confidence::predicted, "no machine code to look at"};
  const explain::AccessPicture picture = drawn(copy);
  EXPECT_EQ(picture.rows.at(0).label, "");
  EXPECT_THAT(picture.notes.at(0), HasSubstr("not which lanes share one"));
  EXPECT_EQ(picture.notes.back(), "Not exact (predicted): no machine code to look at.");
}

TEST(Picture, OfGlobalMemoryHasARowForEachLine) {
  const explain::AccessPicture column = drawn(global_stride(4, 160));
  EXPECT_TRUE(column.sectors);
  EXPECT_EQ(column.caption, "32 lanes want 32 of the 256 words in 32 sectors; ideal 4");
  EXPECT_TRUE(column.is_moved(column.rows[0], 7));
  EXPECT_FALSE(column.is_moved(column.rows[0], 16));
  const explain::AccessPicture row = drawn(global_stride(4, 4));
  ASSERT_EQ(row.rows.size(), 1u);
  EXPECT_EQ(row.rows[0].lanes[9], 1u << 9);
  EXPECT_EQ(row.caption, "32 lanes want 32 of the 32 words in 4 sectors; ideal 4");
  EXPECT_EQ(drawn(global_stride(16, 16)).rows.size(), 4u);
}

TEST(Picture, SaysWhatTheAccessToGlobalMemoryIs) {
  using Space = metrics::WarpAccess::Space;
  for (const auto& [space, name] : {std::pair(Space::global_load, "global load"),
                                    std::pair(Space::global_store, "global store"),
                                    std::pair(Space::global_atomic, "global atomic")}) {
    metrics::LineAccess access = global_stride(4, 4);
    access.access.space = space;
    EXPECT_EQ(drawn(access).what,
              std::string(name) + " of 4 bytes a lane; lanes 0-31 of warp 0, block (0, 0, 0)");
  }
}

TEST(Picture, NamesTheLanesOfSharedCells) {
  const explain::AccessPicture broadcast = drawn(shared_stride(AccessKind::shared_load, 4, 0));
  EXPECT_THAT(explain::shared_cells(broadcast), ElementsAre("wavefront 1: bank 0 lanes 0-31"));
  const auto pairs = access_at(metrics::WarpAccess::Space::shared, AccessKind::shared_load, 8, 0xf,
                               [](std::uint32_t lane) { return lane / 2 * 8; });
  EXPECT_THAT(explain::shared_cells(drawn(pairs)),
              ElementsAre("wavefront 1: banks 0-1 lanes 0, 1; banks 2-3 lanes 2, 3"));
  EXPECT_THAT(explain::shared_cells(drawn(global_stride(4, 0, 0x3))),
              ElementsAre("line 1: word 0 lanes 0, 1"));
}

TEST(LanesText, WritesRunsAndSteps) {
  EXPECT_EQ(explain::lanes_text(0), "");
  EXPECT_EQ(explain::lanes_text(0x80000001), "0, 31");
  EXPECT_EQ(explain::lanes_text(0b110111), "0-2, 4, 5");
  EXPECT_EQ(explain::lanes_text(0x55555555), "0, 2 .. 30");
  EXPECT_EQ(explain::lanes_text(kAllLanes), "0-31");
  EXPECT_EQ(explain::lanes_text(0b1001001), "0, 3, 6");
}

}  // namespace
}  // namespace warpgauge::access_picture_test
