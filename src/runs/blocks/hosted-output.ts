import type { ShellCommandOutput } from "@antiphon/contracts/responses-api/types.ts";
import type { ToolStep } from "@antiphon/domain/models/hosted.ts";
import type { UnnumberedEvent } from "../wire-event.ts";
import type { HostedPlace } from "./hosted-shapes.ts";

/** The output that a `shell_call_output` has shown so far. */
export interface ShownOutput {
  /** One entry for each command that has ended. */
  readonly outputs: readonly ShellCommandOutput[];
  /** The output of the running command; null if there is none. */
  readonly partial: Printed | null;
}

interface Printed {
  readonly stdout: string;
  readonly stderr: string;
}

export const NO_OUTPUT: ShownOutput = { outputs: [], partial: null };

const NOTHING: Printed = { stdout: "", stderr: "" };

type CommandStep = Extract<ToolStep, { type: "command_printed" | "command_ended" }>;

export function showOutput(
  shownOutput: ShownOutput,
  step: CommandStep,
  place: HostedPlace,
  events: UnnumberedEvent[],
): ShownOutput {
  return step.type === "command_printed"
    ? print(shownOutput, step, place, events)
    : endCommand(shownOutput, step.output, place, events);
}

/** Shows the missing outputs of all commands. Returns the outputs shown in total. */
export function showOutputs(
  shownOutput: ShownOutput,
  outputs: readonly ShellCommandOutput[],
  place: HostedPlace,
  events: UnnumberedEvent[],
): ShellCommandOutput[] {
  let all = shownOutput;
  for (const output of outputs.slice(shownOutput.outputs.length)) all = endCommand(all, output, place, events);
  // A command that the run did not await.
  if (all.partial !== null) all = endCommand(all, { ...all.partial, outcome: { type: "timeout" } }, place, events);
  return [...all.outputs];
}

function print(shownOutput: ShownOutput, { stdout, stderr }: Printed, place: HostedPlace, events: UnnumberedEvent[]) {
  if (stdout === "" && stderr === "") return shownOutput;
  const before = shownOutput.partial ?? NOTHING;
  events.push({
    type: "response.shell_call_output_content.delta",
    ...place,
    command_index: shownOutput.outputs.length,
    delta: { ...(stdout === "" ? {} : { stdout }), ...(stderr === "" ? {} : { stderr }) },
  });
  return { ...shownOutput, partial: { stdout: before.stdout + stdout, stderr: before.stderr + stderr } };
}

function endCommand(
  shownOutput: ShownOutput,
  output: ShellCommandOutput,
  place: HostedPlace,
  events: UnnumberedEvent[],
) {
  const { stdout, stderr } = shownOutput.partial ?? NOTHING;
  const rest = { stdout: restOf(output.stdout, stdout), stderr: restOf(output.stderr, stderr) };
  const { partial } = print(shownOutput, rest, place, events);
  const whole: ShellCommandOutput = { ...output, ...(partial ?? NOTHING) };
  events.push({
    type: "response.shell_call_output_content.done",
    ...place,
    command_index: shownOutput.outputs.length,
    output: [whole],
  });
  return { outputs: [...shownOutput.outputs, whole], partial: null };
}

/** The missing rest of a text. Empty if a different text was shown, because shown text cannot be withdrawn. */
function restOf(text: string, prefix: string): string {
  return text.startsWith(prefix) ? text.slice(prefix.length) : "";
}
