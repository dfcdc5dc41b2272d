import { silentLogger } from "@antiphon/base/logger.ts";
import type { McpCall, StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import type { ApprovedCall, HostedTool, OpenTool, ToolOutcome } from "@antiphon/domain/hosted-tool.ts";
import { createEgress } from "@antiphon/egress/egress.ts";
import type { McpInput, McpOptions, OperatorServer } from "../../../src/tools/mcp/mcp-server.ts";
import { createMcpTool } from "../../../src/tools/mcp/mcp-tool.ts";
import { toolScope, USER } from "../../../src/tools/tool-scope.fixture.ts";

const TIMEOUTS = { connectMs: 2000, idleMs: 2000, totalMs: 5000 };

/** The options of a server that may call loopback, unless `more` says otherwise. */
export function mcpOptions(more: Partial<McpOptions> = {}): McpOptions {
  const egress = guard(["127.0.0.1"]);
  return {
    mode: "on",
    servers: [],
    egress,
    operatorEgress: egress,
    loginsFolder: "/nonexistent/mcp-logins",
    listTimeoutMs: 5000,
    callTimeoutMs: 5000,
    programsMax: 32,
    programIdleMs: 60_000,
    toolsMax: 128,
    outputCharactersMax: 2000,
    version: "0",
    isOnlyProcess: true,
    log: silentLogger,
    ...more,
  };
}

/** A server of the operator that everybody may use as they like. */
export function operatorServer(reach: OperatorServer["reach"], more: Partial<OperatorServer> = {}): OperatorServer {
  return {
    label: "shop",
    reach,
    description: null,
    allowedTools: null,
    requireApproval: null,
    allowsLessApproval: false,
    owners: null,
    connectorIds: [],
    forwardsAuthorization: false,
    ...more,
  };
}

export function guard(allow: readonly string[]): McpOptions["egress"] {
  return createEgress({
    policy: { mode: "public", allow, deny: [], ports: [80, 443] },
    timeouts: TIMEOUTS,
    log: silentLogger,
  });
}

export function mcpInput(more: Partial<McpInput> = {}): McpInput {
  return { type: "mcp", server_label: "shop", require_approval: "never", ...more };
}

export interface OpenMore {
  readonly options?: Partial<McpOptions>;
  readonly context?: readonly StoredItem[];
  readonly approvals?: readonly ApprovedCall[];
  readonly signal?: AbortSignal;
  /** Opened instead of a tool of its own. */
  readonly from?: HostedTool;
  readonly project?: string;
}

/** Opens the tool through its port. */
export async function opened(tool: McpInput, more: OpenMore = {}): Promise<OpenTool> {
  let items = 0;
  const scope = toolScope({
    owner: { ...USER.owner, project: more.project ?? USER.owner.project },
    context: more.context ?? [],
    approvals: more.approvals ?? [],
    newItemId: (prefix) => `${prefix}_${++items}`,
    ...(more.signal === undefined ? {} : { signal: more.signal }),
  });
  return await (more.from ?? createMcpTool(mcpOptions(more.options))).open(tool, scope);
}

/** Makes one call of an open tool. */
export async function called(
  open: OpenTool,
  name: string,
  args: object | string = {},
  signal = new AbortController().signal,
): Promise<ToolOutcome> {
  const made = open.call(name, { callId: "call_1", newItemId: (prefix) => `${prefix}_9` });
  return await finished(made.run(typeof args === "string" ? args : JSON.stringify(args), signal));
}

export async function finished(running: AsyncGenerator<unknown, ToolOutcome>): Promise<ToolOutcome> {
  for (;;) {
    const next = await running.next();
    if (next.done === true) return next.value;
  }
}

/** The item and the output of a call that ran. */
export function ranCall(outcome: ToolOutcome): { readonly item: McpCall; readonly output: string } {
  if (outcome.type !== "ran" || outcome.item.type !== "mcp_call") throw new Error(`it ${outcome.type}`);
  return { item: outcome.item, output: outcome.output };
}
