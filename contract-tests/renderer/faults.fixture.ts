import { isRecord } from "../records.fixture.ts";
import type { Frame } from "./show.fixture.ts";

/** A fault in our stream that a user or a program would notice. */
export interface Fault {
  readonly title: string;
  /** The name of the case whose stream gets the fault. */
  readonly of: string;
  readonly seed: (frames: readonly Frame[]) => readonly Frame[];
}

export const FAULTS: readonly Fault[] = [
  { title: "a done event is dropped", of: "text", seed: drop("response.output_text.done") },
  {
    title: "a delta is doubled",
    of: "text",
    seed: (frames) =>
      frames.flatMap((frame) => (isFirst("response.output_text.delta", frames, frame) ? [frame, frame] : [frame])),
  },
  {
    title: "a letter of a delta is another",
    of: "text",
    seed: alter("response.output_text.delta", (event) => ({ ...event, delta: "nice" })),
  },
  { title: "a citation is lost", of: "text", seed: drop("response.output_text.annotation.added") },
  {
    title: "an item is of another type",
    of: "text",
    seed: alter("response.output_item.added", ({ item, ...event }) => ({
      ...event,
      item: { ...Object(item), type: "reasoning", summary: [] },
    })),
  },
  {
    title: "a member is missing",
    of: "text",
    seed: alter("response.output_text.delta", (event) => without(event, "logprobs")),
  },
  {
    title: "a summary is told to belong to another item",
    of: "reasoning",
    seed: alter("response.reasoning_summary_part.added", (event) => ({ ...event, item_id: "rs_another" })),
  },
  {
    title: "two events come in another order",
    of: "refusal",
    seed: (frames) => {
      const at = frames.findIndex(({ name }) => name === "response.refusal.done");
      const [one, other] = frames.slice(at, at + 2);
      return one === undefined || other === undefined ? frames : frames.toSpliced(at, 2, other, one);
    },
  },
  {
    title: "a call names another tool",
    of: "tool call with result",
    seed: alter("response.output_item.done", ({ item, ...event }) => ({
      ...event,
      item: { ...Object(item), name: "abacus" },
    })),
  },
  { title: "an error is kept secret", of: "failure", seed: drop("error") },
  {
    title: "a cut answer is told to be whole",
    of: "incomplete",
    seed: (frames) =>
      frames.map(({ name, data }) =>
        name === "response.incomplete"
          ? { name: "response.completed", data: { ...Object(data), type: "response.completed" } }
          : { name, data },
      ),
  },
  {
    title: "the name of an event is not its type",
    of: "incomplete",
    seed: (frames) =>
      frames.map((frame) => (frame.name === "response.in_progress" ? { ...frame, name: "message" } : frame)),
  },
];

function drop(name: string): Fault["seed"] {
  return (frames) => frames.filter((frame) => !isFirst(name, frames, frame));
}

function alter(
  name: string,
  change: (event: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>,
): Fault["seed"] {
  return (frames) =>
    frames.map((frame) =>
      isFirst(name, frames, frame) && isRecord(frame.data) ? { name, data: change(frame.data) } : frame,
    );
}

function without(event: Readonly<Record<string, unknown>>, member: string): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(event).filter(([name]) => name !== member));
}

/** True if `frame` is the first frame with this name. */
function isFirst(name: string, frames: readonly Frame[], frame: Frame): boolean {
  return frame === frames.find((candidate) => candidate.name === name);
}
