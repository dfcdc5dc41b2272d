import type { TextFile } from "./text-file.ts";

const MANIFEST = /^(packages\/[^/]+|generated)\/package[.]json$/;
const OURS = /^@antiphon\//;

/** Dependencies of workspaces that the root's package.json does not have, or has in another version. */
export function workspaceFaults(files: readonly TextFile[]): string[] {
  const root = files.find(({ path }) => path === "package.json");
  const shipped = root === undefined ? {} : dependenciesIn(root.text);
  return files
    .filter(({ path }) => MANIFEST.test(path))
    .flatMap(({ path, text }) =>
      Object.entries(dependenciesIn(text))
        .filter(([name, version]) => !OURS.test(name) && shipped[name] !== version)
        .map(([name, version]) => `${path}: ${name} ${version}, and the root ${shipped[name] ?? "has none"}`),
    );
}

function dependenciesIn(manifest: string): Readonly<Record<string, string>> {
  const read: { readonly dependencies?: Readonly<Record<string, string>> } = JSON.parse(manifest);
  return read.dependencies ?? {};
}
