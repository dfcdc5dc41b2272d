import { ANY_END, type EscapeAttempt } from "./escape-attempt.ts";

export const PROCESSES_ATTEMPTS: readonly EscapeAttempt[] = [
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
attempt("shell", lambda: [subprocess.run(["/bin/sh", "-c", "b() { b | b & }; b; sleep 1"], timeout=3)] and False)
time.sleep(30)`,
    ends: ANY_END,
    timeoutMs: 3000,
    inPyodide: { why: "It starts no shell, and then only sleeps.", ends: ["timed_out"], timeoutMs: 1000 },
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
