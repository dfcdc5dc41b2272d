/**
 * Globals that remain for foreign code: the language itself, and what Pyodide calls. Python cannot see the global
 * object; this is for code that finds a way to it anyway.
 */
const KEPT = new Set(
  `Object Function Array Number parseFloat parseInt Infinity NaN undefined Boolean String Symbol Date Promise RegExp
  Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError SuppressedError globalThis
  JSON Math Intl ArrayBuffer SharedArrayBuffer Atomics Uint8Array Int8Array Uint16Array Int16Array Uint32Array
  Int32Array BigUint64Array BigInt64Array Uint8ClampedArray Float16Array Float32Array Float64Array DataView Map BigInt
  Set Iterator WeakMap WeakSet Proxy Reflect FinalizationRegistry WeakRef DisposableStack AsyncDisposableStack
  decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape isFinite isNaN WebAssembly
  TextEncoder TextDecoder URL AbortController AbortSignal DOMException queueMicrotask`.split(/\s+/),
);

/** Members of Node's process object that Node itself calls without our code. */
const KEPT_OF_PROCESS = new Set(
  `version versions arch platform release _events _eventsCount _maxListeners domain _exiting exitCode config features
  _fatalException nextTick _tickCallback emitWarning setUncaughtExceptionCaptureCallback constructor
  hasUncaughtExceptionCaptureCallback`.split(/\s+/),
);

/** Offers Pyodide the members that it needs of Node's process object, and nothing that leads out of the sandbox. */
export function replaceProcess(): void {
  const binding = (name: unknown): object => {
    if (name !== "constants") throw new Error("This is not available in the sandbox.");
    return { fs: {} };
  };
  const replacement = {
    version: process.version,
    versions: { node: process.versions.node },
    platform: "linux",
    argv: [],
    stdin: { fd: 0 },
    stdout: { fd: 1 },
    stderr: { fd: 2 },
    binding,
    getuid: () => 1000,
    umask: () => 0o022,
  };
  Reflect.defineProperty(globalThis, "process", { value: replacement, writable: true, configurable: true });
}

/**
 * Removes everything from the global object that the language and Pyodide do not need, and everything from Node's
 * process object that reaches out of it: other processes, modules, bindings, the environment.
 */
export function closeRealm(node: NodeJS.Process): void {
  const globals = { process: Reflect.get(globalThis, "process"), console: silentConsole(), ...timers() };
  const clock = performance;
  const performanceKept = Object.freeze({ now: () => clock.now(), timeOrigin: clock.timeOrigin });
  for (const name of Reflect.ownKeys(globalThis)) {
    if (typeof name === "symbol" || !KEPT.has(name)) Reflect.deleteProperty(globalThis, name);
  }
  for (const [name, value] of Object.entries({ ...globals, performance: performanceKept })) {
    Reflect.defineProperty(globalThis, name, { value, writable: false, configurable: false });
  }
  stripProcess(node);
}

function stripProcess(node: NodeJS.Process): void {
  for (const name of Reflect.ownKeys(node)) {
    if (typeof name === "string" && !KEPT_OF_PROCESS.has(name)) Reflect.deleteProperty(node, name);
  }
  Reflect.setPrototypeOf(node, emitterOnly(Reflect.getPrototypeOf(node)));
}

/** Node emits warnings and unhandled rejections through these. */
function emitterOnly(prototype: object | null): object {
  const copy = Object.create(null);
  for (const name of ["emit", "listenerCount", "constructor"]) {
    if (prototype !== null) copy[name] = Reflect.get(prototype, name);
  }
  return Object.freeze(copy);
}

/** Numbered timers, so that foreign code gets no object of Node. */
function timers(): Readonly<Record<string, unknown>> {
  const running = new Map<number, () => void>();
  const { setTimeout: start, clearTimeout: stop, setImmediate: soon, clearImmediate: stopSoon } = globalThis;
  let last = 0;
  const add = (begin: (finish: () => void) => () => void): number => {
    const id = ++last;
    running.set(
      id,
      begin(() => running.delete(id)),
    );
    return id;
  };
  const clear = (id: unknown): void => {
    if (typeof id !== "number") return;
    running.get(id)?.();
    running.delete(id);
  };
  const later = (call: (...args: unknown[]) => unknown, delay?: number, ...args: unknown[]): number =>
    add((finish) => {
      const timer = start(() => (finish(), void call(...args)), delay);
      return () => stop(timer);
    });
  const next = (call: (...args: unknown[]) => unknown, ...args: unknown[]): number =>
    add((finish) => {
      const immediate = soon(() => (finish(), void call(...args)));
      return () => stopSoon(immediate);
    });
  return { setTimeout: later, clearTimeout: clear, setImmediate: next, clearImmediate: clear };
}

/** Stdout belongs to the protocol. */
function silentConsole(): object {
  const silent = (): void => {};
  return Object.freeze({ log: silent, info: silent, warn: silent, error: silent, debug: silent, trace: silent });
}
