/**
 * Runs Python in Pyodide as it is, without any sandbox, and prints for each piece whether it came to its end. Its
 * argument is JSON: what comes first, and the pieces by name.
 */

import { loadPyodide } from "pyodide";

const given: unknown = JSON.parse(process.argv[2] ?? "");
const { start, pieces }: { start: string; pieces: Record<string, string> } = Object(given);
const python = await loadPyodide({ stdout: () => {}, stderr: () => {} });
python.runPython(start);
const ended: Record<string, string> = {};
for (const [name, code] of Object.entries(pieces))
  ended[name] = await python.runPythonAsync(code).then(
    () => "open",
    (error: unknown) => String(error).slice(-300),
  );
process.stdout.write(JSON.stringify(ended));
process.exit(0);
