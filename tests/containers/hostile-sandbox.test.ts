import type { SessionEnd } from "@antiphon/domain/containers.ts";
import type { Sandbox, SandboxEngine, SandboxFile } from "@antiphon/sandbox/ports/sandbox-engine.ts";
import { FileRefused, SandboxFailed } from "@antiphon/sandbox/ports/sandbox-engine.ts";
import { expect, test } from "vitest";
import type { Store, StoreOptions } from "../../src/store/open-store.ts";
import { openTestStore } from "../../src/store/store.fixture.ts";
import { OURS } from "../../src/store/stored-shapes.fixture.ts";
import { filesOf, makeContainer, NEVER, openSessions, ranOf, type TestSessions, upload } from "./code-sessions.ts";

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);

/** A sandbox whose code has taken it over: it says what the test wants. */
class ForgedSandbox implements Sandbox {
  readonly #ended = Promise.withResolvers<SessionEnd | "killed">();
  readonly exit = this.#ended.promise;
  /** What it was given. */
  readonly written = new Map<string, string>();
  /** What it says that it has; what it was given, if null. */
  listing: readonly SandboxFile[] | null = null;
  /** What it says when a file is read. */
  read: (path: string) => AsyncIterable<Uint8Array> = () => chunks(Buffer.from("forged"));
  images: readonly Uint8Array[] = [];

  async writeFile(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    this.written.set(path, Buffer.concat(await Array.fromAsync(bytes)).toString());
  }

  async removeFile(path: string): Promise<void> {
    this.written.delete(path);
  }

  async listFiles(most: number): Promise<readonly SandboxFile[]> {
    const own = [...this.written].map(([path, text]) => ({ path, bytes: text.length, version: text }));
    return (this.listing ?? own).slice(0, most);
  }

  readFile(path: string): AsyncIterable<Uint8Array> {
    return this.read(path);
  }

  async runCode() {
    return { outputs: this.images.map((png) => ({ type: "image", png }) as const), traceback: null, end: null };
  }

  async runCommand(): Promise<never> {
    throw new SandboxFailed("no shell");
  }

  async kill(): Promise<void> {
    this.#ended.resolve("killed");
  }
}

async function prepare(options: Partial<StoreOptions> = {}): Promise<{
  store: Store;
  code: TestSessions;
  id: string;
  sandbox: ForgedSandbox;
  run: () => ReturnType<TestSessions["sessions"]["runCode"]>;
}> {
  const store = await openTestStore(options);
  const sandbox = new ForgedSandbox();
  const engine: SandboxEngine = {
    abilities: { engine: "bubblewrap", python: "3.0", packages: [], hasShell: true },
    start: async () => sandbox,
    close: async () => {},
  };
  const { containerBytesMax = 500_000_000 } = options;
  const code = openSessions(engine, store, { containerBytesMax });
  const id = await makeContainer(store);
  return { store, code, id, sandbox, run: () => code.sessions.runCode(OURS, id, "", NEVER) };
}

function file(path: string, changes: Partial<SandboxFile> = {}): SandboxFile {
  return { path, bytes: 6, version: "1", ...changes };
}

async function* chunks(...pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

async function* endless(): AsyncGenerator<Uint8Array> {
  const piece = Buffer.alloc(256 * 1024, "x");
  for (;;) yield piece;
}

test.each([
  "../../etc/passwd",
  "..",
  "a/../../b",
  "/etc/passwd",
  "//x",
  "a//b",
  "a/./b",
  "",
  "a/",
  "nul\0byte",
  "line\nbreak",
  "\u202e".repeat(400),
  "x".repeat(256),
  Array.from({ length: 30 }, () => "d".repeat(200)).join("/"),
  "lone\ud800surrogate",
])("a file named %j is not kept, and is told of in one line", async (path) => {
  const { store, id, sandbox, run } = await prepare();
  sandbox.listing = [file(path), file("good.txt")];
  const { changedFiles, faults } = ranOf(await run());
  expect(changedFiles.map(({ path: kept }) => kept)).toEqual(["/mnt/data/good.txt"]);
  expect(faults).toEqual([expect.stringMatching(/^\/mnt\/data\/.* was not kept: its name cannot be stored\.$/)]);
  expect(faults[0]?.length).toBeLessThan(400);
  expect(await filesOf(store, id)).toEqual(["/mnt/data/good.txt 6"]);
});

test("more files than a container holds are left out, and no stored file is deleted then", async () => {
  const { store, id, sandbox, run } = await prepare();
  await upload(store, id, "mine.txt", "mine");
  sandbox.listing = Array.from({ length: 1500 }, (_, index) => file(`f${index}`));
  const { changedFiles, faults } = ranOf(await run());
  expect(changedFiles).toHaveLength(999);
  expect(faults).toEqual([
    "There are more than 1000 files in /mnt/data. Those beyond are not kept.",
    expect.stringMatching(/^\/mnt\/data\/f999 was not kept: the container is full/),
  ]);
  expect(await filesOf(store, id)).toHaveLength(1000);
  expect(await filesOf(store, id)).toContain("/mnt/data/mine.txt 4");
});

test("a file without end, and one that is said to be huge, leave nothing behind", async () => {
  const { store, id, sandbox, run } = await prepare({ containerBytesMax: 5_000_000 });
  sandbox.listing = [file("endless"), file("huge", { bytes: 10 ** 15 })];
  sandbox.read = endless;
  const { changedFiles, faults } = ranOf(await run());
  expect(changedFiles).toEqual([]);
  expect(faults).toEqual([
    "/mnt/data/endless was not kept: the container is full, which holds 1000 files and 5 MB at most.",
    "/mnt/data/huge was not kept: the container is full, which holds 1000 files and 5 MB at most.",
  ]);
  expect(await filesOf(store, id)).toEqual([]);
});

test("a file that grew beyond the limit keeps its earlier contents, and is told of once", async () => {
  const { store, id, sandbox, run } = await prepare({ containerBytesMax: 5_000_000 });
  sandbox.listing = [file("a")];
  await run();
  sandbox.listing = [file("a", { bytes: 6_000_000, version: "2" })];
  expect(ranOf(await run()).faults).toEqual([expect.stringMatching(/Its earlier contents stay stored\.$/)]);
  expect(ranOf(await run()).faults).toEqual([]);
  expect(await filesOf(store, id)).toEqual(["/mnt/data/a 6"]);
});

test("a file that cannot be read is told of, and the others are kept", async () => {
  const { store, id, sandbox, run } = await prepare();
  sandbox.listing = [file("gone"), file("there")];
  sandbox.read = (path) => {
    if (path === "there") return chunks(Buffer.from("x"));
    throw new FileRefused("no");
  };
  expect(ranOf(await run()).faults).toEqual(["/mnt/data/gone was not kept: it could not be read."]);
  expect(await filesOf(store, id)).toEqual(["/mnt/data/there 1"]);
});

test("a sandbox that ends while its files are read keeps what was stored before", async () => {
  const { store, code, id, sandbox, run } = await prepare();
  await upload(store, id, "mine.txt", "mine");
  sandbox.listing = [file("mine.txt", { version: "2" }), file("b")];
  sandbox.read = () => {
    throw new SandboxFailed("it has ended");
  };
  expect(ranOf(await run())).toMatchObject({ end: "crashed", changedFiles: [] });
  expect(code.kills).toEqual(["crashed"]);
  expect(await filesOf(store, id)).toEqual(["/mnt/data/mine.txt 4"]);
});

test("pictures that are none, too large or too many are left out", async () => {
  const { store, id, sandbox, run } = await prepare();
  const large = Buffer.concat([PNG, Buffer.alloc(5 * 1024 * 1024)]);
  sandbox.images = [Buffer.from("<svg/>"), large, ...Array.from({ length: 10 }, () => PNG)];
  const { outputs, faults } = ranOf(await run());
  expect(outputs).toHaveLength(8);
  expect(faults).toEqual([
    "Pictures that are no PNG are left out.",
    "Pictures of more than 4 MiB are left out.",
    "Pictures beyond the first 8 are left out.",
  ]);
  expect(await filesOf(store, id)).toHaveLength(8);
});

test("a stored file that the sandbox does not take stays stored", async () => {
  const { store, id, sandbox, run } = await prepare();
  await upload(store, id, "mine.txt", "mine");
  sandbox.writeFile = async () => {
    throw new FileRefused("there is a folder");
  };
  expect(ranOf(await run()).faults).toEqual([
    "/mnt/data/mine.txt is stored, but could not be written into the session.",
  ]);
  expect(ranOf(await run()).faults).toEqual([]);
  expect(await filesOf(store, id)).toEqual(["/mnt/data/mine.txt 4"]);
});
