// A picture of an access for a terminal.
#pragma once

#include <string>

#include "harness/explain/access_picture.h"

namespace warpgauge::explain {

/// At most 100 columns wide, but for names. A row has a cell for each of the 32 columns: the lane
/// ("07"), the first of several with + in front ("+07", listed below), or "." for none. With
/// `colour` conflicts stand out.
std::string picture_text(const AccessPicture& picture, bool colour);

}  // namespace warpgauge::explain
