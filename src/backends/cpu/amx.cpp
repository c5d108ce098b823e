#include "backends/cpu/amx.hpp"

#include "backends/cpu/packed_points.hpp"

#if defined(__x86_64__) && defined(__linux__) && __has_include(<amxbf16intrin.h>)

#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#define FD_AMX __attribute__((target("amx-tile,amx-bf16")))

namespace fd::cpu::amx {
namespace {

// What LDTILECFG reads: palette 1, and rows and bytes a row of every tile register.
struct alignas(64) Configuration {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};
static_assert(sizeof(Configuration) == 64);

constexpr std::size_t row_bytes = 64, words = side * row_bytes / sizeof(float);  // of one tile register

bool detect() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  constexpr unsigned bf16 = 1u << 22, tiles = 1u << 24;
  if ((d & bf16) == 0 || (d & tiles) == 0) return false;
  // the state of tile registers is large, so Linux wants to be asked for it: ARCH_REQ_XCOMP_PERM, XTILEDATA
  constexpr long request = 0x1023, tile_data = 18;
  return syscall(SYS_arch_prctl, request, tile_data) == 0;
}

}  // namespace

bool available() {
  static const bool is = detect();
  return is;
}

FD_AMX void begin() {
  Configuration configuration;
  for (int t = 0; t < 8; ++t) configuration.row_bytes[t] = row_bytes, configuration.rows[t] = side;
  __asm__ volatile("" : : "r"(&configuration) : "memory");  // g++ 12 believes that only its first 8 bytes are read
  _tile_loadconfig(&configuration);
}

FD_AMX void end() { _tile_release(); }

// Registers 0 to 2 are sums, 3 to 5 a chunk of 48 columns, 6 one of 16 rows.
FD_AMX void exponents(const float* columns, const float* rows, std::size_t chunks, float* tile) {
  static_assert(panel_rows == 3 * side);
  constexpr std::size_t tile_bytes = panel_rows * sizeof(float);
  for (std::size_t i = 0; i < panel_rows; i += side, rows += chunks * words) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    for (std::size_t c = 0; c < chunks; ++c) {
      _tile_loadd(6, rows + c * words, row_bytes);
      _tile_loadd(3, columns + c * words, row_bytes);
      _tile_dpbf16ps(0, 3, 6);
      _tile_loadd(4, columns + (chunks + c) * words, row_bytes);
      _tile_dpbf16ps(1, 4, 6);
      _tile_loadd(5, columns + (2 * chunks + c) * words, row_bytes);
      _tile_dpbf16ps(2, 5, 6);
    }
    _tile_stored(0, tile + i, tile_bytes);
    _tile_stored(1, tile + side * panel_rows + i, tile_bytes);
    _tile_stored(2, tile + 2 * side * panel_rows + i, tile_bytes);
  }
}

}  // namespace fd::cpu::amx

#else

namespace fd::cpu::amx {

bool available() { return false; }
void begin() {}
void end() {}
void exponents(const float*, const float*, std::size_t, float*) {}

}  // namespace fd::cpu::amx

#endif
