import type { EngineName } from "../../tests/speech/staged-engines.ts";
import { formattingAt, UNREACHABLE_URL } from "./formatters.fixture.ts";

/** How a state differs from a server without engine and formatter. */
export interface Setting {
  /** No engine by default. */
  readonly engine?: EngineName;
  readonly formatter?: "writing" | "breaking_off";
  /** Whether the data folder has the key that the Responses API made at its first start. No by default. */
  readonly hasKey?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** What happens to the server before the first request. */
  readonly prelude?: "hold_stream" | "stop";
  /** How many bytes of the caller's request arrive. All by default. */
  readonly bytesCarried?: number;
  /** How many bytes are added to the pact's body. */
  readonly moreBytes?: number;
}

const MEBIBYTE = 1024 * 1024;

export const STATES = {
  "a speech server": {},
  "a model that hears tones": { engine: "tones" },
  "a model that hears tones, and a formatter": { engine: "tones", formatter: "writing" },
  "a model that hears tones, and a formatter that is down": { engine: "tones", env: formattingAt(UNREACHABLE_URL) },
  "a model that hears tones, and recordings of at most a second": { engine: "tones", env: { STT_RECORDING_MAX: "1s" } },
  "a model that hears tones, and an upload of more than may be uploaded": {
    engine: "tones",
    env: { BACKEND_MAX_UPLOAD_MB: "1" },
    moreBytes: MEBIBYTE,
  },
  "a body of more than any text": { moreBytes: 4 * MEBIBYTE },
  "a connection that stalls": { engine: "failing", env: { STT_UPLOAD_TIMEOUT_MS: "200" }, bytesCarried: 2000 },
  "a formatter": { formatter: "writing" },
  "a formatter that is down": { env: formattingAt(UNREACHABLE_URL) },
  "a formatter that refuses its key": { formatter: "writing", env: { FORMATTER_API_KEY: "sk-wrong" } },
  "a formatter that fails": { formatter: "writing", env: { FORMATTER_MODEL: "no-such-model" } },
  "a formatter that breaks off": { formatter: "breaking_off" },
  "formatting that is switched off": { formatter: "writing", env: { FORMATTING: "false" } },
  "a Responses API with a key of its own": { hasKey: true },
  "a Responses API without a key of its own": { hasKey: false },
  "a key that is not given to pages": { hasKey: true, env: { CHAT_LAB_KEY: "false" } },
  "metrics that are switched off": { env: { METRICS: "off" } },
  "an engine that is being built": { engine: "building" },
  "a speech model that is being downloaded": { engine: "downloading" },
  "a speech model that is being loaded": { engine: "loading" },
  "an engine with a full queue": { engine: "full" },
  "an engine that fails on every recording": { engine: "failing" },
  "an engine that hears a long speech in everything": { engine: "talkative" },
  "an engine with a fault": { engine: "faulty" },
  "streams that may be silent for a moment only": { engine: "failing", env: { STT_IDLE_TIMEOUT_MS: "200" } },
  "as many streams as there may be": { engine: "failing", env: { STT_STREAMS_MAX: "1" }, prelude: "hold_stream" },
  "a server that is stopping": { engine: "failing", prelude: "stop", env: { DRAIN_MS: "20000" } },
} as const satisfies Readonly<Record<string, Setting>>;

export type State = keyof typeof STATES;

export function settingOf(state: string): Setting {
  const setting = Object.entries(STATES).find(([name]) => name === state)?.[1];
  if (setting === undefined) throw new Error(`no setup exists for the state '${state}'`);
  return setting;
}
