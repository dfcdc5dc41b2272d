import type { ShellCommandOutput } from "../../../generated/responses-api/types.ts";
import type { ToolStep } from "../hosted.ts";
import type { UnnumberedEvent } from "../wire-event.ts";
import type { HostedPlace } from "./hosted-shapes.ts";

/** What a `shell_call_output` has shown so far. */
export interface ShownOutput {
  /** One for each command that has ended. */
  readonly ended: readonly ShellCommandOutput[];
  /** What the running command printed; null if it printed nothing. */
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

/** Shows what is missing of the outputs of all commands, and returns what was shown in the end. */
export function showOutputs(
  shown: ShownOutput,
  outputs: readonly ShellCommandOutput[],
  place: HostedPlace,
  events: UnnumberedEvent[],
): ShellCommandOutput[] {
  let all = shown;
  for (const output of outputs.slice(shown.ended.length)) all = endCommand(all, output, place, events);
  // A command that the run did not wait for.
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

/** What is missing of a text. Nothing if another text was shown, since that cannot be taken back. */
function restOf(text: string, shown: string): string {
  return text.startsWith(shown) ? text.slice(shown.length) : "";
}
