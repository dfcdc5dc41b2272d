import type { ShellCall, ToolInput } from "@antiphon/contracts/responses-api/types.ts";
import { validateShellCall } from "@antiphon/contracts/responses-api/validators.js";
import type { HostedTool } from "@antiphon/domain/hosted-tool.ts";
import { type ToldSkill, toldSkills } from "../told-skills.ts";
import { type CallNames, type ClientTool, hostedClientTool } from "./client-tool.ts";

type ShellInput = Extract<ToolInput, { type: "shell" }>;

const COMMANDS_MAX = 10;

const SHELL: ClientTool<ShellInput, ShellCall> = {
  kind: "shell",
  types: ["shell"],
  idPrefix: "sh",
  validate: validateShellCall,
  isOne: (tool) => tool.type === "shell",
  offer: (tool) => ({
    name: "shell",
    description: `Runs shell commands on the user's machine, one after the other.${toldSkills(skillsOf(tool))}`,
    parameters: {
      type: "object",
      properties: {
        commands: { type: "array", items: { type: "string" }, minItems: 1, maxItems: COMMANDS_MAX },
        timeout_ms: { type: "integer", description: "For each command." },
        max_output_length: { type: "integer", description: "In characters." },
      },
      required: ["commands"],
    },
  }),
  sketch: (names, tool) => ({
    partOf: ([member, index, ...deeper]) =>
      member === "commands" && typeof index === "number" && deeper.length === 0 ? "text" : null,
    firstOf: () => firstForm(names, tool),
  }),
  textsIn: ({ action }) => action.commands,
  itemOf: ({ commands, max_output_length, timeout_ms }, names, tool) => {
    const limits = { max_output_length: limitOf(max_output_length), timeout_ms: limitOf(timeout_ms) };
    const first = firstForm(names, tool);
    return { first, last: { ...first, status: "completed", action: { commands, ...limits } } };
  },
};

/** The tool `shell` without a container: the client runs the commands. */
export const localEnvironmentShell: HostedTool = hostedClientTool(SHELL);

function firstForm({ id, callId }: CallNames, { environment }: ShellInput): ShellCall {
  return {
    id,
    type: "shell_call",
    call_id: callId,
    environment: environment?.type === "local" ? { type: "local" } : null,
    status: "in_progress",
    action: { commands: [], max_output_length: null, timeout_ms: null },
  };
}

/** Models write values such as "5s". The client's limit then applies. */
function limitOf(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) ? value : null;
}

/** The client's skills. */
function skillsOf({ environment }: ShellInput): readonly ToldSkill[] {
  return environment?.type === "local" ? (environment.skills ?? []) : [];
}
