import type { Tool } from "@antiphon/contracts/responses-api/types.ts";
import type { OpenTool, ToolCall, ToolOutcome, ToolScope } from "@antiphon/domain/hosted-tool.ts";
import type { ToolStep } from "@antiphon/domain/models/hosted.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { estimateTokens } from "../../runs/index.ts";
import type { LoopServices } from "./loop-parts.ts";
import type { PlacedFunction, ToolSet } from "./open-tools.ts";

/** The maximum share of a model's window for descriptions of MCP tools. */
const FUNCTIONS_SHARE = 0.25;
/** Fewer characters of descriptions fit every window. */
const CHARACTERS_MIN = 3000;
/** The model's function for finding hidden functions. */
const SEARCH_NAME = "find_tools";
/** The items of such a search are not shown. */
const HIDDEN_ID = "tsc_hidden";

export interface HeldFunctions {
  readonly set: ToolSet;
  /** The number of functions that the model must find first. */
  readonly heldCount: number;
}

/**
 * Hides the functions of MCP servers if their descriptions would fill a small window: the model is offered a search for
 * them, which the client does not see. Functions that it finds, or has called before, are offered. Nothing is hidden if
 * a tool choice names tools.
 */
export async function holdFunctions(
  { engine, tools }: Pick<LoopServices, "engine" | "tools">,
  request: ModelRequest,
  scope: Omit<ToolScope, "readsPrivately">,
  set: ToolSet,
): Promise<HeldFunctions> {
  const all = { set, heldCount: 0 };
  const candidates = set.functions.filter(({ kind }) => kind === "mcp");
  const characters = candidates.reduce((sum, { definition }) => sum + JSON.stringify(definition).length, 0);
  if (characters < CHARACTERS_MIN || typeof request.toolChoice !== "string") return all;
  const window = await engine.contextWindow(request.model, scope.signal);
  const search = tools.find("tool_search");
  if (window === null || search === null || estimateTokens(characters) <= window * FUNCTIONS_SHARE) return all;
  const calledNames = new Set(request.items.flatMap((item) => (item.type === "hosted_call" ? [item.name] : [])));
  const heldFunctions = candidates.filter(({ definition: { name } }) => !calledNames.has(name));
  const heldByTool = new Map<Tool, PlacedFunction>(heldFunctions.map((entry) => [asTool(entry), entry]));
  const laterTools = [...heldByTool.keys()];
  const open = await search.open({ type: "tool_search" }, { ...scope, laterTools, readsPrivately: false });
  const [definition] = open.functions;
  if (definition === undefined) return all;
  const hiddenFunctions = new Set<PlacedFunction>(heldFunctions);
  const find = searchTool(open, definition.name, (tool) => {
    const entry = heldByTool.get(tool);
    if (entry !== undefined) hiddenFunctions.delete(entry);
  });
  const finder: PlacedFunction = { kind: "tool_search", definition: { ...definition, name: SEARCH_NAME }, tool: find };
  return { set: withFinder(set, hiddenFunctions, finder), heldCount: heldFunctions.length };
}

/** The tools of a response, of which only the found ones are offered. */
function withFinder(set: ToolSet, hiddenFunctions: ReadonlySet<PlacedFunction>, finder: PlacedFunction): ToolSet {
  return {
    ...set,
    get functions() {
      return [...set.functions.filter((entry) => !hiddenFunctions.has(entry)), finder];
    },
    find: (name, server) => (name === SEARCH_NAME && server === null ? finder : set.find(name, server)),
  };
}

function asTool({ definition: { name, description, parameters } }: PlacedFunction): Tool {
  return { type: "function", name, description, parameters, output_schema: null, strict: null };
}

/** A tool search that shows no items. */
function searchTool(open: OpenTool, name: string, onFound: (tool: Tool) => void): OpenTool {
  return {
    ...open,
    call: (_name, origin) => {
      const call = open.call(name, { ...origin, newItemId: () => HIDDEN_ID });
      return { ...call, item: null, streams: null, run: (args, signal) => runSearch(call, args, signal, onFound) };
    },
  };
}

async function* runSearch(
  call: ToolCall,
  args: string,
  signal: AbortSignal,
  onFound: (tool: Tool) => void,
): AsyncGenerator<ToolStep, ToolOutcome> {
  const outcome = yield* call.run(args, signal);
  if (outcome.type !== "ran") return outcome;
  for (const tool of outcome.foundTools ?? []) {
    if (tool.type !== "namespace") onFound(tool);
    else for (const member of tool.tools) onFound(member);
  }
  return { type: "told", output: outcome.output };
}
