import { RATE_HZ, spokenBase64 } from "../../tests/speech/slow-sound.ts";
import type { EngineName } from "../../tests/speech/staged-engines.ts";

/** How a state differs from a service that can open a stream. */
export interface CloudSetting {
  /** By default an engine that fails on every input. */
  readonly engine?: EngineName;
  readonly env?: Readonly<Record<string, string>>;
  /** What happens to the server before the first request. */
  readonly prelude?: "hold_stream" | "stop";
  /** The caller's key, if it is not a valid one. */
  readonly apiKey?: string;
  /** How many streams the caller's key tries to open before the request. The default is one. */
  readonly streamsTried?: number;
  /** Sent again and again, with the replies unread, until the service ends the stream. */
  readonly unread?: readonly object[];
  /** True if the stream ends after the pact's message. */
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
  if (setting === undefined) throw new Error(`no setup exists for the state '${state}'`);
  return setting;
}
