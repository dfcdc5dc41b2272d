import { isMembers, type Members } from "../base/members.ts";

/** The items of a create request. A text is a message of the user. */
export function inputOf({ input }: Members): readonly Members[] {
  if (typeof input === "string") return [{ type: "message", role: "user", content: input }];
  return Array.isArray(input) ? input.filter(isMembers) : [];
}

/** The settings that a request has, by other names. */
export function renamed(request: Members, names: Readonly<Record<string, string>>): Members {
  const settings = Object.entries(names).flatMap(([from, to]): [string, unknown][] =>
    request[from] === undefined ? [] : [[to, request[from]]],
  );
  return Object.fromEntries(settings);
}
