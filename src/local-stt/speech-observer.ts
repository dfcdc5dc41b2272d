/** Told what is done with sound, for metrics. Nothing here may throw. */
export interface SpeechObserver {
  /** The function is told when the stream is over. */
  streamOpened(): () => void;
  audioReceived(ms: number): void;
  /** From when a final was asked for to when it was made. */
  finalMade(waitMs: number): void;
}
