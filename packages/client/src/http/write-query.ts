import { plainText } from "./json-members.ts";

/**
 * Writes a query string. A list is written as `name[]`, once for each element, and an object as `name[member]`; null
 * and undefined are left out.
 */
export function writeQuery(query: Readonly<Record<string, unknown>>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) for (const member of value) params.append(`${name}[]`, plainText(member));
    else if (typeof value === "object" && value !== null)
      for (const [member, text] of Object.entries(value)) params.append(`${name}[${member}]`, plainText(text));
    else if (value !== undefined && value !== null) params.append(name, plainText(value));
  }
  const text = params.toString();
  return text === "" ? "" : `?${text}`;
}
