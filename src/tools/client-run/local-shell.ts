import type { LocalShellCall, ToolInput } from "@antiphon/contracts/responses-api/types.ts";
import { validateLocalShellCall } from "@antiphon/contracts/responses-api/validators.js";
import type { HostedTool } from "@antiphon/domain/hosted-tool.ts";
import { type CallNames, type ClientTool, hostedClientTool } from "./client-tool.ts";

const LOCAL_SHELL: ClientTool<Extract<ToolInput, { type: "local_shell" }>, LocalShellCall> = {
  kind: "local_shell",
  types: ["local_shell"],
  idPrefix: "lsh",
  validate: validateLocalShellCall,
  isOne: (tool) => tool.type === "local_shell",
  offer: () => ({
    name: "local_shell",
    description: "Runs a program on the user's machine. No shell reads the arguments: for pipes run bash -lc.",
    parameters: {
      type: "object",
      properties: {
        command: { type: "array", items: { type: "string" }, description: "The program and its arguments." },
        working_directory: { type: "string" },
        timeout_ms: { type: "integer" },
        env: { type: "object", additionalProperties: { type: "string" } },
      },
      required: ["command"],
    },
  }),
  sketch: (names) => ({
    partOf: ([member, index, ...deeper]) =>
      member === "command" && typeof index === "number" && deeper.length === 0 ? "sign" : null,
    firstOf: () => firstForm(names),
  }),
  itemOf: ({ command, env, timeout_ms, working_directory }, names) => {
    const options = {
      ...(timeout_ms == null ? {} : { timeout_ms }),
      ...(working_directory == null ? {} : { working_directory }),
    };
    const first = firstForm(names);
    return {
      first,
      last: { ...first, status: "completed", action: { ...first.action, command, env: env ?? {}, ...options } },
    };
  },
};

function firstForm({ id, callId }: CallNames): LocalShellCall {
  return {
    id,
    type: "local_shell_call",
    call_id: callId,
    status: "in_progress",
    action: { type: "exec", command: [], env: {} },
  };
}

/** The tool `local_shell`: the client runs the program. */
export const localShellTool: HostedTool = hostedClientTool(LOCAL_SHELL);
