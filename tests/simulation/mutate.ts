/** Loaded before a process of the simulation: changes the text of one file as it is read. */
import { registerHooks } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Mutation, withMutation } from "../../contract-tests/mutations/read-mutations.ts";

const mutation: Mutation = JSON.parse(process.env["SIMULATED_MUTATION"] ?? "null");
const place = pathToFileURL(join(import.meta.dirname, "../..", mutation.file)).href;

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (url !== place || loaded.source == null) return loaded;
    const text = typeof loaded.source === "string" ? loaded.source : new TextDecoder().decode(loaded.source);
    return { ...loaded, source: withMutation(text, mutation) };
  },
});
