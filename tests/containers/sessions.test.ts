import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import type { SandboxEngine } from "@antiphon/sandbox/ports/sandbox-engine.ts";
import { beforeAll, describe, expect, test } from "vitest";
import type { Store } from "../../src/store/open-store.ts";
import { openTestStore, temporaryFile } from "../../src/store/store.fixture.ts";
import { OTHERS, OURS } from "../../src/store/stored-shapes.fixture.ts";
import {
  filesOf,
  findEngine,
  makeContainer,
  NEVER,
  openSessions,
  ranOf,
  type TestSessions,
  upload,
} from "./code-sessions.ts";

const engine = await findEngine();

describe.skipIf(typeof engine === "string")("code in a container", () => {
  let real: SandboxEngine;
  beforeAll(() => {
    if (typeof engine === "string") throw new Error(engine);
    real = engine;
  });

  async function prepare(options: Parameters<typeof openSessions>[2] = {}): Promise<{
    store: Store;
    code: TestSessions;
    id: string;
  }> {
    const store = await openTestStore();
    return { store, code: openSessions(real, store, options), id: await makeContainer(store) };
  }

  test("keeps variables between calls, and stores the files that it makes", async () => {
    const { store, code, id } = await prepare();
    expect(await code.say(id, "x = 20")).toBe("");
    const { outputs, changedFiles, lostVariables, end } = ranOf(
      await code.sessions.runCode(OURS, id, "open('/mnt/data/a.txt', 'w').write('hello'); x + 1", NEVER),
    );
    expect(outputs).toEqual([{ type: "logs", logs: expect.stringMatching(/^21\n?$/) }]);
    expect({ changedFiles, lostVariables, end }).toEqual({
      changedFiles: [{ id: expect.stringMatching(/^cfile_/), path: "/mnt/data/a.txt", bytes: 5 }],
      lostVariables: false,
      end: null,
    });
    expect(await filesOf(store, id)).toEqual(["/mnt/data/a.txt 5"]);
  });

  test("finds its files after its session was lost, and is told that variables are gone", async () => {
    const { store, code, id } = await prepare();
    await code.say(id, "x = 1; open('/mnt/data/a.txt', 'w').write('kept')");
    await code.sessions.close();
    const later = openSessions(real, store);
    const first = ranOf(await later.sessions.runCode(OURS, id, "open('a.txt').read(), 'x' in globals()", NEVER));
    expect(first).toMatchObject({
      outputs: [{ logs: expect.stringContaining("('kept', False)") }],
      lostVariables: true,
    });
    expect(ranOf(await later.sessions.runCode(OURS, id, "1", NEVER))).toMatchObject({
      lostVariables: false,
      changedFiles: [],
    });
  });

  test("sees what clients upload and delete meanwhile", async () => {
    const { store, code, id } = await prepare();
    await code.say(id, "import os");
    const fileId = await upload(store, id, "table.csv", "a,b\n1,2\n");
    expect(await code.say(id, "print(open('/mnt/data/table.csv').read())")).toBe("a,b\n1,2");
    await upload(store, id, "table.csv", "c\n");
    expect(await code.say(id, "print(open('/mnt/data/table.csv').read(), os.listdir())")).toBe("c\n ['table.csv']");
    const [file] = (await store.sessionContainers.find(OURS, id))?.files ?? [];
    expect(file?.id).not.toBe(fileId);
    await store.containers.removeFile(OURS, id, file?.id ?? "");
    expect(await code.say(id, "os.listdir()")).toBe("[]");
  });

  test("deletes stored files that it removes, and stores changed ones anew and others not again", async () => {
    const { store, code, id } = await prepare();
    await upload(store, id, "a.txt", "a");
    await upload(store, id, "b.txt", "b");
    const c = await upload(store, id, "c.txt", "c");
    const { changedFiles } = ranOf(
      await code.sessions.runCode(
        OURS,
        id,
        "import os; os.remove('a.txt'); open('b.txt', 'a').write('b'); os.makedirs('d/e'); open('d/e/f', 'w').close()",
        NEVER,
      ),
    );
    expect(changedFiles.map(({ path }) => path).toSorted()).toEqual(["/mnt/data/b.txt", "/mnt/data/d/e/f"]);
    expect(await filesOf(store, id)).toEqual(["/mnt/data/b.txt 2", "/mnt/data/c.txt 1", "/mnt/data/d/e/f 0"]);
    const { files = [] } = (await store.sessionContainers.find(OURS, id)) ?? {};
    expect(files.find(({ path }) => path === "/mnt/data/c.txt")?.id).toBe(c);
  });

  test("of another owner does not run", async () => {
    const { store, code } = await prepare();
    for (const theirs of OTHERS) {
      const id = await makeContainer(store, theirs);
      expect(await code.sessions.runCode(OURS, id, "1", NEVER)).toEqual({ type: "gone" });
    }
    expect(code.count()).toBe(0);
  });

  test("that is called twice at once runs one call after the other", async () => {
    const { code, id } = await prepare();
    await code.say(id, "import time; seen = []");
    const calls = [1, 2, 3].map((number) =>
      code.say(id, `seen.append(${number}); time.sleep(0.1); seen.append(-${number}); seen`),
    );
    expect((await Promise.all(calls)).at(-1)).toBe("[1, -1, 2, -2, 3, -3]");
  });

  test("that waits for its turn can be cancelled without harm to the others", async () => {
    const { code, id } = await prepare();
    await code.say(id, "import time; x = 1");
    const leaving = new AbortController();
    const first = code.say(id, "time.sleep(0.5); x += 1; x");
    const second = code.sessions.runCode(OURS, id, "x = 100", leaving.signal);
    const third = code.say(id, "x += 1; x");
    leaving.abort(new Error("left"));
    await expect(second).rejects.toThrow("left");
    expect(await Promise.all([first, third])).toEqual(["2", "3"]);
    expect(code.kills).toEqual([]);
  });

  test("that is cancelled ends its session and keeps its files", async () => {
    const { store, code, id } = await prepare();
    await code.say(id, "open('a.txt', 'w').write('a')");
    const leaving = new AbortController();
    const call = code.sessions.runCode(OURS, id, "open('b.txt', 'w').write('b')\nwhile True: pass", leaving.signal);
    await sleep(300);
    leaving.abort(new Error("left"));
    await expect(call).rejects.toThrow("left");
    expect([code.kills, code.count()]).toEqual([["cancelled"], 0]);
    expect(await filesOf(store, id)).toEqual(["/mnt/data/a.txt 1"]);
    expect(ranOf(await code.sessions.runCode(OURS, id, "open('a.txt').read()", NEVER))).toMatchObject({
      lostVariables: true,
    });
  });

  test("that takes too long is ended, and later calls find the files of earlier ones", async () => {
    const { code, id } = await prepare({ timeoutMs: 1000 });
    await code.say(id, "open('a.txt', 'w').write('a')");
    const late = ranOf(await code.sessions.runCode(OURS, id, "print('begun', flush=True)\nwhile True: pass", NEVER));
    expect(late).toMatchObject({
      end: "timed_out",
      lostVariables: false,
      outputs: [{ logs: expect.stringMatching(/^begun/) }],
    });
    expect(code.kills).toEqual(["timed_out"]);
    expect(await code.say(id, "open('a.txt').read()")).toBe("'a'");
  });

  test("that kills its own session is told so, and the next call gets a new one", async () => {
    const { code, id } = await prepare();
    const dead = ranOf(await code.sessions.runCode(OURS, id, "import os; os._exit(0)", NEVER));
    expect(dead).toMatchObject({ end: "crashed", outputs: [] });
    expect(await code.say(id, "1 + 1")).toBe("2");
  });

  test("that dies while it is idle gets a new session, which says what was lost", async () => {
    const { code, id } = await prepare();
    await code.say(
      id,
      "import threading, time, os; threading.Thread(target=lambda: (time.sleep(0.3), os._exit(0))).start()",
    );
    await expect.poll(() => code.count()).toBe(0);
    expect(ranOf(await code.sessions.runCode(OURS, id, "1", NEVER))).toMatchObject({ lostVariables: true, end: null });
  });

  test("runs shell commands in the same files", async () => {
    const { store, code, id } = await prepare();
    await upload(store, id, "a.txt", "one\ntwo\n");
    const list = {
      commands: ["wc -l < a.txt", "echo three >> a.txt; exit 3"],
      timeoutMs: null,
      outputCharactersMax: null,
    };
    const { runs, changedFiles } = ranOf(await code.sessions.runCommands(OURS, id, list, NEVER));
    expect(runs).toEqual([
      { stdout: "2\n", stderr: "", outcome: { type: "exit", exitCode: 0 } },
      { stdout: "", stderr: "", outcome: { type: "exit", exitCode: 3 } },
    ]);
    expect(changedFiles).toMatchObject([{ path: "/mnt/data/a.txt", bytes: 14 }]);
  });

  describe("more containers than sessions", () => {
    test("end the session that was idle for the longest time, which says later what it lost", async () => {
      const { store, code, id } = await prepare({ sessionsMax: 2 });
      const [second, third] = [await makeContainer(store), await makeContainer(store)];
      await code.say(id, "x = 1; open('x', 'w').write('1')");
      await code.say(second, "y = 2");
      await code.say(id, "x");
      expect(await code.say(third, "z = 3; z")).toBe("3");
      expect([code.kills, code.count()]).toEqual([["displaced"], 2]);
      expect(await code.say(id, "x")).toBe("1");
      expect(ranOf(await code.sessions.runCode(OURS, second, "'y' in globals()", NEVER))).toMatchObject({
        lostVariables: true,
      });
    });

    test("wait for a call to end, and are told if none does in time", async () => {
      const { store, code, id } = await prepare({ sessionsMax: 1, waitMs: 1500 });
      const second = await makeContainer(store);
      await code.say(id, "import time");
      const short = code.say(id, "time.sleep(0.5)");
      expect(await code.say(second, "1")).toBe("1");
      expect(await short).toBe("");
      const long = code.say(id, "import time; time.sleep(4)");
      await sleep(300);
      expect(await code.say(second, "1")).toBe("busy");
      expect(await long).toBe("");
      expect(code.kills).toEqual(["displaced", "displaced"]);
    });

    test("never make more sessions than there may be", async () => {
      const { store, code } = await prepare({ sessionsMax: 2 });
      const ids = await Promise.all(Array.from({ length: 6 }, () => makeContainer(store)));
      let most = 0;
      const timer = setInterval(() => (most = Math.max(most, code.count())), 5);
      expect(await Promise.all(ids.map((id, index) => code.say(id, `${index}`)))).toEqual([
        "0",
        "1",
        "2",
        "3",
        "4",
        "5",
      ]);
      clearInterval(timer);
      expect(most).toBe(2);
    });
  });

  describe("a container that is deleted", () => {
    test("ends the call that runs in it", async () => {
      const { store, code, id } = await prepare();
      const call = code.sessions.runCode(OURS, id, "import time; time.sleep(60)", NEVER);
      await expect.poll(() => code.count()).toBe(1);
      await sleep(300);
      await store.containers.deleteContainer(OURS, id);
      expect(await call).toEqual({ type: "gone" });
      expect([code.kills, code.count()]).toEqual([["gone"], 0]);
    });

    test("as one that expires, ends its idle session", async () => {
      const file = temporaryFile();
      const store = await openTestStore({ file });
      const [code, id] = [openSessions(real, store), await makeContainer(store)];
      await code.say(id, "1");
      const db = new DatabaseSync(file);
      db.prepare("update containers set expires_at = 1 where id = ?").run(id);
      db.close();
      await expect.poll(() => code.kills).toEqual(["gone"]);
      expect(await code.say(id, "1")).toBe("gone");
    });

    test("ends its idle session", async () => {
      const { store, code, id } = await prepare();
      await code.say(id, "1");
      await store.containers.deleteContainer(OURS, id);
      await expect.poll(() => code.kills).toEqual(["gone"]);
      expect(await code.say(id, "1")).toBe("gone");
    });
  });

  test("stores pictures that it shows, and finds them as files", async () => {
    const { store, code, id } = await prepare();
    const { outputs, changedFiles } = ranOf(
      await code.sessions.runCode(
        OURS,
        id,
        "import matplotlib.pyplot as plt\nprint('before')\nplt.plot([1, 2])\nplt.show()\nprint('after')",
        NEVER,
      ),
    );
    const image = outputs.find((output) => output.type === "image");
    expect(outputs.map(({ type }) => type)).toEqual(["logs", "image", "logs"]);
    expect(image?.file.path).toBe(`/mnt/data/${image?.file.id}.png`);
    expect(changedFiles).toEqual([]);
    expect(await filesOf(store, id)).toEqual([`${image?.file.path} ${image?.png.length}`]);
    expect(await code.say(id, "import os; os.listdir()")).toBe(`['${image?.file.id}.png']`);
    expect(await filesOf(store, id)).toHaveLength(1);
  });

  test("that makes files that do not fit is told of each, and loses nothing that is stored", async () => {
    const store = await openTestStore({ containerBytesMax: 1_000_000 });
    const code = openSessions(real, store, { containerBytesMax: 1_000_000 });
    const id = await makeContainer(store);
    await code.say(id, "open('a', 'w').write('a' * 400_000); open('b', 'w').write('b')");
    const full = ranOf(
      await code.sessions.runCode(
        OURS,
        id,
        "import os; os.remove('b'); open('c', 'w').write('c' * 550_000)\nos.remove('a'); open('a', 'w').write('a' * 449_000)",
        NEVER,
      ),
    );
    expect([full.changedFiles.map(({ path }) => path), full.faults]).toEqual([["/mnt/data/a", "/mnt/data/c"], []]);
    expect(await filesOf(store, id)).toEqual(["/mnt/data/a 449000", "/mnt/data/c 550000"]);
  });

  test("that another process has called since starts anew there and here", async () => {
    const file = temporaryFile();
    const [one, other] = [await openTestStore({ file }), await openTestStore({ file })];
    const [here, there] = [openSessions(real, one), openSessions(real, other)];
    const id = await makeContainer(one);
    await here.say(id, "x = 1; open('x', 'w').write('here')");
    expect(ranOf(await there.sessions.runCode(OURS, id, "open('x').read()", NEVER))).toMatchObject({
      outputs: [{ logs: expect.stringContaining("'here'") }],
      lostVariables: true,
    });
    await there.say(id, "open('x', 'w').write('there')");
    expect(ranOf(await here.sessions.runCode(OURS, id, "open('x').read()", NEVER))).toMatchObject({
      outputs: [{ logs: expect.stringContaining("'there'") }],
      lostVariables: true,
    });
    expect(here.kills).toEqual(["outdated"]);
  });
});
