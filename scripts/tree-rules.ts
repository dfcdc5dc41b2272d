import { dirname } from "node:path/posix";

/** A rule about the whole tree. `find` gets the paths of all files from the repository's root. */
export interface TreeRule {
  readonly name: string;
  readonly sentence: string;
  readonly find: (paths: readonly string[]) => readonly string[];
}

const FOLDER_FILES_MAX = 22;
/** Folders that are still too large; an entry goes when its folder is small enough. */
const STILL_TOO_LARGE: readonly string[] = ["src/stream-grammar"];

export const TREE_RULES: readonly TreeRule[] = [
  {
    name: "folders-are-small",
    sentence: `A folder of src/ holds at most ${FOLDER_FILES_MAX} files, tests and fixtures among them; operations/ may hold more.`,
    find: (paths) => folderFaults(paths, STILL_TOO_LARGE),
  },
];

/** Finds folders with too many files at one level, and entries of `excused` that are no longer needed. */
export function folderFaults(paths: readonly string[], excused: readonly string[]): string[] {
  const folders = Map.groupBy(
    paths.filter((path) => path.startsWith("src/")),
    (path) => dirname(path),
  );
  const large = new Map([...folders].filter(([folder, { length }]) => isTooLarge(folder, length)));
  return [
    ...[...large]
      .filter(([folder]) => !excused.includes(folder))
      .map(([folder, { length }]) => `${folder} holds ${length} files`),
    ...excused
      .filter((folder) => !large.has(folder))
      .map((folder) => `${folder} is small enough: take it off the list`),
  ];
}

function isTooLarge(folder: string, files: number): boolean {
  return files > FOLDER_FILES_MAX && !folder.endsWith("/operations");
}
