import type { HostedFunction } from "@antiphon/domain/models/hosted.ts";
import type { OfferedTool } from "@antiphon/domain/models/model-request.ts";
import type { OfferedHostedTool } from "../../offered-tools/accept-tools.ts";
import type { PlacedFunction } from "../open-tools.ts";

/** A function that programs can call. */
export interface Callable {
  readonly kind: "function" | "custom" | "hosted";
  /** Its name in `tools` of a program. */
  readonly key: string;
  readonly name: string;
  /** The label of its MCP server, or its namespace; null if it has none. */
  readonly server: string | null;
  readonly description: string;
  /** JSON Schemas. Null if the tool has none. */
  readonly parameters: unknown;
  readonly output: unknown;
}

type CallableTool = Omit<Callable, "key">;
type Callers = readonly ("direct" | "programmatic")[] | null | undefined;

const NAME = /^[A-Za-z_$][\w$]*$/;

/** Whether the model may call a tool with these callers itself. */
function isDirect(callers: Callers): boolean {
  return callers == null || callers.includes("direct");
}

/** The tools that programs may call: functions, custom tools and tools of MCP servers that the request allows. */
export function callablesOf(
  tools: readonly OfferedTool[],
  functions: readonly PlacedFunction[],
  hosted: readonly OfferedHostedTool[],
): readonly Callable[] {
  const labels = new Set(
    hosted.flatMap(({ tool }) =>
      tool.type === "mcp" && tool.allowed_callers?.includes("programmatic") === true ? [tool.server_label] : [],
    ),
  );
  const remotes = functions.filter(({ kind, definition }) => kind === "mcp" && labels.has(definition.server ?? ""));
  const all = [...tools.flatMap((tool) => clientCallables(tool, null)), ...remotes.map(remoteCallable)];
  const counts = Map.groupBy(all, ({ name }) => name);
  return all.map((tool) => ({ ...tool, key: counts.get(tool.name)?.length === 1 ? tool.name : longName(tool) }));
}

function longName({ server, name }: CallableTool): string {
  return server === null ? name : `${server}__${name}`;
}

function clientCallables(tool: OfferedTool, namespace: string | null): readonly CallableTool[] {
  if (tool.type === "namespace") return tool.tools.flatMap((member) => clientCallables(member, tool.name));
  if (tool.type !== "function" && tool.type !== "custom") return [];
  if (tool.allowed_callers?.includes("programmatic") !== true) return [];
  const { type: kind, name, description } = tool;
  const schemas = kind === "function" ? { parameters: tool.parameters, output: tool.output_schema } : NO_SCHEMAS;
  return [{ kind, name, server: namespace, description: description ?? "", ...schemas }];
}

const NO_SCHEMAS = { parameters: null, output: null } as const;

function remoteCallable({ definition }: PlacedFunction): CallableTool {
  const { name, server, description, parameters } = definition;
  return { kind: "hosted", name, server, description, parameters, output: null };
}

/** The tools without those that only programs may call. */
export function directTools(tools: readonly OfferedTool[]): readonly OfferedTool[] {
  return tools.flatMap((tool): readonly OfferedTool[] => {
    if (tool.type === "function" || tool.type === "custom") return isDirect(tool.allowed_callers) ? [tool] : [];
    if (tool.type !== "namespace") return [tool];
    const members = tool.tools.filter((member) => isDirect(member.allowed_callers));
    return members.length === 0 ? [] : [{ ...tool, tools: members }];
  });
}

/** The functions without those of MCP servers that only programs may call. */
export function directFunctions(
  functions: readonly PlacedFunction[],
  hosted: readonly OfferedHostedTool[],
): readonly PlacedFunction[] {
  const held = new Set(
    hosted.flatMap(({ tool }) => (tool.type === "mcp" && !isDirect(tool.allowed_callers) ? [tool.server_label] : [])),
  );
  if (held.size === 0) return functions;
  return functions.filter(({ kind, definition }) => kind !== "mcp" || !held.has(definition.server ?? ""));
}

/** The function that begins a program, with the tools that programs can call. */
export function withCallables(definition: HostedFunction, callables: readonly Callable[]): HostedFunction {
  if (callables.length === 0) return { ...definition, description: `${definition.description} There are no tools.` };
  return { ...definition, description: [definition.description, "Tools:", ...callables.map(describe)].join("\n") };
}

function describe({ kind, key, description, parameters, output }: Callable): string {
  const place = NAME.test(key) ? `tools.${key}` : `tools[${JSON.stringify(key)}]`;
  const input = kind === "custom" ? "text" : JSON.stringify(parameters ?? {});
  const result = output == null ? "" : ` Returns ${JSON.stringify(output)}.`;
  return `- ${place}(${input})${description === "" ? "" : `: ${description}`}${result}`;
}

/** The key of a call's function in programs; null if there is no such function. */
export function keyOf(callables: readonly Callable[], call: Pick<Callable, "name" | "server">): string | null {
  return callables.find(({ name, server }) => name === call.name && server === call.server)?.key ?? null;
}
