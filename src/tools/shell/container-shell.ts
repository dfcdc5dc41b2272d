import { JsonStrings } from "@antiphon/base/json/json-strings.ts";
import type {
  ShellCall,
  ShellCallOutput,
  ShellContainerAuto,
  ShellContainerReference,
} from "@antiphon/contracts/responses-api/types.ts";
import type { CommandRun, CommandRuns, ContainerSessions } from "@antiphon/domain/containers.ts";
import type {
  CallWriter,
  CitedFile,
  MadeCall,
  OpenTool,
  ToolCall,
  ToolOutcome,
  ToolScope,
} from "@antiphon/domain/hosted-tool.ts";
import type { HostedFunction, HostedItemEvent } from "@antiphon/domain/models/hosted.ts";
import { type CodeServices, sessionsOf, unavailable } from "../containers/code-services.ts";
import { requestedSkills, skillsOfContainer, toldByFolder } from "../containers/container-skills.ts";
import {
  autoContainer,
  describeContainer,
  namedContainer,
  type ResponseContainer,
} from "../containers/response-container.ts";
import {
  BUSY,
  citedFiles,
  GONE,
  LOST_VARIABLES,
  limitsOf,
  type ToldLimits,
  toldEnd,
  toldFiles,
  toldTimeout,
  withoutMiddle,
} from "../containers/told-run.ts";
import { readArguments } from "../read-arguments.ts";
import { type ToldSkill, toldSkills } from "../told-skills.ts";
import { withoutSteps } from "../without-steps.ts";

export type ContainerEnvironment = ShellContainerAuto | ShellContainerReference;

/** Sent to the model if the sandbox has no shell. */
export const NO_SHELL =
  "The sandbox of this server runs Python alone and has no shell. The setting CODE_ENGINE chooses one. With the environment 'local' the client runs the commands.";

const COMMANDS_MAX = 10;

const SHELL_FUNCTION = {
  type: "hosted_function",
  server: null,
  name: "shell",
  description:
    "Runs commands with /bin/sh in /mnt/data, one after the other. Files are kept between calls. No network. Give the user files as [name](sandbox:/mnt/data/name).",
  parameters: {
    type: "object",
    properties: {
      commands: { type: "array", items: { type: "string" }, minItems: 1, maxItems: COMMANDS_MAX },
      timeout_ms: { type: "integer", description: "For each command." },
      max_output_length: { type: "integer", description: "In characters, for each command." },
    },
    required: ["commands"],
  },
} as const satisfies HostedFunction;

/** Opens the `shell` tool with a container of this server for the model's commands. */
export async function openContainerShell(
  services: CodeServices,
  environment: ContainerEnvironment,
  scope: ToolScope,
): Promise<OpenTool> {
  const sessions = await sessionsOf(services);
  if (!sessions.abilities.hasShell) throw unavailable(NO_SHELL);
  const { container, skills } = await containerFor(services, environment, scope);
  return {
    functions: [{ ...SHELL_FUNCTION, description: SHELL_FUNCTION.description + toldSkills(skills) }],
    note: null,
    opening: [],
    pending: [],
    sources: container.files,
    call: (_name, origin) => shellCall({ sessions, container, scope }, origin),
    describeRemains: (item) => describeContainer(services, scope, item),
    close: async () => {},
  };
}

/** The container, and the skills that it has or gets before the first call. */
async function containerFor(
  services: CodeServices,
  environment: ContainerEnvironment,
  scope: ToolScope,
): Promise<{ readonly container: ResponseContainer; readonly skills: readonly ToldSkill[] }> {
  if (environment.type === "container_reference") {
    const container = await namedContainer(services, environment.container_id, scope);
    return { container, skills: await skillsOfContainer(services, container, scope) };
  }
  const { file_ids: fileIds = [], memory_limit: memoryLimit = null } = environment;
  const skills = await requestedSkills(services, environment.skills ?? [], scope);
  return {
    container: await autoContainer(services, { fileIds, memoryLimit, skills }, scope),
    skills: toldByFolder(skills),
  };
}

/** State shared by the calls of one response. */
interface Shell {
  readonly sessions: ContainerSessions;
  readonly container: ResponseContainer;
  readonly scope: ToolScope;
}

function shellCall(shell: Shell, { callId, newItemId }: MadeCall): ToolCall {
  const writer = new CommandsWriter();
  const first: ShellCall = {
    id: newItemId("sh"),
    type: "shell_call",
    call_id: callId,
    environment: { type: "container_reference", container_id: shell.container.id },
    status: "in_progress",
    action: { commands: [], max_output_length: null, timeout_ms: null },
  };
  const outputId = newItemId("sho");
  return {
    item: first,
    streams: writer,
    effect: "sandboxed",
    run: (args, signal) => withoutSteps(runShellCall(shell, { first, outputId, writer }, args, signal)),
  };
}

interface BegunCall {
  readonly first: ShellCall;
  readonly outputId: string;
  readonly writer: CommandsWriter;
}

async function runShellCall(
  shell: Shell,
  callStart: BegunCall,
  args: string,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const { first, writer } = callStart;
  const action = actionIn(args);
  if (action === null) return unrun(first, "The arguments need `commands`, a list of texts. Nothing was run.");
  const { commands } = action;
  // The shown commands must be the ones that run.
  if (JSON.stringify(writer.commands) !== JSON.stringify(commands))
    return unrun(first, "The arguments hold a member more than once. Nothing was run.");
  const { container, sessions, scope } = shell;
  const { id } = container;
  // The container may have been lost since the item began.
  if (first.environment?.type !== "container_reference" || first.environment.container_id !== id)
    return unrun(first, GONE);
  const fault = await container.ready();
  if (fault !== null) return unrun(first, fault);
  const list = { commands, timeoutMs: action.timeout_ms, outputCharactersMax: action.max_output_length };
  const ran = await sessions.runCommands(scope.owner, id, list, signal);
  if (ran.type === "busy") return unrun(first, BUSY);
  if (ran.type === "gone") {
    container.lose();
    return unrun(first, GONE);
  }
  const sources = [...container.takeCopied(), ...citedFiles(id, ran.result)];
  const callMs = Math.min(action.timeout_ms ?? Infinity, sessions.callMsMax);
  const text = toldRuns(commands, ran.result, { ...limitsOf(sessions, container), callMs });
  return { ...ranOutcome(callStart, { ...first, status: "completed", action }, ran.result, sources), output: text };
}

/** A call whose commands did not run. It has no output item. */
function unrun(first: ShellCall, reason: string): ToolOutcome {
  return { type: "ran", item: { ...first, status: "incomplete" }, output: reason, parts: [], sources: [] };
}

function actionIn(text: string): ShellCall["action"] | null {
  const { commands, timeout_ms, max_output_length } = readArguments(text) ?? {};
  const list: readonly unknown[] = Array.isArray(commands) ? commands : [];
  const texts = list.filter((command) => typeof command === "string");
  if (texts.length !== list.length || texts.length === 0 || texts.length > COMMANDS_MAX) return null;
  return { commands: texts, timeout_ms: limitOf(timeout_ms), max_output_length: limitOf(max_output_length) };
}

/** Models write values such as "5s". The server's limit then applies. */
function limitOf(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : null;
}

function ranOutcome(
  { outputId }: BegunCall,
  item: ShellCall,
  result: CommandRuns,
  sources: readonly CitedFile[],
): Omit<Extract<ToolOutcome, { type: "ran" }>, "output"> {
  const output: ShellCallOutput = {
    id: outputId,
    type: "shell_call_output",
    status: "completed",
    call_id: item.call_id,
    max_output_length: item.action.max_output_length,
    output: result.runs.map(({ stdout, stderr, outcome }) => ({
      stdout,
      stderr,
      outcome: outcome.type === "exit" ? { type: "exit", exit_code: outcome.exitCode } : { type: "timeout" },
    })),
  };
  return {
    type: "ran",
    item,
    parts: [],
    sources,
    following: [{ first: { ...output, output: [] }, last: output }],
  };
}

/** The output of a call for the model. */
function toldRuns(commands: readonly string[], result: CommandRuns, limits: ToldLimits): string {
  const rest = commands.slice(result.runs.length);
  return [
    ...(result.lostVariables ? [LOST_VARIABLES] : []),
    withoutMiddle(result.runs.map((run, index) => toldRun(commands[index] ?? "", run, limits.callMs)).join("\n")),
    ...(result.end === null ? [] : [toldEnd(result.end, limits)]),
    ...(rest.length === 0 ? [] : [`[Not run: ${rest.join("; ")}]`]),
    ...toldFiles(result),
  ].join("\n");
}

function toldRun(command: string, { stdout, stderr, outcome }: CommandRun, callMs: number): string {
  const end = outcome.type === "exit" ? `[Exit code ${outcome.exitCode}]` : `[It was stopped: ${toldTimeout(callMs)}.]`;
  return [
    `$ ${command}`,
    ...(stdout === "" ? [] : [stdout]),
    ...(stderr === "" ? [] : [`[stderr]\n${stderr}`]),
    end,
  ].join("\n");
}

/** The depth of the commands in the arguments. */
const LEVELS = 2;

/** Shows the commands of a begun call while the model writes them. */
class CommandsWriter implements CallWriter {
  readonly #strings = new JsonStrings(LEVELS);
  readonly #commands: string[] = [];
  #command = "";

  /** The commands that were shown completely. */
  get commands(): readonly string[] {
    return this.#commands;
  }

  add(piece: string): readonly HostedItemEvent[] {
    return this.#strings.add(piece).flatMap(({ path, text, isWhole }): HostedItemEvent[] => {
      if (path.length !== LEVELS || path[0] !== "commands") return [];
      this.#command += text;
      const delta: HostedItemEvent = { type: "item_delta", text };
      if (!isWhole) return [delta];
      this.#commands.push(this.#command);
      this.#command = "";
      return [delta, { type: "item_written" }];
    });
  }
}
