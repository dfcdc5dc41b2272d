import type { MadeCall, OpenTool, ToolOutcome, ToolScope } from "@antiphon/domain/hosted-tool.ts";
import type { ToolStep } from "@antiphon/domain/models/hosted.ts";

/** A user of a tool in tests, whose model has vision. */
export const USER = {
  owner: { organization: "org", project: "project" },
  abilities: { images: true, imageUrls: false, files: false, audioFormats: [] },
} as const;

/** A call from the loop. All item ids end in 1. */
export const MADE: MadeCall = { callId: "call_1", newItemId: (prefix) => `${prefix}_1` };

/** The scope of a response without a context. */
export function toolScope(changes: Partial<ToolScope> = {}): ToolScope {
  return {
    ...USER,
    responseId: "resp_1",
    continuedId: null,
    include: [],
    context: [],
    approvals: [],
    readsPrivately: false,
    laterTools: [],
    signal: new AbortController().signal,
    newItemId: MADE.newItemId,
    ...changes,
  };
}

/** Runs a call to its end. A text is used as arguments unchanged. */
export async function runCall(
  open: OpenTool,
  name: string,
  args: object | string,
): Promise<{ readonly outcome: ToolOutcome; readonly steps: readonly ToolStep[] }> {
  const text = typeof args === "string" ? args : JSON.stringify(args);
  const { signal } = new AbortController();
  return await runToEnd(open.call(name, MADE).run(text, signal));
}

/** The outcome of a started call, and its steps. */
export async function runToEnd(
  running: AsyncGenerator<ToolStep, ToolOutcome>,
): Promise<{ readonly outcome: ToolOutcome; readonly steps: readonly ToolStep[] }> {
  const steps: ToolStep[] = [];
  for (;;) {
    const { value, done } = await running.next();
    if (done === true) return { outcome: value, steps };
    steps.push(value);
  }
}
