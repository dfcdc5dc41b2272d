/** Counts streams and audio for metrics. Its functions must not throw. */
export interface SpeechObserver {
  /** The returned function must be called when the stream is over. */
  streamOpened(): () => void;
  audioReceived(ms: number): void;
  /** `waitMs` is the time from the request for a final to the final. */
  finalMade(waitMs: number): void;
}
