/** How the upstream answers. */
export interface UpstreamShape {
  readonly tokens: number;
  readonly perWrite: number;
  /** Milliseconds between writes; 0: a turn of the event loop. With a pace, each token contains its time. */
  readonly paceMs: number;
  /** Whether the stream stays open after its tokens. */
  readonly hangs: boolean;
}

/** The name of a model that answers in this shape, such as `t200-w8-p0-h0`. */
export function modelName({ tokens, perWrite = 1, paceMs = 0, hangs = false }: Partial<UpstreamShape>): string {
  return `t${tokens}-w${perWrite}-p${paceMs}-h${hangs ? 1 : 0}`;
}

/** Reads a name that `modelName` made. Any other name means 20 tokens, one a write. */
export function shapeOf(model: string): UpstreamShape {
  const [, tokens = "20", perWrite = "1", paceMs = "0", hangs = "0"] =
    /^t(\d+)-w(\d+)-p(\d+)-h([01])$/.exec(model) ?? [];
  return { tokens: Number(tokens), perWrite: Number(perWrite), paceMs: Number(paceMs), hangs: hangs === "1" };
}
