import { assert } from "@antiphon/base/assert.ts";
import {
  ELICITATION,
  type OpenTool,
  type PendingCall,
  type ToolCall,
  type ToolScope,
} from "@antiphon/domain/hosted-tool.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import { ServerSecrets } from "./authorization/server-secrets.ts";
import { TokenSources } from "./authorization/token-sources.ts";
import { ConnectionPool } from "./connection-pool.ts";
import type { McpInput, McpOptions, McpServer } from "./mcp-server.ts";
import { traitsOf } from "./offered-tools.ts";
import { ProgramPool } from "./programs/program-pool.ts";
import { type AnsweredQuestion, AskingCalls } from "./questions/asking-calls.ts";
import { HeldCalls } from "./questions/held-calls.ts";
import { readUserAnswer } from "./questions/read-answer.ts";
import { readUserQuestion } from "./questions/user-question.ts";
import { approvalCall, type CallContext, mcpCall } from "./run-call.ts";
import { ServerLink, type TakenConnection } from "./server-link.ts";
import { type IdentifiedCall, type Opening, openList, type ServerTools } from "./server-tools.ts";
import { approvalNeedOf, restraintOf, type ToolTest } from "./tool-filter.ts";

/** What outlives responses: connections to remote servers, and programs. */
export interface ConnectionPools {
  readonly remote: ConnectionPool;
  readonly programs: ProgramPool;
  readonly tokens: TokenSources;
  readonly heldCalls: HeldCalls;
  /** Never rejects. */
  close(): Promise<void>;
}

export function openPools(options: McpOptions): ConnectionPools {
  const tokens = new TokenSources(options);
  const remote = new ConnectionPool({ ...options, tokens });
  const programs = new ProgramPool(options);
  const heldCalls = new HeldCalls();
  const close = async (): Promise<void> => {
    heldCalls.close();
    await Promise.all([remote.close(), programs.close()]);
    await tokens.close();
  };
  return { remote, programs, tokens, heldCalls, close };
}

/** Prepares the tools of a server for one response. Rejects with `ModelError` if they are unavailable. */
export async function openServer(pools: ConnectionPools, opening: Opening): Promise<OpenTool> {
  const { server, scope, options } = opening;
  const link = new ServerLink(() => takeConnection(pools, server, scope));
  const secrets = new ServerSecrets(server, pools.tokens.sourceOf(server.tokenPlace));
  try {
    const tools = await openList(opening, link, secrets, () => hasNewList(pools, server, scope));
    const isHeld = holdOf(server, opening.tool);
    const { label } = server;
    const { isOnlyProcess } = options;
    const context: CallContext = {
      link,
      label,
      responseId: scope.responseId,
      asking: server.asksUser
        ? new AskingCalls({ link, label, secrets, scope, heldCalls: pools.heldCalls, isOnlyProcess })
        : null,
      images: scope.abilities.images,
      charactersMax: options.outputCharactersMax,
      secrets,
    };
    return {
      get functions() {
        return tools.functions;
      },
      note: null,
      guide: tools.guide,
      opening: tools.opening,
      pending: opening.approvedCalls.map((call) => pendingCall(context, tools, call, server)),
      call(name, origin) {
        const offer = tools.find(name);
        assert(offer !== null, "only offered tools are called");
        const { approvalRequestId = null, isByProgram = false } = origin;
        if (approvalRequestId === null && isHeld(traitsOf(offer))) return approvalCall(server.label, offer, origin);
        return renewing(
          tools,
          mcpCall(context, offer, { id: origin.newItemId("mcp"), approvalRequestId, mayWait: !isByProgram }),
        );
      },
      close: async () => link.close(),
    };
  } catch (error) {
    link.close();
    throw error;
  }
}

async function takeConnection(pools: ConnectionPools, server: McpServer, scope: ToolScope): Promise<TakenConnection> {
  if (server.reach.type === "program") {
    const program = await pools.programs.take(server, scope);
    return {
      connection: program.connection,
      release: () => pools.programs.giveBack(program),
      join: (user) => pools.programs.join(program, user),
    };
  }
  const place = await pools.remote.take(server, scope.owner);
  return { connection: place.connection, release: () => pools.remote.giveBack(place), join: () => {} };
}

/** Whether a kept connection heard that the list has changed since it was read. */
function hasNewList(pools: ConnectionPools, server: McpServer, scope: ToolScope): boolean {
  return server.reach.type === "program"
    ? pools.programs.hasNewList(server, scope)
    : pools.remote.hasNewList(server, scope.owner);
}

/** A call after which the list is read again if the server has said that it changed. */
function renewing(tools: ServerTools, call: ToolCall): ToolCall {
  return {
    ...call,
    async *run(args, signal) {
      const outcome = yield* call.run(args, signal);
      const list = outcome.type === "ran" ? await tools.renew(signal) : null;
      return outcome.type !== "ran" || list === null ? outcome : { ...outcome, following: [list] };
    },
  };
}

/** Whether calls of a tool need approval, by the request or the operator. */
function holdOf({ limits }: McpServer, tool: McpInput): ToolTest {
  const isWanted = approvalNeedOf(tool.require_approval);
  const isImposed = restraintOf(limits?.requireApproval);
  return (traits) => isWanted(traits) || isImposed(traits);
}

/** An approved call, with the arguments of its request, or a call whose question was answered. */
function pendingCall(
  context: CallContext,
  tools: ServerTools,
  identified: IdentifiedCall,
  { limits }: McpServer,
): PendingCall {
  const { requestId, itemId, isAskedHere } = identified;
  const answered = identified.name === ELICITATION ? answeredQuestion(identified, context) : null;
  const { name, arguments: args } = answered?.question.call ?? identified;
  const offer = tools.find(name);
  if (offer === null) throw approvedToolMissing(context.label, name);
  if (!isAskedHere && restraintOf(limits?.requireApproval)(traitsOf(offer)))
    throw approvalNotAsked(requestId, context.label);
  const origin = {
    id: itemId,
    approvalRequestId: requestId,
    mayWait: true,
    ...(answered === null ? {} : { answered }),
  };
  const call = renewing(tools, mcpCall(context, offer, origin));
  return { name, callId: requestId, arguments: args, approvalRequestId: requestId, call };
}

/** Throws `ModelError` for an answer that does not fit, so that nothing is used up. */
function answeredQuestion(
  { requestId, arguments: text, answer }: IdentifiedCall,
  context: CallContext,
): AnsweredQuestion {
  const question = readUserQuestion(text);
  if (question === null) throw unusableApproval(`Approval request '${requestId}' holds no question of a server.`);
  if (context.asking === null)
    throw unusableApproval(
      `Approval request '${requestId}' is a question of the MCP server '${context.label}', whose tool needs elicitation: "ask" to be answered.`,
    );
  const reading = readUserAnswer(question.params, answer);
  if (reading.type === "fits") return { requestId, question, result: reading.result };
  throw unusableApproval(
    `The answer to approval request '${requestId}' does not fit its question: ${reading.why} Send approve: true with a reason that is a JSON object of the requestedSchema, or approve: false.`,
  );
}

function approvedToolMissing(label: string, name: string): ModelError {
  return unusableApproval(
    `The approved call is of the tool '${name}', which the MCP server '${label}' does not offer now.`,
  );
}

/** A client could approve a call that nobody requested. */
function approvalNotAsked(requestId: string, label: string): ModelError {
  return unusableApproval(
    `Approval request '${requestId}' was not made by a stored response of this server, which its operator requires for the MCP server '${label}'. Let a response with store: true ask.`,
  );
}

function unusableApproval(message: string): ModelError {
  return new ModelError(message, { status: 400, type: "invalid_request_error", code: "invalid_value", param: "input" });
}
