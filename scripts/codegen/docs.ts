import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Bundle } from "./bundle.ts";
import { withCodeSamples } from "./code-samples.ts";
import { codegenFolder } from "./contracts.ts";
import { docsPage, type ShownInterface } from "./docs-page.ts";
import { type JsonObject, objectAt, textAt } from "./json.ts";
import type { Output } from "./outputs.ts";
import { streamMarkdown } from "./stream-docs.ts";

export interface ApiReference {
  /** Selects the interface in the page's URL. */
  readonly folder: string;
  readonly document: JsonObject;
  readonly streams: readonly Bundle[];
}

/** Generates the page at /docs and its script. Neither loads anything from other hosts. */
export async function generateDocs(references: readonly ApiReference[]): Promise<readonly Output[]> {
  const bundles = join(codegenFolder, "node_modules/redoc/bundles");
  const script = await readFile(join(bundles, "redoc.standalone.js"), "utf8");
  return [
    { path: "generated/docs/index.html", text: docsPage(references.map(shownInterface)) },
    { path: "generated/docs/redoc.standalone.js", text: adapted(script) },
    {
      path: "generated/docs/redoc.standalone.js.LICENSE.txt",
      text: await readFile(join(bundles, "redoc.standalone.js.LICENSE.txt"), "utf8"),
    },
  ];
}

/**
 * What is replaced in Redoc: an image that it loads from another host, colours that no theme of it can set, and the
 * members of objects, which it would read down to the last before anybody opens them.
 */
const REPLACED: readonly (readonly [string, string])[] = [
  ["https://cdn.redoc.ly/redoc/logo-mini.svg", "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="],
  ["color: #0e7c86;", "color: var(--pattern);"],
  ["$active?`\\n      color: white;", "$active?`\\n      color: var(--page);"],
  ["background-color: white;", "background-color: var(--page);"],
  [
    'if(this.hasType("object"))this.fields=jc(t,p,this.pointer,this.options,this.refsStack);',
    'if(this.hasType("object"))Object.defineProperty(this,"fields",{get:()=>this.built??=jc(t,p,this.pointer,this.options,this.refsStack)});',
  ],
];

function adapted(script: string): string {
  return REPLACED.reduce((all, [theirs, ours]) => {
    if (!all.includes(theirs))
      throw new Error(`Redoc has no "${theirs}"; check what this version of it loads and shows`);
    return all.replaceAll(theirs, ours);
  }, script);
}

function shownInterface(reference: ApiReference): ShownInterface {
  const { folder, document } = reference;
  return { folder, title: textAt(objectAt(document, "info"), "title") ?? "", json: embedded(reference) };
}

/** Escapes `<`, so that the JSON cannot end its script element. */
function embedded({ folder, document, streams }: ApiReference): string {
  const introduction = readFileSync(join(codegenFolder, "../../specs", folder, "introduction.md"), "utf8");
  const info = objectAt(document, "info");
  const rules = textAt(info, "description") ?? "";
  const description = [introduction.trim(), rules, ...streams.map(streamMarkdown)].join("\n\n");
  const sampled = withCodeSamples(document, folder === "responses-api");
  const { summary: _summary, ...shown } = info; // The introduction says more.
  return JSON.stringify({ ...sampled, info: { ...shown, description } }).replaceAll("<", "\\u003c");
}
