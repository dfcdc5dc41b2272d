import type { HostedTool, MadeCall, OpenTool, ToolCall, ToolOutcome } from "@antiphon/domain/hosted-tool.ts";
import type { HostedFunction } from "@antiphon/domain/models/hosted.ts";
import type { ProgramRuntime } from "@antiphon/domain/programs.ts";
import { readArguments, textArgument } from "../read-arguments.ts";
import { withoutSteps } from "../without-steps.ts";

const CODE_CHARACTERS_MAX = 256 * 1024;

/** The loop adds the functions that programs may call. */
const PROGRAM_FUNCTION: HostedFunction = {
  type: "hosted_function",
  server: null,
  name: "program",
  description:
    "Runs a program in JavaScript that calls tools, and returns only what the program writes. Use it to combine several calls: in parallel, in loops, or to reduce large results. `await` works at the top. `tools.NAME(arguments)` calls a tool: it returns a promise of the result, which is parsed if it is JSON, and rejects if the call fails. `text(value)` writes output; objects are written as JSON. There are no modules, network, files, timers or console, and nothing is kept for later programs. Run one program at a time.",
  parameters: {
    type: "object",
    properties: { code: { type: "string", description: "The program, such as: text(await tools.NAME({}));" } },
    required: ["code"],
    additionalProperties: false,
  },
};

const NO_CODE: ToolOutcome = {
  type: "told",
  output: `The arguments need \`code\`, a text of at most ${CODE_CHARACTERS_MAX} characters. Nothing was run.`,
};

/** The tool `programmatic_tool_calling`: the model writes programs that call the other tools of its response. */
export function programTool(programs: ProgramRuntime): HostedTool {
  return {
    kind: "programmatic_tool_calling",
    types: ["programmatic_tool_calling"],
    refusal: () => null,
    open: async () => openPrograms(programs),
  };
}

function openPrograms(programs: ProgramRuntime): OpenTool {
  return {
    functions: [PROGRAM_FUNCTION],
    note: null,
    opening: [],
    pending: [],
    programs,
    call: (_name, origin) => programCall(programs, origin),
    close: async () => {},
  };
}

/** Begins a program. Its calls and its output follow in turns of their own. */
function programCall(programs: ProgramRuntime, { callId, newItemId }: MadeCall): ToolCall {
  const id = newItemId("cm");
  return {
    item: null,
    streams: null,
    effect: "none",
    run: (args) => {
      const code = textArgument(readArguments(args) ?? {}, "code");
      if (code === null || code.trim() === "" || code.length > CODE_CHARACTERS_MAX) return withoutSteps(NO_CODE);
      const item = { id, type: "program", call_id: callId, code, fingerprint: programs.begin(code) } as const;
      return withoutSteps({ type: "goes_on", item });
    },
  };
}
