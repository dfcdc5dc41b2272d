import { type Call, type CallOutput, callOutput, type HistoryStep } from "./history.ts";

/** The output of each call. Calls with one id get its outputs in order. */
export function pairOutputs(steps: readonly HistoryStep[]): ReadonlyMap<Call, CallOutput> {
  const outputs = new Map<Call, CallOutput>();
  const waiting = new Map<string, WaitingCalls>();
  for (const step of steps) {
    if (step.type === "call") {
      if (step.outputElse !== undefined) outputs.set(step, callOutput(step.callId, step.outputElse));
      const sameId = waiting.get(step.callId);
      if (sameId === undefined) waiting.set(step.callId, { calls: [step], answered: 0 });
      else sameId.calls.push(step);
    }
    if (step.type === "call_output") {
      const call = takeCall(waiting.get(step.callId));
      if (call !== undefined) outputs.set(call, step);
    }
  }
  return outputs;
}

interface WaitingCalls {
  readonly calls: Call[];
  answered: number;
}

/**
 * The call that the next output answers: the first one that waits, but the latest of those that need no output, as
 * theirs follows at once.
 */
function takeCall(waiting: WaitingCalls | undefined): Call | undefined {
  if (waiting === undefined) return undefined;
  const latest = waiting.calls.at(-1);
  if (latest?.outputElse !== undefined) return waiting.calls.pop();
  const first = waiting.calls[waiting.answered];
  waiting.answered++;
  return first;
}
