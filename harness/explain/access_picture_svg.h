// A picture of an access as SVG, for pages and print.
#pragma once

#include <string>
#include <string_view>

#include "harness/explain/access_picture.h"

namespace warpgauge {

/// A whole SVG file that needs nothing else. Colours are those of Okabe and Ito, which the
/// colour-blind can tell apart; a conflict also has a thick border, for prints without colour.
std::string picture_svg(const AccessPicture& picture);

/// `text` as it may stand in XML, between tags or in quotes: what is no UTF-8, or no character of
/// XML, is shown as U+FFFD or in printable()'s form.
std::string xml_text(std::string_view text);

}  // namespace warpgauge
