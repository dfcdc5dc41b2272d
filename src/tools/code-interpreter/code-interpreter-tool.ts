import type { CodeInterpreterCall, CodeInterpreterTool } from "@antiphon/contracts/responses-api/types.ts";
import type { CodeRun, ContainerSessions } from "@antiphon/domain/containers.ts";
import type { HostedTool, MadeCall, OpenTool, ToolCall, ToolOutcome, ToolScope } from "@antiphon/domain/hosted-tool.ts";
import type { HostedFunction, ToolStep } from "@antiphon/domain/models/hosted.ts";
import { type CodeServices, sessionsOf } from "../containers/code-services.ts";
import { refusalOfContainer } from "../containers/container-refusal.ts";
import { skillsOfContainer } from "../containers/container-skills.ts";
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
  memoryText,
  type ToldLimits,
  toldEnd,
  toldException,
  toldFiles,
  withoutMiddle,
} from "../containers/told-run.ts";
import { failedOutcome } from "../failed-outcome.ts";
import { readArguments } from "../read-arguments.ts";
import { toldSkills } from "../told-skills.ts";

/** Listed first, by their names in the Python package index. */
const USEFUL_PACKAGES =
  "numpy pandas matplotlib scipy sympy scikit-learn statsmodels seaborn networkx polars pyarrow pillow opencv-python openpyxl xlsxwriter xlrd odfpy python-docx python-pptx pypdf reportlab lxml beautifulsoup4 pyyaml tabulate".split(
    " ",
  );
/** The minimum number of packages listed, if there are as many. */
const PACKAGES_TOLD_MIN = 8;
const MS_A_SECOND = 1000;
const OUTPUTS_INCLUDE = "code_interpreter_call.outputs";

/** The tool `code_interpreter`: the model writes Python, and a container of this server runs it. */
export function codeInterpreterTool(services: CodeServices): HostedTool {
  return {
    kind: "code_interpreter",
    types: ["code_interpreter"],
    refusal: (tool) => {
      if (tool.type !== "code_interpreter") return null;
      return refusalOfContainer(services, {
        container: tool.container,
        member: "container",
        callers: tool.allowed_callers,
      });
    },
    open: async (tool, scope) => {
      if (tool.type !== "code_interpreter") throw new Error("only a code interpreter is opened here");
      const sessions = await sessionsOf(services);
      const container = await containerFor(services, tool, scope);
      const isNamed = typeof tool.container === "string";
      const skills = isNamed ? await skillsOfContainer(services, container, scope) : [];
      return openInterpreter({ sessions, container, scope }, toldSkills(skills), services);
    },
  };
}

function containerFor(
  services: CodeServices,
  { container }: CodeInterpreterTool,
  scope: ToolScope,
): Promise<ResponseContainer> {
  if (typeof container === "string") return namedContainer(services, container, scope);
  const { file_ids: fileIds = [], memory_limit: memoryLimit = null } = container;
  return autoContainer(services, { fileIds, memoryLimit }, scope);
}

/** `skills`: the end of the description. */
function openInterpreter(interpreter: Interpreter, skills: string, services: CodeServices): OpenTool {
  const { sessions, container, scope } = interpreter;
  const { description, ...others } = interpreterFunction(sessions, limitsOf(sessions, container));
  return {
    functions: [{ ...others, description: `${description}${skills}` }],
    note: null,
    opening: [],
    pending: [],
    sources: container.files,
    call: (_name, origin) => interpreterCall(interpreter, origin),
    describeRemains: (item) => describeContainer(services, scope, item),
    close: async () => {},
  };
}

function interpreterFunction({ abilities }: ContainerSessions, { callMs, memoryBytes }: ToldLimits): HostedFunction {
  const { python, packages } = abilities;
  const importable = packages.length === 0 ? "none" : namesOf(packages);
  return {
    type: "hosted_function",
    server: null,
    name: "code_interpreter",
    description: `Runs Python ${python} in a session that keeps its variables and the files in /mnt/data. The value of the last line is shown, like in a notebook. A call may take ${callMs / MS_A_SECOND} s, and the session ${memoryText(memoryBytes)} of memory. No network, and nothing can be installed. Packages beyond the standard library: ${importable}. Give the user files as [name](sandbox:/mnt/data/name).`,
    parameters: { type: "object", properties: { code: { type: "string" } }, required: ["code"] },
  };
}

/** The most useful names, and the number of the others. Small models get lost in long lists. */
function namesOf(packages: readonly string[]): string {
  const packageNames = new Map(packages.map((name) => [name.toLowerCase(), name]));
  const useful = USEFUL_PACKAGES.flatMap((name) => packageNames.get(name) ?? []);
  const others = packages.filter((name) => !useful.includes(name));
  const shownNames = [...useful, ...others.slice(0, Math.max(0, PACKAGES_TOLD_MIN - useful.length))];
  const rest = packages.length - shownNames.length;
  return rest === 0 ? shownNames.join(", ") : `${shownNames.join(", ")} and ${rest} more`;
}

/** State shared by the calls of one response. */
interface Interpreter {
  readonly sessions: ContainerSessions;
  readonly container: ResponseContainer;
  readonly scope: ToolScope;
}

function interpreterCall(interpreter: Interpreter, { newItemId }: MadeCall): ToolCall {
  const { container, scope } = interpreter;
  const first: CodeInterpreterCall = {
    id: newItemId("ci"),
    type: "code_interpreter_call",
    status: "in_progress",
    code: "",
    container_id: container.id,
    outputs: isIncluded(scope) ? [] : null,
  };
  return {
    item: first,
    streams: { member: "code" },
    effect: "sandboxed",
    async *run(args, signal): AsyncGenerator<ToolStep, ToolOutcome> {
      const code = readArguments(args)?.["code"];
      if (typeof code !== "string") return failedOutcome(first, "The arguments need `code`, a text. Nothing was run.");
      yield { type: "interpreting" };
      return await runCode(interpreter, { ...first, code }, code, signal);
    },
  };
}

function isIncluded({ include }: ToolScope): boolean {
  return include.includes(OUTPUTS_INCLUDE);
}

async function runCode(
  { sessions, container, scope }: Interpreter,
  item: CodeInterpreterCall,
  code: string,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  // The container may have been lost since the item began.
  if (item.container_id !== container.id) return failedOutcome(item, GONE);
  const fault = await container.ready();
  if (fault !== null) return failedOutcome(item, fault);
  const ran = await sessions.runCode(scope.owner, item.container_id, code, signal);
  if (ran.type === "busy") return failedOutcome(item, BUSY);
  if (ran.type === "gone") {
    container.lose();
    return failedOutcome(item, GONE);
  }
  const outcome = codeOutcome({ scope, limits: limitsOf(sessions, container) }, item, ran.result);
  return { ...outcome, sources: [...container.takeCopied(), ...outcome.sources] };
}

/** Code that raised an exception is completed; only the end of its session is a failure. */
function codeOutcome(
  { scope, limits }: Pick<Interpreter, "scope"> & { readonly limits: ToldLimits },
  item: CodeInterpreterCall,
  run: CodeRun,
): Extract<ToolOutcome, { type: "ran" }> {
  const pictures = run.outputs.flatMap((output) => (output.type === "image" ? [output] : []));
  const outputs = run.outputs.map((output) =>
    output.type === "logs" ? output : { type: "image" as const, url: urlOf(output.png) },
  );
  const end = run.end === null ? [] : [{ type: "logs" as const, logs: toldEnd(run.end, limits) }];
  return {
    type: "ran",
    item: {
      ...item,
      status: run.end === null ? "completed" : "failed",
      outputs: isIncluded(scope) ? [...outputs, ...end] : null,
    },
    output: toldRun(run, limits),
    parts: scope.abilities.images
      ? pictures.map(({ png }) => ({ type: "input_image", image_url: urlOf(png), detail: "auto" }))
      : [],
    sources: citedFiles(item.container_id, run, { itemId: item.id, pictures: pictures.map(({ file }) => file) }),
  };
}

function urlOf(png: Uint8Array): string {
  return `data:image/png;base64,${Buffer.from(png.buffer, png.byteOffset, png.byteLength).toString("base64")}`;
}

/** The output of a run for the model. */
function toldRun(run: CodeRun, limits: ToldLimits): string {
  const { traceback } = run;
  const advice = traceback === null ? null : toldException(traceback, limits);
  const printout = run.outputs
    .map((output) => (output.type === "logs" ? output.logs : `\n[The user sees the picture ${output.file.path}]\n`))
    .join("");
  const lines = [
    ...(run.lostVariables ? [LOST_VARIABLES] : []),
    ...(printout === "" ? [] : [withoutMiddle(printout)]),
    ...(traceback === null ? [] : [withoutMiddle(traceback)]),
    ...(advice === null ? [] : [advice]),
    ...(run.end === null ? [] : [toldEnd(run.end, limits)]),
    ...toldFiles(run),
  ];
  return lines.length === 0 ? "[The code ran and printed nothing.]" : lines.join("\n");
}
