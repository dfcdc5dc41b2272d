"""The sandbox's side of the frame protocol: files, code and commands. It needs CPython 3.9 on Linux.

It is run with `opening` in its namespace: the head of the first frame, with the limits and the source of notebook.py.
Code that runs in the sandbox can change anything here. So the server trusts nothing that this program says.
"""

import os
import sys

_COPIES_FROM = 100
_DATA_MAX = 256 * 1024
_FILES_AT_ONCE = 200
_ENTRIES_MAX = 100_000
_DEPTH_MAX = 64
_PATH_BYTES_MAX = 1024
_TICK_SECONDS = 0.05
_END_SECONDS = 2.0
_PROCESS_EVENTS = {"os.system", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "subprocess.Popen", "pty.spawn"}


def _main(opening):
    import fcntl
    import json
    import resource
    import selectors
    import signal
    import stat
    import struct
    import subprocess
    import threading
    import time
    import types

    root = opening["folder"]
    read, write, fstat, close, getpid, exit_now = os.read, os.write, os.fstat, os.close, os.getpid, os._exit
    pack, unpack, dumps, loads = struct.Struct(">II").pack, struct.Struct(">II").unpack, json.dumps, json.loads
    environment = dict(os.environ)
    own_id = getpid()

    # The protocol gets descriptors of its own. What is printed on 1 and 2, also by other programs, comes out of a pipe.
    requests = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, _COPIES_FROM)
    replies = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, _COPIES_FROM)
    nothing = os.open("/dev/null", os.O_RDWR)
    printed_here, printed = os.pipe()
    os.set_blocking(printed_here, False)
    os.dup2(nothing, 0)
    os.dup2(printed, 1)
    os.dup2(printed, 2)
    close(nothing)
    close(printed)
    printed_here_low, printed_here = printed_here, fcntl.fcntl(printed_here, fcntl.F_DUPFD_CLOEXEC, _COPIES_FROM)
    close(printed_here_low)

    def limit(kind, value):
        if value is not None:
            resource.setrlimit(kind, (value, value))

    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_DATA, opening.get("dataBytesMax"))
    limit(resource.RLIMIT_AS, opening.get("addressBytesMax"))
    limit(resource.RLIMIT_NPROC, opening.get("processesMax"))
    limit(resource.RLIMIT_NOFILE, opening.get("openFilesMax"))
    limit(resource.RLIMIT_MEMLOCK, 0)
    limit(resource.RLIMIT_MSGQUEUE, 0)
    if opening.get("niceness"):
        os.nice(opening["niceness"])

    def read_exactly(count):
        parts = []
        while count:
            part = read(requests, min(count, 1 << 20))
            if not part:
                exit_now(0)
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def request():
        head_bytes, data_bytes = unpack(read_exactly(8))
        return loads(read_exactly(head_bytes)), read_exactly(data_bytes)

    sending = threading.Lock()

    def send(head, data=b""):
        if getpid() != own_id:
            return  # A process that the code has forked must not speak here.
        text = dumps(head).encode()
        frame = memoryview(pack(len(text), len(data)) + text + data)
        with sending:
            while frame:
                frame = frame[write(replies, frame) :]

    def send_text(head, text):
        data = text.encode("utf-8", "replace")
        for start in range(0, len(data), _DATA_MAX):
            send(head, data[start : start + _DATA_MAX])

    # Cutting a character in two would spoil it, so long text is cut by characters.
    def send_log(text):
        for start in range(0, len(text), _DATA_MAX // 4):
            send({"is": "log"}, text[start : start + _DATA_MAX // 4].encode("utf-8", "replace"))

    def send_image(png):
        for start in range(0, len(png), _DATA_MAX):
            end = start + _DATA_MAX
            send({"is": "image", "last": end >= len(png)}, png[start:end])

    def poll():
        """What other programs have printed."""
        parts = []
        if getpid() == own_id:
            try:
                while len(parts) < 16:
                    parts.append(read(printed_here, 1 << 16))
            except OSError:
                pass  # There is no more.
        return b"".join(parts)

    def watch_printed():
        selector = selectors.DefaultSelector()
        selector.register(printed_here, selectors.EVENT_READ)
        while True:
            selector.select(_TICK_SECONDS if running else None)
            print_bytes(b"")
            flush()
            time.sleep(_TICK_SECONDS / 5)

    def run_coroutine(coroutine):
        import asyncio

        nonlocal loop
        if loop is None or loop.is_closed():
            loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        return loop.run_until_complete(coroutine)

    def packages():
        from importlib import metadata

        names = {distribution.metadata["Name"] for distribution in metadata.distributions()}
        return sorted((name for name in names if name and len(name) <= 100), key=str.lower)[:500]

    running = False
    loop = None
    module = types.ModuleType("antiphon_notebook")
    sys.modules["antiphon_notebook"] = module
    exec(compile(opening["notebook"], "<notebook>", "exec"), module.__dict__)
    notebook = module.Notebook(send_log, send_image, poll, run_coroutine, packages)
    flush, print_bytes = notebook.flush, notebook.print_bytes

    def print_here_or_there(data):
        if getpid() == own_id:
            print_bytes(data)
        else:
            write(1, data)  # A process that the code has forked prints as other programs do.

    def watch_processes(event, _):
        if running and event in _PROCESS_EVENTS:
            notebook.begin_process()

    notebook.print_bytes = print_here_or_there
    os.register_at_fork(after_in_child=notebook.renew_lock)
    own_processes = len(_processes())

    def run(head):
        nonlocal running
        print_bytes(b"")
        running = True
        try:
            has_processes = len(_processes()) > own_processes
            limits = head["logCharactersMax"], head["imagesMax"], head["imageBytesMax"]
            traceback = notebook.run(head["code"], *limits, has_processes)
        finally:
            if getpid() != own_id:
                exit_now(0)  # The code has forked, and this is the copy.
            running = False
        send({"is": "ran", "traceback": traceback})

    def full(path):
        return os.path.join(root, path)

    def write_file(head, data):
        path = full(head["path"])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        start = os.O_TRUNC | os.O_CREAT if head["offset"] == 0 else 0
        if start and os.path.islink(path):
            os.unlink(path)
        file = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | start, 0o644)
        try:
            if not stat.S_ISREG(fstat(file).st_mode):
                raise OSError(0, "not a regular file")
            rest = memoryview(data)
            offset = head["offset"]
            while rest:
                count = os.pwrite(file, rest, offset)
                rest = rest[count:]
                offset += count
        finally:
            close(file)

    def read_file(head):
        file = os.open(full(head["path"]), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(fstat(file).st_mode):
                raise OSError(0, "not a regular file")
            return os.pread(file, min(head["most"], _DATA_MAX), head["offset"])
        finally:
            close(file)

    def remove_file(head):
        try:
            os.unlink(full(head["path"]))
        except FileNotFoundError:
            pass

    def list_files(head):
        found = []
        entries = 0
        folders = [("", 0)]
        while folders and len(found) < head["most"] and entries < _ENTRIES_MAX:
            folder, depth = folders.pop()
            try:
                inside = sorted(os.scandir(full(folder)), key=lambda entry: entry.name)
            except OSError:
                continue
            for entry in inside:
                entries += 1
                path = folder + entry.name
                if len(os.fsencode(path)) > _PATH_BYTES_MAX or not path.isprintable() and not _is_plain(path):
                    continue
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                if stat.S_ISDIR(status.st_mode) and depth < _DEPTH_MAX:
                    folders.append((path + "/", depth + 1))
                elif stat.S_ISREG(status.st_mode) and len(found) < head["most"]:
                    version = "%x-%x-%x" % (status.st_ctime_ns, status.st_ino, status.st_size)
                    found.append((path, status.st_size, version))
        for start in range(0, len(found), _FILES_AT_ONCE):
            send({"is": "files", "files": found[start : start + _FILES_AT_ONCE], "last": False})
        send({"is": "files", "files": [], "last": True})

    def command(head):
        most = head["logCharactersMax"]
        before = set(_processes())
        shell = subprocess.Popen(
            ["/bin/sh", "-c", head["command"]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=root,
            env=environment,
            start_new_session=True,
        )
        outputs = {shell.stdout: _Shortened(most), shell.stderr: _Shortened(most)}
        deadline = time.monotonic() + head["timeoutMs"] / 1000
        in_time = _gather(shell, outputs, deadline, selectors, time)
        _end_new_processes(before, shell, signal, time)
        _gather(shell, outputs, time.monotonic() + _END_SECONDS, selectors, time, True)
        code = shell.wait()
        shell.stdout.close()
        shell.stderr.close()
        stdout, stderr = _share(most, outputs[shell.stdout].text(), outputs[shell.stderr].text())
        send_text({"is": "stdout"}, stdout)
        send_text({"is": "stderr"}, stderr)
        send({"is": "exited", "code": None if not in_time else code if code >= 0 else 128 - code})

    def serve(head, data):
        kind = head["do"]
        if kind == "run":
            run(head)
        elif kind == "command":
            command(head)
        elif kind == "read":
            send({"is": "piece"}, read_file(head))
        elif kind == "write":
            write_file(head, data)
            send({"is": "done"})
        elif kind == "remove":
            remove_file(head)
            send({"is": "done"})
        elif kind == "list":
            list_files(head)
        elif kind == "packages":
            send({"is": "packages", "names": packages()})

    sys.addaudithook(watch_processes)
    threading.Thread(target=watch_printed, daemon=True).start()
    os.chdir(root)
    send({"is": "ready", "python": "%d.%d" % sys.version_info[:2], "hasShell": os.path.exists("/bin/sh")})
    while True:
        head, data = request()
        try:
            serve(head, data)
        except OSError as error:
            if head["do"] == "command":
                send_text({"is": "stderr"}, "The command could not be started: %s\n" % (error.strerror or error))
                send({"is": "exited", "code": 126})
            else:
                send({"is": "failed", "why": str(error.strerror or error)[:300]})


def _is_plain(path):
    """Whether a path is text without control characters. Spaces of every kind are allowed."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return all(character >= " " and character != "\x7f" for character in path)


class _Shortened:
    """Bytes of which the beginning and the end are kept. A character has four bytes at most."""

    def __init__(self, characters_max):
        self._half = 2 * characters_max
        self._characters_max = characters_max
        self._head = b""
        self._tail = b""
        self._left_out = 0

    def add(self, data):
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room < len(data) else b""
        if len(self._tail) > 2 * self._half:
            self._left_out += len(self._tail) - self._half
            self._tail = self._tail[-self._half :]

    def text(self):
        middle = b"\n[%d bytes are left out here]\n" % self._left_out if self._left_out else b""
        return (self._head + middle + self._tail).decode("utf-8", "replace")


def _share(most, stdout, stderr):
    """Both texts, together as long as allowed: neither takes more than half while the other needs it."""
    for_stderr = min(len(stderr), max(most // 2, most - len(stdout)))
    return _cut(stdout, most - for_stderr), _cut(stderr, for_stderr)


def _cut(text, most):
    if len(text) <= most:
        return text
    half = most // 2
    return "%s\n[%d characters are left out here]\n%s" % (text[:half], len(text) - 2 * half, text[len(text) - half :])


def _gather(shell, outputs, deadline, selectors, time, to_end=False):
    """Reads what a command prints until it ends, or to the end of its outputs. Returns whether that was in time."""
    selector = selectors.DefaultSelector()
    for output in outputs:
        selector.register(output, selectors.EVENT_READ)
    try:
        while selector.get_map() and time.monotonic() < deadline:
            if not to_end and shell.poll() is not None:
                return True
            for key, _ in selector.select(min(_TICK_SECONDS, max(0, deadline - time.monotonic()))):
                data = os.read(key.fd, 1 << 16)
                if data:
                    outputs[key.fileobj].add(data)
                else:
                    selector.unregister(key.fileobj)
        while not to_end and shell.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        return shell.poll() is not None
    finally:
        selector.close()


def _processes():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _end_new_processes(before, shell, signal, time):
    """Ends a command's processes: all that are here and were not before it began."""
    deadline = time.monotonic() + _END_SECONDS
    while time.monotonic() < deadline:
        new = [process for process in _processes() if process not in before]
        left = [process for process in new if not _is_dead(process)]
        for process in set(new) - set(left) - {shell.pid}:
            _reap(process)
        if not left:
            return
        for how in (signal.SIGSTOP, signal.SIGKILL):
            for process in left:
                try:
                    os.kill(process, how)
                except OSError:
                    pass
        shell.poll()
        time.sleep(0.002)
    os._exit(1)


def _reap(process):
    """Where Python is the first process, those whose parent has ended are its own."""
    try:
        os.waitpid(process, os.WNOHANG)
    except OSError:
        pass


def _is_dead(process):
    try:
        with open("/proc/%d/stat" % process, "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] in (b"Z", b"X")
    except OSError:
        return True


_main(opening)
