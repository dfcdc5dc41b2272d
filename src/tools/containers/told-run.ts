import type { FileChanges, KeptFile, SessionEnd } from "@antiphon/domain/containers.ts";
import type { CitedFile } from "@antiphon/domain/hosted-tool.ts";

const MS_A_SECOND = 1000;

/** The maximum characters of one call's output for the model. */
export const SHOWN_CHARACTERS_MAX = 20_000;
/** The maximum files listed by name after one call. */
const FILES_TOLD_MAX = 50;

export const LOST_VARIABLES =
  "[The session was started anew: variables of earlier calls are lost. Files that they left in /mnt/data are kept, except those of a call that was interrupted.]";
export const GONE = "The container has expired or was deleted. Its files and variables are lost. Nothing was run.";
export const BUSY = "All sessions of this server are at work, so nothing was run. Try again later.";

const ENDS: Readonly<Record<Exclude<SessionEnd, "timed_out">, string>> = {
  out_of_memory: "it used too much memory",
  too_many_processes: "it started too many processes",
  too_much_output: "it printed too much",
  crashed: "the session crashed",
};

/** Tells the model that its session was stopped. `callMs`: the time limit of the call. */
export function toldEnd(end: SessionEnd, callMs: number): string {
  const why = end === "timed_out" ? toldTimeout(callMs) : ENDS[end];
  return `[It was stopped: ${why}. Files that earlier calls left in /mnt/data are kept, variables are lost.]`;
}

/** Why a call was stopped at its time limit. */
export function toldTimeout(callMs: number): string {
  return `it ran for longer than ${callMs / MS_A_SECOND} s, the limit of a call`;
}

/** Changes in /mnt/data, and files that could not be stored. */
export function toldFiles({ changedFiles, faults }: FileChanges): readonly string[] {
  const list = fileList(changedFiles);
  return [...(list === "" ? [] : [`[New and changed files: ${list}]`]), ...faults.map(bracket)];
}

/** The files of a container, with their sizes. `isWhole`: whether these are all of them. */
export function describeFiles(files: readonly Pick<KeptFile, "path" | "bytes">[], isWhole: boolean): string {
  if (files.length === 0) return "/mnt/data is empty now.";
  return `These files are in /mnt/data now: ${fileList(files)}${isWhole ? "" : ", and others"}.`;
}

function fileList(files: readonly Pick<KeptFile, "path" | "bytes">[]): string {
  const lines = files.slice(0, FILES_TOLD_MAX).map(({ path, bytes }) => `${path} (${bytes} bytes)`);
  const rest = files.length - lines.length;
  return [...lines, ...(rest > 0 ? [`${rest} more`] : [])].join(", ");
}

/** Removes the middle of a text that is too long. Never splits a character. */
export function withoutMiddle(text: string, charactersMax = SHOWN_CHARACTERS_MAX): string {
  if (text.length <= charactersMax) return text;
  const half = Math.floor(charactersMax / 2);
  const begin = text.slice(0, isHigh(text, half - 1) ? half - 1 : half);
  const end = text.slice(isHigh(text, text.length - half - 1) ? text.length - half + 1 : text.length - half);
  return `${begin}\n[${text.length - begin.length - end.length} characters are left out here.]\n${end}`;
}

/** What a text may cite after a call. `shown`: pictures and the item that shows them. */
export function citedFiles(
  containerId: string,
  { changedFiles }: FileChanges,
  pictureItem: { readonly itemId: string; readonly pictures: FileChanges["changedFiles"] } = {
    itemId: "",
    pictures: [],
  },
): readonly CitedFile[] {
  const citeFile =
    (shownBy: string | null) =>
    ({ id, path }: FileChanges["changedFiles"][number]): CitedFile => ({
      type: "container_file",
      containerId,
      fileId: id,
      path,
      shownBy,
    });
  return [...changedFiles.map(citeFile(null)), ...pictureItem.pictures.map(citeFile(pictureItem.itemId))];
}

function isHigh(text: string, index: number): boolean {
  return /[\uD800-\uDBFF]/.test(text.charAt(index));
}

function bracket(sentence: string): string {
  return `[${sentence}]`;
}
