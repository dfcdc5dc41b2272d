import { type Node, parseSync, Visitor } from "oxc-parser";
import type { SourceFile } from "./import-graph.ts";

/** Types that carry what functions need, by their names. */
const CONTEXT = /(Services|Parts|Context|Foundations|Run|Task)$/;

/** A context and how many members it has, those of the types that it is made of among them. */
export interface ContextSize {
  readonly name: string;
  readonly path: string;
  readonly members: number;
}

/** The contexts that these files declare. */
export function contextSizes(files: readonly SourceFile[]): readonly ContextSize[] {
  const types = new Map<string, DeclaredType>();
  const contexts: { readonly name: string; readonly path: string }[] = [];
  for (const { path, code } of files)
    for (const [name, type] of declaredTypes(path, code)) {
      if (CONTEXT.test(name)) contexts.push({ name, path });
      types.set(name, type);
    }
  const known = (name: string): DeclaredType => types.get(name) ?? NO_TYPE;
  return contexts.map(({ name, path }) => ({ name, path, members: [...memberNames(known(name), known)].length }));
}

/** The names of the members of a type, and the types that it takes more from. */
interface DeclaredType {
  readonly own: readonly string[];
  readonly from: readonly TakenFrom[];
}

interface TakenFrom {
  readonly type: DeclaredType | string;
  readonly isTaken: (member: string) => boolean;
}

const NO_TYPE: DeclaredType = { own: [], from: [] };
const ALL = (): boolean => true;

function declaredTypes(path: string, code: string): ReadonlyMap<string, DeclaredType> {
  const types = new Map<string, DeclaredType>();
  new Visitor({
    TSInterfaceDeclaration: ({ id, body, extends: bases }) => {
      const from = bases.map(({ expression, typeArguments }) =>
        takenFrom(expression.type === "Identifier" ? expression.name : "", typeArguments?.params ?? []),
      );
      types.set(id.name, { own: body.body.flatMap(memberName), from });
    },
    TSTypeAliasDeclaration: ({ id, typeAnnotation }) => {
      types.set(id.name, declaredType(typeAnnotation));
    },
  }).visit(parseSync(path, code).program);
  return types;
}

function declaredType(node: Node): DeclaredType {
  if (node.type === "TSTypeLiteral") return { own: node.members.flatMap(memberName), from: [] };
  if (node.type === "TSIntersectionType")
    return { own: [], from: node.types.map((type) => ({ type: declaredType(type), isTaken: ALL })) };
  if (node.type !== "TSTypeReference") return NO_TYPE;
  const name = node.typeName.type === "Identifier" ? node.typeName.name : "";
  return { own: [], from: [takenFrom(name, node.typeArguments?.params ?? [])] };
}

/** What a reference to a type by its name takes, also through `Pick` and `Omit`. */
function takenFrom(name: string, [first, second]: readonly Node[]): TakenFrom {
  if (first === undefined || second === undefined) return { type: name, isTaken: ALL };
  const named = new Set(literals(second));
  if (name === "Pick") return { type: { own: [...named], from: [] }, isTaken: ALL };
  if (name === "Omit") return { type: declaredType(first), isTaken: (member) => !named.has(member) };
  return { type: name, isTaken: ALL };
}

function literals(node: Node): readonly string[] {
  if (node.type === "TSUnionType") return node.types.flatMap(literals);
  if (node.type !== "TSLiteralType" || node.literal.type !== "Literal") return [];
  return typeof node.literal.value === "string" ? [node.literal.value] : [];
}

function memberName(node: Node): readonly string[] {
  if (node.type !== "TSPropertySignature" && node.type !== "TSMethodSignature") return [];
  return node.key.type === "Identifier" ? [node.key.name] : [];
}

function memberNames(
  type: DeclaredType,
  known: (name: string) => DeclaredType,
  seen: ReadonlySet<string> = new Set(),
): ReadonlySet<string> {
  const names = new Set(type.own);
  for (const { type: other, isTaken } of type.from) {
    if (typeof other === "string" && seen.has(other)) continue;
    const inner = typeof other === "string" ? new Set([...seen, other]) : seen;
    const members = memberNames(typeof other === "string" ? known(other) : other, known, inner);
    for (const member of members) if (isTaken(member)) names.add(member);
  }
  return names;
}
