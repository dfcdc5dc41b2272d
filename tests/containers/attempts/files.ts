import { type EscapeAttempt, py } from "./escape-attempt.ts";

export const FILES_ATTEMPTS: readonly EscapeAttempt[] = [
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
      `for path in ("/etc/shadow", "/etc/ssl/private", "/var/lib/dpkg", "/run/secrets", "/etc/gshadow"):
    attempt(path, lambda: os.listdir(path) if os.path.isdir(path) else text(path))`,
  },
  {
    title: "writes to the system's folders",
    code: () =>
      `for path in ("/usr/bin/x", "/usr/lib/x", "/etc/x", "/x", "/dev/x", "/bin/x", "/mnt/x", "/proc/x"):
    attempt(path, lambda: write(path))`,
    inPyodide: {
      why: "Its system's folders are in its memory. The host has no such files afterwards.",
      harmless: [/^\/x None$/, /^\/dev\/x None$/, /^\/mnt\/x None$/, /^\/proc\/x None$/],
    },
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
