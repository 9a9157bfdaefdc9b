// The device's process: takes cases from the tool on stdin, lets the launcher's process run, and serves its
// requests.
#include "abi.h"
#include "checks.h"
#include "launcher_process.h"
#include "memory.h"
#include "printing.h"
#include "report.h"
#include "scheduler.h"
#include "signals.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace cudaperf {

constexpr int success = 0, invalid_value = 1, invalid_configuration = 9, invalid_symbol = 13,
              invalid_device_function = 98;
constexpr unsigned int most_launches = 100'000;  // told of a case; an endless loop makes millions

struct Device {
    const KernelEntry *kernels;
    unsigned int kernel_count;
    const Symbol *symbols;
    unsigned int symbol_count;
    std::vector<size_t> shared_limits;
    Order order = Order::forward;
    unsigned int workers = 1;
    int last_error = success;
    int fault = success;  // of a kernel that ended by itself: the answer to every later request
    bool poisons = true;  // fresh memory
    unsigned int launches = 0;
    const char *host = "the launcher";  // whoever asks
};

static Device device;

static bool in_device_code(const void *place) {
    Dl_info here, code;
    return dladdr(place, &here) && dladdr(device.kernels, &code) && here.dli_fbase == code.dli_fbase;
}

// The candidate's place of a signal: where it came, or else the nearest return address on the stack that lies in the
// candidate, for it may have come in a function of ours.
static const void *site_of(void *context, uintptr_t fault) {
    const void *site = reinterpret_cast<void *>(program_counter(context) + 1);  // sites are return addresses
    // Of a stack that overflowed the page of the fault cannot be read.
    uintptr_t begin = stack_pointer(context), readable = (fault & ~uintptr_t{4095}) + 4096;
    if (begin < readable && readable - begin <= 64 << 10) begin = readable;
    void *const *stack = reinterpret_cast<void *const *>(begin);
    for (int i = 0; stack && !in_device_code(site) && i < 128; i++)
        if (in_device_code(stack[i])) return stack[i];
    return site;
}

static void on_signal(int number, siginfo_t *info, void *context) {
    uintptr_t address = reinterpret_cast<uintptr_t>(info->si_addr);
    const void *site = site_of(context, address);
    constexpr uintptr_t margin = uintptr_t{16} << 30, near_stack = 64 << 10;
    bool memory = number == SIGSEGV || number == SIGBUS;
    if (!position.launch) fail("crash");
    std::string who = name_thread(*position.launch, position.block, position.thread);
    if (memory && address >= device_begin - margin && address < device_end + margin) {
        const Allocation *near = nearest_allocation(address);
        std::string where = near && address >= near->end()
                                ? text("%zu bytes past the end of %s (%zu bytes)", address - near->end(),
                                       near->name.c_str(), near->size)
                                : "an address outside every buffer";
        report_finding("out-of-bounds", "error", 0, {site}, who + " accesses " + where + " at {0}");
        fail("out-of-bounds");
    }
    uintptr_t from_stack = address - stack_pointer(context) + near_stack;
    if (memory && (overflows_stack(info->si_addr) || from_stack < 2 * near_stack))
        report_finding("stack-overflow", "error", 0, {site}, who + " needs more local memory than its stack has at {0}");
    else if (memory && address > 4096)
        report_finding(
            "crash", "error", 0, {site},
            who + " accesses an address that is not the device's at {0}: a host pointer, or a wild one");
    else if (number == SIGFPE)
        report_finding("division-by-zero", "error", 0, {site}, who + " divides an integer by zero at {0}");
    else
        report_finding("crash", "error", 0, {site},
                       who + text(" ends in signal %d (%s) at {0}", number, strsignal(number)));
    fail("crash");
}

static const char *refusal(const Request &request) {
    const Extent &g = request.grid, &b = request.block;
    uint64_t threads = uint64_t{g.x} * g.y * g.z * b.x * b.y * b.z;
    if (request.value && threads > resident_threads) return "a cooperative launch of more threads than the device holds";
    if (!b.x || !b.y || !b.z) return "the block is empty";
    if (!g.x || !g.y || !g.z) return "the grid is empty";
    if (static_cast<uint64_t>(b.x) * b.y * b.z > 1024 || b.x > 1024 || b.y > 1024)
        return "the block has more than 1024 threads";
    if (b.z > 64) return "the block is deeper than 64 threads";
    if (g.x > 0x7fffffff || g.y > 65535 || g.z > 65535)
        return "the grid exceeds 2147483647 x 65535 x 65535 blocks";
    if (request.size > device.shared_limits[request.index])
        return "more dynamic shared memory than allowed (48 KiB unless cudaFuncSetAttribute raises it)";
    return nullptr;
}

static void launch(const Request &request, const std::vector<unsigned char> &arguments) {
    const Extent &g = request.grid, &b = request.block;
    const char *error = refusal(request);
    size_t static_shared = 0;
    bool cooperative = request.value && (g.x > 1 || g.y > 1 || g.z > 1);
    if (cooperative && checks::active) {
        report_finding("unsupported", "error", static_cast<int>(request.line), {},
                       "a cooperative launch of several blocks cannot be checked: run it without checkers");
        fail("launch-error");
    }
    if (error) {
        device.last_error = invalid_configuration;
        report_finding("launch-error", "error", static_cast<int>(request.line), {},
                       text("the launch of %s fails: %s", device.kernels[request.index].name, error));
    } else {
        *running_kernel = static_cast<int32_t>(request.index);
        Launch launch{&device.kernels[request.index],
                      request.index,
                      arguments.data(),
                      {g.x, g.y, g.z},
                      {b.x, b.y, b.z},
                      request.size,
                      static_cast<uint64_t>(g.x) * g.y * g.z,
                      b.x * b.y * b.z,
                      cooperative};
        if (checks::active) checks::begin_launch(launch);
        Ran ran = run(launch, device.order, checks::active ? 1 : device.workers);
        static_shared = ran.static_shared, device.fault = ran.error;
        if (checks::active) checks::end_launch();
        *running_kernel = -1;
    }
    if (device.launches++ >= most_launches) return;
    report(R"({"event":"launch","kernel":%u,"grid":[%u,%u,%u],"block":[%u,%u,%u],)"
           R"("shared":%lu,"static":%zu,"error":%s})",
           request.index, g.x, g.y, g.z, b.x, b.y, b.z, static_cast<unsigned long>(request.size),
           static_shared, quoted(error ? error : "").c_str());
}

static char *at(uint64_t address) { return reinterpret_cast<char *>(address); }

static int misuse(const char *call) {
    report_finding("api-error", "warning", 0, {}, std::string(call));
    return device.last_error = invalid_value;
}

static int symbol_range(const Request &request, uint64_t offset, size_t size) {
    if (request.index >= device.symbol_count) return device.last_error = invalid_symbol;
    const Symbol &symbol = device.symbols[request.index];
    if (offset > symbol.size || size > symbol.size - offset)
        return misuse("a copy to or from a symbol exceeds its size");
    return success;
}

// Serves one request; returns its error. `out` receives the reply's payload.
static int serve(const Request &request, const std::vector<unsigned char> &payload, uint64_t *value,
                 const char **out, size_t *out_size) {
    constexpr const char *copy = "cudaMemcpy returns cudaErrorInvalidValue: a range outside every "
                                 "allocation, or host and device pointers mixed up";
    int error = success;
    if (device.fault) return device.fault;
    switch (request.operation) {
    case Operation::allocate:
        error = request.index ? allocate_shared(request.size, value)
                              : allocate(request.size, value, device.poisons, checks::options.uninitialized);
        if (error) {
            device.last_error = error;
            report_finding("out-of-memory", "error", 0, {},
                           text("cudaMalloc of %lu bytes fails", static_cast<unsigned long>(request.size)));
        }
        return error;
    case Operation::release:
        return release(request.to)
                   ? misuse("cudaFree of an address that cudaMalloc did not return, or freed twice")
                   : success;
    case Operation::copy_in:
        // The bytes are there already.
        if (!inside_allocation(request.to, request.payload)) return misuse(copy);
        note_written(request.to, request.payload);
        return success;
    case Operation::copy_out:
        if (!inside_allocation(request.from, request.size)) return misuse(copy);
        *out = at(request.from), *out_size = request.size;
        return success;
    case Operation::copy_within:
        if (!inside_allocation(request.to, request.size) || !inside_allocation(request.from, request.size))
            return misuse(copy);
        memmove(at(request.to), at(request.from), request.size);
        note_copied(request.to, request.from, request.size);
        return success;
    case Operation::fill:
        if (!inside_allocation(request.to, request.size))
            return misuse("cudaMemset outside every allocation");
        memset(at(request.to), request.value, request.size);
        note_written(request.to, request.size);
        return success;
    case Operation::write_symbol:
        if ((error = symbol_range(request, request.to, payload.size()))) return error;
        memcpy(static_cast<char *>(device.symbols[request.index].address) + request.to, payload.data(),
               payload.size());
        return success;
    case Operation::read_symbol:
        if ((error = symbol_range(request, request.from, request.size))) return error;
        *out = static_cast<char *>(device.symbols[request.index].address) + request.from,
        *out_size = request.size;
        return success;
    case Operation::symbol_address:
        if ((error = symbol_range(request, 0, 0))) return error;
        *value = reinterpret_cast<uint64_t>(device.symbols[request.index].address);
        return success;
    case Operation::set_shared_limit:
        if (request.index >= device.kernel_count || request.size > largest_shared_limit)
            return misuse("cudaFuncSetAttribute asks for more than 227 KiB of dynamic shared memory");
        device.shared_limits[request.index] = request.size;
        return success;
    case Operation::describe_kernel: {
        if (request.index >= device.kernel_count) return invalid_device_function;
        const KernelEntry &kernel = device.kernels[request.index];
        *value = kernel.argument_bytes;
        *out = reinterpret_cast<const char *>(kernel.arguments);
        *out_size = kernel.argument_count * sizeof(Argument);
        return success;
    }
    case Operation::synchronize: return success;
    case Operation::last_error:
        error = device.last_error;
        if (request.value) device.last_error = success;
        return error;
    default: return invalid_value;
    }
}

static void launcher_crashed(const Request &request) {
    const void *site = reinterpret_cast<void *>(request.from + 1);
    bool memory = request.value == SIGSEGV || request.value == SIGBUS;
    if (memory && is_device(at(request.to))) {
        const Allocation *near = nearest_allocation(request.to);
        report_host_finding("host-access", site,
                            std::string(device.host) + " reads or writes device memory" +
                                (near ? " (" + near->name + ")" : std::string()) +
                                " on the host: copy it with cudaMemcpy, or do this in a kernel");
        fail("host-access");
    }
    report_host_finding("crash", site,
                        text("%s ends in signal %d (%s)", device.host, request.value, strsignal(request.value)));
    fail("crash");
}

// Serves the launcher until it returns; false when its process has ended.
static bool serve_all(int channel) {
    Request request;
    std::vector<unsigned char> payload;
    while (receive_all(channel, &request, sizeof request)) {
        if (request.operation == Operation::returned) return true;
        if (request.operation == Operation::crashed) launcher_crashed(request);
        bool direct = request.operation == Operation::copy_in && inside_allocation(request.to, request.payload);
        payload.resize(direct ? 0 : request.payload);
        if (!receive_all(channel, direct ? at(request.to) : static_cast<void *>(payload.data()), request.payload))
            break;
        if (request.operation == Operation::launch) {
            if (request.index >= device.kernel_count ||
                payload.size() != device.kernels[request.index].argument_bytes)
                fail("crash");
            payload.push_back(0);
            if (!device.fault) launch(request, payload);
            continue;
        }
        Reply reply{};
        const char *out = nullptr;
        size_t out_size = 0;
        reply.error = serve(request, payload, &reply.value, &out, &out_size);
        reply.payload = out_size;
        std::string printed = take_printed();
        reply.printed = static_cast<uint32_t>(printed.size());
        if (!send_all(channel, &reply, sizeof reply) || !send_all(channel, out, out_size) ||
            !send_all(channel, printed.data(), printed.size()))
            break;
    }
    return false;
}

static void begin_case(const checks::Options &options, Order order) {
    device.order = order;
    device.last_error = success;
    device.launches = 0;
    device.shared_limits.assign(device.kernel_count, default_shared_limit);
    checks::begin_case(options);
}

static void end_case() {
    checks::end_case();
    forget_buffers();
    report(R"({"event":"end"})");
}

// A case on stdin: "case ORDER BOUNDS RACES UNINITIALIZED BARRIERS TRACE_BLOCKS BUFFERS ARGUMENTS", then a line a buffer,
// "ADDRESS SIZE NAME", and a line an argument, its 16 bytes as two hexadecimal words.
static void run_cases(int channel, pid_t launcher) {
    int order, bounds, races, uninitialized, barriers;
    unsigned long trace_blocks, buffers;
    uint32_t count;
    while (scanf(" case %d %d %d %d %d %lu %lu %u", &order, &bounds, &races, &uninitialized, &barriers, &trace_blocks,
                 &buffers, &count) == 8) {
        for (unsigned long i = 0; i < buffers; i++) {
            unsigned long address, size;
            char name[256];
            if (scanf("%lu %lu %255s", &address, &size, name) != 3) exit(1);
            add_allocation(address, size, name);
        }
        std::vector<uint64_t> words(count * 2);
        for (uint64_t &word : words) {
            unsigned long value;
            if (scanf("%lx", &value) != 1) exit(1);
            word = value;
        }
        begin_case({bounds != 0, races != 0, uninitialized != 0, barriers != 0, trace_blocks},
                   static_cast<Order>(order));
        if (!send_all(channel, &count, sizeof count) || !send_all(channel, words.data(), words.size() * 8) ||
            !serve_all(channel)) {
            int status = 0;
            waitpid(launcher, &status, 0);
            report_finding("crash", "error", 0, {},
                           WIFSIGNALED(status)
                               ? text("the launcher's process was killed by signal %d", WTERMSIG(status))
                               : text("the launcher ended its process with status %d", WEXITSTATUS(status)));
            fail("crash");
        }
        end_case();
    }
}

static int program_channel;
static pid_t program;

// What kernels have printed before one of them failed is shown, and the program may write out what it holds.
static void end_program() {
    std::string printed = take_printed();
    Reply reply{gone, static_cast<uint32_t>(printed.size()), 0, 0};
    send_all(program_channel, &reply, sizeof reply);
    send_all(program_channel, printed.data(), printed.size());
    shutdown(program_channel, SHUT_RD);
    for (int i = 0; i < 100 && !waitpid(program, nullptr, WNOHANG); i++) usleep(10'000);
}

// A whole program, under checks given as "ORDER BOUNDS RACES UNINITIALIZED BARRIERS TRACE_BLOCKS".
static void run_program(int channel, pid_t launcher, const char *checks, int shared) {
    int order, bounds, races, uninitialized, barriers;
    unsigned long trace_blocks;
    if (sscanf(checks, "%d %d %d %d %d %lu", &order, &bounds, &races, &uninitialized, &barriers, &trace_blocks) != 6)
        exit(1);
    if (!map_shared(shared)) fail("out-of-memory");
    device.host = "the program";
    program_channel = channel, program = launcher;
    last_words = end_program;
    begin_case({bounds != 0, races != 0, uninitialized != 0, barriers != 0, trace_blocks}, static_cast<Order>(order));
    device.poisons = checks::active;
    assertions_end_launch = !checks::active;
    serve_all(channel);
    checks::end_case();
    int status = 0;
    waitpid(launcher, &status, 0);
    report(R"({"event":"exit","status":%d,"signal":%d})", WIFEXITED(status) ? WEXITSTATUS(status) : -1,
           WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

template <typename T> static const T *exported(void *library, const char *name) {
    return static_cast<const T *>(dlsym(library, name));
}

static uintptr_t load_device(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    device.kernels = exported<KernelEntry>(library, "cudaperf_kernels");
    device.kernel_count = *exported<unsigned int>(library, "cudaperf_kernel_count");
    device.symbols = exported<Symbol>(library, "cudaperf_symbols");
    device.symbol_count = *exported<unsigned int>(library, "cudaperf_symbol_count");
    for (unsigned int i = 0; i < device.symbol_count; i++) {
        const Symbol &symbol = device.symbols[i];
        add_allocation(reinterpret_cast<uintptr_t>(symbol.address), symbol.size, symbol.name,
                       symbol.constant);
    }
    checks::set_variables(exported<const unsigned char *>(library, "cudaperf_variables"));
    device.workers = std::max(1u, std::thread::hardware_concurrency());
    Dl_info info;
    dladdr(device.kernels, &info);
    return reinterpret_cast<uintptr_t>(info.dli_fbase);
}

// A process of its own image, so that it holds nothing of the device and host pointers mean nothing to
// kernels.
static pid_t start_launcher(char **arguments, int channel) {
    pid_t launcher = fork();
    if (launcher) return launcher;
    std::string descriptor = std::to_string(channel);
    std::vector<char *> command{arguments[0], const_cast<char *>("launcher"), descriptor.data(), arguments[5]};
    for (char **argument = arguments + (arguments[6] ? 7 : 6); *argument; argument++) command.push_back(*argument);
    command.push_back(nullptr);
    execv(command[0], command.data());
    _exit(127);
}

}  // namespace cudaperf

// harness RESULTS_FD BUFFERS_FD BUFFERS_SIZE DEVICE_LIBRARY HOST_LIBRARY [CHECKS SHARED_FD PROGRAM_NAME PROGRAM_ARGUMENT...]
// harness launcher CHANNEL_FD HOST_LIBRARY [SHARED_FD PROGRAM_NAME PROGRAM_ARGUMENT...]
int main(int count, char **arguments) {
    using namespace cudaperf;
    if (count >= 4 && !strcmp(arguments[1], "launcher"))
        run_launcher(atoi(arguments[2]), arguments[3], count > 4 ? arguments + 4 : nullptr, count - 4);
    if (count < 6) return 2;
    int results = atoi(arguments[1]), buffers = atoi(arguments[2]), channel[2];
    size_t size = strtoul(arguments[3], nullptr, 10);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, channel)) return 1;
    fcntl(channel[0], F_SETFD, FD_CLOEXEC);
    signal(SIGPIPE, SIG_IGN);
    pid_t launcher = start_launcher(arguments, channel[1]);
    if (launcher < 0) return 1;
    close(channel[1]);
    open_report(results, 0);
    open_report(results, load_device(arguments[4]));
    watch_signals(on_signal);
    if (size) map_buffers(buffers, size);
    if (count > 8)
        run_program(channel[0], launcher, arguments[6], atoi(arguments[7]));
    else
        run_cases(channel[0], launcher);
    _exit(0);
}
