import type { Meters } from "./meters.ts";
import { METRICS } from "./metric-table.ts";

/** Notified of speech streams and their audio. */
export interface SpeechMetrics {
  /** Returns a function to call when the stream ends. */
  streamOpened(): () => void;
  audioReceived(ms: number): void;
  finalMade(waitMs: number): void;
}

/** Measures the local speech server. `restarts` returns the number of its engine's restarts. */
export function measureSpeech(meters: Meters, restarts: () => number): SpeechMetrics {
  let open = 0;
  let openCount = 0;
  let heardMs = 0;
  const wait = meters.histogram(METRICS.speechFinalWait);
  meters.watch(METRICS.speechStreamsOpen, () => open);
  meters.watch(METRICS.speechStreamsOpened, () => openCount);
  meters.watch(METRICS.speechAudio, () => heardMs / 1000);
  meters.watch(METRICS.speechEngineRestarts, restarts);
  return {
    streamOpened: () => {
      open += 1;
      openCount += 1;
      return () => {
        open -= 1;
      };
    },
    audioReceived: (ms) => {
      heardMs += ms;
    },
    finalMade: (waitMs) => wait.record(waitMs / 1000),
  };
}
