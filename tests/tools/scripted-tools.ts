import { setTimeout as sleep } from "node:timers/promises";
import type { McpCall } from "@antiphon/contracts/responses-api/types.ts";
import type { HostedTool, MadeCall, OpenTool, ToolCall, ToolOutcome, ToolScope } from "@antiphon/domain/hosted-tool.ts";
import type { HostedFunction, ToolStep } from "@antiphon/domain/models/hosted.ts";

/** What the tools of a test were asked to do. */
export interface Journal {
  /** `begin NAME` and `end NAME`, in the order in which it happened. */
  readonly steps: string[];
  readonly arguments: string[];
  /** How many tools are open. */
  open: number;
  /** Calls that ended because their response ended. */
  aborted: number;
}

type Effect = ToolCall["effect"];

const NAMES = ["echo", "slow", "fail", "throw", "ask", "act", "mute", "count"] as const;

/** How long `slow` takes, in milliseconds. */
const SLOW_MS = 40;

/**
 * An MCP server of the test, without the protocol. `echo` returns its arguments, `slow` does so later, `fail` fails,
 * `throw` is broken, and so is every tool with the text `break`; `ask` asks the client, `act` has effects, `mute` never
 * ends, `count` returns another number each time.
 */
export function scriptedMcp(journal: Journal): HostedTool {
  return {
    kind: "mcp",
    types: ["mcp"],
    refusal: () => null,
    open: async (tool, scope) => {
      if (tool.type !== "mcp") throw new Error("only mcp tools are opened here");
      journal.open += 1;
      return openServer(tool.server_label, scope, journal);
    },
  };
}

export function newJournal(): Journal {
  return { steps: [], arguments: [], open: 0, aborted: 0 };
}

function openServer(label: string, scope: ToolScope, journal: Journal): OpenTool {
  const list = { id: scope.newItemId("mcpl"), type: "mcp_list_tools" as const, server_label: label, tools: [] };
  const listed = NAMES.map((name) => ({ annotations: null, description: name, input_schema: PARAMETERS, name }));
  return {
    functions: NAMES.map((name): HostedFunction => {
      return { type: "hosted_function", name, server: label, description: name, parameters: PARAMETERS };
    }),
    note: `The server ${label} is scripted.`,
    opening: [{ first: list, last: { ...list, tools: listed } }],
    pending: [],
    call: (name, made) => callOf({ name, label }, made, journal),
    close: async () => {
      journal.open -= 1;
    },
  };
}

const PARAMETERS = { type: "object", properties: { text: { type: "string" } } } as const;

interface Called {
  readonly name: string;
  readonly label: string;
}

function callOf({ name, label }: Called, made: MadeCall, journal: Journal): ToolCall {
  const asks = name === "ask";
  const id = made.newItemId(asks ? "mcpr" : "mcp");
  const first: McpCall = {
    id,
    type: "mcp_call",
    status: "in_progress",
    approval_request_id: null,
    arguments: "",
    error: null,
    name,
    output: null,
    server_label: label,
  };
  const effect: Effect = name === "act" ? "may_have" : "none";
  return {
    item: asks ? null : first,
    streams: asks ? null : "arguments",
    effect,
    async *run(args, signal): AsyncGenerator<ToolStep, ToolOutcome> {
      yield* [];
      journal.steps.push(`begin ${name}`);
      journal.arguments.push(args);
      if (asks) {
        const item = { id, type: "mcp_approval_request" as const, arguments: args, name, server_label: label };
        return { type: "asks", first: item, item };
      }
      yield { type: "searching" }; // A step that items of this type do not have.
      if (name === "slow") await sleep(SLOW_MS);
      if (name === "mute") await untilAborted(signal, journal);
      if (name === "throw" || args.includes('"break"')) throw new Error("the scripted tool is broken");
      journal.steps.push(`end ${name}`);
      const fails = name === "fail";
      const got = name === "count" ? journal.steps.length : args;
      const output = fails ? "It went wrong." : `${name} got ${got}`;
      const error = { type: "mcp_tool_execution_error" as const, content: [{ type: "text", text: output }] };
      const shown = fails ? { status: "failed" as const, error } : { status: "completed" as const, output };
      return {
        type: "ran",
        item: { ...first, arguments: args, ...shown },
        output,
        parts: [],
        sources: [{ type: "web", number: journal.steps.length, url: "https://example.com/a", title: "A" }],
        usage: { webSearches: 1 },
      };
    },
  };
}

async function untilAborted(signal: AbortSignal, journal: Journal): Promise<void> {
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  journal.aborted += 1;
}
