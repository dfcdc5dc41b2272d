import type { CreateResponseRequest, SettledState, StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import { ELICITATION, mayChangeWorld, UNKNOWN_EFFECT } from "@antiphon/domain/hosted-tool.ts";
import type { ContextItem } from "@antiphon/domain/models/model-request.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { KnownExchange, ToolLedger } from "@antiphon/domain/tool-ledger.ts";
import type { Caller } from "../access/caller.ts";
import { withoutProgramCalls } from "./read-programs.ts";

const CALL_TYPES: ReadonlySet<StoredItem["type"]> = new Set([
  "web_search_call",
  "file_search_call",
  "code_interpreter_call",
  "image_generation_call",
  "mcp_call",
  "shell_call",
  "local_shell_call",
  "apply_patch_call",
]);

/** Sent to the model for a call without effects and without a result. */
const CUT_OFF = "The call was cut off before it had a result.";

type ClientsOutput = Extract<StoredItem, { type: "shell_call_output" | "apply_patch_call_output" }>;
type ApprovalRequest = Extract<StoredItem, { type: "mcp_approval_request" }>;
type ApprovalResponse = Extract<StoredItem, { type: "mcp_approval_response" }>;

/** The tools offered to the model in this turn. */
export interface Offered {
  /** The labels of the request's MCP servers. Their lists of tools are offered as functions and not repeated. */
  readonly mcpServers: ReadonlySet<string>;
}

/**
 * The context with the calls of hosted tools as the model made and saw them, if the ledger has them. Unknown calls stay
 * items, and so do unanswered approval requests.
 */
export async function withExchanges(
  ledger: Pick<ToolLedger, "find">,
  owner: Owner,
  context: readonly StoredItem[],
  { mcpServers }: Offered,
): Promise<readonly ContextItem[]> {
  const items = withoutProgramCalls(context);
  if (!items.some(isOfTools)) return items;
  const ids = items.flatMap((item) => (CALL_TYPES.has(item.type) && "id" in item && item.id != null ? [item.id] : []));
  const exchanges = ids.length === 0 ? new Map<string, KnownExchange>() : await ledger.find(owner, ids);
  // Clients may answer an incomplete call although the model already has its output.
  const callIds = new Set([...exchanges.values()].map(({ callId }) => callId));
  const requests = new Map(items.filter(isRequest).map((item) => [item.id, item]));
  const denials = new Set(
    items
      .filter(isAnswer)
      .filter((item) => denies(requests.get(item.approval_request_id), item))
      .map((item) => item.approval_request_id),
  );
  const calledIds = new Set(
    items.flatMap((item) => (item.type === "mcp_call" ? (item.approval_request_id ?? []) : [])),
  );
  return items.flatMap((item): readonly ContextItem[] => {
    if (item.type === "mcp_list_tools") return mcpServers.has(item.server_label) ? [] : [item];
    // A denied request is represented by its answer, and an approved one by its call.
    if (isRequest(item)) return calledIds.has(item.id) || denials.has(item.id) ? [] : [item];
    if (isClientsOutput(item) && callIds.has(item.call_id)) return [];
    if (item.type === "local_shell_call_output" && exchanges.has(item.id)) return [];
    if (isAnswer(item)) {
      const request = requests.get(item.approval_request_id);
      if (request !== undefined && denies(request, item)) return denialItems(request, item);
      return calledIds.has(item.approval_request_id) ? [] : [item];
    }
    const exchange = "id" in item && item.id != null ? exchanges.get(item.id) : undefined;
    return exchange === undefined ? [item] : exchangeItems(exchange);
  });
}

/** The calls in the ledger or in this connection's memory. */
export function knownExchanges(
  toolLedger: Pick<ToolLedger, "find">,
  { earlierTurns }: Pick<Caller, "earlierTurns">,
  { previous_response_id: previousId }: Pick<CreateResponseRequest, "previous_response_id">,
): Pick<ToolLedger, "find"> {
  const turn = previousId == null ? null : (earlierTurns?.find(previousId) ?? null);
  if (turn === null || turn.exchanges.length === 0) return toolLedger;
  const own = new Map(turn.exchanges.map((exchange) => [exchange.itemId, exchange]));
  return {
    find: async (owner, itemIds) => {
      const storedExchanges = await toolLedger.find(
        owner,
        itemIds.filter((id) => !own.has(id)),
      );
      return new Map([...storedExchanges, ...own]);
    },
  };
}

/** The call and its result as the model saw it. A call without a result was interrupted by a crash or a cancel. */
export function exchangeItems(exchange: KnownExchange): readonly ContextItem[] {
  const { callId, name, server, arguments: args, effect, result, settledAs } = exchange;
  const { output, parts } = result ?? { output: mayChangeWorld(effect) ? UNKNOWN_EFFECT : CUT_OFF, parts: [] };
  return [
    { type: "hosted_call", callId, name, server, arguments: args },
    {
      type: "hosted_output",
      callId,
      output: settledAs === undefined ? output : `${output} ${SETTLED[settledAs]}`,
      parts,
    },
  ];
}

/** Told of a call whose outcome was unknown. */
const SETTLED: Readonly<Record<SettledState, string>> = {
  done: "Since then a person has found out that it took effect.",
  failed: "Since then a person has found out that it did not take effect.",
};

function isOfTools(item: StoredItem): boolean {
  return CALL_TYPES.has(item.type) || item.type.startsWith("mcp_");
}

function isClientsOutput(item: StoredItem): item is ClientsOutput {
  return item.type === "shell_call_output" || item.type === "apply_patch_call_output";
}

function isRequest(item: StoredItem): item is ApprovalRequest {
  return item.type === "mcp_approval_request";
}

function isAnswer(item: StoredItem): item is ApprovalResponse {
  return item.type === "mcp_approval_response";
}

/** Whether the answer ends a call before it begins. A declined question ends none: its call goes on. */
export function denies(
  request: Pick<ApprovalRequest, "name"> | undefined,
  { approve }: Pick<ApprovalResponse, "approve">,
): boolean {
  return !approve && request?.name !== ELICITATION;
}

/** A call denied by the user. */
function denialItems(request: ApprovalRequest, { reason }: ApprovalResponse): readonly ContextItem[] {
  const why = reason === null || reason === "" ? "." : `: ${reason}`;
  const callId = request.id;
  return [
    { type: "hosted_call", callId, name: request.name, server: request.server_label, arguments: request.arguments },
    { type: "hosted_output", callId, output: `The user denied this call${why}`, parts: [] },
  ];
}
