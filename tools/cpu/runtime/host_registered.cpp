// Memory of the host that is mapped into the device: its pages become those of a block that both sides share.
#include "abi.h"
#include "host.h"
#include "host_registered.h"
#include <iterator>
#include <map>
#include <sys/mman.h>

namespace cudaperf {

struct Registered {
    uintptr_t end;
    char *shared;  // null where the device does not see it
};
static std::map<uintptr_t, Registered> registered;  // by the first page
constexpr uintptr_t page = 4096;

static uintptr_t page_of(const void *address) { return reinterpret_cast<uintptr_t>(address) & ~(page - 1); }

void *device_pointer(const void *host) {
    uintptr_t address = reinterpret_cast<uintptr_t>(host);
    auto above = registered.upper_bound(address);
    if (above == registered.begin()) return nullptr;
    auto &[begin, range] = *std::prev(above);
    return address < range.end && range.shared ? range.shared + (address - begin) : nullptr;
}

}  // namespace cudaperf

using namespace cudaperf;

cudaError_t cudaHostRegister(void *address, size_t size, unsigned int flags) {
    if (!address || !size) return cudaErrorInvalidValue;
    uintptr_t begin = page_of(address), end = page_of(static_cast<char *>(address) + size - 1) + page;
    auto next = registered.lower_bound(begin);
    if ((next != registered.end() && next->first < end) ||
        (next != registered.begin() && std::prev(next)->second.end > begin))
        return cudaErrorHostMemoryAlreadyRegistered;
    char *pages = reinterpret_cast<char *>(begin), *shared = nullptr;
    if (flags & cudaHostRegisterMapped) {
#ifdef MREMAP_FIXED
        void *block;
        if (cudaError_t failed = allocate(&block, end - begin, true)) return failed;
        shared = static_cast<char *>(block);
        memcpy(shared, pages, end - begin);
        // Of a shared mapping a size of 0 makes another one of the same pages.
        if (mremap(shared, 0, end - begin, MREMAP_MAYMOVE | MREMAP_FIXED, pages) != pages) return cudaErrorUnknown;
#else
        return cudaErrorNotSupported;
#endif
    }
    registered[begin] = {end, shared};
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *address) {
    auto found = registered.find(page_of(address));
    if (found == registered.end()) return cudaErrorInvalidValue;
    auto [end, shared] = found->second;
    size_t bytes = end - found->first;
    void *pages = reinterpret_cast<void *>(found->first);
    registered.erase(found);
    if (!shared) return cudaSuccess;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    if (mmap(pages, bytes, PROT_READ | PROT_WRITE, flags, -1, 0) != pages) return cudaErrorUnknown;
    memcpy(pages, shared, bytes);
    return cudaFree(shared);
}
