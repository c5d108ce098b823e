#include "io/element.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

#include "io/whole_number.hpp"

namespace fd {
namespace {

struct Half {
  std::uint16_t bits;
};
struct Boolean {
  std::uint8_t byte;
};

template <class T>
double value_of(T x) {
  return static_cast<double>(x);
}
double value_of(Half x) { return half_to_double(x.bits); }
// x86's extended type: 64 bits of mantissa, the leading one among them, then 15 of exponent and the sign; the rest is padding.
template <std::size_t size>
struct Extended {
  std::uint64_t mantissa;
  std::uint16_t exponent;
  char padding[size - 10];
} __attribute__((packed));
template <std::size_t size>
double value_of(Extended<size> x) {
  const int exponent = x.exponent & 0x7fff;
  const double sign = (x.exponent & 0x8000) != 0 ? -1 : 1;
  if (exponent == 0x7fff)
    return x.mantissa << 1 == 0 ? sign * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  return sign * std::ldexp(static_cast<double>(x.mantissa), std::max(exponent, 1) - 16383 - 63);
}
double value_of(Boolean x) { return x.byte != 0 ? 1 : 0; }

struct Value {
  template <class T>
  double operator()(T x) const {
    return value_of(x);
  }
};
struct Rounding {
  template <class T>
  double operator()(T x) const {
    return rounding_of(x);
  }
};

template <class T, bool swapped, class Of = Value>
void decode_as(const char* bytes, std::size_t count, double* out, std::size_t stride) {
  for (std::size_t i = 0; i < count; ++i) {
    char raw[sizeof(T)];
    std::memcpy(raw, bytes + i * sizeof(T), sizeof(T));
    if constexpr (swapped) std::reverse(raw, raw + sizeof(T));
    T x;
    std::memcpy(&x, raw, sizeof(T));
    out[i * stride] = Of()(x);
  }
}

template <class T, class Of = Value>
void decode_either(bool swapped, const char* bytes, std::size_t count, double* out, std::size_t stride) {
  swapped ? decode_as<T, true, Of>(bytes, count, out, stride) : decode_as<T, false, Of>(bytes, count, out, stride);
}

}  // namespace

double half_to_double(std::uint16_t bits) {
  // sign · 2^(exponent - 15) · 1.mantissa; exponent 0 is subnormal (units of 2^-24), exponent 31 is infinity or NaN
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  double size = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  if (exponent == 31) size = mantissa == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  return (bits & 0x8000) != 0 ? -size : size;
}

ElementType element_type(std::string_view descriptor, const std::string& file) {
  const auto refuse = [&](const char* what, const char* hint) {
    return Error(Failure::input, fmt::format("{} holds {} (dtype {})", file, what, descriptor), hint);
  };
  std::string_view rest = descriptor;
  char order = '=';
  if (!rest.empty() && std::string_view("<>=|").find(rest[0]) != std::string_view::npos) {
    order = rest[0];
    rest.remove_prefix(1);
  }
  const char kind = rest.empty() ? '?' : rest[0];
  std::size_t size = 0;
  for (char c : rest.substr(rest.empty() ? 0 : 1, 4))
    size = c >= '0' && c <= '9' ? size * 10 + static_cast<std::size_t>(c - '0') : 10000;
  if (kind == 'c') throw refuse("complex numbers", "take np.abs(x), or stack x.real and x.imag as columns");
  if (kind == 'O') throw refuse("Python objects", "save numbers: np.save(path, np.asarray(x, dtype=np.float64))");
  if (kind == 'S' || kind == 'U' || kind == 'a') throw refuse("text", "save numbers: x.astype(np.float64)");
  if (kind == 'M' || kind == 'm') throw refuse("dates or times", "save numbers: x.astype(np.int64)");
  if (kind == 'V') throw refuse("records, not numbers", "save a plain two-dimensional array of numbers");
  const bool little = std::endian::native == std::endian::little;
  // NumPy calls every long double f16 or f12; the one that is met is that of x86.
  const bool extended = kind == 'f' && (size == 12 || size == 16) && little && order != '>';
  const bool known = extended || (kind == 'f' && (size == 2 || size == 4 || size == 8)) || (kind == 'b' && size == 1) ||
                     ((kind == 'i' || kind == 'u') && (size == 1 || size == 2 || size == 4 || size == 8));
  if (!known) throw refuse("a number type that is not known here", "save it as x.astype(np.float64)");
  return {kind, size, size > 1 && ((order == '<' && !little) || (order == '>' && little))};
}

void decode(ElementType type, const char* bytes, std::size_t count, double* out, std::size_t stride) {
  const bool swapped = type.swapped;
  switch (type.kind) {
    case 'b': return decode_either<Boolean>(swapped, bytes, count, out, stride);
    case 'f':
      if (type.size == 2) return decode_either<Half>(swapped, bytes, count, out, stride);
      if (type.size == 4) return decode_either<float>(swapped, bytes, count, out, stride);
      if (type.size == 12) return decode_as<Extended<12>, false>(bytes, count, out, stride);
      if (type.size == 16) return decode_as<Extended<16>, false>(bytes, count, out, stride);
      return decode_either<double>(swapped, bytes, count, out, stride);
    case 'u':
      if (type.size == 1) return decode_either<std::uint8_t>(swapped, bytes, count, out, stride);
      if (type.size == 2) return decode_either<std::uint16_t>(swapped, bytes, count, out, stride);
      if (type.size == 4) return decode_either<std::uint32_t>(swapped, bytes, count, out, stride);
      return decode_either<std::uint64_t>(swapped, bytes, count, out, stride);
    default:
      if (type.size == 1) return decode_either<std::int8_t>(swapped, bytes, count, out, stride);
      if (type.size == 2) return decode_either<std::int16_t>(swapped, bytes, count, out, stride);
      if (type.size == 4) return decode_either<std::int32_t>(swapped, bytes, count, out, stride);
      return decode_either<std::int64_t>(swapped, bytes, count, out, stride);
  }
}

void decode_roundings(ElementType type, const char* bytes, std::size_t count, double* out, std::size_t stride) {
  if (type.size == 8 && type.kind == 'i') return decode_either<std::int64_t, Rounding>(type.swapped, bytes, count, out, stride);
  if (type.size == 8 && type.kind == 'u') return decode_either<std::uint64_t, Rounding>(type.swapped, bytes, count, out, stride);
  for (std::size_t i = 0; i < count; ++i) out[i * stride] = 0;
}

}  // namespace fd
