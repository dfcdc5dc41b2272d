import type { Meters } from "./meters.ts";
import { METRICS } from "./metric-table.ts";

/** What is told of the work with sound. */
export interface SpeechMetrics {
  /** The function is told when the stream is over. */
  streamOpened(): () => void;
  audioReceived(ms: number): void;
  finalMade(waitMs: number): void;
}

/** Counts what the local server hears. `restarts` tells how often its engine had to be started anew. */
export function measureSpeech(meters: Meters, restarts: () => number): SpeechMetrics {
  let open = 0;
  let opened = 0;
  let heardMs = 0;
  const wait = meters.histogram(METRICS.speechFinalWait);
  meters.watch(METRICS.speechStreamsOpen, () => open);
  meters.watch(METRICS.speechStreamsOpened, () => opened);
  meters.watch(METRICS.speechAudio, () => heardMs / 1000);
  meters.watch(METRICS.speechEngineRestarts, restarts);
  return {
    streamOpened: () => {
      open += 1;
      opened += 1;
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
