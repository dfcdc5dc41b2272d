import type { ToolInput } from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { sealScope } from "../input/resolve-input.ts";
import type { OfferedHostedTool } from "../offered-tools/accept-tools.ts";
import type { Sealer } from "../seal.ts";

/** The secrets of tools, so that a stored task contains none in plain text. */
export interface ToolSecrets {
  seal(tools: readonly OfferedHostedTool[]): readonly OfferedHostedTool[];
  /** Null if a secret was sealed with a key that is gone. */
  open(tools: readonly OfferedHostedTool[]): readonly OfferedHostedTool[] | null;
}

/** `responseId` makes seals of the same secret differ. */
export function toolSecrets(sealer: Sealer, owner: Owner, responseId: string): ToolSecrets {
  const scope = sealScope(owner);
  return {
    seal: (tools) =>
      tools.map((one) => ({ ...one, tool: mapSecrets(one.tool, (text) => sealer.seal(text, responseId, scope)) })),
    open: (tools) => {
      let isWhole = true;
      const open = (sealedText: string): string => {
        const text = sealer.open(sealedText, scope);
        isWhole = isWhole && text !== null;
        return text ?? "";
      };
      const openTools = tools.map((one) => ({ ...one, tool: mapSecrets(one.tool, open) }));
      return isWhole ? openTools : null;
    },
  };
}

function mapSecrets(tool: ToolInput, map: (secret: string) => string): ToolInput {
  switch (tool.type) {
    case "mcp": {
      const { authorization, headers, server_url: url } = tool;
      return {
        ...tool,
        ...(authorization == null ? {} : { authorization: map(authorization) }),
        ...(headers == null ? {} : { headers: mapValues(headers, map) }),
        ...(url == null ? {} : { server_url: map(url) }), // Its path often contains a key.
      };
    }
    case "code_interpreter":
      return typeof tool.container === "string" ? tool : { ...tool, container: withSecrets(tool.container, map) };
    case "shell":
      return tool.environment?.type === "container_auto"
        ? { ...tool, environment: withSecrets(tool.environment, map) }
        : tool;
    default:
      return tool;
  }
}

type Container = Extract<
  Extract<ToolInput, { type: "code_interpreter" }>["container"] | Extract<ToolInput, { type: "shell" }>["environment"],
  { type: "auto" | "container_auto" }
>;

function withSecrets<C extends Container>(container: C, map: (secret: string) => string): C {
  const { network_policy: policy } = container;
  if (policy?.type !== "allowlist" || policy.domain_secrets === undefined) return container;
  const secrets = policy.domain_secrets.map((secret) => ({ ...secret, value: map(secret.value) }));
  return { ...container, network_policy: { ...policy, domain_secrets: secrets } };
}

function mapValues(values: Readonly<Record<string, string>>, map: (value: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
}
