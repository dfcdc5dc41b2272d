import type { Tool, ToolInput, UserLocation, UserLocationInput } from "@antiphon/contracts/responses-api/types.ts";

type Accepted<T extends ToolInput["type"]> = Extract<ToolInput, { type: T }>;
type WebSearch = Accepted<"web_search" | "web_search_2025_08_26">;
type WebSearchPreview = Accepted<"web_search_preview" | "web_search_preview_2025_03_11">;
type ImageGeneration = Accepted<"image_generation">;
type Mcp = Accepted<"mcp">;
type CodeInterpreter = Accepted<"code_interpreter">;
type Shell = Accepted<"shell">;
type ClientTool = Accepted<"function" | "custom" | "namespace">;

const REDACTED = "<redacted>";
const MAX_NUM_RESULTS = 20;
const OUTPUT_COMPRESSION = 100;

/** Echoes a tool that this server runs, with every default filled in like the reference, and without secrets. */
export function echoHostedTool(tool: Exclude<ToolInput, ClientTool>): Tool {
  switch (tool.type) {
    case "web_search":
    case "web_search_2025_08_26":
      return echoWebSearch(tool);
    case "web_search_preview":
    case "web_search_preview_2025_03_11":
      return echoWebSearchPreview(tool);
    case "file_search":
      return {
        type: tool.type,
        filters: tool.filters ?? null,
        max_num_results: tool.max_num_results ?? MAX_NUM_RESULTS,
        ranking_options: echoRanking(tool.ranking_options),
        vector_store_ids: tool.vector_store_ids,
      };
    case "code_interpreter":
      return echoCodeInterpreter(tool);
    case "image_generation":
      return echoImageGeneration(tool);
    case "mcp":
      return echoMcp(tool);
    case "shell":
      return echoShell(tool);
    case "tool_search":
      return {
        type: tool.type,
        description: tool.description ?? null,
        ...(tool.execution == null ? {} : { execution: tool.execution }),
        parameters: null,
      };
    default:
      return tool; // The others are echoed unchanged.
  }
}

function echoWebSearch(tool: WebSearch): Tool {
  return {
    type: tool.type,
    ...presentMembers({ external_web_access: tool.external_web_access }),
    filters: tool.filters ?? null,
    ...presentMembers({
      return_token_budget: tool.return_token_budget,
      search_content_types: tool.search_content_types,
    }),
    search_context_size: tool.search_context_size ?? "medium",
    user_location: echoLocation(tool.user_location),
  };
}

function echoWebSearchPreview(tool: WebSearchPreview): Tool {
  return {
    type: tool.type,
    ...presentMembers({ search_content_types: tool.search_content_types }),
    search_context_size: tool.search_context_size ?? "medium",
    user_location: echoLocation(tool.user_location),
  };
}

/** The reference assumes a country if the request names no place. */
function echoLocation(location: UserLocationInput | null | undefined): UserLocation {
  const { city = null, country = null, region = null, timezone = null } = location ?? { country: "US" };
  return { type: "approximate", city, country, region, timezone };
}

function echoRanking(options: Accepted<"file_search">["ranking_options"]) {
  return {
    ...presentMembers({ hybrid_search: options?.hybrid_search }),
    ranker: options?.ranker ?? ("auto" as const),
    score_threshold: options?.score_threshold ?? 0,
  };
}

function echoCodeInterpreter({ container, ...tool }: CodeInterpreter): Tool {
  return { ...tool, container: typeof container === "string" ? container : withoutSecrets(container) };
}

function echoShell({ environment, ...tool }: Shell): Tool {
  if (environment?.type !== "container_auto") return environment === undefined ? tool : { ...tool, environment };
  return { ...tool, environment: withoutSecrets(environment) };
}

type Container =
  | Exclude<CodeInterpreter["container"], string>
  | Extract<Shell["environment"], { type: "container_auto" }>;

/** Hides the secrets that programs in a container may use for a domain. */
function withoutSecrets<C extends Container>(container: C): C {
  const { network_policy: policy } = container;
  if (policy?.type !== "allowlist" || policy.domain_secrets === undefined) return container;
  const secrets = policy.domain_secrets.map((secret) => ({ ...secret, value: REDACTED }));
  return { ...container, network_policy: { ...policy, domain_secrets: secrets } };
}

/** `partial_images` and `input_fidelity` are not echoed. */
function echoImageGeneration(tool: ImageGeneration): Tool {
  const { action, complexity, frame_count, frame_duration_ms, input_image_mask, model, svg } = tool;
  return {
    type: tool.type,
    ...presentMembers({ action }),
    background: tool.background ?? "auto",
    ...presentMembers({ complexity, frame_count, frame_duration_ms, input_image_mask, model }),
    moderation: tool.moderation ?? "auto",
    n: 1,
    output_compression: tool.output_compression ?? OUTPUT_COMPRESSION,
    output_format: tool.output_format ?? "png",
    quality: tool.quality ?? "auto",
    size: tool.size ?? "auto",
    ...(svg == null ? {} : { svg: echoSvg(svg) }),
  };
}

function echoSvg({ model, reasoning }: NonNullable<ImageGeneration["svg"]>) {
  return { ...presentMembers({ model }), ...presentMembers({ reasoning }) };
}

function echoMcp(tool: Mcp): Tool {
  const { allowed_callers, authorization, connector_id, defer_loading, elicitation, tunnel_id } = tool;
  return {
    type: tool.type,
    ...presentMembers({ allowed_callers }),
    allowed_tools: tool.allowed_tools ?? null,
    ...(authorization == null ? {} : { authorization: REDACTED }),
    ...presentMembers({ connector_id, defer_loading, elicitation }),
    headers:
      tool.headers == null ? null : Object.fromEntries(Object.keys(tool.headers).map((name) => [name, REDACTED])),
    require_approval: tool.require_approval ?? "always",
    server_description: tool.server_description ?? null,
    server_label: tool.server_label,
    server_url: tool.server_url == null ? null : withoutPath(tool.server_url),
    ...presentMembers({ tunnel_id }),
  };
}

/** Paths and queries of MCP servers often contain a key. */
function withoutPath(url: string): string {
  if (!URL.canParse(url)) return REDACTED;
  const { origin, pathname, search } = new URL(url);
  return pathname === "/" && search === "" ? `${origin}/` : `${origin}/${REDACTED}`;
}

type Given<T> = { [Name in keyof T]?: NonNullable<T[Name]> };

/** The members present in the request; null counts as absent. */
function presentMembers<T extends object>(members: T): Given<T> {
  const present: Given<T> = {};
  for (const name in members) {
    const value = members[name];
    if (value != null) Object.assign(present, { [name]: value });
  }
  return present;
}
