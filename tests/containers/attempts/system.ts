import type { EscapeAttempt } from "./escape-attempt.ts";

export const SYSTEM_ATTEMPTS: readonly EscapeAttempt[] = [
  {
    title: "changes settings of the kernel",
    code: () =>
      `for path in ("kernel/core_pattern", "kernel/modprobe", "vm/overcommit_memory", "kernel/hostname", "net/ipv4/ip_forward", "fs/suid_dumpable"):
    attempt(path, lambda: open("/proc/sys/" + path, "r+b").close())
attempt("sysrq", lambda: open("/proc/sysrq-trigger", "wb").close())
def spare():
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("-1000")
attempt("oom", spare)`,
    inPyodide: {
      why: "Its /proc is in its memory, so that it makes new files there.",
      harmless: [/^sysrq None$/, /^oom None$/],
    },
  },
  {
    title: "writes to /sys and reads the kernel's memory",
    code: () =>
      `for path in ("kernel/uevent_helper", "fs/cgroup/release_agent", "fs/cgroup/memory/release_agent", "power/state", "module/escape"):
    attempt(path, lambda: open("/sys/" + path, "r+b").close())
for path in ("/proc/kcore", "/dev/mem", "/dev/kmsg", "/dev/vda", "/dev/sda", "/dev/kvm", "/dev/fuse", "/dev/vsock"):
    attempt(path, lambda: open(path, "rb").close())`,
  },
  {
    title: "makes devices",
    code: () => `import stat
attempt("disk", lambda: os.mknod("/mnt/data/disk", stat.S_IFBLK | 0o600, os.makedev(254, 0)))
attempt("memory", lambda: os.mknod("/tmp/memory", stat.S_IFCHR | 0o600, os.makedev(1, 1)))`,
  },
  {
    title: "mounts file systems",
    code: () => `os.makedirs("/mnt/data/m", exist_ok=True)
attempt("tmpfs", lambda: syscall(165, 40, b"none", b"/mnt/data/m", b"tmpfs", 0, None))
attempt("remount", lambda: syscall(165, 40, None, b"/", None, 32, None))
attempt("umount", lambda: syscall(166, 39, b"/proc", 2))
attempt("fsopen", lambda: syscall(430, 430, b"tmpfs", 0))
attempt("open_tree", lambda: syscall(428, 428, -100, b"/", 1))`,
  },
  {
    title: "makes namespaces of its own",
    code: () => `for flag in (0x10000000, 0x20000, 0x40000000, 0x20000000):
    attempt("unshare %x" % flag, lambda: syscall(272, 97, flag))
attempt("clone", lambda: syscall(56, 220, 0x10000000 | 17, 0, 0, 0, 0))
attempt("clone3", lambda: syscall(435, 435, bytes(88), 88))
attempt("setns", lambda: syscall(308, 268, os.open("/proc/1/ns/net", os.O_RDONLY), 0))`,
  },
  {
    title: "becomes root",
    code: () => `attempt("setuid", lambda: os.setuid(0))
attempt("setgid", lambda: os.setgid(0))
attempt("groups", lambda: os.setgroups([0]))
attempt("chroot", lambda: os.chroot("/"))
attempt("capabilities", lambda: [line for line in text("/proc/self/status").splitlines() if line.startswith(("CapPrm", "CapEff", "CapBnd", "CapAmb")) and int(line.split()[1], 16)] or False)
attempt("new privileges", lambda: "NoNewPrivs:\\t1" not in text("/proc/self/status"))`,
  },
  {
    title: "traces and reads the memory of processes",
    code: () => `attempt("ptrace", lambda: syscall(101, 117, 16, 1, 0, 0))
attempt("traceme", lambda: syscall(101, 117, 0, 0, 0, 0))
attempt("memory of 1", lambda: os.getpid() != 1 and open("/proc/1/mem", "r+b").close())
attempt("process_vm_readv", lambda: syscall(310, 270, 1, 0, 0, 0, 0, 0))
attempt("pidfd_getfd", lambda: syscall(438, 438, 3, 0, 0))`,
  },
  {
    title: "reaches parts of the kernel that it has no use for",
    code: () => `attempt("keyctl", lambda: syscall(250, 219, 0, -3, 0))
attempt("add_key", lambda: syscall(248, 217, b"user", b"a", b"b", 1, -3))
attempt("bpf", lambda: syscall(321, 280, 0, bytes(64), 64))
attempt("perf", lambda: syscall(298, 241, bytes(128), 0, -1, -1, 0))
attempt("userfaultfd", lambda: syscall(323, 282, 0))
attempt("io_uring", lambda: syscall(425, 425, 4, bytes(120)))
attempt("module", lambda: syscall(175, 105, bytes(8), 8, b""))
attempt("kexec", lambda: syscall(246, 104, 0, 0, 0, 0))
attempt("syslog", lambda: syscall(103, 116, 3, bytes(64), 64))
attempt("future", lambda: syscall(500, 500))`,
  },
  {
    title: "restarts, renames or sets the clock of this machine",
    code: () => `attempt("reboot", lambda: syscall(169, 142, 0xfee1dead, 672274793, 0x1234567, 0))
attempt("hostname", lambda: syscall(170, 161, b"taken", 5))
attempt("clock", lambda: syscall(164, 170, bytes(16), None))
attempt("swap", lambda: syscall(167, 224, b"/mnt/data/swap", 0))`,
  },
  {
    title: "types into a terminal",
    code: () => `import fcntl
attempt("tty", lambda: fcntl.ioctl(os.open("/dev/tty", os.O_RDWR), 0x5412, b"x"))
attempt("stdin", lambda: fcntl.ioctl(0, 0x5412, b"x"))`,
  },
  {
    title: "raises its limits",
    code: () => `import resource
for kind in ("RLIMIT_CORE", "RLIMIT_NOFILE", "RLIMIT_AS", "RLIMIT_MEMLOCK"):
    hard = resource.getrlimit(getattr(resource, kind))[1]
    attempt(kind, lambda: resource.setrlimit(getattr(resource, kind), (hard, hard + 1)) if hard != resource.RLIM_INFINITY else True)
attempt("nice", lambda: os.nice(-20))
attempt("real time", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50)))`,
    inPyodide: {
      why: "Its Python knows no limits of the system.",
      traceback: /ModuleNotFoundError: No module named 'resource'/,
    },
  },
];
