// The race detector: who touched each four bytes last, and whether something orders that before now.
#pragma once
#include "checks.h"

namespace cudaperf::checks {

// One earlier access. `block` is a serial number over all launches of a case; 0: none.
struct Stamp {
    uint32_t block;
    uint16_t thread, barrier, warp;
    uint8_t bytes;  // a bit for each byte of the cell
    Strength strength;
    uint32_t site;  // an offset into the device code: a cell stands for four bytes, and must be small itself
};

// The history of four bytes: the last write, and the last reads of two different threads.
struct Cell {
    Stamp write, reads[2];
};

struct Place {
    uintptr_t begin;  // of the buffer or variable
    const char *name;
    Space space;
    Cell *cells;  // one for each four bytes from `begin`
};

namespace races {
void begin_launch();
void begin_block(uint32_t serial);
void end_block();
void check(const Place &place, uintptr_t address, size_t size, Access kind, Strength strength, const void *site);
void fence();
}  // namespace races

}  // namespace cudaperf::checks
