import type { SessionEnd } from "../../src/responses-api/containers.ts";

/** What code must not reach. */
export interface HostFacts {
  /** A file of this machine that any user can read, with `secret` in it. */
  readonly canaryPath: string;
  /** A folder of this machine that any user can write to. */
  readonly openFolder: string;
  readonly processId: number;
  readonly tcpPort: number;
  readonly tcp6Port: number;
  readonly udpPort: number;
  readonly socketPath: string;
  readonly abstractSocket: string;
  /** An address of this machine beside loopback; loopback if there is none. */
  readonly address: string;
  /** Stands in the environment of this process, in the canary file, and in a file of another session. */
  readonly secret: string;
}

export interface EscapeAttempt {
  readonly title: string;
  /** Python after `PRELUDE`. Prints `ESCAPED` if it gets through, and `REFUSED` if it does not. */
  readonly code: (host: HostFacts) => string;
  /** How the session may end; null if it may live. Left out if it has to live. */
  readonly ends?: readonly (SessionEnd | null)[];
  readonly timeoutMs?: number;
  /** Whether it gets through where there is no sandbox, without harm, so that this can be tried. */
  readonly isControlled?: boolean;
  /** Whether a session may say nothing, because what it says is of no matter. */
  readonly isSilent?: boolean;
}

export const PRELUDE = `
import os, sys
def attempt(what, action):
    try:
        result = action()
    except (NameError, SyntaxError) as fault:
        print("BROKEN", what, repr(fault))
    except BaseException as refusal:
        print("REFUSED", what, type(refusal).__name__, refusal)
    else:
        print("ESCAPED" if result is not False else "REFUSED", what, repr(result)[:200])
def text(path):
    with open(path, errors="replace") as file:
        return file.read(100000)
def write(path):
    with open(path, "w") as file:
        file.write("written")
def syscall(x64, arm64, *arguments):
    import ctypes, platform
    number = x64 if platform.machine() == "x86_64" else arm64
    result = ctypes.CDLL(None, use_errno=True).syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
def connect(family, address, kind=None):
    import socket
    with socket.socket(family, kind or socket.SOCK_STREAM) as opened:
        opened.settimeout(2)
        opened.connect(address)
        opened.send(b"escaped")
    return True
def protocol():
    import stat
    return [number for number in range(3, 256) if os.path.exists("/proc/self/fd/%d" % number)
            and stat.S_ISFIFO(os.stat("/proc/self/fd/%d" % number).st_mode)]
def forge(head, data=b""):
    import json, struct
    text = json.dumps(head).encode()
    frame = struct.pack(">II", len(text), len(data)) + text + data
    for number in protocol():
        try:
            os.write(number, frame)
        except OSError:
            pass
`;

const ANY_END = [null, "crashed", "timed_out", "out_of_memory", "too_many_processes", "too_much_output"] as const;

const FILES: readonly EscapeAttempt[] = [
  {
    title: "reads a file of this machine",
    code: ({ canaryPath }) => `attempt("canary", lambda: text(${py(canaryPath)}))`,
    isControlled: true,
  },
  {
    title: "reads a file of this machine through the root of each process",
    code: ({ canaryPath }) =>
      `for process in ["self"] + [name for name in os.listdir("/proc") if name.isdigit()]:
    for folder in ("root", "cwd"):
        attempt("canary by " + process, lambda: text("/proc/%s/%s/%s" % (process, folder, "../" * 12 + ${py(canaryPath)})))`,
    isControlled: true,
  },
  {
    title: "overwrites a file of this machine",
    code: ({ canaryPath }) => `attempt("canary", lambda: open(${py(canaryPath)}, "r+").write("written"))`,
  },
  {
    title: "writes into an open folder of this machine",
    code: ({ openFolder }) => `attempt("folder", lambda: write(${py(`${openFolder}/left-behind`)}))`,
    isControlled: true,
  },
  {
    title: "reads passwords and keys",
    code: () =>
      `for path in ("/etc/shadow", "/root/.ssh/id_rsa", "/root/.bashrc", "/etc/ssl/private", "/var/lib", "/home", "/run", "/etc/hostname"):
    attempt(path, lambda: os.listdir(path) if os.path.isdir(path) else text(path))`,
  },
  {
    title: "writes to the system's folders",
    code: () =>
      `for path in ("/usr/bin/x", "/usr/lib/x", "/etc/x", "/x", "/dev/x", "/bin/x", "/mnt/x", "/proc/x"):
    attempt(path, lambda: write(path))`,
  },
  {
    title: "replaces a program of this machine",
    code: () => `attempt("python3", lambda: os.rename("/mnt/data", "/usr/bin/python3"))
attempt("sh", lambda: os.unlink("/usr/bin/sh"))
attempt("mode", lambda: os.chmod("/usr/bin/python3", 0o777))`,
  },
  {
    title: "makes hard links to files of this machine",
    code: ({ canaryPath }) => `attempt("canary", lambda: os.link(${py(canaryPath)}, "/mnt/data/canary"))
attempt("python3", lambda: os.link("/usr/bin/env", "/mnt/data/env"))`,
  },
  {
    title: "reads a file by its handle",
    code: () => `attempt("handle", lambda: syscall(304, 265, -100, bytes(128), 0))
attempt("name", lambda: syscall(303, 264, -100, b"/usr", bytes(128), bytes(8), 0))`,
  },
  {
    title: "finds a file of this machine among its open ones",
    code: () =>
      `def opened():
    links = [os.readlink("/proc/self/fd/" + name) for name in os.listdir("/proc/self/fd") if os.path.lexists("/proc/self/fd/" + name)]
    return [link for link in links if link[0] == "/" and not link.startswith(("/dev/null", "/proc/", "/mnt/data"))] or False
attempt("open files", opened)`,
  },
  {
    title: "finds the secret in the environment or the arguments of a process",
    code: ({ secret }) =>
      `def search():
    found = []
    for process in os.listdir("/proc"):
        for name in ("environ", "cmdline"):
            try:
                found.append(open("/proc/%s/%s" % (process, name), "rb").read())
            except OSError:
                pass
    return ${py(secret.slice(0, 4))}.encode() + ${py(secret.slice(4))}.encode() in b"".join(found)
attempt("environment", search)
attempt("own", lambda: ${py(secret)} in str(os.environ))`,
  },
  {
    title: "finds the file of another session",
    code: ({ secret }) =>
      `def search():
    for folder in ["/mnt/data", "/tmp"] + ["/proc/%s/root/mnt/data" % name for name in os.listdir("/proc") if name.isdigit()]:
        if os.path.exists(folder + "/other.txt") and ${py(secret)} in text(folder + "/other.txt"):
            return folder
    return False
attempt("other session", search)`,
  },
];

const SYSTEM: readonly EscapeAttempt[] = [
  {
    title: "changes settings of the kernel",
    code: () =>
      `for path in ("kernel/core_pattern", "kernel/modprobe", "vm/overcommit_memory", "kernel/hostname", "net/ipv4/ip_forward", "fs/suid_dumpable"):
    attempt(path, lambda: open("/proc/sys/" + path, "r+b").close())
attempt("sysrq", lambda: open("/proc/sysrq-trigger", "wb").close())
attempt("oom", lambda: open("/proc/self/oom_score_adj", "wb").close())`,
  },
  {
    title: "reads /sys and the kernel's memory",
    code: () =>
      `for path in ("/sys/kernel", "/sys/class/net", "/sys/fs/cgroup"):
    attempt(path, lambda: os.listdir(path))
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
attempt("memory of 1", lambda: open("/proc/1/mem", "r+b").close())
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
  },
];

const NETWORK: readonly EscapeAttempt[] = [
  {
    title: "connects to a server on loopback",
    code: ({ tcpPort }) => `import socket
attempt("tcp", lambda: connect(socket.AF_INET, ("127.0.0.1", ${tcpPort})))`,
    isControlled: true,
  },
  {
    title: "connects to a server on IPv6's loopback",
    code: ({ tcp6Port }) => `import socket
attempt("tcp6", lambda: connect(socket.AF_INET6, ("::1", ${tcp6Port})))
attempt("mapped", lambda: connect(socket.AF_INET6, ("::ffff:127.0.0.1", ${tcp6Port})))`,
  },
  {
    title: "connects to this machine's address and to others",
    code: ({ address, tcpPort }) => `import socket
for address in (${py(address)}, "10.0.0.1", "192.0.2.1", "169.254.169.254"):
    attempt(address, lambda: connect(socket.AF_INET, (address, ${tcpPort})))`,
  },
  {
    title: "sends UDP to this machine",
    code: ({ address, udpPort }) => `import socket
def send(to):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:
        opened.sendto(b"escaped", (to, ${udpPort}))
    return False  # It may go to the sandbox's own loopback. The receiver tells.
attempt("loopback", lambda: send("127.0.0.1"))
attempt("address", lambda: send(${py(address)}))
attempt("broadcast", lambda: send("255.255.255.255"))`,
  },
  {
    title: "asks for the address of a name",
    code: () => `import socket
attempt("name", lambda: socket.getaddrinfo("example.com", 80))`,
  },
  {
    title: "fetches a page",
    code: ({ tcpPort }) => `import urllib.request
attempt("page", lambda: urllib.request.urlopen("http://127.0.0.1:${tcpPort}/", timeout=2).read(10))
attempt("file", lambda: urllib.request.urlopen("file:///etc/shadow").read(10))`,
  },
  {
    title: "connects to a socket file of this machine",
    code: ({ socketPath }) => `import socket
attempt("unix", lambda: connect(socket.AF_UNIX, ${py(socketPath)}))
for path in ("/run/docker.sock", "/var/run/dbus/system_bus_socket", "/run/systemd/private"):
    attempt(path, lambda: connect(socket.AF_UNIX, path))`,
    isControlled: true,
  },
  {
    title: "connects to an abstract socket of this machine",
    code: ({ abstractSocket }) => `import socket
attempt("abstract", lambda: connect(socket.AF_UNIX, "\\0" + ${py(abstractSocket)}))`,
    isControlled: true,
  },
  {
    title: "opens raw sockets and sockets of other families",
    code: () => `import socket
for family, kind in ((2, 3), (10, 3), (17, 3), (16, 3), (38, 5), (31, 3), (44, 3)):
    attempt("family %d" % family, lambda: socket.socket(family, kind).close())`,
  },
  {
    title: "connects to the host of a virtual machine",
    code: () => `attempt("vsock", lambda: syscall(41, 198, 40, 1, 0))`,
  },
  {
    title: "sees or makes network interfaces",
    code: () => `import socket
attempt("names", lambda: [name for _, name in socket.if_nameindex() if name != "lo"] or False)
attempt("devices", lambda: [line for line in text("/proc/net/dev").splitlines()[2:] if not line.strip().startswith("lo:")] or False)
attempt("tun", lambda: os.open("/dev/net/tun", os.O_RDWR))`,
  },
];

const PROCESSES: readonly EscapeAttempt[] = [
  {
    title: "sends signals to this process",
    code: ({ processId }) => `attempt("server", lambda: os.kill(${processId}, 0))
attempt("group", lambda: os.killpg(${processId}, 0))`,
    isControlled: true,
  },
  {
    title: "sends SIGKILL to all processes it sees",
    code: () => `attempt("nothing", lambda: False)
os.kill(-1, 9)`,
    ends: ANY_END,
  },
  {
    title: "kills its parent and the first process",
    code: () => `attempt("nothing", lambda: False)
for process in (os.getppid(), 1):
    os.kill(process, 9)`,
    ends: ANY_END,
  },
  {
    title: "forks without end",
    code: () => `attempt("nothing", lambda: False)
def bomb():
    while True:
        os.fork()
attempt("fork", bomb)`,
    ends: ANY_END,
    timeoutMs: 4000,
  },
  {
    title: "forks without end in a shell",
    code: () => `import subprocess, time
attempt("shell", lambda: subprocess.run(["/bin/sh", "-c", "b() { b | b & }; b; sleep 1"], timeout=3).returncode and False)
time.sleep(30)`,
    ends: ANY_END,
    timeoutMs: 6000,
  },
  {
    title: "starts threads without end",
    code: () => `import threading, time
def bomb():
    for _ in range(5000):
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
attempt("threads", bomb)`,
    ends: ANY_END,
    timeoutMs: 6000,
  },
  {
    title: "leaves a daemon",
    code: () => `def leave():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 256)
            import signal, time
            for number in range(1, 65):
                try:
                    signal.signal(number, signal.SIG_IGN)
                except (OSError, ValueError):
                    pass
            time.sleep(600)
        os._exit(0)
    return False
attempt("daemon", leave)`,
  },
  {
    title: "leaves a daemon of another program",
    code: () => `import subprocess
attempt("sleep", lambda: subprocess.Popen(["setsid", "nohup", "sleep", "600"], start_new_session=True, close_fds=True) and False)`,
  },
  {
    title: "writes a core file",
    code: () => `import subprocess
def dump():
    subprocess.run([sys.executable, "-c", "import os; os.abort()"], cwd="/mnt/data")
    return [name for name in os.listdir("/mnt/data") if "core" in name] or False
attempt("core", dump)`,
  },
];

const AMOUNTS: readonly EscapeAttempt[] = [
  { title: "loops without end", code: () => "while True: pass", ends: ["timed_out"], timeoutMs: 1500, isSilent: true },
  {
    title: "loops without end and catches everything",
    code: () => `import signal
for number in range(1, 32):
    try:
        signal.signal(number, lambda *_: None)
    except (OSError, ValueError):
        pass
while True:
    try:
        while True:
            pass
    except BaseException:
        pass`,
    ends: ["timed_out"],
    timeoutMs: 1500,
    isSilent: true,
  },
  {
    title: "computes in C without end",
    code: () => "10 ** 10 ** 10",
    ends: ["timed_out", "out_of_memory", null],
    timeoutMs: 1500,
    isSilent: true,
  },
  {
    title: "takes memory without end",
    code: () => `def take():
    held = []
    while True:
        held.append(bytearray(64 << 20))
attempt("memory", take)`,
    ends: ANY_END,
  },
  {
    title: "takes memory in many processes",
    code: () => `import time
def take():
    for _ in range(8):
        if os.fork() == 0:
            held = bytearray(os.urandom(1 << 20) * 200)
            time.sleep(20)
            os._exit(0)
    time.sleep(20)
attempt("processes", take)`,
    ends: ["out_of_memory", null],
  },
  {
    title: "takes shared memory",
    code: () => `import mmap
def take():
    held = []
    for _ in range(64):
        held.append(mmap.mmap(-1, 256 << 20))
        for page in range(0, 256 << 20, 4096):
            held[-1][page] = 1
attempt("shared", take)`,
    ends: ANY_END,
    timeoutMs: 20_000,
  },
  {
    title: "takes memory that belongs to no process",
    code: () => `attempt("memfd", lambda: syscall(319, 279, b"x", 0))
attempt("secret", lambda: syscall(447, 447, 0))
attempt("shm", lambda: syscall(29, 194, 0, 1 << 30, 0o1600))
attempt("queue", lambda: syscall(68, 186, 0, 0o1600))`,
  },
  {
    title: "fills the disk",
    code: () => `def fill(folder):
    with open(folder + "/big", "wb") as file:
        for _ in range(4096):
            file.write(bytes(1 << 20))
for folder in ("/mnt/data", "/tmp", "/dev/shm", "/dev", "/", "/run", "/var/tmp"):
    attempt(folder, lambda: fill(folder))
    try:
        os.unlink(folder + "/big")
    except OSError:
        pass`,
    ends: ANY_END,
    timeoutMs: 30_000,
  },
  {
    title: "makes files without end",
    code: () => `def many():
    for number in range(3_000_000):
        os.close(os.open("/tmp/%d" % number, os.O_CREAT | os.O_WRONLY))
attempt("files", many)`,
    ends: ["out_of_memory", "timed_out", null],
    timeoutMs: 15_000,
  },
  {
    title: "opens files without end",
    code: () => `attempt("open", lambda: [os.open("/dev/null", os.O_RDONLY) for _ in range(100_000)])`,
    ends: ANY_END,
  },
  {
    title: "prints without end",
    code: () => `import time
until = time.monotonic() + 1
while time.monotonic() < until:
    print("x" * 10_000)
attempt("nothing", lambda: False)`,
  },
  {
    title: "has programs print without end",
    code: () => `import subprocess
attempt("yes", lambda: subprocess.run(["timeout", "1", "yes"]).returncode and False)`,
  },
  {
    title: "recurses without end",
    code: () => `sys.setrecursionlimit(10 ** 9)
def deep(number):
    return deep(number + 1)
attempt("deep", lambda: deep(0))`,
    ends: ANY_END,
    isSilent: true,
  },
  {
    title: "raises an error whose text is endless",
    code: () => `class Endless(Exception):
    def __str__(self):
        return "x" * 50_000_000
attempt("nothing", lambda: False)
raise Endless()`,
    ends: ANY_END,
  },
];

const HARNESS: readonly EscapeAttempt[] = [
  {
    title: "writes nonsense to the server",
    code: () => `attempt("nothing", lambda: False)
for number in protocol():
    try:
        os.write(number, b"\\xff" * 4096)
    except OSError:
        pass`,
    ends: ANY_END,
    isSilent: true,
  },
  {
    title: "forges the end of its call, and more of them",
    code: () => `attempt("nothing", lambda: False)
for _ in range(5):
    forge({"is": "ran", "traceback": None})`,
    ends: ANY_END,
    isSilent: true,
  },
  {
    title: "forges a list of files with paths out of the folder",
    code: ({ canaryPath }) => `attempt("nothing", lambda: False)
forge({"is": "files", "files": [["../../..${canaryPath}", 1, "1"], [${py(canaryPath)}, 1, "1"]], "last": True})`,
    ends: ["crashed", null],
    isSilent: true,
  },
  {
    title: "forges pictures",
    code: () => `attempt("nothing", lambda: False)
for _ in range(100):
    forge({"is": "image", "last": True}, b"\\x89PNG\\r\\n\\x1a\\n" + bytes(1000))`,
    ends: ["crashed", null],
    isSilent: true,
  },
  {
    title: "forges heads that are deep, odd or for all objects",
    code: () => `attempt("nothing", lambda: False)
deep = []
for _ in range(900):
    deep = [deep]
forge({"is": "log", "deep": deep, "__proto__": {"is": "ran"}, "constructor": 1})
forge({"is": "__proto__"})`,
    ends: ["crashed", null],
    isSilent: true,
  },
  {
    title: "floods the server",
    code: () => `attempt("nothing", lambda: False)
import time
until = time.monotonic() + 8
while time.monotonic() < until:
    forge({"is": "log"}, b"x" * 200_000)`,
    ends: ["too_much_output", "crashed", null],
    timeoutMs: 15_000,
    isSilent: true,
  },
  {
    title: "speaks when nobody has asked",
    code: () => `import threading, time
def later():
    time.sleep(0.3)
    forge({"is": "ran", "traceback": None})
threading.Thread(target=later).start()
attempt("nothing", lambda: False)`,
  },
  {
    title: "closes what the server listens to",
    code: () => `attempt("nothing", lambda: False)
os.closerange(0, 256)`,
    ends: ANY_END,
    isSilent: true,
  },
  { title: "ends its own process", code: () => "os._exit(0)", ends: ANY_END, isSilent: true },
  { title: "kills its own process", code: () => "os.kill(os.getpid(), 9)", ends: ANY_END, isSilent: true },
  {
    title: "writes to address zero",
    code: () => "import ctypes\nctypes.memset(0, 1, 1)",
    ends: ANY_END,
    isSilent: true,
  },
  {
    title: "changes the functions that run it",
    code: () => `attempt("nothing", lambda: False)
import builtins, gc, json, threading
for module in list(sys.modules.values()):
    if "notebook" in getattr(module, "__name__", "") and hasattr(module, "Notebook"):
        module.Notebook.run = lambda *_: 1 / 0
        module.Notebook.flush = None
json.dumps = json.loads = lambda *_, **__: "{}"
os.read = os.write = os.open = None
builtins.open = builtins.print = builtins.len = None
sys.stdout = sys.stderr = None
sys.modules.clear()`,
    ends: ANY_END,
    isSilent: true,
  },
  {
    title: "reads what the server sends",
    code: () => `attempt("stdin", lambda: os.read(0, 100) or False)
attempt("input", lambda: sys.stdin.read(10) or False)`,
  },
];

export const ESCAPE_ATTEMPTS: readonly EscapeAttempt[] = [
  ...FILES,
  ...SYSTEM,
  ...NETWORK,
  ...PROCESSES,
  ...AMOUNTS,
  ...HARNESS,
];

function py(text: string): string {
  return JSON.stringify(text);
}
