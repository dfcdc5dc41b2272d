import { eachInSlices } from "@antiphon/base/limits/slices.ts";
import type { Logger } from "@antiphon/base/logger.ts";
import type { CreateResponseRequest, Response, Tool, ToolInput } from "@antiphon/contracts/responses-api/types.ts";
import type { ToolKind, ToolRefusal, ToolUser } from "@antiphon/domain/hosted-tool.ts";
import type { HostedTools } from "@antiphon/domain/hosted-tools.ts";
import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import type { ToolObserver } from "@antiphon/domain/tool-watch.ts";
import type { Principal } from "../access/authenticate.ts";
import { invalidTool, unsupportedParameter } from "../errors/parameter-errors.ts";
import { echoHostedTool } from "./echo-hosted-tool.ts";
import { echoClientTool } from "./echo-tools.ts";
import { isClientTool, kindOfType, namesItsOwn } from "./tool-kinds.ts";

/** The user of the request's tools. */
export interface ToolAsker extends ToolUser {
  /** The kinds of tools that the key may use; null for all. */
  readonly keyTools: readonly string[] | null;
}

export function askerOf(engine: ModelEngine, model: string, { owner, tools }: Principal): ToolAsker {
  return { owner, abilities: engine.abilitiesOf(model), keyTools: tools ?? null };
}

/** A tool of the request that this server runs. */
export interface OfferedHostedTool {
  readonly kind: ToolKind;
  /** As sent, with the operator's defaults. */
  readonly tool: ToolInput;
}

/** A tool of the request that this server lacks and leaves out, or has in part. */
export interface OmittedTool {
  readonly type: ToolInput["type"];
  readonly param: string;
  /** A whole sentence that says what would help. */
  readonly reason: string;
}

export interface AcceptedTools {
  /** All tools as the response echoes them, including omitted ones. */
  readonly echoes: readonly Tool[];
  readonly hostedTools: readonly OfferedHostedTool[];
  readonly omittedTools: readonly OmittedTool[];
  /** Tools that are offered without a part of what they do. */
  readonly partialTools: readonly OmittedTool[];
}

/**
 * Sorts the tools of a request into client tools, tools of this server, and unavailable ones. Throws an `ApiError` for
 * an invalid tool, and for an unavailable one that the request depends on.
 */
export async function acceptTools(
  tools: HostedTools,
  request: CreateResponseRequest,
  asker: ToolAsker,
): Promise<AcceptedTools> {
  const echoes: Tool[] = [];
  const hostedTools: OfferedHostedTool[] = [];
  const omittedTools: OmittedTool[] = [];
  const partialTools: OmittedTool[] = [];
  await eachInSlices(request.tools ?? [], (tool, index) => {
    const client = echoClientTool(tool);
    if (client !== null) return void echoes.push(client);
    const param = `tools[${index}]`;
    const kind = kindOfType(tool.type);
    const refusal = toolRefusal(tools, tool, kind, asker);
    const hostedTool = refusal === null ? tools.find(tool.type) : null;
    const whole = hostedTool?.withDefaults?.(tool, asker) ?? tool;
    echoes.push(echoOther(whole));
    if (refusal === null && kind !== null) hostedTools.push({ kind, tool: whole });
    const shortfall = hostedTool?.shortfall?.(tool) ?? null;
    if (shortfall !== null && tools.unavailable === "refuse") throw unsupportedParameter(param, shortfall);
    if (shortfall !== null) partialTools.push({ type: tool.type, param, reason: shortfall });
    if (refusal === null) return;
    if (refusal.grade !== "unavailable" || tools.unavailable === "refuse") throw refusalError(param, refusal);
    omittedTools.push({ type: tool.type, param, reason: refusal.reason });
  });
  checkLabels(request.tools ?? []);
  checkNotNeeded(request, {
    clientTools: echoes.length - hostedTools.length - omittedTools.length,
    hostedTools,
    omittedTools,
  });
  checkNotForced(request, partialTools);
  return { echoes, hostedTools, omittedTools, partialTools };
}

/** The types of the tools that would be omitted from a request like this, without duplicates. Checks nothing else. */
export function omittedTypes(tools: HostedTools, request: CreateResponseRequest, asker: ToolAsker): readonly string[] {
  const hostedTools = (request.tools ?? []).filter((tool) => !isClientTool(tool));
  const unavailableTools = hostedTools.filter(
    (tool) => toolRefusal(tools, tool, kindOfType(tool.type), asker)?.grade === "unavailable",
  );
  return [...new Set(unavailableTools.map(({ type }) => type))];
}

/** Labels distinguish the servers of a request, in its items and for the model. */
function checkLabels(tools: readonly ToolInput[]): void {
  const labels = new Set<string>();
  for (const [index, tool] of tools.entries()) {
    if (tool.type !== "mcp") continue;
    if (labels.has(tool.server_label))
      throw invalidTool(
        `tools[${index}].server_label`,
        `Another MCP server of this request is called '${tool.server_label}'.`,
      );
    labels.add(tool.server_label);
  }
}

/** The labels of MCP servers. */
export function labelsOf(hostedTools: readonly OfferedHostedTool[]): ReadonlySet<string> {
  return new Set(hostedTools.flatMap(({ tool }) => (tool.type === "mcp" ? [tool.server_label] : [])));
}

/** A tool choice without the omitted tools. */
export function choiceOfTheRest(
  choice: Response["tool_choice"],
  { hostedTools, omittedTools }: Pick<AcceptedTools, "hostedTools" | "omittedTools">,
): Response["tool_choice"] {
  if (typeof choice === "string" || choice.type !== "allowed_tools" || omittedTools.length === 0) return choice;
  const run = new Set<string>(hostedTools.map(({ kind }) => kind));
  const missing = new Set(omittedTools.map(({ type }) => kindOrType(type)).filter((kind) => !run.has(kind)));
  const tools = choice.tools.filter(({ type }) => !missing.has(kindOrType(String(type))));
  return tools.length === 0 ? "none" : { ...choice, tools };
}

/** The kind of a tool, or its type if this server has no kind for it. */
function kindOrType(type: string): string {
  return kindOfType(type) ?? type;
}

/** Tells people of the tools that a request is answered without. */
export function tellOmitted(toolObserver: ToolObserver, omittedTools: readonly OmittedTool[], log: Logger): void {
  if (omittedTools.length === 0) return;
  for (const { type } of omittedTools) toolObserver.noteOmission(kindOfType(type) ?? "other");
  const tools = omittedTools.map(({ type, reason }) => ({ type, reason }));
  log.info({ tools }, "tools omitted from a request");
}

function echoOther(tool: ToolInput): Tool {
  if (tool.type === "function" || tool.type === "custom" || tool.type === "namespace")
    throw new Error("a client's tool has an echo of its own");
  return echoHostedTool(tool);
}

/** Why a tool cannot be used by this asker; null if it can. `kind` is that of its type. */
export function toolRefusal(
  tools: HostedTools,
  tool: ToolInput,
  kind: ToolKind | null,
  asker: ToolAsker,
): ToolRefusal | null {
  const grade = namesItsOwn(tool) ? ("needed" as const) : ("unavailable" as const);
  const missing = (reason: string): ToolRefusal => ({ reason, member: null, grade });
  if (kind === null) return missing(`Tools of type '${tool.type}' are not available on this server.`);
  if (asker.keyTools?.includes(kind) === false)
    return missing(`This API key may not use tools of kind '${kind}': 'antiphon keys create --tools' limits it.`);
  if (!tools.isOffered(kind)) return missing(`The setting TOOLS of this server does not offer '${kind}'.`);
  const hostedTool = tools.find(tool.type);
  if (hostedTool === null) return missing(`Tools of type '${tool.type}' are not available on this server.`);
  return hostedTool.refusal(tool, asker);
}

function refusalError(param: string, { member, reason, grade }: ToolRefusal) {
  const at = member === null ? param : `${param}.${member}`;
  return grade === "invalid" ? invalidTool(at, reason) : unsupportedParameter(at, reason);
}

/** Refuses a request that forces a tool which is offered in part. */
function checkNotForced(
  { tool_choice: choice }: CreateResponseRequest,
  partialTools: AcceptedTools["partialTools"],
): void {
  if (choice == null || typeof choice === "string" || choice.type === "allowed_tools") return;
  const forced = partialTools.find(({ type }) => kindOrType(type) === kindOrType(choice.type));
  if (forced !== undefined) throw unsupportedParameter(forced.param, forced.reason);
}

interface Sorted extends Pick<AcceptedTools, "hostedTools" | "omittedTools"> {
  readonly clientTools: number;
}

/** Refuses a request whose `tool_choice` depends on an omitted tool. */
function checkNotNeeded(
  { tool_choice: choice }: CreateResponseRequest,
  { clientTools, hostedTools, omittedTools }: Sorted,
): void {
  const [first] = omittedTools;
  if (first === undefined || choice == null || choice === "auto" || choice === "none") return;
  const isLeftOut = (type: string): OmittedTool | undefined =>
    hostedTools.some(({ kind }) => kind === kindOfType(type))
      ? undefined
      : omittedTools.find((tool) => kindOrType(tool.type) === kindOrType(type));
  if (choice === "required") {
    if (clientTools + hostedTools.length === 0) throw unsupportedParameter(first.param, first.reason);
    return;
  }
  if (choice.type !== "allowed_tools") {
    const missing = isLeftOut(choice.type);
    if (missing !== undefined) throw unsupportedParameter(missing.param, missing.reason);
    return;
  }
  const missing = choice.tools.map(({ type }) => isLeftOut(String(type)));
  const [neededTool] = missing;
  if (choice.mode === "required" && neededTool !== undefined && missing.every((tool) => tool !== undefined))
    throw unsupportedParameter(neededTool.param, neededTool.reason);
}
