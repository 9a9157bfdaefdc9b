// Warp functions: what each lane receives once all lanes that the mask names have arrived.
#include "worker.h"
#include <algorithm>

namespace cudaperf {

static uint64_t combine(WarpOperation operation, uint64_t a, uint64_t b) {
    int32_t x = static_cast<int32_t>(a), y = static_cast<int32_t>(b);
    switch (operation) {
    case WarpOperation::add: return static_cast<uint32_t>(a + b);
    case WarpOperation::minimum: return std::min(a, b);
    case WarpOperation::maximum: return std::max(a, b);
    case WarpOperation::signed_minimum: return static_cast<uint32_t>(std::min(x, y));
    case WarpOperation::signed_maximum: return static_cast<uint32_t>(std::max(x, y));
    case WarpOperation::bit_and: return a & b;
    case WarpOperation::bit_or: return a | b;
    case WarpOperation::bit_xor: return a ^ b;
    default: __builtin_unreachable();
    }
}

// The lane that a shuffle reads from; its own where the source lies outside its segment.
static int shuffle_source(const Fiber &fiber, int lane) {
    int first = lane & ~(fiber.width - 1), last = first + fiber.width - 1, source = lane;
    switch (fiber.operation) {
    case WarpOperation::shuffle: source = first + (fiber.lane & (fiber.width - 1)); break;
    case WarpOperation::shuffle_up: source = lane - fiber.lane >= first ? lane - fiber.lane : lane; break;
    case WarpOperation::shuffle_down: source = lane + fiber.lane <= last ? lane + fiber.lane : lane; break;
    case WarpOperation::shuffle_xor: source = (lane ^ fiber.lane) <= last ? lane ^ fiber.lane : lane; break;
    default: break;
    }
    return source;
}

// Matrix instructions: each lane's value is the address of what it brings and takes.
static void compute_together(const Fiber *fibers, uint32_t lanes, const uint64_t (&values)[32]) {
    const Fiber &first = fibers[__builtin_ctz(lanes)];
    if (lanes != ~0u)
        diverged(first.line, "the matrix instruction of line " + std::to_string(first.line) +
                                 " needs all 32 lanes of a warp, and only " +
                                 std::to_string(__builtin_popcount(lanes)) + " come");
    void *brought[32];
    for (int lane = 0; lane < 32; lane++) brought[lane] = reinterpret_cast<void *>(values[lane]);
    first.compute(brought);
}

static void finish_warp_operation(Worker &w, size_t index, uint32_t lanes) {
    Fiber *fibers = &w.fibers[index * 32];
    WarpOperation operation = fibers[__builtin_ctz(lanes)].operation;
    auto compute = fibers[__builtin_ctz(lanes)].compute;
    uint64_t values[32] = {}, ballot = 0, folded = 0;
    bool first = true;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        Fiber &fiber = fibers[lane];
        if (fiber.operation != operation || fiber.compute != compute)
            diverged(fiber.line, "lanes of one warp meet in different warp functions: lines " +
                                     std::to_string(fibers[__builtin_ctz(lanes)].line) + " and " +
                                     std::to_string(fiber.line));
        values[lane] = fiber.value;
        ballot |= static_cast<uint64_t>(fiber.value != 0) << lane;
        if (operation >= WarpOperation::add)
            folded = first ? fiber.value : combine(operation, folded, fiber.value);
        first = false;
    }
    if (operation == WarpOperation::together) compute_together(fibers, lanes, values);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest), source;
        Fiber &fiber = fibers[lane];
        uint32_t equal = 0;
        switch (operation) {
        case WarpOperation::sync:
        case WarpOperation::together: break;
        case WarpOperation::shuffle:
        case WarpOperation::shuffle_up:
        case WarpOperation::shuffle_down:
        case WarpOperation::shuffle_xor:
            source = shuffle_source(fiber, lane);
            // What a lane outside the operation would give is undefined: NaN, so that using it shows.
            fiber.value = lanes >> source & 1 ? values[source] : ~uint64_t{0};
            break;
        case WarpOperation::ballot: fiber.value = ballot; break;
        case WarpOperation::any: fiber.value = ballot != 0; break;
        case WarpOperation::all: fiber.value = ballot == lanes; break;
        case WarpOperation::uniform: fiber.value = ballot == lanes || !ballot; break;
        case WarpOperation::match_any:
        case WarpOperation::match_all:
            for (uint32_t other = lanes; other; other &= other - 1)
                if (values[__builtin_ctz(other)] == values[lane]) equal |= other & -other;
            fiber.value = operation == WarpOperation::match_any || equal == lanes ? equal : 0;
            break;
        default: fiber.value = folded;
        }
        fiber.state = State::ready;
    }
    w.warps[index].ready |= lanes;
    w.warps[index].waiting &= ~lanes;
    w.warp_epochs[index]++;
}

// The lanes that stand at one __activemask() when no lane of the warp can run: those that a GPU would have
// converged there. It orders nothing.
static bool try_active_mask(Worker &w, size_t index) {
    Warp &warp = w.warps[index];
    Fiber *fibers = &w.fibers[index * 32], *first = nullptr;
    uint32_t lanes = 0;
    for (uint32_t rest = warp.waiting; rest; rest &= rest - 1) {
        Fiber &fiber = fibers[__builtin_ctz(rest)];
        if (fiber.operation != WarpOperation::active_mask) continue;
        if (!first) first = &fiber;
        if (fiber.line == first->line) lanes |= rest & -rest;
    }
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        fibers[__builtin_ctz(rest)].value = lanes;
        fibers[__builtin_ctz(rest)].state = State::ready;
    }
    warp.ready |= lanes;
    warp.waiting &= ~lanes;
    return lanes != 0;
}

bool try_warp_operation(Worker &w, size_t index) {
    Warp &warp = w.warps[index];
    Fiber *fibers = &w.fibers[index * 32];
    for (uint32_t rest = warp.waiting; rest; rest &= rest - 1) {
        if (fibers[__builtin_ctz(rest)].operation == WarpOperation::active_mask) continue;
        uint32_t mask = fibers[__builtin_ctz(rest)].mask, needed = mask & warp.members & ~warp.done;
        bool complete = (needed & ~warp.waiting) == 0;
        for (uint32_t other = needed; complete && other; other &= other - 1) {
            const Fiber &fiber = fibers[__builtin_ctz(other)];
            complete = fiber.mask == mask && fiber.operation != WarpOperation::active_mask;
        }
        if (complete) return finish_warp_operation(w, index, needed), true;
    }
    return try_active_mask(w, index);
}

}  // namespace cudaperf
