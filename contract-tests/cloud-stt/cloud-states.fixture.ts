import { RATE_HZ, spokenBase64 } from "../../tests/speech/slow-sound.ts";
import type { EngineName } from "../../tests/speech/staged-engines.ts";

/** What a state asks for; one that asks for nothing is a service that could open a stream. */
export interface CloudSetting {
  /** Left out: one that fails at whatever it hears. */
  readonly engine?: EngineName;
  readonly env?: Readonly<Record<string, string>>;
  /** What is done with the server before anybody asks. */
  readonly prelude?: "hold_stream" | "stop";
  /** What the caller's key is in place of a good one. */
  readonly apiKey?: string;
  /** How many streams the caller's key tries to open before; one unless told. */
  readonly streamsTried?: number;
  /** Said until the service has enough, while nobody reads what it says. */
  readonly unread?: readonly object[];
  /** The last piece follows what the pact says. */
  readonly isEnded?: boolean;
}

export const CLOUD_STATES = {
  "a key that is not known": { apiKey: "sk-wrong" },
  "a key that tried to open too many streams": {
    env: { STT_CLOUD_STREAMS_PER_MINUTE: "1" },
    prelude: "hold_stream",
    streamsTried: 2,
  },
  "a key that may send no more sound": { engine: "tones", env: { STT_CLOUD_AUDIO_SECONDS_PER_MINUTE: "1" } },
  "a service with room": {},
  "as many streams as there may be": { env: { STT_CLOUD_STREAMS_MAX: "1" }, prelude: "hold_stream" },
  "no speech engine": { engine: "none" },
  "a speech model that is being loaded": { engine: "loading" },
  "an engine with a full queue": { engine: "full" },
  "an engine that fails on every recording": { engine: "failing" },
  "a service that is stopping": { prelude: "stop", env: { DRAIN_MS: "20000" } },
  "a stream that was just opened": { engine: "tones" },
  "a stream that its client ends after the next message": { engine: "tones", isEnded: true },
  "a stream whose client does not read": {
    engine: "talkative",
    unread: [{ type: "audio", audio_base64: spokenBase64("one", 1000), sample_rate: RATE_HZ }],
  },
  "a stream that is silent for too long": { env: { STT_CLOUD_IDLE_TIMEOUT_MS: "200" } },
} as const satisfies Readonly<Record<string, CloudSetting>>;

export type CloudState = keyof typeof CLOUD_STATES;

export function cloudSettingOf(state: string): CloudSetting {
  const setting = Object.entries(CLOUD_STATES).find(([name]) => name === state)?.[1];
  if (setting === undefined) throw new Error(`nothing brings about the state '${state}'`);
  return setting;
}
