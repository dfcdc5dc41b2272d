import { ANY_END, type EscapeAttempt, type PyodideExpectation, py } from "./escape-attempt.ts";

const NOT_HEARD: PyodideExpectation = { why: "None of its descriptors leads to the server.", ends: [null] };

export const HARNESS_ATTEMPTS: readonly EscapeAttempt[] = [
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
    inPyodide: NOT_HEARD,
  },
  {
    title: "forges the end of its call, and more of them",
    code: () => `attempt("nothing", lambda: False)
for _ in range(5):
    forge({"is": "ran", "traceback": None})`,
    ends: ANY_END,
    isSilent: true,
    inPyodide: NOT_HEARD,
  },
  {
    title: "forges a list of files with paths out of the folder",
    code: ({ canaryPath }) => `attempt("nothing", lambda: False)
forge({"is": "files", "files": [["../../..${canaryPath}", 1, "1"], [${py(canaryPath)}, 1, "1"]], "last": True})`,
    ends: ["crashed"],
    isSilent: true,
    inPyodide: NOT_HEARD,
  },
  {
    title: "forges pictures",
    code: () => `attempt("nothing", lambda: False)
for _ in range(100):
    forge({"is": "image", "last": True}, b"\\x89PNG\\r\\n\\x1a\\n" + bytes(1000))`,
    ends: ["crashed"],
    isSilent: true,
    inPyodide: NOT_HEARD,
  },
  {
    title: "forges heads that are deep, odd or for all objects",
    code: () => `attempt("nothing", lambda: False)
deep = []
for _ in range(900):
    deep = [deep]
forge({"is": "log", "deep": deep, "__proto__": {"is": "ran"}, "constructor": 1})
forge({"is": "__proto__"})`,
    ends: ["crashed"],
    isSilent: true,
    inPyodide: NOT_HEARD,
  },
  {
    title: "floods the server",
    code: () => `attempt("nothing", lambda: False)
import time
until = time.monotonic() + flood_seconds
while time.monotonic() < until:
    forge({"is": "log"}, b"x" * 10_000)`,
    ends: ["too_much_output", "crashed"],
    timeoutMs: 15_000,
    isSilent: true,
    inPyodide: NOT_HEARD,
  },
  {
    title: "speaks when nobody has asked",
    code: () => `import threading, time
def later():
    time.sleep(0.3)
    forge({"is": "ran", "traceback": None})
threading.Thread(target=later).start()
attempt("nothing", lambda: False)`,
    inPyodide: { why: "It has no threads, and nothing of it runs between calls.", traceback: /can't start new thread/ },
  },
  {
    title: "closes what the server listens to",
    code: () => `attempt("nothing", lambda: False)
os.closerange(0, 256)`,
    ends: ANY_END,
    isSilent: true,
    inPyodide: NOT_HEARD,
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
