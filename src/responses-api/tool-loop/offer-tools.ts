import type { Tool, ToolInput } from "@antiphon/contracts/responses-api/types.ts";
import type { ServerGuide, ToolKind } from "@antiphon/domain/hosted-tool.ts";
import type { HostedFunction, HostedFunctionChoice } from "@antiphon/domain/models/hosted.ts";
import type { ModelRequest, OfferedTool } from "@antiphon/domain/models/model-request.ts";
import type { OfferedHostedTool } from "../offered-tools/accept-tools.ts";
import { echoHostedTool } from "../offered-tools/echo-hosted-tool.ts";
import type { TaskTools } from "../offered-tools/task-tools.ts";
import { kindOfType } from "../offered-tools/tool-kinds.ts";
import { CITATION_NOTE } from "./citations/cite-turn.ts";
import type { PlacedFunction } from "./open-tools.ts";
import { FENCE_NOTE, fenceGuide } from "./results/fence.ts";

type Choice = ModelRequest["toolChoice"];

/** The tools offered in one turn of the model. */
export interface TurnOffer {
  readonly functions: readonly PlacedFunction[];
  /** Tools that were deferred at first, and tools that searches have found since. */
  readonly laterTools: readonly OfferedTool[];
  readonly foundTools: readonly Tool[];
  readonly isFirst: boolean;
  /** If false, the limits allow no further call of this server's tools. */
  readonly mayCall: boolean;
}

type Offered = Pick<ModelRequest, "tools" | "toolChoice">;

/**
 * The tools and the tool choice of one turn. A choice that forces a tool applies only to the first turn, because the
 * model could otherwise never end. If no call of this server's tools may follow, they are not offered.
 */
export function offerTools({ tools, toolChoice }: Offered, offer: TurnOffer): Offered {
  const { foundTools, isFirst, mayCall } = offer;
  const heldLabels = heldServers(offer, toolChoice);
  const functions = offer.functions.filter(({ definition: { server } }) => server === null || !heldLabels.has(server));
  const clients = [...tools, ...foundClientTools(foundTools)];
  const all = [...clients, ...functions.map(({ definition }) => definition)];
  const choice = choiceOf(toolChoice, functions, isFirst);
  if (mayCall) return { tools: all, toolChoice: choice };
  // The functions stay if nothing else is offered, so that the prompt begins as before.
  if (clients.length === 0) return { tools: all, toolChoice: "none" };
  return { tools: clients, toolChoice: withoutHosted(choice) };
}

/** The client's tools among those that searches have found. */
export function foundClientTools(foundTools: readonly Tool[]): readonly Tool[] {
  return foundTools.filter(({ type }) => type !== "mcp");
}

/** The labels of MCP servers that no search has found yet. A server named in a choice is not deferred. */
function heldServers(
  { laterTools, foundTools }: Pick<TurnOffer, "laterTools" | "foundTools">,
  choice: Choice,
): ReadonlySet<string> {
  const heldLabels = new Set(laterTools.flatMap((tool) => (tool.type === "mcp" ? [tool.server_label] : [])));
  for (const tool of foundTools) if (tool.type === "mcp") heldLabels.delete(tool.server_label);
  if (typeof choice === "string") return heldLabels;
  for (const entry of choice.type === "allowed_tools" ? choice.tools : [choice])
    if ("server_label" in entry && typeof entry.server_label === "string") heldLabels.delete(entry.server_label);
  return heldLabels;
}

/**
 * The client tools and MCP servers that are hidden from the model until a search of this server finds them, now or
 * earlier in the context. All are offered if there is no such search.
 */
export function deferredTools(
  tools: ModelRequest["tools"],
  { hosted, context }: Pick<TaskTools, "hosted" | "context">,
): readonly Tool[] {
  if (!hosted.some(({ kind }) => kind === "tool_search")) return [];
  const foundNames = new Set(
    context.flatMap((item) => (item.type === "tool_search_output" ? item.tools.map(distinctToolName) : [])),
  );
  const servers = hosted.flatMap(({ tool }) => (tool.type === "mcp" ? [echoHostedTool(tool)] : []));
  return [...tools, ...servers].flatMap((tool) =>
    tool.type !== "hosted_function" && isDeferred(tool) && !foundNames.has(distinctToolName(tool)) ? [tool] : [],
  );
}

/** Functions have no colon in their names. */
function distinctToolName(tool: Tool | ToolInput): string {
  if (tool.type === "mcp") return `mcp:${tool.server_label}`;
  return "name" in tool && typeof tool.name === "string" ? tool.name : tool.type;
}

/** Whether the tool, or every member of a namespace, is deferred. */
function isDeferred(tool: Tool): boolean {
  if (tool.type === "namespace") return tool.tools.length > 0 && tool.tools.every((member) => isDeferred(member));
  return (tool.type === "function" || tool.type === "custom" || tool.type === "mcp") && tool.defer_loading === true;
}

function choiceOf(choice: Choice, functions: readonly PlacedFunction[], isFirst: boolean): Choice {
  if (typeof choice === "string") return choice === "required" && !isFirst ? "auto" : choice;
  if (choice.type === "allowed_tools") {
    const tools = choice.tools.flatMap((entry) => entriesOf(entry, functions));
    return { ...choice, mode: isFirst ? choice.mode : "auto", tools };
  }
  if (!isFirst) return "auto";
  if (choice.type === "mcp") return choiceOfServer(choice, functions);
  const kind = kindOfType(choice.type);
  const [first] = functions.filter((entry) => entry.kind === kind); // For a web search: search, not open a page.
  return first === undefined ? choice : choiceOfFunction(first.definition);
}

function choiceOfServer(
  { server_label: label, name }: { readonly server_label?: string; readonly name?: string | null },
  functions: readonly PlacedFunction[],
): Choice {
  const fitting = functions.filter(({ kind, definition }) => kind === "mcp" && fits(definition, label, name));
  const [only, ...others] = fitting.map(({ definition }) => choiceOfFunction(definition));
  if (only === undefined) return "auto"; // The server lacks the tool.
  if (others.length === 0) return only;
  return { type: "allowed_tools", mode: "required", tools: [only, ...others].map((one) => ({ ...one })) };
}

function fits(definition: HostedFunction, label: unknown, name: unknown): boolean {
  return (
    (typeof label !== "string" || definition.server === label) && (typeof name !== "string" || definition.name === name)
  );
}

/** Replaces an entry of `allowed_tools` for a hosted tool by its functions; other entries stay. */
function entriesOf(entry: Record<string, unknown>, functions: readonly PlacedFunction[]): Record<string, unknown>[] {
  const { type, server_label: label, name } = entry;
  const kind: ToolKind | null = typeof type === "string" ? kindOfType(type) : null;
  const matches = functions.filter((one) => one.kind === kind && (kind !== "mcp" || fits(one.definition, label, name)));
  // A tool search of the client has no function here.
  if (kind === null || (kind === "tool_search" && matches.length === 0)) return [entry];
  return matches.map(({ definition }) => ({ ...choiceOfFunction(definition) }));
}

function withoutHosted(choice: Choice): Choice {
  if (typeof choice === "string") return choice;
  if (choice.type === "hosted_function") return "auto";
  if (choice.type !== "allowed_tools") return choice;
  const tools = choice.tools.filter(({ type }) => type !== "hosted_function");
  return tools.length === 0 ? "none" : { ...choice, tools };
}

function choiceOfFunction({ name, server }: HostedFunction): HostedFunctionChoice {
  return { type: "hosted_function", name, server };
}

/** The instructions with the tools' additions, always in the same order. */
export function withNotes(
  { instructions, text }: Pick<ModelRequest, "instructions" | "text">,
  hostedTools: readonly OfferedHostedTool[],
  notes: readonly string[],
): string | null {
  const isData = writesData({ text });
  const ownNotes = [
    ...(hostedTools.some(bringsOutsideText) ? [FENCE_NOTE] : []),
    ...notes,
    ...(!isData && hostedTools.some(({ kind }) => kind === "web_search" || kind === "file_search")
      ? [CITATION_NOTE]
      : []),
  ];
  if (ownNotes.length === 0) return instructions;
  return [...(instructions === null || instructions === "" ? [] : [instructions]), ownNotes.join("\n")].join("\n\n");
}

/** What servers say about the functions that are offered by now, as notes. */
export function guideNotes(guides: readonly ServerGuide[], { tools }: Pick<Offered, "tools">): readonly string[] {
  const labels = new Set(tools.flatMap((tool) => (tool.type === "hosted_function" ? [tool.server] : [])));
  return guides.filter(({ server }) => labels.has(server)).map(fenceGuide);
}

/** Whether the answer is JSON, which cannot contain citations. */
export function writesData({ text }: Pick<ModelRequest, "text">): boolean {
  return text.format != null && text.format.type !== "text";
}

/** Whether the tool returns outside text. A client's shell returns nothing here. */
function bringsOutsideText({ kind, tool }: OfferedHostedTool): boolean {
  return returnsOutsideText(kind) && (tool.type !== "shell" || tool.environment?.type.startsWith("container") === true);
}

export function returnsOutsideText(kind: ToolKind | null): boolean {
  return ["web_search", "file_search", "code_interpreter", "mcp", "shell"].includes(kind ?? "");
}
