import type { CallToolResult } from "@modelcontextprotocol/client";
import type { McpCall } from "../../../generated/responses-api/types.ts";
import { jsonOrUndefined } from "../../base/json/read-json.ts";
import { isRecord } from "../../base/json/records.ts";
import type { MadeCall, ToolCall, ToolOutcome } from "../../responses-api/hosted-tool.ts";
import type { ToolStep } from "../../runs/ports.ts";
import type { McpConnection } from "./mcp-connection.ts";
import { explainMcpFailure } from "./mcp-failure.ts";
import type { OfferedMcpTool } from "./offered-tools.ts";
import { cut, readResult } from "./read-result.ts";

const INVALID_PARAMS = -32_602;

/** What calls of a response share. */
export interface CallContext {
  readonly connection: McpConnection;
  readonly label: string;
  readonly images: boolean;
  readonly charactersMax: number;
}

/** A call of a tool whose arguments are given to the server as the model, or the approved request, has them. */
export function mcpCall(
  context: CallContext,
  { listed, readOnly, idempotent }: OfferedMcpTool,
  { id, approvalRequestId }: { readonly id: string; readonly approvalRequestId: string | null },
): ToolCall {
  const item: McpCall = {
    id,
    type: "mcp_call",
    status: "in_progress",
    approval_request_id: approvalRequestId,
    arguments: "",
    error: null,
    name: listed.name,
    output: null,
    server_label: context.label,
  };
  return {
    item,
    streams: "arguments",
    effect: readOnly || idempotent ? "none" : "may_have",
    // oxlint-disable-next-line require-yield -- A call has no steps of its own.
    async *run(args, signal): AsyncGenerator<ToolStep, ToolOutcome> {
      const made = { ...item, arguments: args };
      const read = args.trim() === "" ? {} : jsonOrUndefined(args);
      if (!isRecord(read)) return wrongArguments(made);
      try {
        const schema = isRecord(listed.input_schema) ? listed.input_schema : {};
        const result = await context.connection.callTool({ name: listed.name, arguments: read, schema }, signal);
        return ran(made, result, context);
      } catch (error) {
        return signal.aborted ? stopped(made) : failed(made, error, context);
      }
    },
  };
}

/** A call that a person must approve: it asks, and does nothing. */
export function approvalCall(label: string, { listed }: OfferedMcpTool, made: MadeCall): ToolCall {
  return {
    item: null,
    streams: null,
    effect: "none",
    // oxlint-disable-next-line require-yield -- It asks at once.
    async *run(args): AsyncGenerator<ToolStep, ToolOutcome> {
      const read = args.trim() === "" ? {} : jsonOrUndefined(args);
      if (!isRecord(read)) return { type: "told", output: NOT_AN_OBJECT };
      const item = {
        id: made.newItemId("mcpr"),
        type: "mcp_approval_request" as const,
        arguments: args.trim() === "" ? "{}" : args,
        name: listed.name,
        server_label: label,
      };
      return { type: "asks", first: item, item };
    },
  };
}

const NOT_AN_OBJECT =
  "The arguments are not a JSON object. The tool was not called. Call it again with arguments that fit its schema.";

function wrongArguments(item: McpCall): ToolOutcome {
  const error = {
    type: "mcp_protocol_error" as const,
    code: INVALID_PARAMS,
    message: "The arguments are not a JSON object",
  };
  return outcome({ ...item, status: "failed", error }, NOT_AN_OBJECT);
}

function ran(item: McpCall, result: CallToolResult, { charactersMax, images }: CallContext): ToolOutcome {
  const { output, parts } = readResult(result, { charactersMax, images });
  if (result.isError !== true) return { ...outcome({ ...item, status: "completed", output }, output), parts };
  const error = { type: "mcp_tool_execution_error" as const, content: shownContent(result, output, charactersMax) };
  return { ...outcome({ ...item, status: "failed", error }, output === "" ? "The tool failed." : output), parts };
}

/** The content as the tool returned it, unless it is too long to be shown whole. */
function shownContent({ content }: CallToolResult, output: string, charactersMax: number): unknown {
  if (JSON.stringify(content).length <= charactersMax) return content;
  return [{ type: "text", text: cut(output, charactersMax) }];
}

function failed(item: McpCall, error: unknown, { connection }: CallContext): ToolOutcome {
  const failure = explainMcpFailure(error, connection.lastStatus);
  return outcome({ ...item, status: "failed", error: failure }, `The call failed: ${failure.message}.`);
}

function stopped(item: McpCall): ToolOutcome {
  return outcome({ ...item, status: "incomplete" }, "The call was stopped.");
}

function outcome(item: McpCall, output: string): Extract<ToolOutcome, { type: "ran" }> {
  return { type: "ran", item, output, parts: [], sources: [] };
}
