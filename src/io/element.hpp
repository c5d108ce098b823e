// The numbers a binary file may hold and how they become double: NumPy's real and integer types, either byte order. Integers
// beyond 2^53 are rounded to nearest, as every conversion to double does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fd {

struct ElementType {
  char kind = 'f';       // 'f' floating, 'i' signed, 'u' unsigned, 'b' boolean
  std::size_t size = 8;  // bytes
  bool swapped = false;  // byte order differs from this machine's

  // float32 holds every value of the type exactly (24 bits of mantissa).
  bool exact_in_float() const { return kind == 'f' ? size <= 4 : size <= 2; }
};

// From NumPy's type string ("<f4", ">i8", "|b1"). Throws Error(input) that says which cast helps; `file` is for the message.
ElementType element_type(std::string_view descriptor, const std::string& file);

// out[i * stride] = value i of `bytes`, for i < count. No alignment is asked of `bytes`.
void decode(ElementType type, const char* bytes, std::size_t count, double* out, std::size_t stride = 1);

// out[i * stride] = value i - what decode() makes of it: zero but for whole numbers of 64 bits.
void decode_roundings(ElementType type, const char* bytes, std::size_t count, double* out, std::size_t stride = 1);

double half_to_double(std::uint16_t bits);

}  // namespace fd
