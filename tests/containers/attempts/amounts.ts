import { ANY_END, type EscapeAttempt } from "./escape-attempt.ts";

export const AMOUNTS_ATTEMPTS: readonly EscapeAttempt[] = [
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
    time.sleep(6)
    living = 8
    while living and os.waitpid(-1, os.WNOHANG) != (0, 0):
        living -= 1
    return living > 3 and living
attempt("processes", take)`,
    ends: ANY_END,
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
    isOpenIn: ["docker"], // Podman has no limit on the number of files in a folder in memory.
    timeoutMs: 15_000,
    inPyodide: {
      why: "Its files are objects in its memory, which is limited as a whole. It makes them slowly.",
      ends: ["out_of_memory", "crashed", "timed_out"],
      timeoutMs: 3000,
    },
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
attempt("yes", lambda: subprocess.run(["timeout", "1", "yes"]) and False)`,
  },
  {
    title: "recurses without end",
    code: () => `sys.setrecursionlimit(10 ** 9)
def deep(number):
    return deep(number + 1)
attempt("deep", lambda: deep(0))`,
    ends: ANY_END,
    timeoutMs: 4000,
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
