#include "launcher_process.h"
#include "memory.h"
#include "signals.h"
#include <algorithm>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>
#ifdef __linux__
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

namespace cudaperf {

bool send_all(int descriptor, const void *data, size_t size) {
    for (const char *p = static_cast<const char *>(data); size;) {
        ssize_t n = write(descriptor, p, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        p += n, size -= static_cast<size_t>(n);
    }
    return true;
}

bool receive_all(int descriptor, void *data, size_t size) {
    for (char *p = static_cast<char *>(data); size;) {
        ssize_t n = read(descriptor, p, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        p += n, size -= static_cast<size_t>(n);
    }
    return true;
}

static uintptr_t library_begin;

static void on_signal(int number, siginfo_t *info, void *context) {
    Request request{Operation::crashed};
    request.value = number;
    request.to = reinterpret_cast<uint64_t>(info->si_addr);
    request.from = program_counter(context) - library_begin;
    send_request(request, nullptr);
    _exit(128 + number);
}

static void use_signal_stack() {
    stack_t stack{};
    stack.ss_size = 64 << 10;
    stack.ss_sp = malloc(stack.ss_size);
    sigaltstack(&stack, nullptr);
}

// A launcher that leaves a thread behind could change its results after it has returned.
static void forbid_threads() {
#ifdef __linux__
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    sock_fprog filter{sizeof program / sizeof *program, program};
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
#endif
}

static void limit_memory() {
    rlimit limit{};
    getrlimit(RLIMIT_DATA, &limit);
    limit.rlim_cur = limit.rlim_max = std::min<rlim_t>(limit.rlim_max, rlim_t{1} << 30);
    setrlimit(RLIMIT_DATA, &limit);
}

// Moves the channel to descriptor 3 and closes everything behind it.
static int keep_only(int channel, bool program) {
    int null = open("/dev/null", O_RDWR);
    for (int standard = 0; standard < 3 && !program; standard++) dup2(null, standard);
    dup2(channel, 3);
    long last = sysconf(_SC_OPEN_MAX);
    for (int descriptor = 4; descriptor < (last > 0 && last < 4096 ? last : 4096); descriptor++)
        close(descriptor);
    return 3;
}

template <typename F> static F symbol(void *library, const char *name) {
    return reinterpret_cast<F>(dlsym(library, name));
}

// The table of kernels stands beside the library: a line each, the stub's offset in the library (-1: not there), and
// the kernel's name.
static std::vector<const void *> read_kernels(const std::string &path) {
    std::vector<const void *> stubs;
    if (FILE *file = fopen((path.substr(0, path.rfind('/')) + "/kernels").c_str(), "r")) {
        long offset;
        while (fscanf(file, "%ld%*[^\n]", &offset) == 1)
            stubs.push_back(offset < 0 ? nullptr : reinterpret_cast<const void *>(library_begin + offset));
        fclose(file);
    }
    return stubs;
}

static void serve_calls(void *library, int channel) {
    auto entry = symbol<void (*)(void **)>(library, "cudaperf_entry");
    uint32_t count;
    while (receive_all(channel, &count, sizeof count)) {
        std::vector<uint64_t> values(count * 2 + 2);
        std::vector<void *> arguments(count);
        if (!receive_all(channel, values.data(), count * 16)) break;
        for (uint32_t i = 0; i < count; i++) arguments[i] = &values[i * 2];
        entry(arguments.data());
        send_request(Request{Operation::returned}, nullptr);
    }
}

void run_launcher(int channel, const char *path, char **program_arguments, int program_count) {
    if (program_arguments && !map_shared(atoi(*program_arguments++))) _exit(127);
    program_count -= program_arguments != nullptr;
    channel = keep_only(channel, program_arguments);
    open_channel(channel);
    use_signal_stack();
    watch_signals(on_signal);
    if (!program_arguments) forbid_threads(), limit_memory();
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        _exit(127);
    }
    Dl_info info;
    dladdr(dlsym(library, "cudaperf_shadow_count"), &info);
    library_begin = reinterpret_cast<uintptr_t>(info.dli_fbase);
    declare_kernels(read_kernels(path));
    declare_symbols(symbol<const void *const *>(library, "cudaperf_shadows"),
                    *symbol<const int *>(library, "cudaperf_shadow_count"));
    if (program_arguments) {
        using Main = int (*)(int, char **, char **);
        auto program = symbol<Main>(library, "cudaperf_program_main");
        if (!program) program = symbol<Main>(library, "main");
        exit(program(program_count, program_arguments, nullptr));
    }
    serve_calls(library, channel);
    _exit(0);
}

}  // namespace cudaperf
