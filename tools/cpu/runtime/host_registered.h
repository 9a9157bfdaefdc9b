// Memory of the host that cudaHostRegister has mapped into the device.
#pragma once

namespace cudaperf {

// Where the device sees an address of the host; null where it does not.
void *device_pointer(const void *host);

}  // namespace cudaperf
