import { Fragment, type ReactNode } from "react";
import { cutTables, type ProseTable } from "./prose-table.ts";

/**
 * Text of a model with the marks that models use most: fenced code, headings, lists, tables, bold, code and links.
 * Everything else stays as it was written.
 */
export function Prose({ text }: { readonly text: string }) {
  const blocks = text.split(/(```[\s\S]*?(?:```|$))/);
  return (
    <div className="prose">
      {blocks.map((block, index) =>
        block.startsWith("```") ? <CodeBlock key={index} fenced={block} /> : <Paragraphs key={index} text={block} />,
      )}
    </div>
  );
}

function CodeBlock({ fenced }: { readonly fenced: string }) {
  const [, language = "", code = ""] = /^```([^\n]*)\n?([\s\S]*?)(?:```)?$/.exec(fenced) ?? [];
  return (
    <pre className="code" role="region" tabIndex={0} aria-label={language === "" ? "Code" : `Code in ${language}`}>
      {code.replace(/\n$/, "")}
    </pre>
  );
}

function Paragraphs({ text }: { readonly text: string }) {
  const paragraphs = text.split(/\n{2,}/).filter((paragraph) => paragraph.trim() !== "");
  return paragraphs
    .flatMap((paragraph) => cutTables(paragraph.replace(/^\n+|\n+$/g, "")))
    .map((part, index) =>
      "table" in part ? <Table key={index} table={part.table} /> : <Paragraph key={index} text={part.text} />,
    );
}

function Table({ table: { head, alignments, rows } }: { readonly table: ProseTable }) {
  const styleOf = (index: number) => ({ textAlign: alignments[index] ?? "start" }) as const;
  return (
    <div className="prose-table" role="region" tabIndex={0} aria-label="Table">
      <table>
        <thead>
          <tr>
            {head.map((cell, index) => (
              <th key={index} scope="col" style={styleOf(index)}>
                <Inline text={cell} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map((cell, index) => (
                <td key={index} style={styleOf(index)}>
                  <Inline text={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Paragraph({ text }: { readonly text: string }) {
  const heading = /^#{1,6}\s+(.*)$/.exec(text);
  if (heading !== null)
    return (
      <p className="prose-heading">
        <Inline text={heading[1] ?? ""} />
      </p>
    );
  const lines = text.split("\n");
  const bullet = /^\s*(?:[-*•]|\d+[.)])\s+/;
  if (lines.length > 0 && lines.every((line) => bullet.test(line))) {
    const List = /^\s*\d/.test(text) ? "ol" : "ul";
    return (
      <List>
        {lines.map((line, index) => (
          <li key={index}>
            <Inline text={line.replace(bullet, "")} />
          </li>
        ))}
      </List>
    );
  }
  return (
    <p>
      <Inline text={text} />
    </p>
  );
}

const MARK = /(`[^`\n]+`)|\*\*([^*\n]+)\*\*|\[([^\]\n]+)\]\((https?:[^)\s]+)\)|(https?:\/\/[^\s)<>"]+[^\s)<>".,;:!?])/g;

function Inline({ text }: { readonly text: string }) {
  const parts: ReactNode[] = [];
  let at = 0;
  for (const match of text.matchAll(MARK)) {
    parts.push(text.slice(at, match.index), <Mark key={match.index} match={match} />);
    at = match.index + match[0].length;
  }
  parts.push(text.slice(at));
  return <Fragment>{parts}</Fragment>;
}

function Mark({ match: [whole, code, bold, label, url, bare] }: { readonly match: RegExpMatchArray }) {
  if (code !== undefined) return <code>{code.slice(1, -1)}</code>;
  if (bold !== undefined) return <strong>{bold}</strong>;
  const href = url ?? bare;
  if (href === undefined) return whole;
  return (
    <a href={href} rel="noreferrer" target="_blank">
      {label ?? bare}
    </a>
  );
}
