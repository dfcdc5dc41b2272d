/** What every run does: this many turns that each call the tool once, and then a turn that says a text. */
export const STEPS = 4;
/** Words of the text. */
export const WORDS = 60;

export const MODEL = "scripted";
export const SERVER_LABEL = "world";
export const TOOL = "act";
/** The name under which the model knows the tool. */
export const OFFERED_TOOL = `${SERVER_LABEL}__${TOOL}`;

/** The input of a run contains its name, which says whose turns and calls the world counts. */
export const RUN_NAME = /\brun-\d+\b/;

/** One question to the model. A turn is the number of results that the model was shown. */
export interface AskedTurn {
  readonly run: string;
  readonly turn: number;
  /** The node that asked. */
  readonly node: string;
  readonly askedAt: number;
  /** When the last byte of the answer was sent; null if it never was. */
  readonly endedAt: number | null;
}

/** One call of the tool. */
export interface ToolCall {
  readonly run: string;
  readonly step: number;
  readonly calledAt: number;
  /** When the effect happened; null if it has not yet. */
  readonly actedAt: number | null;
}
