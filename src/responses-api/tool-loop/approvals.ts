import type { StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import type { ApprovedCall } from "@antiphon/domain/hosted-tool.ts";
import type { ContextItem } from "@antiphon/domain/models/model-request.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { ResponseStore } from "@antiphon/domain/responses.ts";
import { approvalSpent, invalidApproval } from "../errors/approval-errors.ts";
import { denies } from "../input/with-exchanges.ts";

/** An approved call or an answered question, as in the context. */
type ClaimedCall = Omit<ApprovedCall, "isAskedHere">;
type ApprovalRequest = Extract<StoredItem, { type: "mcp_approval_request" }>;
type ApprovalResponse = Extract<StoredItem, { type: "mcp_approval_response" }>;

/**
 * The calls approved and the questions answered at the end of this context, in the order of the answers. Answers that
 * the model has responded to, or whose call is in the context, are over.
 */
export function approvedCalls(context: readonly StoredItem[]): readonly ClaimedCall[] {
  const { requests, spentIds, fresh } = readApprovals(context);
  return fresh.flatMap(({ approval_request_id: id, approve, reason }) => {
    const request = requests.get(id);
    if (request === undefined || denies(request, { approve }) || spentIds.has(id)) return [];
    const { server_label: serverLabel, name, arguments: args } = request;
    return [{ requestId: id, serverLabel, name, arguments: args, answer: { approve, reason } }];
  });
}

/** The calls, marked by whether this server requested their approval. */
export async function withOrigin(
  store: Pick<ResponseStore, "findOutputs">,
  owner: Owner,
  calls: readonly ClaimedCall[],
): Promise<readonly ApprovedCall[]> {
  if (calls.length === 0) return [];
  const requests = calls.map(({ requestId }) => requestId);
  const requestItems = await store.findOutputs(owner, requests);
  return calls.map((call) => ({ ...call, isAskedHere: isRequestOf(requestItems.get(call.requestId), call) }));
}

/** Throws an `ApiError` for an approval in this context whose stored request is for another call. */
export async function checkStoredRequests(
  store: Pick<ResponseStore, "findOutputs">,
  owner: Owner,
  context: readonly StoredItem[],
): Promise<void> {
  const calls = approvedCalls(context);
  if (calls.length === 0) return;
  const requests = calls.map(({ requestId }) => requestId);
  const requestItems = await store.findOutputs(owner, requests);
  const changedCall = calls.find((call) => {
    const request = requestItems.get(call.requestId);
    return request !== undefined && !isRequestOf(request, call);
  });
  if (changedCall !== undefined)
    throw invalidApproval(
      `Approval request '${changedCall.requestId}' asked for another call: its name, its server or its arguments were changed.`,
    );
}

function isRequestOf(item: StoredItem | undefined, call: ClaimedCall): boolean {
  return (
    item?.type === "mcp_approval_request" &&
    item.name === call.name &&
    item.server_label === call.serverLabel &&
    item.arguments === call.arguments
  );
}

/** The unused approvals and answers of this context, by the ids of their requests. */
export function freshApprovals(context: readonly StoredItem[]): readonly string[] {
  const { requests, fresh } = readApprovals(context);
  return fresh.flatMap((answer) => {
    const { approval_request_id: id } = answer;
    return denies(requests.get(id), answer) ? [] : id;
  });
}

/**
 * Checks the approvals of a context against each other and against the request's MCP servers. Throws an `ApiError` for
 * an approval of a request that is unknown, was answered twice, is already used or belongs to no server of the request,
 * and for an unanswered request.
 */
export function checkApprovals(context: readonly StoredItem[], labels: ReadonlySet<string>): void {
  const { requests, spentIds, fresh, answeredIds } = readApprovals(context);
  const seenIds = new Set<string>();
  for (const { approval_request_id: id } of fresh) {
    const request = requests.get(id);
    if (request === undefined) throw invalidApproval(`No approval request '${id}' is in the context of this request.`);
    if (spentIds.has(id)) throw approvalSpent(id);
    if (seenIds.has(id)) throw invalidApproval(`Approval request '${id}' is answered twice.`);
    if (!labels.has(request.server_label))
      throw invalidApproval(
        `Approval request '${id}' belongs to the MCP server '${request.server_label}', which is not among the tools of this request.`,
      );
    seenIds.add(id);
  }
  for (const id of requests.keys())
    if (!answeredIds.has(id)) throw invalidApproval(`No approval response found for approval request '${id}'.`);
}

interface Approvals {
  /** If several requests have one id, the oldest counts: it is the stored one. */
  readonly requests: ReadonlyMap<string, ApprovalRequest>;
  /** The requests whose call is in the context. */
  readonly spentIds: ReadonlySet<string>;
  readonly answeredIds: ReadonlySet<string>;
  /** The responses that the model has not seen. */
  readonly fresh: readonly ApprovalResponse[];
}

function readApprovals(context: readonly StoredItem[]): Approvals {
  const requests = new Map<string, ApprovalRequest>();
  const spentIds = new Set<string>();
  const answeredIds = new Set<string>();
  let fresh: ApprovalResponse[] = [];
  for (const item of context) {
    if (isModelsAnswer(item)) fresh = [];
    if (item.type === "mcp_approval_request" && !requests.has(item.id)) requests.set(item.id, item);
    else if (item.type === "mcp_call" && item.approval_request_id != null) {
      const { approval_request_id: spentId } = item;
      spentIds.add(spentId);
      fresh = fresh.filter((response) => response.approval_request_id !== spentId);
    } else if (item.type === "mcp_approval_response") {
      answeredIds.add(item.approval_request_id);
      fresh.push(item);
    }
  }
  return { requests, spentIds, answeredIds, fresh };
}

/** Whether the model wrote this after it had seen everything before. Its requests are often sent back late. */
function isModelsAnswer(item: StoredItem): boolean {
  if (item.type === "message") return item.role === "assistant";
  return item.type === "reasoning" || (item.type.endsWith("_call") && item.type !== "mcp_call");
}

/** Whether the item requests or gives one of these approvals. */
export function isApproval(item: ContextItem, requests: ReadonlySet<string>): boolean {
  if (item.type === "mcp_approval_request") return requests.has(item.id ?? "");
  return item.type === "mcp_approval_response" && requests.has(item.approval_request_id);
}
