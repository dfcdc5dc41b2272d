/** A language model in a child process of this server, as the engine sees it. */
export interface EmbeddedServer {
  /** Where the child listens, also after a restart. */
  readonly socketPath: string;
  /** Resolves once the model can be asked. Rejects with `EmbeddedModelAbsent`, or with the signal's reason. */
  untilReady(signal: AbortSignal): Promise<void>;
  /** How often a child has become ready. */
  readonly starts: number;
  /** Resolves once a child is ready after so many starts. Rejects like `untilReady`. */
  untilStarted(starts: number, signal: AbortSignal): Promise<void>;
}

/** The model cannot be asked. The message is a sentence without a full stop. */
export class EmbeddedModelAbsent extends Error {
  override readonly name = "EmbeddedModelAbsent";
  /** When it may be there, in seconds; null if nobody knows. */
  readonly retryAfterSeconds: number | null;

  constructor(message: string, retryAfterSeconds: number | null) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
