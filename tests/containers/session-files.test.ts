import type { Sandbox } from "@antiphon/sandbox/ports/sandbox-engine.ts";
import type { StoredContainers } from "@antiphon/sandbox/ports/stored-containers.ts";
import { SessionFiles } from "@antiphon/sandbox/sessions/session-files.ts";
import { expect } from "vitest";
import { openTestStore, testStores } from "../../src/store/store.fixture.ts";
import { OURS } from "../../src/store/stored-shapes.fixture.ts";
import { verifies } from "../verifies.ts";

const NEVER = new AbortController().signal;
const LIMITS = { fileBytesMax: 1_000, containerBytesMax: 10_000, filesMax: 1_000 };

/** A sandbox that holds these files. As a real one, it answers one question at a time. */
function sandboxWith(texts: ReadonlyMap<string, string>): Sandbox {
  const never = new Promise<never>(() => {});
  let isReading = false;
  async function* readFile(path: string): AsyncGenerator<Uint8Array> {
    expect(isReading).toBe(false);
    isReading = true;
    await Promise.resolve();
    yield Buffer.from(texts.get(path) ?? "");
    isReading = false;
  }
  return {
    exit: never,
    writeFile: async () => {},
    removeFile: async () => {},
    listFiles: async () => [...texts].map(([path, text]) => ({ path, bytes: text.length, version: "1" })),
    readFile,
    runCode: () => never,
    runCommand: () => never,
    kill: async () => {},
  };
}

async function openFiles(texts: ReadonlyMap<string, string>, limits = LIMITS) {
  const store = await openTestStore();
  const container = { name: "test", fileIds: [], expiresAfterMinutes: null, memoryLimit: "1g" } as const;
  const made = await store.containers.createContainer(OURS, container);
  const containerId = made.type === "changed" ? made.result.id : "";
  const together = { now: 0, most: 0 };
  const keep: StoredContainers["keep"] = async (...given) => {
    together.most = Math.max(together.most, ++together.now);
    const keeping = await store.sessionContainers.keep(...given);
    together.now -= 1;
    return keeping;
  };
  const stored: StoredContainers = {
    find: (...given) => store.sessionContainers.find(...given),
    begin: (...given) => store.sessionContainers.begin(...given),
    touch: (...given) => store.sessionContainers.touch(...given),
    read: (...given) => store.sessionContainers.read(...given),
    remove: (...given) => store.sessionContainers.remove(...given),
    keep,
  };
  return {
    files: new SessionFiles({ containers: stored, sandbox: sandboxWith(texts), owner: OURS, containerId, limits }),
    together,
  };
}

function textsOf(count: number, text: string): ReadonlyMap<string, string> {
  return new Map(Array.from({ length: count }, (_, index) => [`${index}.txt`, text]));
}

testStores("files that a call leaves are stored side by side, and read one after the other", async () => {
  verifies("containers.files.stored-together");
  const { files, together } = await openFiles(textsOf(40, "text"));
  const { changedFiles, faults } = await files.keep(NEVER);
  expect(changedFiles.map(({ path }) => path)).toEqual([...textsOf(40, "").keys()].map((path) => `/mnt/data/${path}`));
  expect([faults, together]).toEqual([[], { now: 0, most: 16 }]);
  expect((await files.keep(NEVER)).changedFiles).toEqual([]);
});

testStores("files that are stored side by side share the room of their container in their order", async () => {
  const { files } = await openFiles(textsOf(6, "x".repeat(100)), { ...LIMITS, containerBytesMax: 300 });
  const { changedFiles, faults } = await files.keep(NEVER);
  expect(changedFiles.map(({ path }) => path)).toEqual(["/mnt/data/0.txt", "/mnt/data/1.txt", "/mnt/data/2.txt"]);
  expect(faults.length).toBe(3);
});
