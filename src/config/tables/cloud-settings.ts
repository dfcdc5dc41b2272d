import type { Setting } from "../setting.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The server of `antiphon stt-cloud`. */
export const CLOUD_SETTINGS = {
  sttCloudHost: {
    name: "STT_CLOUD_HOST",
    section: "Cloud stream",
    kind: "string",
    default: "127.0.0.1",
    text: "Address stt-cloud listens on. 0.0.0.0 opens it to the network; then put a TLS proxy in front of it.",
  },
  sttCloudPort: {
    name: "STT_CLOUD_PORT",
    section: "Cloud stream",
    kind: "integer",
    default: 8238,
    min: 0,
    max: 65_535,
    text: "Port of stt-cloud. 0 picks a free port.",
  },
  sttCloudStreamsMax: {
    name: "STT_CLOUD_STREAMS_MAX",
    section: "Cloud stream",
    kind: "integer",
    default: 64,
    min: 1,
    max: 10_000,
    text: "Most cloud streams at the same time, all keys together. Further ones are told to retry later.",
  },
  sttCloudIdleTimeoutMs: {
    name: "STT_CLOUD_IDLE_TIMEOUT_MS",
    section: "Cloud stream",
    kind: "duration",
    default: 5 * MINUTE,
    min: 1,
    max: DAY,
    text: "A cloud stream is closed after this time without audio or a heartbeat.",
  },
  sttCloudStreamsPerMinute: {
    name: "STT_CLOUD_STREAMS_PER_MINUTE",
    section: "Cloud stream",
    kind: "integer",
    default: 60,
    min: 1,
    max: 1_000_000,
    text: "Most cloud streams that a key may open per minute.",
  },
  sttCloudAudioSecondsPerMinute: {
    name: "STT_CLOUD_AUDIO_SECONDS_PER_MINUTE",
    section: "Cloud stream",
    kind: "integer",
    default: 1200,
    min: 1,
    max: 1_000_000,
    text: "Most seconds of audio that a key may send per minute on all its cloud streams. A live stream sends 60.",
  },
  sttCloudRateLimitWaitMs: {
    name: "STT_CLOUD_RATE_LIMIT_WAIT_MS",
    section: "Cloud stream",
    kind: "duration",
    default: MINUTE,
    min: 1,
    max: HOUR,
    text: "How long a key is refused after it exceeds a limit of the cloud stream.",
  },
} as const satisfies Readonly<Record<string, Setting>>;
