import type { ShellCommandOutput } from "../../../generated/responses-api/types.ts";
import type { ToolStep } from "../hosted.ts";
import type { UnnumberedEvent } from "../wire-event.ts";
import type { HostedPlace } from "./hosted-shapes.ts";

/** The output that a `shell_call_output` has shown so far. */
export interface ShownOutput {
  /** One entry for each command that has ended. */
  readonly ended: readonly ShellCommandOutput[];
  /** The output of the running command; null if there is none. */
  readonly printed: Printed | null;
}

interface Printed {
  readonly stdout: string;
  readonly stderr: string;
}

export const NO_OUTPUT: ShownOutput = { ended: [], printed: null };

const NOTHING: Printed = { stdout: "", stderr: "" };

type CommandStep = Extract<ToolStep, { type: "command_printed" | "command_ended" }>;

export function showOutput(
  shown: ShownOutput,
  step: CommandStep,
  place: HostedPlace,
  events: UnnumberedEvent[],
): ShownOutput {
  return step.type === "command_printed"
    ? print(shown, step, place, events)
    : endCommand(shown, step.output, place, events);
}

/** Shows the missing outputs of all commands. Returns the outputs shown in total. */
export function showOutputs(
  shown: ShownOutput,
  outputs: readonly ShellCommandOutput[],
  place: HostedPlace,
  events: UnnumberedEvent[],
): ShellCommandOutput[] {
  let all = shown;
  for (const output of outputs.slice(shown.ended.length)) all = endCommand(all, output, place, events);
  // A command that the run did not await.
  if (all.printed !== null) all = endCommand(all, { ...all.printed, outcome: { type: "timeout" } }, place, events);
  return [...all.ended];
}

function print(shown: ShownOutput, { stdout, stderr }: Printed, place: HostedPlace, events: UnnumberedEvent[]) {
  if (stdout === "" && stderr === "") return shown;
  const before = shown.printed ?? NOTHING;
  events.push({
    type: "response.shell_call_output_content.delta",
    ...place,
    command_index: shown.ended.length,
    delta: { ...(stdout === "" ? {} : { stdout }), ...(stderr === "" ? {} : { stderr }) },
  });
  return { ...shown, printed: { stdout: before.stdout + stdout, stderr: before.stderr + stderr } };
}

function endCommand(shown: ShownOutput, output: ShellCommandOutput, place: HostedPlace, events: UnnumberedEvent[]) {
  const { stdout, stderr } = shown.printed ?? NOTHING;
  const rest = { stdout: restOf(output.stdout, stdout), stderr: restOf(output.stderr, stderr) };
  const { printed } = print(shown, rest, place, events);
  const whole: ShellCommandOutput = { ...output, ...(printed ?? NOTHING) };
  events.push({
    type: "response.shell_call_output_content.done",
    ...place,
    command_index: shown.ended.length,
    output: [whole],
  });
  return { ended: [...shown.ended, whole], printed: null };
}

/** The missing rest of a text. Empty if a different text was shown, because shown text cannot be withdrawn. */
function restOf(text: string, shown: string): string {
  return text.startsWith(shown) ? text.slice(shown.length) : "";
}
