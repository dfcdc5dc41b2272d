import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { settled } from "../local-stt-server.ts";
import { verifies } from "../verifies.ts";
import { tones } from "./tones.ts";
import {
  enginePids,
  freeze,
  hear,
  openEngine,
  startToneEngine,
  toneModelFile,
  whisperForTests,
} from "./whisper-for-tests.ts";

const program = await whisperForTests();

describe.skipIf(program === null)("an engine that crashes", () => {
  test("is restarted, and the current request gets its answer from the new one", async () => {
    verifies("stt.engine.crash-is-mended");
    const engine = await startToneEngine(program ?? "");
    const frozen = await freeze();
    const answer = hear(engine, tones("three", "one", "four"));
    await sleep(100);
    frozen.kill();
    expect((await answer).text).toBe("three one four");
    expect(engine.restarts()).toBe(1);
    expect(engine.status()).toEqual({ state: "ready" });
  });

  test("twice on the same request fails that request, and no other", async () => {
    verifies("stt.engine.crash-is-mended");
    const folder = temporaryFolder();
    const second = await engineCrashingOnSecondStart(program ?? "", folder);
    const engine = await startToneEngine(second);
    const frozen = await freeze();
    const doomed = hear(engine, tones("one"));
    await sleep(50);
    const other = hear(engine, tones("two"));
    const ends = Promise.allSettled([doomed, other]);
    frozen.kill();
    expect(await ends).toMatchObject([
      {
        status: "rejected",
        reason: { reason: "crashed", message: "The speech engine failed twice on this recording" },
      },
      { status: "fulfilled", value: { text: "two" } },
    ]);
    expect(engine.restarts()).toBe(2);
  });

  test("while idle is running again for the next request", async () => {
    const engine = await startToneEngine(program ?? "");
    const [pid = 0] = await enginePids();
    process.kill(pid, "SIGKILL");
    expect((await hear(engine, tones("five"))).text).toBe("five");
  });

  test("repeatedly pauses its restarts, reports it, and comes back", async () => {
    verifies("stt.engine.rests-when-hopeless");
    const engine = await startToneEngine(program ?? "");
    let ends = 0;
    while (engine.status().state !== "failed") {
      const [pid] = await enginePids();
      if (pid === undefined) await sleep(10);
      else if (kill(pid)) ends += 1;
    }
    expect(ends).toBeGreaterThan(2);
    expect(engine.status()).toMatchObject({ reason: expect.stringMatching(/exited with signal 9$/) });
    await expect(hear(engine, tones("one"))).rejects.toMatchObject({ reason: "failed" });
    await waitForState(engine, "ready");
    expect((await hear(engine, tones("one"))).text).toBe("one");
  }, 90_000);

  test("with every model that it loads but cannot run is detected before any request", async () => {
    verifies("stt.engine.rests-when-hopeless");
    const engine = openEngine(program ?? "", await toneModelFile({ weights: "f32" }));
    onTestFinished(() => engine.close());
    await settled(engine);
    expect(engine.status()).toMatchObject({
      state: "failed",
      reason: expect.stringMatching(/^The speech engine fails with this model: it exited with signal 6/),
    });
    await expect(hear(engine, tones("one"))).rejects.toMatchObject({ reason: "failed" });
  });

  test("is gone once the engine is closed, and waiting requests are refused", async () => {
    const engine = await startToneEngine(program ?? "");
    await freeze();
    const waiting = [tones("one"), tones("two")].map((samples) => hear(engine, samples));
    const outcome = Promise.allSettled(waiting);
    await engine.close();
    for (const { status } of await outcome) expect(status).toBe("rejected");
    expect(await enginePids()).toEqual([]);
    await expect(hear(engine, tones("one"))).rejects.toMatchObject({ reason: "unavailable" });
  });
});

async function waitForState(engine: Awaited<ReturnType<typeof startToneEngine>>, state: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = engine.watch((status) => status.state === state && resolve());
  if (engine.status().state === state) resolve();
  await promise;
  stop();
}

/** A program that acts as the engine, but crashes when it loads a model at its second start. */
async function engineCrashingOnSecondStart(engine: string, folder: string): Promise<string> {
  const path = join(folder, "engine");
  const badModel = await toneModelFile({ weights: "f32" });
  const script = `#!/bin/sh
if [ -e '${folder}/second' ]; then exec '${engine}' "$@"; fi
if [ -e '${folder}/first' ]; then : > '${folder}/second'; exec '${engine}' "$@" --model '${badModel}'; fi
case "$1" in --help) ;; *) : > '${folder}/first' ;; esac
exec '${engine}' "$@"
`;
  await writeFile(path, script, { mode: 0o755 });
  return path;
}

function kill(pid: number): boolean {
  try {
    return process.kill(pid, "SIGKILL");
  } catch {
    return false;
  }
}
