import { dirname } from "node:path/posix";
import { contextSizes } from "./context-sizes.ts";
import { readFunctionNames, readModule } from "./import-graph.ts";
import { deadLinks, unlistedPages } from "./markdown-links.ts";
import { versionFaults } from "./release-version.ts";
import { countParticiples } from "./structure/declared-names.ts";
import type { TextFile } from "./text-file.ts";
import { workspaceFaults } from "./workspace-versions.ts";

/** A rule about the whole tree. `find` gets the paths of all files from the repository's root. */
export interface TreeRule {
  readonly name: string;
  readonly sentence: string;
  readonly find: (files: readonly TextFile[]) => readonly string[];
}

const OURS = /^(src|packages)\//;
const FOLDER_FILES_MAX = 22;

const SMALL_FILE_LINES_MAX = 30;
/** Small files that stand alone for a reason. */
const BOUNDARIES: readonly { readonly files: RegExp; readonly reason: string }[] = [
  { files: /^packages\/client\/src\/[^/]+[.]ts$/, reason: "the client's entry points" },
  { files: /\/skills\/[^/]+[.]ts$/, reason: "skills of the built-in engine, one a file" },
  { files: /(-worker|main)[.]ts$/, reason: "where threads begin" },
  { files: /\/(ports|index)[.]ts$/, reason: "ports and faces of folders" },
  { files: /\/(operations|migrations)\//, reason: "one operation or migration a file" },
  { files: /\/errors\//, reason: "catalogues of errors" },
  { files: /\/(abbreviations|reference-voices)[.]ts$/, reason: "tables of data" },
  { files: /\/(dot|encoder)-wasm[.]ts$/, reason: "compiled code that a script writes" },
  { files: /\/decode-flac[.]ts$/, reason: "decoders, one for each format" },
  { files: /\/pcm-messages[.]ts$/, reason: "what the client's package exports" },
  { files: /\/runs\/blocks\//, reason: "blocks of a run, one a file" },
  { files: /\/handlers\/body-checks[.]ts$/, reason: "the table of an interface's body checks" },
  { files: /\/text-language[.]ts$/, reason: "a library that one thread loads" },
  { files: /\/storage-quota[.]ts$/, reason: "implementations of ports" },
];

/** Names that two exports may have for a reason. */
const SHARED_NAMES: Readonly<Record<string, string>> = {
  isRecord: "the client imports nothing of the servers, so it has a copy",
};
/** How many files may have a function of the same name at their top level. */
const SAME_FUNCTION_FILES_MAX = 3;
/** How many members a context may have. */
const CONTEXT_MEMBERS_MAX = 8;
/** Of all names of src/ and packages/. Some are names of the wire or of rows. */
const PARTICIPLES_PERCENT_MAX = 1;
/** A migration is never changed, so it copies the functions it needs. */
const MIGRATION = /\/migrations\//;
/** Each interface and each engine has a catalogue of errors, in which the same fault has the same name. */
const ERRORS = /errors?[.]ts$|\/errors\//;
const EXPORT = /^export (?:declare |abstract |async )*(?:function\*?|class|const|let|interface|type|enum) (\w+)/gm;

export const TREE_RULES: readonly TreeRule[] = [
  {
    name: "folders-are-small",
    sentence: `A folder of src/ and packages/ holds at most ${FOLDER_FILES_MAX} files, tests and fixtures among them; operations/ and migrations/ may hold more.`,
    find: (files) => folderFaults(files.map(({ path }) => path)),
  },
  {
    name: "small-files-are-boundaries",
    sentence: `A file of at most ${SMALL_FILE_LINES_MAX} lines that one file imports belongs into that file, unless it is a boundary.`,
    find: smallFileFaults,
  },
  {
    name: "one-name-one-thing",
    sentence: "Two exports of src/ and packages/ have one name. Name each by what it is.",
    find: nameFaults,
  },
  {
    name: "functions-name-their-subject",
    sentence: `More than ${SAME_FUNCTION_FILES_MAX} files of src/ and packages/ have a function of one name. Name each with its subject: messageText, not textOf.`,
    find: functionNameFaults,
  },
  {
    name: "contexts-are-small",
    sentence: `A context of src/ has at most ${CONTEXT_MEMBERS_MAX} members. Give each function the one thing it needs, or a context by subject.`,
    find: contextFaults,
  },
  {
    name: "names-are-nouns-or-verbs",
    sentence: `More than ${PARTICIPLES_PERCENT_MAX} % of the names of src/ and packages/ are a bare participle. Name what it is: response, not made.`,
    find: participleFaults,
  },
  {
    name: "links-lead-somewhere",
    sentence: "A link of a Markdown file leads to no file, or to no heading.",
    find: deadLinks,
  },
  {
    name: "pages-are-listed",
    sentence: "docs/index.md lists every page of docs/.",
    find: unlistedPages,
  },
  {
    name: "workspaces-share-versions",
    sentence: "A workspace asks for another version of a package than the root, which is what is published.",
    find: workspaceFaults,
  },
  {
    name: "versions-agree",
    sentence: "A release has one version: that of package.json.",
    find: versionFaults,
  },
];

/** Finds folders with too many files at one level. */
export function folderFaults(paths: readonly string[]): string[] {
  const folders = Map.groupBy(
    paths.filter((path) => OURS.test(path)),
    (path) => dirname(path),
  );
  return [...folders]
    .filter(([folder, { length }]) => isTooLarge(folder, length))
    .map(([folder, { length }]) => `${folder} holds ${length} files`);
}

function isTooLarge(folder: string, files: number): boolean {
  return files > FOLDER_FILES_MAX && !/\/(?:operations|migrations)$/.test(folder);
}

/**
 * Files of few lines that one other file of their part imports; tests and fixtures do not count. What another part of
 * src/ or packages/ imports is a boundary between the two.
 */
export function smallFileFaults(files: readonly TextFile[]): string[] {
  const sources = files.filter(isSource);
  const importers = new Map<string, Set<string>>();
  for (const { path, text } of sources)
    for (const { to } of readModule({ path, code: text }).imports)
      importers.set(to, (importers.get(to) ?? new Set()).add(path));
  return sources
    .filter(({ path, text }) => linesOf(text) <= SMALL_FILE_LINES_MAX && importers.get(path)?.size === 1)
    .filter(({ path }) => [...(importers.get(path) ?? [])].every((importer) => partOf(importer) === partOf(path)))
    .filter(({ path }) => !BOUNDARIES.some((boundary) => boundary.files.test(path)))
    .map(({ path, text }) => `${path} has ${linesOf(text)} lines: see ${[...(importers.get(path) ?? [])].join()}`);
}

/** Names that more than one file of src/ and packages/ exports for something of its own. */
export function nameFaults(files: readonly TextFile[]): string[] {
  const holders = new Map<string, Set<string>>();
  for (const { path, text } of files.filter(isSource))
    for (const [, name = ""] of path.includes("/operations/") ? [] : text.matchAll(EXPORT))
      holders.set(name, (holders.get(name) ?? new Set()).add(path));
  return [...holders]
    .filter(([name, paths]) => paths.size > 1 && !Object.hasOwn(SHARED_NAMES, name))
    .filter(([, paths]) => ![...paths].every((path) => ERRORS.test(path)))
    .map(([name, paths]) => `${name}: ${[...paths].join(", ")}`);
}

/** Names that functions at the top level of too many files of src/ and packages/ have. */
export function functionNameFaults(files: readonly TextFile[]): string[] {
  const holders = new Map<string, Set<string>>();
  for (const { path, text } of files.filter(isSource))
    for (const name of MIGRATION.test(path) ? [] : readFunctionNames({ path, code: text }))
      holders.set(name, (holders.get(name) ?? new Set()).add(path));
  return [...holders]
    .filter(([, paths]) => paths.size > SAME_FUNCTION_FILES_MAX)
    .map(([name, paths]) => `${name}: ${[...paths].join(", ")}`);
}

/** Types that carry too much of what functions need. */
export function contextFaults(files: readonly TextFile[]): string[] {
  return contextSizes(files.filter(isSource).map(({ path, text }) => ({ path, code: text })))
    .filter(({ members }) => members > CONTEXT_MEMBERS_MAX)
    .map(({ name, path, members }) => `${name} of ${path} has ${members} members`);
}

/** Names that are a bare participle, by file, if there are too many of them. */
export function participleFaults(files: readonly TextFile[]): string[] {
  const { byFile, percent } = countParticiples(files.filter(isProduct).map(({ path, text }) => ({ path, code: text })));
  if (percent <= PARTICIPLES_PERCENT_MAX) return [];
  return [`${percent.toFixed(1)} %`, ...[...byFile].map(([path, names]) => `${path}: ${names.join(", ")}`)];
}

function isProduct({ path }: TextFile): boolean {
  return /^(src|packages)\/.*[.]tsx?$/.test(path) && !/[.](test|fixture)[.]tsx?$/.test(path);
}

function isSource({ path }: TextFile): boolean {
  return OURS.test(path) && path.endsWith(".ts") && !/[.](test|fixture)[.]ts$/.test(path);
}

/** `src/store` or `packages/media` for all below it. */
function partOf(path: string): string {
  return path.split("/").slice(0, 2).join("/");
}

function linesOf(text: string): number {
  return text.trimEnd().split("\n").length;
}
