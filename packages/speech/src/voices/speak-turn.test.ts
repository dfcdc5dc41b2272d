import { Semaphore } from "@antiphon/base/limits/semaphore.ts";
import { SAMPLE_ITEMS } from "@antiphon/domain/models/hosted-items.fixture.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { describe, expect, test } from "vitest";
import { type Encoder, type VoiceEngine, VoiceError } from "./ports.ts";
import { speakTurn } from "./speak-turn.ts";
import { createSpeaker } from "./speaker.ts";
import { encodePcm16, encodeWav } from "./spoken-output.ts";

type Batch = readonly ModelEvent[];

/** A model's turn whose events the test adds one by one. */
class ScriptedTurn implements AsyncIterableIterator<Batch> {
  readonly #said: (Batch | Error | null)[] = [];
  #wake: () => void = () => {};
  isLeft = false;

  say(...events: readonly ModelEvent[]): void {
    this.#add(events);
  }
  fail(error: Error): void {
    this.#add(error);
  }
  end(): void {
    this.#add(null);
  }
  [Symbol.asyncIterator](): this {
    return this;
  }
  async next(): Promise<IteratorResult<Batch>> {
    while (this.#said.length === 0 && !this.isLeft)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    const next = this.#said.shift() ?? null;
    if (next instanceof Error) throw next;
    return next === null ? { value: undefined, done: true } : { value: next, done: false };
  }
  async return(): Promise<IteratorResult<Batch>> {
    this.isLeft = true;
    this.#wake();
    return { value: undefined, done: true };
  }
  #add(next: Batch | Error | null): void {
    this.#said.push(next);
    this.#wake();
  }
}

/**
 * A voice that gives two samples per character, with the character's code as value. It waits for the sentence's gate,
 * if there is one.
 */
class ScriptedVoice implements VoiceEngine {
  readonly name = "scripted";
  readonly referenceVoices = [];
  readonly voiceFor = (name: string): string => name;
  readonly said: string[] = [];
  readonly gates = new Map<string, Promise<void>>();
  speaking = 0;
  mostSpeaking = 0;
  /** The voice fails in the middle of this sentence. */
  failsAt: string | null = null;

  async listVoices(): Promise<null> {
    return null;
  }

  async *speak(text: string, voice: string | null, signal: AbortSignal) {
    this.said.push(`${voice}: ${text}`);
    this.speaking += 1;
    this.mostSpeaking = Math.max(this.mostSpeaking, this.speaking);
    try {
      await this.gates.get(text);
      const samples = Int16Array.from([...text].flatMap((char) => [char.charCodeAt(0), char.charCodeAt(0)]));
      for (const piece of [samples.subarray(0, text.length), samples.subarray(text.length)]) {
        if (signal.aborted) return;
        yield { sampleRateHz: 24_000, samples: piece };
        if (this.failsAt === text) throw new VoiceError("it lost its voice");
      }
    } finally {
      this.speaking -= 1;
    }
  }
}

interface Scene {
  readonly turn: ScriptedTurn;
  readonly voice: ScriptedVoice;
  readonly stop: AbortController;
  readonly faults: unknown[];
  readonly heard: ModelEvent[];
  /** Resolves when the spoken turn has ended. */
  readonly ended: Promise<void>;
  /** Waits until nothing more happens without input. */
  readonly settle: () => Promise<void>;
}

function play(changes: { encode?: Encoder; slots?: Semaphore; voice?: ScriptedVoice } = {}): Scene {
  const turn = new ScriptedTurn();
  const voice = changes.voice ?? new ScriptedVoice();
  const stop = new AbortController();
  const faults: unknown[] = [];
  const heard: ModelEvent[] = [];
  const speak = createSpeaker({
    engine: voice,
    voice: "v",
    encode: changes.encode ?? encodePcm16,
    sampleRateHz: 24_000,
    slots: changes.slots ?? new Semaphore(1),
    onFault: (fault) => faults.push(fault),
  });
  const spoken = speakTurn(turn, speak, stop.signal);
  const ended = (async () => {
    for await (const batch of spoken) {
      expect(batch.length).toBeGreaterThan(0);
      heard.push(...batch);
    }
  })();
  const settle = async (): Promise<void> => {
    for (let round = 0; round < 50; round += 1) await new Promise(setImmediate);
  };
  return { turn, voice, stop, faults, heard, ended, settle };
}

const text = (words: string): ModelEvent => ({ type: "text_delta", text: words });
const STOP: ModelEvent = { type: "finished", reason: "stop" };
const USAGE: ModelEvent = {
  type: "usage",
  usage: { inputTokens: 1, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 1, reasoningTokens: 0 },
};

/** A short form of the events: sound as ♪, transcript in quotes. */
function short(events: readonly ModelEvent[]): string {
  const names = events.map((event) => {
    if (event.type === "text_delta" || event.type === "refusal_delta") return event.text.trim();
    if (event.type === "audio_delta") return "♪";
    if (event.type === "audio_transcript_delta") return JSON.stringify(event.text);
    return event.type;
  });
  return names.join(" ").replaceAll(/♪( ♪)+/g, "♪");
}

function soundOf(events: readonly ModelEvent[]): Buffer {
  return Buffer.concat(
    events.flatMap((event) => (event.type === "audio_delta" ? [Buffer.from(event.audio, "base64")] : [])),
  );
}

/** The bytes that the scripted voice gives for these sentences. */
function soundFor(...sentences: readonly string[]): Buffer {
  const samples = sentences.flatMap((sentence) => [...sentence].flatMap((char) => [char, char]));
  return Buffer.from(new Uint8Array(Int16Array.from(samples, (char) => char.charCodeAt(0)).buffer));
}

describe("a spoken turn", () => {
  test("is spoken sentence by sentence while its text continues, and finishes after the last sound", async () => {
    const { turn, voice, heard, ended, settle } = play();
    turn.say(text("This is the first one. And"));
    await settle();
    expect(short(heard)).toBe('This is the first one. And "This is the first one." ♪');
    turn.say(text(" that was it."));
    turn.say(STOP, USAGE);
    await settle();
    turn.end();
    await ended;
    expect(short(heard)).toBe(
      'This is the first one. And "This is the first one." ♪ that was it. message_finished " And that was it." ♪ audio_done finished usage',
    );
    expect(soundOf(heard)).toEqual(soundFor("This is the first one.", "And that was it."));
    expect(voice.said).toEqual(["v: This is the first one.", "v: And that was it."]);
  });

  test("never holds its text back for the voice", async () => {
    const { turn, voice, heard, ended, settle } = play();
    const gate = Promise.withResolvers<void>();
    voice.gates.set("The voice is slow here.", gate.promise);
    turn.say(text("The voice is slow here. "));
    for (let index = 0; index < 20; index += 1) turn.say(text(`And text number ${index} goes on. `));
    turn.say(STOP);
    turn.end();
    await settle();
    expect(heard.filter(({ type }) => type === "text_delta")).toHaveLength(21);
    expect(heard.some(({ type }) => type === "audio_delta" || type === "finished")).toBe(false);
    gate.resolve();
    await ended;
    expect(short(heard.slice(-2))).toBe("audio_done finished");
    expect(voice.said).toHaveLength(21);
    expect(voice.mostSpeaking).toBe(1);
  });

  test("speaks refusals but no reasoning or calls, and ends a sentence where another item begins", async () => {
    const { turn, voice, heard, ended } = play();
    turn.say(
      { type: "reasoning_delta", text: "Let me think. Hm." },
      { type: "reasoning_summary_delta", text: "A plan. So." },
    );
    turn.say(text("I will look that up"));
    turn.say(
      { type: "call_started", kind: "function", callId: null, name: "find" },
      { type: "call_delta", text: '{"a": "Say. This."}' },
    );
    turn.say({ type: "call_finished" }, { type: "message_started" }, text("It is there"), { type: "message_started" });
    turn.say({ type: "refusal_delta", text: "I cannot say where." }, STOP);
    turn.end();
    await ended;
    expect(voice.said).toEqual(["v: I will look that up", "v: It is there", "v: I cannot say where."]);
    const passed = heard.filter(({ type }) => !type.startsWith("audio_")).map(({ type }) => type);
    expect(passed).toEqual([
      "reasoning_delta",
      "reasoning_summary_delta",
      "text_delta",
      "call_started",
      "call_delta",
      "call_finished",
      "message_started",
      "text_delta",
      "message_started",
      "refusal_delta",
      "message_finished",
      "finished",
    ]);
  });

  test("is spoken up to an item of a hosted tool before the tool is done, and the item is not spoken", async () => {
    const voice = new ScriptedVoice();
    const { turn, heard, ended } = play({ voice });
    const { first, last } = SAMPLE_ITEMS.mcp_call("mcp_1");
    turn.say(text("I will ask the sea"), { type: "item_started", item: first });
    turn.say({ type: "item_delta", text: "Say. This." }, { type: "item_finished", item: last });
    turn.say(text("High at noon."), STOP);
    turn.end();
    await ended;
    expect(voice.said).toEqual(["v: I will ask the sea", "v: High at noon."]);
    expect(heard.filter(({ type }) => type.startsWith("item_"))).toHaveLength(3);
  });

  test("without words has no sound at all", async () => {
    const { turn, heard, ended } = play({ encode: encodeWav });
    turn.say(text("```\ncode\n```\n"), { type: "call_started", kind: "function", callId: null, name: "f" }, STOP);
    turn.end();
    await ended;
    expect(short(heard)).toBe("```\ncode\n``` call_started message_finished finished");
  });

  test("loses only its sound when the voice fails", async () => {
    const voice = new ScriptedVoice();
    voice.failsAt = "Here it fails, in the midst of it.";
    const { turn, heard, faults, ended } = play({ voice });
    turn.say(text("The first sentence is fine. Here it fails, in the midst of it. This is not spoken. "));
    turn.say(text("But it is written."), STOP);
    turn.end();
    await ended;
    expect(short(heard.filter(({ type }) => type.startsWith("audio_") || type === "finished"))).toBe(
      '"The first sentence is fine." ♪ " Here it fails, in the midst of it." ♪ audio_done finished',
    );
    expect(heard.filter(({ type }) => type === "text_delta")).toHaveLength(2);
    expect(soundOf(heard)).toEqual(
      soundFor("The first sentence is fine.", "Here it fails, in").subarray(0, 2 * (54 + 34)),
    );
    expect(faults).toEqual([new VoiceError("it lost its voice")]);
    expect(voice.said).toHaveLength(2);
  });

  test("loses its sound when the encoder fails", async () => {
    const { turn, heard, faults, ended } = play({
      // oxlint-disable-next-line require-yield -- it fails before it yields
      encode: async function* (pcm) {
        for await (const _samples of pcm) throw new Error("the encoder broke");
      },
    });
    turn.say(text("A sentence to be lost."), STOP);
    turn.end();
    await ended;
    expect(short(heard)).toBe('A sentence to be lost. message_finished "A sentence to be lost." audio_done finished');
    expect(faults).toEqual([new Error("the encoder broke")]);
  });

  test("fails at once when the model fails, and stops the voice", async () => {
    const { turn, voice, heard, ended, settle } = play();
    const gate = Promise.withResolvers<void>();
    voice.gates.set("The voice is slow here.", gate.promise);
    turn.say(text("The voice is slow here. And"));
    await settle();
    expect(voice.speaking).toBe(1);
    turn.fail(new Error("the model died"));
    gate.resolve();
    await expect(ended).rejects.toThrow("the model died");
    expect(short(heard)).toBe("The voice is slow here. And");
    expect(voice.speaking).toBe(0);
    expect(turn.isLeft).toBe(true);
  });

  test("stops without audio_done when its signal aborts", async () => {
    const { turn, voice, heard, faults, stop, ended, settle } = play();
    const gate = Promise.withResolvers<void>();
    voice.gates.set("The second is slow to come.", gate.promise);
    turn.say(text("The first sentence is fine. The second is slow to come. And a third one."));
    await settle();
    stop.abort();
    turn.end();
    gate.resolve();
    await ended;
    expect(short(heard.slice(1))).toBe('"The first sentence is fine." ♪');
    expect([voice.said.length, voice.speaking, faults]).toEqual([2, 0, []]);
  });

  test("stops the model and the voice when the caller stops iterating, even before the start", async () => {
    for (const begins of [true, false]) {
      const turn = new ScriptedTurn();
      const voice = new ScriptedVoice();
      const speak = createSpeaker({
        engine: voice,
        voice: null,
        encode: encodePcm16,
        sampleRateHz: 24_000,
        slots: new Semaphore(1),
        onFault: () => {},
      });
      turn.say(text("One sentence is here. Two are better. Three are a crowd in here."));
      const iterator = speakTurn(turn, speak, new AbortController().signal)[Symbol.asyncIterator]();
      if (begins) for (let index = 0; index < 2; index += 1) await iterator.next();
      await iterator.return?.();
      expect([turn.isLeft, voice.speaking]).toEqual([true, 0]);
      expect(await iterator.next()).toEqual({ value: undefined, done: true });
    }
  });
});

describe("the sound of a turn", () => {
  test("is one recording: each delta can be decoded alone, and the deltas' base64 can be joined", async () => {
    const { turn, heard, ended } = play({ encode: encodeWav });
    turn.say(
      text("Seven samples or so.\n\n"),
      text(
        `${"This is quite a long sentence that fills more than one delta with its sound, ".repeat(4)}ok. `.repeat(8),
      ),
      STOP,
    );
    turn.end();
    await ended;
    const deltas = heard.flatMap((event) => (event.type === "audio_delta" ? [event.audio] : []));
    expect(deltas.length).toBeGreaterThan(8);
    expect(Buffer.from(deltas.join(""), "base64")).toEqual(soundOf(heard));
    expect(soundOf(heard).toString("latin1", 0, 4)).toBe("RIFF");
    expect(soundOf(heard).indexOf("RIFF", 1)).toBe(-1);
    for (const delta of deltas) expect(delta.length).toBeLessThanOrEqual(12_800);
  });

  test("ends at its maximum length", async () => {
    const { turn, voice, heard, ended } = play();
    for (let index = 0; index < 300; index += 1)
      turn.say(text(`${"Words without end are ".repeat(5)}number ${index}. `));
    turn.say(STOP);
    turn.end();
    await ended;
    const spoken = voice.said.map((said) => said.slice("v: ".length)).join("");
    expect(spoken.length).toBeLessThanOrEqual(15_000);
    expect(spoken.length).toBeGreaterThan(14_500);
    expect(short(heard.slice(-2))).toBe("audio_done finished");
    expect(heard.filter(({ type }) => type === "text_delta")).toHaveLength(300);
  });

  test("waits while too many sentences are spoken at once", async () => {
    const slots = new Semaphore(1);
    const giveBack = await slots.take(new AbortController().signal);
    const { turn, voice, heard, ended, settle } = play({ slots });
    turn.say(text("This has to wait for its turn."), STOP);
    turn.end();
    await settle();
    expect(voice.said).toEqual([]);
    giveBack();
    await ended;
    expect(short(heard)).toBe(
      'This has to wait for its turn. message_finished "This has to wait for its turn." ♪ audio_done finished',
    );
  });
});
