// printf of kernels.
#include "harness/emulator/machine/control/device_text.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace warpgauge::emulator::machine::control {
namespace {

// One conversion of a format: "%-8.3lld".
struct Conversion {
  std::string flags_and_widths;  ///< "%-8.3", with * replaced by the arguments
  bool is_long = false;          ///< ll, l, z, j, t: 64 bits
  char kind = 0;                 ///< 0: no conversion, to be printed as it stands
  std::string_view as_written;
};

/// Takes arguments one after the other, as the compiler laid them out.
class Arguments {
 public:
  explicit Arguments(const PrintfSource& source) : source_(source) {}
  std::uint64_t next(int bytes) {
    const auto size = static_cast<std::uint64_t>(bytes);
    offset_ = (offset_ + size - 1) / size * size;
    const std::uint64_t value = source_.argument(offset_, bytes);
    offset_ += size;
    ++count_;
    return value;
  }
  int count() const { return count_; }

 private:
  const PrintfSource& source_;
  std::uint64_t offset_ = 0;
  int count_ = 0;
};

// Parses the conversion that `format` begins with.
Conversion parse(std::string_view format, Arguments* arguments) {
  Conversion result;
  std::size_t n = 1;
  result.flags_and_widths = "%";
  const auto take_while = [&](std::string_view set) {
    for (; n < format.size() && set.find(format[n]) != set.npos; ++n) {
      if (format[n] == '*') {
        result.flags_and_widths += std::to_string(static_cast<int>(arguments->next(4)));
      } else {
        result.flags_and_widths += format[n];
      }
    }
  };
  take_while("-+ #0");
  take_while("*0123456789");
  take_while(".");
  take_while("*0123456789");
  for (; n < format.size() && std::string_view("hlLqjzt").find(format[n]) != format.npos; ++n) {
    result.is_long |= format[n] != 'h';
  }
  const bool known =
      n < format.size() && std::string_view("diouxXcsfFeEgGaApn%").find(format[n]) != format.npos;
  if (known) result.kind = format[n++];
  result.as_written = format.substr(0, n);
  return result;
}

template <typename T>
std::string print(const std::string& format, T value) {
  std::string text(static_cast<std::size_t>(std::snprintf(nullptr, 0, format.c_str(), value)), 0);
  std::snprintf(text.data(), text.size() + 1, format.c_str(), value);
  return text;
}

/// The most bytes of a text that are printed.
std::size_t precision_of(const std::string& flags_and_widths) {
  const std::size_t point = flags_and_widths.find('.');
  if (point == std::string::npos) return std::string::npos;
  const int precision = std::atoi(flags_and_widths.c_str() + point + 1);
  return precision < 0 ? std::string::npos : static_cast<std::size_t>(precision);
}

std::string convert(const Conversion& conversion, Arguments& arguments,
                    const PrintfSource& source) {
  const std::string& begin = conversion.flags_and_widths;
  const char kind = conversion.kind;
  switch (kind) {
    case 'd':
    case 'i': {
      const std::uint64_t bits = arguments.next(conversion.is_long ? 8 : 4);
      const auto value = conversion.is_long ? static_cast<long long>(bits)
                                            : static_cast<int>(static_cast<std::uint32_t>(bits));
      return print(begin + "ll" + kind, value);
    }
    case 'o':
    case 'u':
    case 'x':
    case 'X': {
      const unsigned long long value = arguments.next(conversion.is_long ? 8 : 4);
      return print(begin + "ll" + kind, value);
    }
    case 'c':
      return print(begin + kind, static_cast<int>(arguments.next(4)));
    case 'p':
      return print(begin + kind,
                   reinterpret_cast<void*>(static_cast<std::uintptr_t>(arguments.next(8))));
    case 's':
      return print(begin + kind, source.text(arguments.next(8), precision_of(begin)).c_str());
    case 'n':
      arguments.next(8);
      return {};
    default:
      return print(begin + kind, std::bit_cast<double>(arguments.next(8)));
  }
}

}  // namespace

Printed format_text(std::string_view format, const PrintfSource& source) {
  Printed result;
  Arguments arguments(source);
  while (!format.empty()) {
    const std::size_t plain = std::min(format.find('%'), format.size());
    result.text += format.substr(0, plain);
    format.remove_prefix(plain);
    if (format.empty()) break;
    const Conversion conversion = parse(format, &arguments);
    if (conversion.kind == '%') {
      result.text += '%';
    } else if (conversion.kind == 0) {
      result.text += conversion.as_written;
    } else {
      result.text += convert(conversion, arguments, source);
    }
    format.remove_prefix(conversion.as_written.size());
  }
  result.arguments = arguments.count();
  return result;
}

OrderedOutput::OrderedOutput(std::function<void(std::string_view)> print)
    : print_(std::move(print)) {
  if (print_) return;
  print_ = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); };
}

OrderedOutput::~OrderedOutput() {
  for (const auto& [block, waiting] : waiting_) {
    if (!waiting.text.empty()) print_(waiting.text);
  }
}

void OrderedOutput::write(std::uint64_t block, std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (block == turn_) {
    print_(text);
  } else {
    waiting_[block].text += text;
  }
}

void OrderedOutput::finished(std::uint64_t block) {
  const std::lock_guard lock(mutex_);
  waiting_[block].finished = true;
  // Then the text of the next one is due, whether that has ended or not.
  while (!waiting_.empty() && waiting_.begin()->first == turn_) {
    const Waiting next = std::move(waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
    if (!next.text.empty()) print_(next.text);
    if (!next.finished) return;
    ++turn_;
  }
}

}  // namespace warpgauge::emulator::machine::control
