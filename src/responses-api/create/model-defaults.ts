import type { CreateResponseRequest, ToolInput } from "@antiphon/contracts/responses-api/types.ts";
import { isAmongOwners, type ModelPolicy } from "@antiphon/domain/models/model-policy.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { modelInBodyNotFound } from "../errors/model-errors.ts";

/** The request with the operator's defaults of its model. Throws an `ApiError` if the owner may not use the model. */
export function withModelPolicy<Request extends CreateResponseRequest>(
  request: Request,
  policy: ModelPolicy | null,
  owner: Owner,
): Request {
  if (policy === null) return request;
  checkModelOwner(request.model, policy, owner);
  if (policy.defaults === null) return request;
  const { tools, ...defaults } = policy.defaults;
  const more: readonly ToolInput[] = Array.isArray(tools) ? tools : [];
  const sent = request.tools ?? [];
  const offered = [...sent, ...more.filter((tool) => !isOffered(tool, sent))];
  const absent = Object.entries(defaults).filter(([name]) => memberOf(request, name) == null);
  return { ...request, ...Object.fromEntries(absent), ...(offered.length === 0 ? {} : { tools: offered }) };
}

/** Throws an `ApiError` if the owner may not use the model. */
export function checkModelOwner(model: string | null | undefined, policy: ModelPolicy | null, owner: Owner): void {
  if (policy !== null && !isAmongOwners(policy.owners, owner)) throw modelInBodyNotFound(model ?? "");
}

function memberOf(request: CreateResponseRequest, name: string): unknown {
  return new Map<string, unknown>(Object.entries(request)).get(name);
}

/** The client's tools win. There may be several functions and MCP servers, and one tool of each other type. */
function isOffered(tool: ToolInput, offered: readonly ToolInput[]): boolean {
  return offered.some((other) => other.type === tool.type && identityOf(other) === identityOf(tool));
}

function identityOf(tool: ToolInput): string | null {
  if (tool.type === "mcp") return tool.server_label;
  return "name" in tool ? (tool.name ?? null) : null;
}
