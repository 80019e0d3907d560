// A picture of an access as SVG, for pages and print.
#pragma once

#include <string>
#include <string_view>

#include "harness/explain/access_picture.h"

namespace warpgauge::explain {

/// A whole SVG file that needs nothing else. The palette is Okabe and Ito's, which is safe for
/// colour blindness; a conflict also has a thick border, for prints without colour.
std::string picture_svg(const AccessPicture& picture);

/// `text` for XML, between tags or in quotes: invalid UTF-8 becomes U+FFFD, and other characters
/// that XML lacks take printable()'s form.
std::string xml_text(std::string_view text);

}  // namespace warpgauge::explain
