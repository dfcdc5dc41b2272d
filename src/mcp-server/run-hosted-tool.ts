import { newId } from "@antiphon/base/ids.ts";
import { cutResult } from "@antiphon/base/limits/cut-result.ts";
import type { ToolInput } from "@antiphon/contracts/responses-api/types.ts";
import type { OpenTool, ToolOutcome, ToolScope } from "@antiphon/domain/hosted-tool.ts";
import type { ModelAbilities } from "@antiphon/domain/models/model-engine.ts";
import type { Caller } from "../responses-api/access/caller.ts";
import { toolRefusal } from "../responses-api/offered-tools/accept-tools.ts";
import { kindOfType } from "../responses-api/offered-tools/tool-kinds.ts";
import type { McpServing } from "./mcp-serving.ts";

/** The models of clients are unknown; pictures are sent beside the text. */
const ABILITIES: ModelAbilities = { images: true, imageUrls: false, files: false, audioFormats: [] };
const INCLUDED = ["code_interpreter_call.outputs", "file_search_call.results"];

/** A call of a tool that this server runs. */
export interface HostedToolCall {
  /** As in a request to create a response. */
  readonly tool: ToolInput;
  readonly args: object;
  readonly signal: AbortSignal;
  /** Called when the tool goes on to another step. */
  readonly onStep: (step: string) => void;
}

export type RanTool = Extract<ToolOutcome, { type: "ran" }>;

/** Why the caller cannot use the tool, as a whole sentence; null if it can. */
export function refusalOf({ tools }: McpServing, { principal }: Caller, tool: ToolInput): string | null {
  const asker = { owner: principal.owner, abilities: ABILITIES, keyTools: principal.tools ?? null };
  const reason = toolRefusal(tools, tool, kindOfType(tool.type), asker)?.reason ?? null;
  return reason ?? tools.find(tool.type)?.shortfall?.(tool) ?? null;
}

/** The arguments of a call are wrong. The message is for the client's model. */
export class WrongArguments extends Error {
  override readonly name = "WrongArguments";
}

/**
 * Runs the first function of a tool once, without a model. The output is cut as for models. Rejects with `ModelError`
 * or `ApiError` if the tool cannot be opened, with `WrongArguments`, and with the reason of the signal.
 */
export async function runHostedTool(serving: McpServing, caller: Caller, call: HostedToolCall): Promise<RanTool> {
  const { tools, observer } = serving;
  const { tool, signal } = call;
  const hostedTool = tools.find(tool.type);
  const kind = kindOfType(tool.type);
  if (hostedTool === null || kind === null) throw new Error("only offered tools are called");
  const scope = scopeOf(caller, signal);
  const open = await hostedTool.open(tool, scope);
  try {
    const watch = observer.began({ responseId: scope.responseId, kind, trace: caller.trace });
    const outcome = await finish(open, scope, call).catch((error: unknown) => {
      const isWrong = error instanceof WrongArguments;
      watch.noteEnd(signal.aborted ? "incomplete" : isWrong ? "told" : "broken");
      throw error;
    });
    watch.noteEnd(isFailed(outcome) ? "failed" : "completed");
    return shortened(open, outcome, call, tools.limits.outputCharactersMax);
  } finally {
    await open.close();
  }
}

/** Whether the call failed. */
export function isFailed({ item }: RanTool): boolean {
  return "status" in item && item.status === "failed";
}

function scopeOf({ principal }: Caller, signal: AbortSignal): ToolScope {
  const now = Math.floor(Date.now() / 1000);
  return {
    owner: principal.owner,
    abilities: ABILITIES,
    responseId: newId("mcpcall", now),
    continuedId: null,
    include: INCLUDED,
    context: [],
    approvals: [],
    laterTools: [],
    readsPrivately: true,
    signal,
    newItemId: (prefix) => newId(prefix, now),
  };
}

async function finish(open: OpenTool, scope: ToolScope, { args, signal, onStep }: HostedToolCall): Promise<RanTool> {
  const name = open.functions[0]?.name ?? "";
  const running = open
    .call(name, { callId: scope.newItemId("call"), newItemId: (prefix) => scope.newItemId(prefix) })
    .run(JSON.stringify(args), signal);
  for (;;) {
    const next = await running.next();
    signal.throwIfAborted();
    if (next.done !== true) onStep(next.value.type);
    else if (next.value.type === "ran") return next.value;
    else if (next.value.type === "told") throw new WrongArguments(next.value.output);
    else throw new Error("a tool without approvals runs");
  }
}

function shortened(open: OpenTool, outcome: RanTool, { args }: HostedToolCall, charactersMax: number): RanTool {
  const { output: text } = outcome;
  if (text.length <= charactersMax) return outcome;
  const told = { name: open.functions[0]?.name ?? "", arguments: JSON.stringify(args), text };
  const short = open.shorten?.(told, charactersMax) ?? cutResult(text, charactersMax);
  return { ...outcome, output: `${short.text}\n[${short.notice}]` };
}
