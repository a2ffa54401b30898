/*
 * killat N COMMAND [ARGUMENT...]
 *
 * Runs a command and kills it, with every thread and child, at the entry of its N-th file-changing system call:
 * the call is not carried out. Calls are counted over all threads and children, which is what strace's `when=`
 * cannot do. N = 0 kills nobody and only counts.
 *
 * Its last line on standard error is `killat: killed at N NAME` (exit code 137) or `killat: points=COUNT` (the
 * command's own exit code). A seccomp filter stops the command only at calls that may change a file, so a run
 * costs little more than without.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/ptrace.h> /* after sys/ptrace.h, whose enumerators it would break */

#define CALL(name) { SYS_##name, #name }
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const struct {
    int number;
    const char *name;
} calls[] = {
#ifdef SYS_open /* the old calls that newer architectures left out */
    CALL(open), CALL(creat), CALL(rename), CALL(link), CALL(symlink), CALL(unlink), CALL(mkdir), CALL(rmdir), CALL(chmod),
#endif
    CALL(openat), CALL(openat2),
    CALL(write), CALL(writev), CALL(pwrite64), CALL(pwritev), CALL(pwritev2), CALL(copy_file_range), CALL(sendfile),
    CALL(splice), CALL(truncate), CALL(ftruncate), CALL(fallocate), CALL(msync),
    CALL(fsync), CALL(fdatasync), CALL(sync_file_range), CALL(syncfs), CALL(sync),
    CALL(renameat2), CALL(linkat), CALL(symlinkat), CALL(unlinkat), CALL(mkdirat),
#ifdef SYS_renameat
    CALL(renameat),
#endif
    CALL(fchmod), CALL(fchmodat), CALL(utimensat), CALL(flock), CALL(fcntl), CALL(io_uring_enter),
};

static pid_t traced[4096];
static size_t n_traced;

static void fail(const char *what) {
    fprintf(stderr, "killat: %s: %s\n", what, strerror(errno));
    exit(125);
}

/* Makes the kernel stop us at the calls of the list, for the tracer to look at. */
static void install_filter(void) {
    struct sock_filter program[2 * COUNT(calls) + 2];
    size_t n = 0;
    program[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < COUNT(calls); i++) {
        program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].number, 0, 1);
        program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
    }
    program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);

    struct sock_fprog filter = { .len = (unsigned short)n, .filter = program };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        fail("seccomp");
}

static void run_command(char **command) {
    if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0)
        fail("ptrace");
    raise(SIGSTOP); /* until the tracer has set its options */
    install_filter();
    execvp(command[0], command);
    fail(command[0]);
}

/* openat2 passes its flags in memory of the command. */
static unsigned long long openat2_flags(pid_t pid, unsigned long long address) {
    unsigned long long flags = 0;
    struct iovec here = { &flags, sizeof flags };
    struct iovec there = { (void *)(address + offsetof(struct open_how, flags)), sizeof flags };
    return process_vm_readv(pid, &here, 1, &there, 1, 0) == sizeof flags ? flags : O_CREAT;
}

/* Opens count when they can make or empty a file, fcntl when it locks; every other call of the list counts. */
static int changes_a_file(pid_t pid, const struct ptrace_syscall_info *call) {
    const unsigned long long *args = (const unsigned long long *)call->seccomp.args;
    const int making = O_CREAT | O_TRUNC;
    switch (call->seccomp.nr) {
#ifdef SYS_open
    case SYS_open:
        return (args[1] & making) != 0;
#endif
    case SYS_openat:
        return (args[2] & making) != 0;
    case SYS_openat2:
        return (openat2_flags(pid, args[2]) & making) != 0;
    case SYS_fcntl:
        return args[1] == F_SETLK || args[1] == F_SETLKW || args[1] == F_OFD_SETLK || args[1] == F_OFD_SETLKW;
    default:
        return 1;
    }
}

static const char *name_of(unsigned long long number) {
    for (size_t i = 0; i < COUNT(calls); i++)
        if ((unsigned long long)calls[i].number == number)
            return calls[i].name;
    return "?";
}

static void remember(pid_t pid) {
    for (size_t i = 0; i < n_traced; i++)
        if (traced[i] == pid)
            return;
    if (n_traced == COUNT(traced)) {
        errno = ENOMEM;
        fail("too many processes");
    }
    traced[n_traced++] = pid;
}

/* Ends everybody and returns when the last one is gone, so that nobody writes while the caller looks. */
static void kill_all(void) {
    for (size_t i = 0; i < n_traced; i++)
        kill(traced[i], SIGKILL);
    while (waitpid(-1, NULL, __WALL) > 0 || errno == EINTR)
        continue;
}

/* The signal to hand on to the command: none for the stops that tracing itself causes. */
static int signal_to_deliver(int status) {
    int signal = WSTOPSIG(status);
    int is_event = status >> 16 != 0;
    return is_event || signal == SIGTRAP || signal == SIGSTOP ? 0 : signal;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: killat N COMMAND [ARGUMENT...]\n");
        return 125;
    }
    long target = atol(argv[1]), n_calls = 0;
    pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0)
        run_command(argv + 2);

    int status, code = 0;
    if (waitpid(child, &status, 0) < 0 || !WIFSTOPPED(status))
        return 125;
    remember(child);
    ptrace(PTRACE_SETOPTIONS, child, 0,
           PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC |
               PTRACE_O_EXITKILL);
    ptrace(PTRACE_CONT, child, 0, 0);

    for (;;) {
        pid_t pid = waitpid(-1, &status, __WALL);
        if (pid < 0 && errno == EINTR)
            continue;
        if (pid < 0)
            break;
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (pid == child)
                code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            continue;
        }
        remember(pid);
        if (status >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8)) {
            struct ptrace_syscall_info call;
            memset(&call, 0, sizeof call);
            ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof call, &call);
            if (changes_a_file(pid, &call) && ++n_calls == target) {
                kill_all();
                fprintf(stderr, "killat: killed at %ld %s\n", n_calls, name_of(call.seccomp.nr));
                return 137;
            }
        }
        ptrace(PTRACE_CONT, pid, 0, signal_to_deliver(status));
    }
    fprintf(stderr, "killat: points=%ld\n", n_calls);
    return code;
}
