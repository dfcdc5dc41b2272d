/** The server's first message. */
export interface ChildOpening {
  /** Folder of Pyodide's files; ends with a slash. */
  readonly pyodide: string;
  /** `make`: create a snapshot, send it and exit. Otherwise the snapshot to start from; null for none. */
  readonly snapshot: "make" | { readonly file: string } | null;
  /** What `notebookSource` gives. */
  readonly notebook: string;
  /** Folder of importable wheels; ends with a slash. */
  readonly wheels: string | null;
  /** The maximum bytes of all files in memory. */
  readonly filesBytesMax: number;
}

export function readChildOpening(head: Readonly<Record<string, unknown>>): ChildOpening {
  const { pyodide, snapshot, notebook, wheels, filesBytesMax } = head;
  if (typeof pyodide !== "string" || typeof notebook !== "string" || typeof filesBytesMax !== "number")
    throw new Error("The first frame is not an opening.");
  return { pyodide, snapshot: readSnapshot(snapshot), notebook, wheels: readFolder(wheels), filesBytesMax };
}

function readSnapshot(snapshot: unknown): ChildOpening["snapshot"] {
  if (snapshot === null || snapshot === "make") return snapshot;
  const file: unknown = Reflect.get(Object(snapshot), "file");
  if (typeof file !== "string") throw new Error("The snapshot is not known by its file.");
  return { file };
}

function readFolder(folder: unknown): string | null {
  return typeof folder === "string" ? folder : null;
}
