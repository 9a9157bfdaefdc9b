/* Runs a program so that it can reach nothing but what it was given:
 *
 *     sandbox [--ro PATH]... [--rw PATH]... [--seconds N] [--memory BYTES] [--file-size BYTES] [--net]
 * [--probe] -- PROGRAM ARGUMENT...
 *
 * Each protection is used where the kernel has it; --probe prints the names of those in force, and runs
 * nothing.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { most_paths = 64 };

static struct {
    const char *readable[most_paths], *writable[most_paths];
    int readable_count, writable_count, network, probe;
    rlim_t seconds, memory, file_size;
} options = {.seconds = 60, .memory = (rlim_t)4 << 30, .file_size = (rlim_t)1 << 30};

static void in_force(const char *name) {
    if (options.probe) puts(name);
}

static void limit(int resource, rlim_t value) {
    struct rlimit now;
    getrlimit(resource, &now);
    if (now.rlim_max != RLIM_INFINITY && value > now.rlim_max) value = now.rlim_max;
    setrlimit(resource, &(struct rlimit){value, value});
}

static void set_limits(void) {
    limit(RLIMIT_CPU, options.seconds);
    limit(RLIMIT_FSIZE, options.file_size);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_NPROC, 4096);
#ifdef __linux__
    limit(RLIMIT_DATA, options.memory);
#endif
    limit(RLIMIT_AS,
          options.memory + ((rlim_t)8 << 30)); /* reserved addresses and shared mappings come on top */
    in_force("limits");
}

#ifdef __linux__
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

static void write_file(const char *path, const char *text) {
    int file = open(path, O_WRONLY);
    if (file < 0) return;
    if (write(file, text, strlen(text)) < 0) perror(path);
    close(file);
}

static void enter_namespaces(void) {
    uid_t user = getuid();
    gid_t group = getgid();
    char map[64];
    if (unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWIPC | (options.network ? 0 : CLONE_NEWNET))) return;
    write_file("/proc/self/setgroups", "deny");
    snprintf(map, sizeof map, "%u %u 1", (unsigned)user, (unsigned)user);
    write_file("/proc/self/uid_map", map);
    snprintf(map, sizeof map, "%u %u 1", (unsigned)group, (unsigned)group);
    write_file("/proc/self/gid_map", map);
    in_force("process namespace");
    if (!options.network) in_force("network namespace");
}

static void drop_capabilities(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0}};
    syscall(SYS_capset, &header, none);
}

/* Landlock by its numbers: headers older than the running kernel lack the newer rights. */
struct ruleset {
    uint64_t files, network, scope;
};
struct __attribute__((packed)) path_rule {
    uint64_t access;
    int32_t parent;
};
enum {
    fs_execute = 1 << 0,
    fs_write_file = 1 << 1,
    fs_read_file = 1 << 2,
    fs_read_dir = 1 << 3,
    fs_truncate = 1 << 14,
    fs_ioctl = 1 << 15,
    fs_read = fs_execute | fs_read_file | fs_read_dir,
    fs_file = fs_execute | fs_write_file | fs_read_file | fs_truncate | fs_ioctl,
    create_ruleset = 444,
    add_rule = 445,
    restrict_self = 446
};

static void allow(int ruleset, const char *path, uint64_t access, uint64_t handled) {
    struct stat status;
    int parent = open(path, O_PATH | O_CLOEXEC);
    if (parent < 0) return;
    if (!fstat(parent, &status) && !S_ISDIR(status.st_mode)) access &= fs_file;
    struct path_rule rule = {access & handled, parent};
    syscall(add_rule, ruleset, 1, &rule, 0);
    close(parent);
}

static void restrict_files(void) {
    static const char *const system[] = {"/usr",
                                         "/lib",
                                         "/lib64",
                                         "/lib32",
                                         "/bin",
                                         "/sbin",
                                         "/opt",
                                         "/nix/store",
                                         "/gnu/store",
                                         "/etc/ld.so.cache",
                                         "/etc/ld.so.conf",
                                         "/etc/ld.so.conf.d",
                                         "/etc/alternatives",
                                         "/sys/devices/system/cpu",
                                         "/proc/cpuinfo",
                                         "/proc/meminfo",
                                         "/dev/zero",
                                         "/dev/urandom"};
    long version = syscall(create_ruleset, NULL, 0, 1);
    if (version < 1) return;
    uint64_t all = (1 << 13) - 1;
    if (version >= 2) all |= 1 << 13;
    if (version >= 3) all |= fs_truncate;
    if (version >= 5) all |= fs_ioctl;
    struct ruleset rules = {all, version >= 4 && !options.network ? 3 : 0, version >= 6 ? 3 : 0};
    size_t size = version >= 6   ? sizeof rules
                  : version >= 4 ? offsetof(struct ruleset, scope)
                                 : offsetof(struct ruleset, network);
    int ruleset = (int)syscall(create_ruleset, &rules, size, 0);
    if (ruleset < 0) return;
    for (size_t i = 0; i < sizeof system / sizeof *system; i++) allow(ruleset, system[i], fs_read, all);
    allow(ruleset, "/dev/null", fs_read_file | fs_write_file, all);
    for (int i = 0; i < options.readable_count; i++) allow(ruleset, options.readable[i], fs_read, all);
    for (int i = 0; i < options.writable_count; i++) allow(ruleset, options.writable[i], all, all);
    if (!syscall(restrict_self, ruleset, 0)) in_force("file access");
    close(ruleset);
}

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#endif

/* Refuses sockets to the world, and calls that reach into other processes or the kernel. */
static void filter_calls(void) {
#ifdef MACHINE
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define REFUSE BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES)
#define DENY(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), REFUSE
    struct sock_filter program[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        LOAD(nr),
#ifdef __x86_64__
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
        REFUSE,
#endif
        DENY(ptrace),
        DENY(process_vm_readv),
        DENY(process_vm_writev),
        DENY(kcmp),
        DENY(pidfd_open),
        DENY(keyctl),
        DENY(add_key),
        DENY(request_key),
        DENY(bpf),
        DENY(perf_event_open),
        DENY(userfaultfd),
        DENY(io_uring_setup),
        DENY(mount),
        DENY(umount2),
        DENY(pivot_root),
        DENY(setns),
        DENY(unshare),
        DENY(init_module),
        DENY(finit_module),
        DENY(kexec_load),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof program / sizeof *program, program};
    if (!options.network && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
        in_force("system-call filter");
#endif
}

static void die_with_parent(void) { prctl(PR_SET_PDEATHSIG, SIGKILL); }

static void protect(void) {
    drop_capabilities();
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    restrict_files();
    filter_calls();
}
#else
static void enter_namespaces(void) {}
static void die_with_parent(void) {}
static void protect(void) {}
#endif

static rlim_t number(const char *text) { return (rlim_t)strtoull(text, NULL, 10); }

static char **parse(char **a) {
    for (a++; *a && strcmp(*a, "--"); a++) {
        if (!strcmp(*a, "--net"))
            options.network = 1;
        else if (!strcmp(*a, "--probe"))
            options.probe = 1;
        else if (!a[1])
            break;
        else if (!strcmp(*a, "--ro") && options.readable_count < most_paths)
            options.readable[options.readable_count++] = *++a;
        else if (!strcmp(*a, "--rw") && options.writable_count < most_paths)
            options.writable[options.writable_count++] = *++a;
        else if (!strcmp(*a, "--seconds"))
            options.seconds = number(*++a);
        else if (!strcmp(*a, "--memory"))
            options.memory = number(*++a);
        else if (!strcmp(*a, "--file-size"))
            options.file_size = number(*++a);
        else {
            fprintf(stderr, "sandbox: unknown option %s\n", *a);
            exit(125);
        }
    }
    return *a ? a + 1 : a;
}

static void run(char **program) {
    die_with_parent();
    set_limits();
    protect();
    if (options.probe) {
        fflush(stdout);
        _exit(0);
    }
    execvp(program[0], program);
    fprintf(stderr, "sandbox: %s: %s\n", program[0], strerror(errno));
    _exit(126);
}

static int wait_for(pid_t child) {
    int status = 0;
    for (pid_t ended; (ended = wait(&status)) != child;)
        if (ended < 0 && errno != EINTR) break;
    return status;
}

int main(int count, char **arguments) {
    int status = 0, result[2];
    (void)count;
    char **program = parse(arguments);
    if (!options.probe && !*program) return 125;
    die_with_parent();
    enter_namespaces();
    fflush(stdout);
    /* The namespace's first process ignores most signals, so the program is its second; when the first ends,
     * nothing that the program started survives. */
    if (pipe(result)) return perror("sandbox: pipe"), 125;
    pid_t first = fork();
    if (first < 0) return perror("sandbox: fork"), 125;
    if (!first) {
        die_with_parent();
        close(result[0]);
        fcntl(result[1], F_SETFD, FD_CLOEXEC);
        pid_t second = fork();
        if (!second) run(program);
        status = second < 0 ? 125 << 8 : wait_for(second);
        _exit(write(result[1], &status, sizeof status) == sizeof status ? 0 : 125);
    }
    close(result[1]);
    wait_for(first);
    if (read(result[0], &status, sizeof status) != sizeof status) return 125;
    if (WIFSIGNALED(status)) {
        limit(RLIMIT_CORE, 0);
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
