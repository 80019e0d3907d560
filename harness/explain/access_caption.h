// The caption of a picture of an access.
#pragma once

#include <string>

#include "harness/explain/access_picture.h"
#include "metrics/counting/warp_access.h"

namespace warpgauge::explain {

/// "shared load of 4 bytes a lane; lanes 0-31 of warp 0, block (0, 0, 0)".
std::string what_text(const metrics::WarpAccess& access);

/// "32 lanes want 32 words of bank 0: 32 wavefronts; ideal 1", of the rows of `picture`.
std::string caption_of(const AccessPicture& picture, const metrics::WarpAccess& access);

}  // namespace warpgauge::explain
