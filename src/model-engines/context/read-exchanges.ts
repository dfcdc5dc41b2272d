import type { HostedCall, HostedOutput } from "@antiphon/domain/models/hosted.ts";
import type { HistoryStep } from "./history.ts";
import { readableArguments } from "./hosted-exchanges.ts";
import { readToolOutput } from "./read-items.ts";
import type { ToolNames } from "./tool-names.ts";

/** Reads a call of a hosted function, or its output, as the model made or saw it. */
export function readExchange(item: HostedCall | HostedOutput, names: ToolNames, position: number): HistoryStep {
  const { callId } = item;
  if (item.type === "hosted_call") {
    const name = names.nameOf({ kind: "hosted", name: item.name, namespace: item.server });
    return { type: "call", callId, name, arguments: readableArguments(item.arguments) };
  }
  if (item.parts.length === 0) return readToolOutput(callId, item.output, "");
  const text = item.output === "" ? [] : [{ type: "input_text" as const, text: item.output }];
  return readToolOutput(callId, [...text, ...item.parts], `input[${position}].parts`);
}
