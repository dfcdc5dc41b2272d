import { isRecord } from "@antiphon/base/json/records.ts";
import type { McpCall } from "@antiphon/contracts/responses-api/types.ts";
import {
  type CallEffect,
  type MadeCall,
  mayChangeWorld,
  type ToolCall,
  type ToolOutcome,
} from "@antiphon/domain/hosted-tool.ts";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { readArguments } from "../read-arguments.ts";
import { withoutSteps } from "../without-steps.ts";
import { explainMcpFailure, mayHaveActed } from "./mcp-failure.ts";
import type { OfferedMcpTool } from "./offered-tools.ts";
import type { AnsweredQuestion, AskingCalls, CallEnd } from "./questions/asking-calls.ts";
import { askResources, readQuestion } from "./resources/read-resources.ts";
import { cut, readResult, type ShownLimits } from "./results/read-result.ts";
import type { ServerLink } from "./server-link.ts";

const INVALID_PARAMS = -32_602;
const INVALID_REQUEST = -32_600;

/** State shared by the calls of a response. */
export interface CallContext extends ShownLimits {
  readonly link: ServerLink;
  readonly label: string;
  readonly responseId: string;
  /** Null if the user cannot be asked during a call. */
  readonly asking: AskingCalls | null;
}

/** How a call came to be made. */
export interface CallOrigin {
  /** The id of its item. */
  readonly id: string;
  readonly approvalRequestId: string | null;
  /** Whether the user can be asked during the call. */
  readonly mayWait: boolean;
  /** The question with whose answer the call goes on; absent for a call that begins. */
  readonly answered?: AnsweredQuestion;
}

/** A call of a tool. The server gets the arguments exactly as the model wrote them or the request was approved. */
export function mcpCall(context: CallContext, offer: OfferedMcpTool, origin: CallOrigin): ToolCall {
  const { id, approvalRequestId } = origin;
  const item: McpCall = {
    id,
    type: "mcp_call",
    status: "in_progress",
    approval_request_id: approvalRequestId,
    arguments: "",
    error: null,
    name: offer.definition.name,
    output: null,
    server_label: context.label,
  };
  return {
    item,
    streams: "arguments",
    effect: effectOf(offer, origin),
    run: (args, signal) => withoutSteps(callMcpTool(context, { ...item, arguments: args }, { offer, origin }, signal)),
  };
}

/** A call that goes on with an answer of the user is not made again: the answer is used up. */
function effectOf({ readOnly, idempotent }: OfferedMcpTool, { answered }: CallOrigin): CallEffect {
  if (readOnly) return "none";
  return idempotent && answered === undefined ? "idempotent" : "may_have";
}

async function callMcpTool(
  context: CallContext,
  item: McpCall,
  { offer, origin }: { readonly offer: OfferedMcpTool; readonly origin: CallOrigin },
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const { name, input_schema: schema } = offer.definition;
  const args = readArguments(item.arguments);
  if (args === null) return wrongArguments(item);
  const effect = effectOf(offer, origin);
  try {
    if (offer.readsResources) {
      const question = readQuestion(args);
      return question === null
        ? wrongArguments(item, "The uri and the cursor are not texts")
        : ran(item, await askResources(context.link, question, signal), context);
    }
    const key = mayChangeWorld(effect) ? `${context.responseId}.${origin.id}` : null;
    const call = { name, arguments: args, key, schema: isRecord(schema) ? schema : {} };
    if (context.asking !== null) {
      const askingCall = { ...call, text: item.arguments, mayWait: origin.mayWait };
      const { answered } = origin;
      const end =
        answered === undefined
          ? await context.asking.begin(askingCall, signal)
          : await context.asking.goOn(answered, askingCall, signal);
      return endedOutcome(item, end, effect, context);
    }
    return ran(item, await context.link.callTool(call, signal), context);
  } catch (error) {
    if (signal.aborted) return stoppedOutcome(item);
    return mayChangeWorld(effect) && mayHaveActed(error) ? { type: "unknown" } : failedCall(item, error, context);
  }
}

function endedOutcome(item: McpCall, end: CallEnd, effect: CallEffect, context: CallContext): ToolOutcome {
  if (end.type === "result") return ran(item, end.result, context);
  if (end.type === "lost") return mayChangeWorld(effect) ? { type: "unknown" } : lostCall(item);
  const question = { first: end.item, last: end.item };
  return { ...outcome({ ...item, status: "incomplete" }, ASKED), following: [question], asks: true };
}

const ASKED =
  "The server has asked the user a question. The call goes on with the answer, and its result follows then.";

/** The call waited for its answer too long, or in a process that has ended. It had no effects. */
function lostCall(item: McpCall): ToolOutcome {
  const message = "The answer came too late: the call that waited for it has ended";
  const error = { type: "mcp_protocol_error" as const, code: INVALID_REQUEST, message };
  return outcome({ ...item, status: "failed", error }, `${message}. Make it again if its result is needed.`);
}

/** A call that needs approval: it requests it and does nothing. */
export function approvalCall(label: string, { definition }: OfferedMcpTool, origin: MadeCall): ToolCall {
  return {
    item: null,
    streams: null,
    effect: "none",
    run: (args) => withoutSteps(askedOutcome(label, definition.name, origin, args)),
  };
}

function askedOutcome(label: string, name: string, origin: MadeCall, args: string): ToolOutcome {
  if (readArguments(args) === null) return { type: "told", output: NOT_AN_OBJECT };
  const item = {
    id: origin.newItemId("mcpr"),
    type: "mcp_approval_request" as const,
    arguments: args.trim() === "" ? "{}" : args,
    name,
    server_label: label,
  };
  return { type: "asks", first: item, item };
}

const NOT_CALLED = "The tool was not called. Call it again with arguments that fit its schema.";
const NOT_AN_OBJECT = `The arguments are not a JSON object. ${NOT_CALLED}`;

function wrongArguments(item: McpCall, message = "The arguments are not a JSON object"): ToolOutcome {
  const error = { type: "mcp_protocol_error" as const, code: INVALID_PARAMS, message };
  return { ...outcome({ ...item, status: "failed", error }, `${message}. ${NOT_CALLED}`), hasNotActed: true };
}

function ran(item: McpCall, result: CallToolResult, context: CallContext): ToolOutcome {
  const { output, parts } = readResult(result, context);
  if (result.isError !== true) return { ...outcome({ ...item, status: "completed", output }, output), parts };
  const error = { type: "mcp_tool_execution_error" as const, content: shownContent(result, output, context) };
  return { ...outcome({ ...item, status: "failed", error }, output === "" ? "The tool failed." : output), parts };
}

/** The content as returned by the tool, unless it is too long to be shown completely. */
function shownContent({ content }: CallToolResult, output: string, { charactersMax, secrets }: CallContext): unknown {
  if (JSON.stringify(content).length <= charactersMax) return secrets.redactJson(content);
  return [{ type: "text", text: cut(output, charactersMax) }];
}

function failedCall(item: McpCall, error: unknown, { secrets }: CallContext): ToolOutcome {
  const failure = explainMcpFailure(error, secrets);
  const failedItem = { ...item, status: "failed" as const, error: failure };
  return { ...outcome(failedItem, `The call failed: ${failure.message}.`), hasNotActed: true };
}

function stoppedOutcome(item: McpCall): ToolOutcome {
  return outcome({ ...item, status: "incomplete" }, "The call was stopped.");
}

function outcome(item: McpCall, output: string): Extract<ToolOutcome, { type: "ran" }> {
  return { type: "ran", item, output, parts: [], sources: [] };
}
