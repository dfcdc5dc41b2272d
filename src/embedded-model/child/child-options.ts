import { readOwnJson } from "@antiphon/base/json/read-json.ts";
import type { TemplateName } from "./prompt/known-templates.ts";

/** What the child is started with, as one argument of JSON. */
export interface ChildOptions {
  /** What the model is for: answers, or vectors of texts. */
  readonly work: "answers" | "vectors";
  readonly socketPath: string;
  readonly engineFolder: string;
  readonly modelPath: string;
  readonly template: TemplateName | "auto";
  readonly slots: number;
  readonly threads: number;
  /** The most tokens of input and answer that a slot holds. */
  readonly windowMax: number;
  readonly queueMax: number;
}

/** What the child says on its output, a line each, behind `CHILD_LINE`. */
export type ChildMessage =
  | { readonly type: "progress"; readonly share: number }
  | {
      readonly type: "ready";
      readonly model: string;
      readonly window: number;
      /** Sentences for the operator. */
      readonly notes: readonly string[];
    }
  /** The model cannot be used. The message is a sentence without a full stop. */
  | { readonly type: "refused"; readonly message: string };

/** The name that every model has beside its own. */
export const EMBEDDED_MODEL = "embedded";

/** Marks the child's own lines among those of native code. */
export const CHILD_LINE = "antiphon-model: ";

export function readChildLine(line: string): ChildMessage | null {
  return line.startsWith(CHILD_LINE) ? readOwnJson<ChildMessage>(line.slice(CHILD_LINE.length)) : null;
}
