// What kernels print: kept until the host waits for the device, then shown by the host's process, as on a GPU.
#pragma once
#include <string>

namespace cudaperf {

// Takes what has been printed since the last call.
std::string take_printed();

}  // namespace cudaperf
