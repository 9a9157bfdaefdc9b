// The launch ABI: what the launcher's process asks of the device, over a stream socket.
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace cudaperf {

// Device addresses lie in one range on which nothing else is mapped; the launcher's process maps none of it.
constexpr uintptr_t device_begin = 0x20'0000'0000, heap_begin = 0x30'0000'0000, device_end = 0x40'0000'0000;

// Memory that host and device share (managed, or mapped into the device) lies behind, at one address for both.
constexpr uintptr_t shared_begin = device_end, shared_end = shared_begin + (uintptr_t{4} << 30);

inline bool is_shared(const void *p) {
    return reinterpret_cast<uintptr_t>(p) >= shared_begin && reinterpret_cast<uintptr_t>(p) < shared_end;
}

inline bool is_device(const void *p) {
    return reinterpret_cast<uintptr_t>(p) >= device_begin && reinterpret_cast<uintptr_t>(p) < device_end;
}

enum class Operation : uint32_t {
    launch,          // kernel, grid, block, size = dynamic shared bytes, value = cooperative; payload: arguments; no reply
    allocate,        // size, index = 1: shared with the host -> reply.value: address
    release,         // to
    copy_in,         // to, size; payload: bytes
    copy_out,        // from, size -> payload
    copy_within,     // to, from, size
    fill,            // to, size, value
    write_symbol,    // index, to = offset; payload
    read_symbol,     // index, from = offset, size -> payload
    symbol_address,  // index -> reply.value
    set_shared_limit,  // index = kernel, size
    describe_kernel,   // index -> reply.value: bytes of all arguments; payload: an Argument each
    synchronize,       // -> the sticky error
    last_error,        // value: 1 clears it
    returned,          // the launcher came back; no reply
    crashed,  // value: signal, to: fault address, from: program counter in the host library; no reply
};

struct Extent {
    uint32_t x, y, z;
};

struct Request {
    Operation operation;
    uint32_t index;
    uint64_t to, from, size;
    Extent grid, block;
    int32_t value;
    uint32_t line;
    uint64_t payload;
};

// The reply of a device that has ended.
constexpr int32_t gone = -1;

struct Reply {
    int32_t error;
    uint32_t printed;  // bytes that kernels have printed; they follow the payload
    uint64_t value;
    uint64_t payload;
};

// Both return false when the other side is gone.
bool send_all(int descriptor, const void *data, size_t size);
bool receive_all(int descriptor, void *data, size_t size);

}  // namespace cudaperf
