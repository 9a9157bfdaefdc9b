// The process in which the launcher runs: no device memory, no descriptor but the channel to the device.
#pragma once
#include "abi.h"
#include <vector>

namespace cudaperf {

void open_channel(int descriptor);
void declare_kernels(std::vector<const void *> stubs);
void declare_symbols(const void *const *addresses, int count);
void send_request(const Request &request, const void *payload);
// A kernel's arguments, each given by its address, as one block. Returns a cudaError_t.
int pack_arguments(const void *kernel, void **arguments, std::vector<unsigned char> &packed);

// Loads the host part and serves calls, or runs the program's `main`. Never returns.
[[noreturn]] void run_launcher(int channel, const char *library, char **program_arguments, int program_count);

}  // namespace cudaperf
