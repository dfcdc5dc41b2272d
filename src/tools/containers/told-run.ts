import type { ContainerMemoryLimit } from "@antiphon/contracts/responses-api/types.ts";
import {
  type ContainerSessions,
  type FileChanges,
  type KeptFile,
  type SessionEnd,
  sessionMemory,
} from "@antiphon/domain/containers.ts";
import type { CitedFile } from "@antiphon/domain/hosted-tool.ts";

const MS_A_SECOND = 1000;
const MEBIBYTE = 1024 ** 2;
const GIBIBYTE = 1024 ** 3;

/** The maximum characters of one call's output for the model. */
export const SHOWN_CHARACTERS_MAX = 20_000;
/** The maximum files listed by name after one call. */
const FILES_TOLD_MAX = 50;

export const LOST_VARIABLES =
  "[The session was started anew: variables of earlier calls are lost. Files that they left in /mnt/data are kept, except those of a call that was interrupted.]";
export const GONE = "The container has expired or was deleted. Its files and variables are lost. Nothing was run.";
export const BUSY = "All sessions of this server are at work, so nothing was run. Try again later.";

/** The limits of a call: its time in milliseconds, and the memory of its session in bytes. */
export interface ToldLimits {
  readonly callMs: number;
  readonly memoryBytes: number;
}

export function limitsOf(
  { callMsMax, memoryBytesMax }: Pick<ContainerSessions, "callMsMax" | "memoryBytesMax">,
  { memory }: { readonly memory: ContainerMemoryLimit },
): ToldLimits {
  return { callMs: callMsMax, memoryBytes: sessionMemory(memory, memoryBytesMax) };
}

/** What Python and libraries say that get no more memory. */
const MEMORY_FAULT = /MemoryError|bad_alloc|failed to map segment|annot allocate memory|can't start new thread/;

/** Tells the model, and the client, that a session was stopped. */
export function toldEnd(end: SessionEnd, limits: ToldLimits): string {
  return `[It was stopped: ${endReason(end, limits)}. Files that earlier calls left in /mnt/data are kept, variables are lost.]`;
}

function endReason(end: SessionEnd, { callMs, memoryBytes }: ToldLimits): string {
  switch (end) {
    case "timed_out":
      return toldTimeout(callMs);
    case "out_of_memory":
      return `it used more memory than there is, ${memoryText(memoryBytes)} for a session. Work on less at a time`;
    case "too_many_processes":
      return "it started too many processes";
    case "too_much_output":
      return "it printed too much";
    case "crashed":
      return `Python crashed, as it does when a library gets no more memory. A session has ${memoryText(memoryBytes)}; if that may be the cause, work on less at a time`;
  }
}

/** What the model needs to know beside an exception; null for nothing. */
export function toldException(traceback: string, { memoryBytes }: Pick<ToldLimits, "memoryBytes">): string | null {
  if (!MEMORY_FAULT.test(traceback)) return null;
  return `[A session has ${memoryText(memoryBytes)} of memory in all. Work on less at a time, and delete what is no longer needed.]`;
}

/** Such as `1 GiB`. */
export function memoryText(bytes: number): string {
  return bytes % GIBIBYTE === 0 ? `${bytes / GIBIBYTE} GiB` : `${Math.floor(bytes / MEBIBYTE)} MiB`;
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
