import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { ToneWord } from "../../scripts/fixture-model/tone-words.ts";
import { verifies } from "../verifies.ts";
import { sound, tones } from "./tones.ts";
import { enginePids, freeze, hear, startToneEngine, whisperForTests } from "./whisper-for-tests.ts";

const program = await whisperForTests();

describe.skipIf(program === null)("an engine with several callers", () => {
  test("serves callers in turn, however much one of them asks", async () => {
    verifies("stt.engine.callers-take-turns");
    const engine = await startToneEngine(program ?? "");
    const order: string[] = [];
    const ask = (caller: string): Promise<unknown> =>
      hear(engine, tones("one"), { caller }).then(() => order.push(caller));
    const frozen = await freeze();
    const all = [..."AAAAAAAA", ..."BB", "C"].map(ask);
    await sleep(100);
    frozen.goOn();
    await Promise.all(all);
    expect(order.join("")).toBe("AABCABAAAAA");
  });

  test("prefers requests with a waiting client, and still serves the others", async () => {
    const engine = await startToneEngine(program ?? "");
    const order: string[] = [];
    const ask = (urgency: "ahead" | "awaited", name: string): Promise<unknown> =>
      hear(engine, tones("one"), { caller: name, urgency }).then(() => order.push(name));
    const frozen = await freeze();
    const all = [
      ask("ahead", "x"),
      ...[..."abcdefgh"].map((name) => ask("awaited", name)),
      ...[..."yz"].map((name) => ask("ahead", name)),
    ];
    await sleep(100);
    frozen.goOn();
    await Promise.all(all);
    expect(order.join("")).toBe("xabcydefzgh");
  });

  test("refuses excess requests at once, and serves all others", async () => {
    verifies("stt.engine.queue-is-bounded");
    const engine = await startToneEngine(program ?? "", { jobsMax: 3 });
    const frozen = await freeze();
    const kept = ["one", "two", "three", "four"].map((word) => hear(engine, tones(word === "one" ? "one" : "two")));
    await expect.poll(() => engine.refusal(), { timeout: 10_000 }).toMatchObject({ reason: "busy" });
    await expect(hear(engine, tones("five"))).rejects.toMatchObject({ name: "SpeechError", reason: "busy" });
    frozen.goOn();
    expect((await Promise.all(kept)).map(({ text }) => text)).toEqual(["one", "two", "two", "two"]);
    expect(engine.refusal()).toBeNull();
  });

  test("splits long recordings, so that a short one does not wait for their end", async () => {
    verifies("stt.engine.callers-take-turns");
    const engine = await startToneEngine(program ?? "");
    const order: string[] = [];
    const words = Array.from({ length: 20 }, (_, index): ToneWord => (index % 2 === 0 ? "six" : "seven"));
    const long = hear(engine, sound(...words.flatMap((word) => [20_000, word])), { caller: "long" });
    const noted = long.then(() => order.push("long"));
    await sleep(50);
    await hear(engine, tones("one"), { caller: "short" }).then(() => order.push("short"));
    await noted;
    expect(order).toEqual(["short", "long"]);
    expect((await long).text).toBe(words.join(" "));
  });
});

describe.skipIf(program === null)("a cancelled request", () => {
  test("is never computed if it was still waiting", async () => {
    verifies("stt.engine.cancel-frees-the-engine");
    const engine = await startToneEngine(program ?? "");
    const frozen = await freeze();
    const first = hear(engine, tones("one"));
    const leaving = new AbortController();
    const waiting = hear(engine, tones("two"), { signal: leaving.signal });
    const last = hear(engine, tones("three"));
    leaving.abort(new Error("the client left"));
    await expect(waiting).rejects.toThrow("the client left");
    frozen.goOn();
    expect([(await first).text, (await last).text]).toEqual(["one", "three"]);
  });

  test("ends at once for its caller if it was running, and the same engine serves the next one", async () => {
    verifies("stt.engine.cancel-frees-the-engine");
    const engine = await startToneEngine(program ?? "");
    const before = await enginePids();
    const frozen = await freeze();
    const leaving = new AbortController();
    const running = hear(engine, tones("one"), { signal: leaving.signal });
    const next = hear(engine, tones("two"));
    await sleep(100);
    const startedMs = performance.now();
    leaving.abort(new Error("the client left"));
    await expect(running).rejects.toThrow("the client left");
    expect(performance.now() - startedMs).toBeLessThan(1000);
    frozen.goOn();
    expect((await next).text).toBe("two");
    expect(await enginePids()).toEqual(before);
    expect(engine.restarts()).toBe(0);
  });

  test("costs nothing if it is cancelled before it starts", async () => {
    const engine = await startToneEngine(program ?? "");
    const signal = AbortSignal.abort(new Error("gone already"));
    await expect(hear(engine, tones("one"), { signal })).rejects.toThrow("gone already");
  });
});

test.skipIf(program === null)(
  "an engine that does not answer is stopped, and a new one answers the next request",
  async () => {
    const engine = await startToneEngine(program ?? "");
    await freeze();
    await expect(hear(engine, tones("one"))).rejects.toMatchObject({
      reason: "crashed",
      message: "The speech engine took too long for this recording",
    });
    expect((await hear(engine, tones("two"))).text).toBe("two");
    expect(engine.restarts()).toBe(1);
  },
  60_000,
);
