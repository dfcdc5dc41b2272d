/** A load that the load generator makes: the same request again and again, on connections that are kept. */
export interface Job {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly count: number;
  readonly atOnce: number;
  /** Requests are begun no faster than this; absent: each connection begins the next one at once. */
  readonly perSecond?: number;
  /** After this time no further request is begun. */
  readonly secondsMax: number;
  /** A reply in which this does not occur is not whole. */
  readonly endMark: string;
  /** Occurs in the first piece of a reply that contains text of the model. */
  readonly textMark: string;
  /** What happens at the first text: the reply is read to its end, its connection is closed, or it is left open. */
  readonly atText: "read" | "close" | "hold";
  /** Whether texts contain the time at which they were sent. */
  readonly isDated: boolean;
}

export interface Outcome {
  readonly seconds: number;
  /** Replies that came whole, or as far as `atText` asks. */
  readonly whole: number;
  /** Replies that ended well as HTTP, and lack the end mark. */
  readonly unended: number;
  /** Replies that failed otherwise. */
  readonly failed: number;
  /** Why some of them failed. */
  readonly reasons: readonly string[];
  /** Texts seen: occurrences of the text mark. */
  readonly texts: number;
  /** From the request to the first text, in milliseconds. */
  readonly firstTextMs: { readonly p50: number; readonly p99: number };
  /** From the upstream's write of a token to its arrival here, in milliseconds. */
  readonly delayMs: { readonly p50: number; readonly p99: number };
}
