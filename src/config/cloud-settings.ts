import type { Setting } from "./setting.ts";

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
    text: "The address that stt-cloud listens on. 0.0.0.0 offers it to the network; put a proxy with TLS before it then.",
  },
  sttCloudPort: {
    name: "STT_CLOUD_PORT",
    section: "Cloud stream",
    kind: "integer",
    default: 8238,
    min: 0,
    max: 65_535,
    text: "The port of stt-cloud. 0 takes any free one.",
  },
  sttCloudStreamsMax: {
    name: "STT_CLOUD_STREAMS_MAX",
    section: "Cloud stream",
    kind: "integer",
    default: 64,
    min: 1,
    max: 10_000,
    text: "Cloud streams at the same time, of all keys together. Further ones are asked to come back later.",
  },
  sttCloudIdleTimeoutMs: {
    name: "STT_CLOUD_IDLE_TIMEOUT_MS",
    section: "Cloud stream",
    kind: "duration",
    default: 5 * MINUTE,
    min: 1,
    max: DAY,
    text: "How long a cloud stream may go on without audio and heartbeats.",
  },
  sttCloudStreamsPerMinute: {
    name: "STT_CLOUD_STREAMS_PER_MINUTE",
    section: "Cloud stream",
    kind: "integer",
    default: 60,
    min: 1,
    max: 1_000_000,
    text: "Cloud streams that a key may open in a minute.",
  },
  sttCloudAudioSecondsPerMinute: {
    name: "STT_CLOUD_AUDIO_SECONDS_PER_MINUTE",
    section: "Cloud stream",
    kind: "integer",
    default: 1200,
    min: 1,
    max: 1_000_000,
    text: "Seconds of audio that a key may send in a minute on all its cloud streams; each that is spoken live sends 60.",
  },
  sttCloudRateLimitWaitMs: {
    name: "STT_CLOUD_RATE_LIMIT_WAIT_MS",
    section: "Cloud stream",
    kind: "duration",
    default: MINUTE,
    min: 1,
    max: HOUR,
    text: "How long a key that took more is refused.",
  },
} as const satisfies Readonly<Record<string, Setting>>;
