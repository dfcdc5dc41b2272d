"""Runs code as a notebook does. It needs CPython 3.9 or Pyodide, and magics.py and pictures.py before it in
one module.

Make one Notebook per session and call run() for each piece of code. What the code prints is given to emit_log as text,
its pictures to emit_image as PNG bytes, in the order of their appearance. run() returns the traceback of an uncaught
exception, or None.
"""

import ast
import builtins
import codecs
import inspect
import io
import linecache
import sys
import threading
import time
import traceback
import types

_FLUSH_CHARACTERS = 8192
_FLUSH_SECONDS = 0.05
_TRACEBACK_CHARACTERS_MAX = 100_000


class Notebook:
    def __init__(self, emit_log, emit_image, poll=None, run_coroutine=None, packages=list):
        """poll, if given, is called before text is added: it returns the bytes that other processes have printed.

        run_coroutine runs a coroutine to its end, for code with `await` outside functions. packages returns the names
        of what is installed. With poll, somebody must call print_bytes(b"") several times a second while code runs:
        what it prints is buffered until then.
        """
        self._emit_log = emit_log
        self._emit_image = emit_image
        self._poll = poll
        self._run_coroutine = run_coroutine
        self._packages = packages
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._count = 0
        self.renew_lock()
        self._begin(0, 0, 0)
        self._main = types.ModuleType("__main__")
        self._main.__dict__["__builtins__"] = builtins
        sys.modules["__main__"] = self._main
        add_picture_modules(self._show, self._show_value)
        sys.stdout = self._stdout = _Printed(self, "<stdout>")
        sys.stderr = _Printed(self, "<stderr>")
        sys.stdin = io.StringIO()
        builtins.input = _refuse_input
        builtins.display = self._display

    def run(self, code, log_characters_max, images_max, image_bytes_max, has_processes=False):
        """has_processes: whether processes of earlier calls may print."""
        self._count += 1
        self.flush_text()  # Of threads, since the last call.
        self._begin(log_characters_max, images_max, image_bytes_max)
        self._buffer_text(self._poll is not None and not has_processes)
        try:
            fault = self._execute(code, "<call %d>" % self._count)
        finally:
            self.flush_text()
            sys.stdout = self._stdout = sys.stdout if isinstance(sys.stdout, _Printed) else _Printed(self, "<stdout>")
            sys.stderr = sys.stderr if isinstance(sys.stderr, _Printed) else _Printed(self, "<stderr>")
        try:
            self._show()
        except BaseException:
            fault = fault or self._shorten(traceback.format_exc())
        self._end()
        return fault

    def renew_lock(self):
        """For a forked process, in which nobody may ever release it."""
        self._lock = threading.RLock()

    def flush(self):
        """Gives the text on that is waiting, unless it comes after what is left out."""
        with self._lock:
            if self._waiting:
                text = "".join(self._waiting)
                self._waiting = []
                self._waiting_characters = 0
                self._emit_log(text)
            self._flushed = time.monotonic()

    def begin_process(self):
        """The code starts another process, whose text comes after the text so far. From now on text is not buffered, so
        that the texts of both are in order; this costs several times the processor's time."""
        self._buffer_text(False)

    def flush_text(self):
        """Adds the text that is buffered."""
        try:
            self._stdout.flush()
        except Exception:
            pass  # The code has taken its stream apart.

    def _buffer_text(self, is_buffered):
        try:
            self._stdout.reconfigure(write_through=not is_buffered)
        except Exception:
            pass  # The code has taken its stream apart.

    def print_bytes(self, data):
        """Adds what the code prints, after what its processes have printed before."""
        with self._lock:
            self._add_polled()
            self._add_text(self._decoder.decode(data))

    def _begin(self, log_characters_max, images_max, image_bytes_max):
        self._head_left = log_characters_max - log_characters_max // 2
        self._tail_max = log_characters_max // 2
        self._tail = []
        self._tail_characters = 0
        self._left_out = 0
        self._waiting = []
        self._waiting_characters = 0
        self._flushed = 0.0
        self._is_line_empty = True
        self._images_max = images_max
        self._images = 0
        self._image_bytes_max = image_bytes_max

    def _end(self):
        with self._lock:
            self._add_polled()
            self._add_text(self._decoder.decode(b"", True))
            self._decoder.reset()
            self._shorten_tail()
            if self._left_out:
                self._waiting.append("\n[%d characters are left out here]\n" % self._left_out)
            self._waiting.extend(self._tail)
            self.flush()
            self._begin(0, 0, 0)  # Threads may print between calls. Nobody is shown that.

    def _add_polled(self):
        self.flush_text()
        if self._poll:
            self._add_text(self._decoder.decode(self._poll()))

    def _add_text(self, text):
        if not text:
            return
        self._is_line_empty = text.endswith("\n")
        head, tail = text[: self._head_left], text[self._head_left :]
        self._head_left -= len(head)
        if head:
            self._waiting.append(head)
            self._waiting_characters += len(head)
            if self._waiting_characters > _FLUSH_CHARACTERS or time.monotonic() > self._flushed + _FLUSH_SECONDS:
                self.flush()
        if tail:
            self._tail.append(tail)
            self._tail_characters += len(tail)
            if self._tail_characters > 2 * self._tail_max or len(self._tail) > 4096:
                self._shorten_tail()

    def _shorten_tail(self):
        text = "".join(self._tail)
        more = max(0, len(text) - self._tail_max)
        self._left_out += more
        self._tail = [text[more:]] if text else []
        self._tail_characters = len(text) - more

    def _execute(self, code, name):
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
        try:
            tree, code = read_code(code, name, self._packages)
            last = tree.body.pop() if tree.body and _shows_value(tree.body[-1], code) else None
            if tree.body:
                self._evaluate(tree, name, "exec")
            if last is not None:
                value = self._evaluate(ast.Expression(last.value), name, "eval")
                if value is not None:
                    self._main.__dict__["_"] = value
                    self._show_value(value)
        except SystemExit as end:
            return None if end.code in (None, 0) else "SystemExit: %s\n" % (end.code,)
        except BaseException as error:
            return self._shorten(_format(error, name))
        return None

    def _show_value(self, value):
        """As a picture if it is one. A text begins its own line, and no newline ends it: the reference writes so."""
        if is_open_figure(value):
            return  # It is shown with the other figures when the call ends.
        png = picture_of(value)
        if png is not None:
            return self._image(png)
        text = repr(value)
        with self._lock:
            self._add_polled()
            sys.stdout.write(text if self._is_line_empty else "\n" + text)

    def _display(self, *values):
        for value in values:
            if is_open_figure(value):
                self._show()
            else:
                self._show_value(value)
                sys.stdout.write("" if self._is_line_empty else "\n")

    def _evaluate(self, tree, name, mode):
        compiled = compile(tree, name, mode, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        if compiled.co_flags & inspect.CO_COROUTINE:
            if self._run_coroutine is None:
                raise RuntimeError("`await` outside functions is not possible here; use asyncio.run()")
            return self._run_coroutine(eval(compiled, self._main.__dict__))
        return eval(compiled, self._main.__dict__)

    def _show(self):
        """Shows and closes all open figures of matplotlib."""
        for png in open_figures():
            self._image(png)

    def _image(self, png):
        with self._lock:
            self._add_image(png)

    def _add_image(self, png):
        self._add_polled()
        self._images += 1
        if self._images > self._images_max:
            if self._images == self._images_max + 1:
                self._add_text("[Only the first %d pictures of a call are shown.]\n" % self._images_max)
        elif len(png) > self._image_bytes_max:
            self._images -= 1
            self._add_text(
                "[A picture of %d bytes is not shown, because at most %d are allowed.]\n"
                % (len(png), self._image_bytes_max)
            )
        else:
            self.flush()
            self._is_line_empty = True
            self._emit_image(png)

    def _shorten(self, text):
        if len(text) <= _TRACEBACK_CHARACTERS_MAX:
            return text
        half = _TRACEBACK_CHARACTERS_MAX // 2
        return "%s\n[%d characters are left out here]\n%s" % (text[:half], len(text) - 2 * half, text[-half:])


class _Printed(io.TextIOWrapper):
    """A text stream whose text is given on at once, unless the notebook lets it buffer."""

    def __init__(self, notebook, name):
        super().__init__(
            _PrintedBytes(notebook, name), encoding="utf-8", errors="backslashreplace", newline="\n", write_through=True
        )
        self.mode = "w"

    def close(self):
        pass  # Code that closes it would end all its later output.


class _PrintedBytes(io.BufferedIOBase):
    def __init__(self, notebook, name):
        self._notebook = notebook
        self.name = name

    def writable(self):
        return True

    def write(self, data):
        data = bytes(data)
        self._notebook.flush_text()  # What was printed before, if this comes by another way.
        self._notebook.print_bytes(data)
        return len(data)

    def fileno(self):
        return 2 if self.name == "<stderr>" else 1


def _refuse_input(prompt=""):
    raise RuntimeError("input() is not available, because nobody can answer here. Set the value in the code.")


def _shows_value(node, code):
    """Whether a notebook would show the value of this statement, the last one: not if a semicolon ends it."""
    if not isinstance(node, ast.Expr):
        return False
    try:
        end = ast.get_source_segment(code, node)
        rest = code[code.rindex(end) + len(end) :] if end else ""
    except ValueError:
        rest = ""
    return not rest.lstrip(" \t)").startswith(";")


def _format(error, name):
    """The traceback from the first frame of this call's code on, without frames of this file."""
    own = error.__traceback__
    while own is not None and own.tb_frame.f_code.co_filename != name:
        own = own.tb_next
    try:
        shown = traceback.TracebackException(type(error), error, own)
        ours = _format.__code__.co_filename
        shown.stack = traceback.StackSummary.from_list([frame for frame in shown.stack if frame.filename != ours])
        return "".join(shown.format())
    except BaseException:
        return "%s\n" % type(error).__name__
