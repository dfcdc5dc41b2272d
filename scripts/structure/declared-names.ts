import { type Node, parseSync, Visitor } from "oxc-parser";
import type { SourceFile } from "../import-graph.ts";

/** A single word that ends in -ed and is no participle. */
const NOUNS_AND_VERBS: ReadonlySet<string> = new Set([
  "bed",
  "breed",
  "embed",
  "exceed",
  "feed",
  "led",
  "need",
  "proceed",
  "red",
  "seed",
  "shed",
  "speed",
  "succeed",
  "thread",
]);
const IRREGULAR: ReadonlySet<string> = new Set(
  (
    "begun bound broken brought built chosen done drawn fed felt found given gone grown heard held hidden kept known " +
    "left lost made meant met paid said seen sent shown sold spent spoken stolen sung taken taught thought thrown told " +
    "torn understood woken won worn written"
  ).split(" "),
);

/** Names that a file declares, each once: functions, variables, parameters, members of classes and interfaces. */
export function declaredNames(path: string, code: string): ReadonlySet<string> {
  const names = new Set<string>();
  const add = (node: Node | null | undefined): void => {
    if (node == null) return;
    if (node.type === "Identifier" || node.type === "PrivateIdentifier") names.add(node.name);
    else if (node.type === "ObjectPattern")
      for (const property of node.properties) add(property.type === "Property" ? property.value : property.argument);
    else if (node.type === "ArrayPattern") for (const element of node.elements) add(element);
    else if (node.type === "AssignmentPattern") add(node.left);
    else if (node.type === "RestElement") add(node.argument);
    else if (node.type === "TSParameterProperty") add(node.parameter);
  };
  const addParameters = ({ params }: { readonly params: readonly Node[] }): void => params.forEach(add);
  new Visitor({
    FunctionDeclaration: (node) => {
      add(node.id);
      addParameters(node);
    },
    FunctionExpression: addParameters,
    ArrowFunctionExpression: addParameters,
    VariableDeclarator: (node) => add(node.id),
    MethodDefinition: (node) => add(node.key),
    PropertyDefinition: (node) => add(node.key),
    TSPropertySignature: (node) => add(node.key),
    TSMethodSignature: (node) => add(node.key),
  }).visit(parseSync(path, code).program);
  return names;
}

/** The names in files that are nothing but a participle, and their share. A name counts once for each file. */
export function countParticiples(files: readonly SourceFile[]): Participles {
  let all = 0;
  const byFile = new Map<string, readonly string[]>();
  for (const { path, code } of files) {
    const names = [...declaredNames(path, code)];
    all += names.length;
    const participles = names.filter(isBareParticiple);
    if (participles.length > 0) byFile.set(path, participles);
  }
  const count = [...byFile.values()].reduce((sum, names) => sum + names.length, 0);
  return { byFile, percent: (100 * count) / Math.max(1, all) };
}

export interface Participles {
  readonly byFile: ReadonlyMap<string, readonly string[]>;
  /** Of all names. */
  readonly percent: number;
}

/** Whether a name is nothing but a participle, such as `told` or `stored`. */
export function isBareParticiple(name: string): boolean {
  if (!/^[a-z]{3,}$/.test(name) || NOUNS_AND_VERBS.has(name)) return false;
  return IRREGULAR.has(name) || name.endsWith("ed");
}
