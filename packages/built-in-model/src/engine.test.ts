import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { verifies } from "../../../tests/verifies.ts";
import { createBuiltInEngine } from "./engine.ts";
import { aRequest, outline, spoken, WEATHER } from "./request.fixture.ts";
import { parseScenarioFile } from "./scenario/scenario-file.ts";

const stays = new AbortController().signal;

/** Collects all batches of a turn. */
async function listen(turn: AsyncIterable<readonly ModelEvent[]>): Promise<(readonly ModelEvent[])[]> {
  const batches: (readonly ModelEvent[])[] = [];
  for await (const batch of turn) batches.push(batch);
  return batches;
}

/** Ends the watch before the timers are real again: it would put the faked ones back. */
function useRealTimers(): void {
  vi.restoreAllMocks();
  vi.useRealTimers();
}

/** Which of the faked timers were set. Servers of other test files may set some, too, while they end. */
function watchTimers() {
  const setting = vi.spyOn(globalThis, "setTimeout");
  const stopping = vi.spyOn(globalThis, "clearTimeout");
  return {
    timersOf: (ms: number) => setting.mock.results.filter((_, call) => setting.mock.calls[call]?.[1] === ms),
    isStopped: ({ value }: { readonly value: unknown }) => stopping.mock.calls.some(([timer]) => timer === value),
  };
}

describe("models", () => {
  test("are described as not being language models", async () => {
    verifies("builtin-engine.answers.honest");
    const scenario = parseScenarioFile("models: [my-model]\nscenarios: []", "s.yaml");
    expect(await createBuiltInEngine({ scenario, now: () => 1_800_000_000.5 }).listModels(stays)).toEqual([
      {
        id: "antiphon-built-in",
        created: 1_800_000_000,
        ownedBy: "antiphon",
        description: "Deterministic, without weights: fixed rules, not a language model.",
      },
      {
        id: "my-model",
        created: 1_800_000_000,
        ownedBy: "antiphon",
        description: "Played by the built-in engine from its scenario file; not a language model.",
      },
    ]);
  });

  test("with unknown names are refused", async () => {
    await expect(createBuiltInEngine().sample(aRequest("Hi", { model: "gpt-9" }), stays)).rejects.toMatchObject({
      name: "ModelError",
      status: 400,
      type: "invalid_request_error",
      code: "model_not_found",
      param: "model",
      message: "The requested model 'gpt-9' does not exist.",
    });
  });
});

describe("a turn", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  });
  afterEach(useRealTimers);

  test("streams word by word, in batches that are never empty", async () => {
    const batches = await listen(await createBuiltInEngine().sample(aRequest("write 100 words"), stays));
    expect(batches.map((batch) => batch.length)).toEqual([32, 32, 32, 6]);
    expect(batches.flat().filter((event) => event.type === "text_delta")).toHaveLength(100);
    expect(outline(batches.flat())).toBe("text_delta usage stop");
  });

  test("waits tokenDelayMs between words", async () => {
    const turn = await createBuiltInEngine({ tokenDelayMs: 50 }).sample(aRequest("count to 3"), stays);
    const words = turn[Symbol.asyncIterator]();
    expect((await words.next()).value).toMatchObject([{ text: "1" }]);
    const second = words.next();
    const isSaid = vi.fn<() => void>();
    const listening = second.then(isSaid);
    await vi.advanceTimersByTimeAsync(49);
    expect(isSaid).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await listening;
    expect((await second).value).toMatchObject([{ text: " 2" }]);
    const third = words.next();
    await vi.advanceTimersByTimeAsync(50);
    expect((await third).value).toMatchObject([{ text: " 3" }, { type: "usage" }, { type: "finished" }]);
  });

  test("ends early and without an error when it is aborted", async () => {
    const tokenDelayMs = 61_234; // No timer of another test is as long.
    const { timersOf, isStopped } = watchTimers();
    const controller = new AbortController();
    const turn = await createBuiltInEngine({ tokenDelayMs }).sample(aRequest("count to 3"), controller.signal);
    const words = turn[Symbol.asyncIterator]();
    await words.next();
    const second = words.next();
    await vi.waitFor(() => expect(timersOf(tokenDelayMs)).toHaveLength(1));
    controller.abort();
    expect(await second).toEqual({ done: true, value: undefined });
    expect(timersOf(tokenDelayMs).map(isStopped)).toEqual([true]);
    expect(await listen(await createBuiltInEngine().sample(aRequest("Hi"), controller.signal))).toEqual([]);
  });

  test("ends between two batches when it is aborted there", async () => {
    const controller = new AbortController();
    let events = 0;
    for await (const batch of await createBuiltInEngine().sample(aRequest("write 5000 words"), controller.signal)) {
      events += batch.length;
      controller.abort();
    }
    expect(events).toBe(32);
  });

  test("fails after its first words when the message asks for it", async () => {
    const turn = await createBuiltInEngine().sample(aRequest("fail now"), stays);
    const heard: ModelEvent[] = [];
    const listening = async (): Promise<void> => {
      for await (const batch of turn) heard.push(...batch);
    };
    await expect(listening()).rejects.toMatchObject({ name: "ModelError", type: "server_error" });
    expect(spoken(heard)).toBe("This answer is about to");
  });

  test("is refused before it begins when its tools are not supported", async () => {
    const request = aRequest("Hi", { tools: [WEATHER, { type: "local_shell" }] });
    await expect(createBuiltInEngine().sample(request, stays)).rejects.toMatchObject({
      status: 400,
      param: "tools[1]",
    });
  });
});

describe("a scenario", () => {
  const scenario = parseScenarioFile(
    `
models: [other]
scenarios:
  - when: { input_contains: slow }
    events: [{ text: one }, { delay_ms: 1234 }, { text: two }, { finish: length }]
  - when: { input_contains: busy }
    events: [{ refuse_turn: { status: 429, type: rate_limit_error, code: rate_limit_exceeded, message: Busy., retry_after_seconds: 7 } }]
`,
    "s.yaml",
  );

  test("plays the events of its file", async () => {
    verifies("builtin-engine.scenario.plays-a-file");
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(useRealTimers);
    const { timersOf } = watchTimers();
    const listening = listen(
      await createBuiltInEngine({ scenario }).sample(aRequest("Go SLOW", { model: "other" }), stays),
    );
    await vi.waitFor(() => expect(timersOf(1234)).toHaveLength(1));
    await vi.advanceTimersByTimeAsync(1234);
    const batches = await listening;
    expect(batches.map(outline)).toEqual(["text_delta", "text_delta usage length"]);
  });

  test("refuses a turn with the error of its file", async () => {
    await expect(createBuiltInEngine({ scenario }).sample(aRequest("busy"), stays)).rejects.toMatchObject({
      status: 429,
      retryAfterSeconds: 7,
      message: "Busy.",
    });
  });

  test("answers requests that fit no scenario by the rules or with an error", async () => {
    const [batch] = await listen(await createBuiltInEngine({ scenario }).sample(aRequest("say hi"), stays));
    expect(spoken(batch ?? [])).toBe("hi");
    const strict = createBuiltInEngine({ scenario: { ...scenario, fallback: "error" } });
    await expect(strict.sample(aRequest("say hi"), stays)).rejects.toMatchObject({ status: 500, type: "server_error" });
  });
});
