import { eachInSlices } from "@antiphon/base/limits/slices.ts";
import { type Call, type CallOutput, callOutput, type HistoryStep } from "./history.ts";

/** Finds the output of each call. Calls with the same id get its outputs in order. */
export async function pairOutputs(steps: readonly HistoryStep[]): Promise<ReadonlyMap<Call, CallOutput>> {
  const outputs = new Map<Call, CallOutput>();
  const waiting = new Map<string, WaitingCalls>();
  await eachInSlices(steps, (step) => {
    if (step.type === "call") {
      if (step.defaultOutput !== undefined) outputs.set(step, callOutput(step.callId, step.defaultOutput));
      const sameId = waiting.get(step.callId);
      if (sameId === undefined) waiting.set(step.callId, { calls: [step], answerCount: 0 });
      else sameId.calls.push(step);
    }
    if (step.type === "call_output") {
      const call = takeCall(waiting.get(step.callId));
      if (call !== undefined) outputs.set(call, step);
    }
  });
  return outputs;
}

interface WaitingCalls {
  readonly calls: Call[];
  answerCount: number;
}

/**
 * The call of the next output: the first unanswered one. Among calls with a default output, the latest, because their
 * outputs follow at once.
 */
function takeCall(waiting: WaitingCalls | undefined): Call | undefined {
  if (waiting === undefined) return undefined;
  const latest = waiting.calls.at(-1);
  if (latest?.defaultOutput !== undefined) return waiting.calls.pop();
  const first = waiting.calls[waiting.answerCount];
  waiting.answerCount++;
  return first;
}
