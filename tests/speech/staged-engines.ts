import { createDisabledEngine } from "@antiphon/speech/recognition/disabled-engine.ts";
import {
  type EngineStatus,
  type SpeechEngine,
  SpeechError,
  type SpeechErrorReason,
} from "@antiphon/speech/recognition/speech-engine.ts";
import { settled } from "../local-stt-server.ts";
import { openEngine, toneModelFile, whisperForTests } from "./whisper-for-tests.ts";

/** The real engine; null if this machine cannot build it. */
const program = await whisperForTests();

const DISABLED_ENGINE = createDisabledEngine("Speech is switched off");

/** What the fixed engine transcribes for any sound. */
const LONG_TEXT = "word ".repeat(50_000).trim();

/** Engines in states that a real one has only briefly. */
const STAGED = {
  none: DISABLED_ENGINE,
  building: unready({ state: "building", percent: 40 }),
  downloading: unready({ state: "downloading", receivedBytes: 1_048_576, totalBytes: 147_951_465 }),
  loading: unready({ state: "loading" }),
  full: refusing("busy", "Too many recordings are already waiting for the speech engine"),
  failing: ready(new SpeechError("crashed", "The speech engine failed on this recording, twice")),
  faulty: ready(new TypeError("a fault of the server itself")),
  talkative: { ...ready(new Error()), transcribe: async () => ({ text: LONG_TEXT, segments: [], language: null }) },
} as const satisfies Readonly<Record<string, SpeechEngine>>;

/** `tones` is the real engine with the model of tone words. */
export type EngineName = keyof typeof STAGED | "tones";

export interface Engines {
  engine(name: EngineName): SpeechEngine;
  close(): Promise<void>;
}

/** Whether this machine cannot build the engine. */
export function isMissing(name: EngineName): boolean {
  return name === "tones" && program === null;
}

/** Starts all of them; resolves when the real one is ready. */
export async function openEngines(): Promise<Engines> {
  const tones = program === null ? null : openEngine(program, await toneModelFile());
  if (tones !== null) await settled(tones);
  const engine = (name: EngineName): SpeechEngine => {
    if (name !== "tones") return STAGED[name];
    if (tones === null) throw new Error("this machine has no engine");
    return tones;
  };
  return { engine, close: async () => tones?.close() };
}

function unready(status: EngineStatus): SpeechEngine {
  return { ...refusing("loading", "The speech engine is not ready"), status: () => status };
}

function refusing(reason: SpeechErrorReason, message: string): SpeechEngine {
  const refusal = new SpeechError(reason, message);
  return { ...ready(refusal), refusal: () => refusal };
}

function ready(failure: Error): SpeechEngine {
  return {
    ...DISABLED_ENGINE,
    status: () => ({ state: "ready" }),
    facts: () => ({ ...DISABLED_ENGINE.facts(), model: "base.en" }),
    refusal: () => null,
    transcribe: () => Promise.reject(failure),
  };
}
