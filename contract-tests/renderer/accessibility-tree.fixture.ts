/** The members of a Chromium accessibility node that are the same in each run. */
export interface AccessibilityNode {
  readonly nodeId: string;
  readonly ignored: boolean;
  readonly role?: { readonly value?: unknown };
  readonly name?: { readonly value?: unknown };
  readonly description?: { readonly value?: unknown };
  readonly value?: { readonly value?: unknown };
  readonly properties?: readonly { readonly name: string; readonly value: { readonly value?: unknown } }[];
  readonly childIds?: readonly string[];
}

/** The role of one line of wrapped text. Line breaks are compared in the screenshots instead. */
const LINE_OF_TEXT = "InlineTextBox";

/** Prints one line for each node that assistive technology sees, with children indented below their parent. */
export function describeTree(nodes: readonly AccessibilityNode[]): string {
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const describe = (node: AccessibilityNode, indent: string): string[] => {
    const children = (node.childIds ?? []).map((id) => byId.get(id)).filter(isTold);
    const below = node.ignored ? indent : `${indent}  `;
    return [
      ...(node.ignored ? [] : [`${indent}${describeNode(node)}`]),
      ...children.flatMap((child) => describe(child, below)),
    ];
  };
  const [root] = nodes;
  return root === undefined ? "" : describe(root, "").join("\n");
}

function describeNode({ role, name, description, value, properties = [] }: AccessibilityNode): string {
  const states = properties.filter((property) => isPlain(property.value.value));
  return [
    String(role?.value),
    JSON.stringify(name?.value ?? ""),
    ...[description, value].flatMap((told) => (isPlain(told?.value) ? [JSON.stringify(told?.value)] : [])),
    ...states.map((state) => `${state.name}=${String(state.value.value)}`),
  ].join(" ");
}

function isPlain(value: unknown): boolean {
  return value !== undefined && value !== "" && typeof value !== "object";
}

function isTold(node: AccessibilityNode | undefined): node is AccessibilityNode {
  return node !== undefined && node.role?.value !== LINE_OF_TEXT;
}
