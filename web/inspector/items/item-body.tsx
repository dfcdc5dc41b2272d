import {
  hasMember,
  isMembers,
  listAt,
  type Members,
  membersAt,
  numberAt,
  readableJson,
  textAt,
} from "../base/members.ts";
import { ContentParts, Picture } from "./content-parts.tsx";
import { EffectNote } from "./effect-note.tsx";
import type { ShownItem } from "./fold-events.ts";
import { Json, JsonText } from "./json.tsx";
import { Prose } from "./prose.tsx";
import { useToolResult } from "./tool-results.ts";

/** What an item says or does. */
export function ItemBody({ item }: { readonly item: ShownItem }) {
  switch (item.type) {
    case "message":
      return <ContentParts content={item["content"]} />;
    case "reasoning":
      return <Reasoning item={item} />;
    case "mcp_call":
      return (
        <>
          <Call item={item} />
          <EffectNote item={item} />
        </>
      );
    case "function_call":
    case "mcp_approval_request":
      return <Call item={item} />;
    case "custom_tool_call":
      return <Block label="Input" text={textAt(item, "input")} />;
    case "function_call_output":
    case "custom_tool_call_output":
      return <Output output={item["output"]} />;
    case "mcp_list_tools":
      return <ListedTools item={item} />;
    case "mcp_approval_response":
      return (
        <p>
          {item["approve"] === true ? "Approved" : "Refused"}
          {textAt(item, "reason") === "" ? "" : `: ${textAt(item, "reason")}`}
        </p>
      );
    case "web_search_call":
      return (
        <>
          <WebSearch action={membersAt(item, "action")} />
          <ShownToModel item={item} />
        </>
      );
    case "file_search_call":
      return <FileSearch item={item} />;
    case "code_interpreter_call":
      return <Code item={item} />;
    case "image_generation_call":
      return textAt(item, "result") === "" ? null : (
        <Picture url={`data:image/png;base64,${textAt(item, "result")}`} name="picture" />
      );
    case "shell_call":
    case "local_shell_call":
      return <Shell action={membersAt(item, "action")} />;
    case "shell_call_output":
      return <ShellOutput item={item} />;
    case "apply_patch_call":
      return <Patch operation={membersAt(item, "operation")} />;
    case "compaction":
      return <p className="hint">The context before this is kept in a shorter form.</p>;
    default:
      return <Rest item={item} />;
  }
}

function Block({ label, text }: { readonly label: string; readonly text: string }) {
  if (text === "") return null;
  return (
    <div className="block">
      <span className="block-label">{label}</span>
      <JsonText text={readableJson(text)} label={label} />
    </div>
  );
}

function Reasoning({ item }: { readonly item: ShownItem }) {
  const texts = [...listAt(item, "summary"), ...listAt(item, "content")].map((part) => textAt(part, "text"));
  if (texts.join("") === "")
    return (
      <p className="hint">{hasMember(item, "encrypted_content") ? "Encrypted." : "The model told nothing of it."}</p>
    );
  return texts.map((text, index) => <Prose key={index} text={text} />);
}

function Call({ item }: { readonly item: ShownItem }) {
  return (
    <>
      <Block label="Arguments" text={textAt(item, "arguments")} />
      <Block label="Result" text={textAt(item, "output")} />
      <Failure error={item["error"]} />
    </>
  );
}

function Failure({ error }: { readonly error: unknown }) {
  if (error === null || error === undefined) return null;
  const text = typeof error === "string" ? error : textAt(error, "message") || JSON.stringify(error);
  return <p className="trouble">{text}</p>;
}

function Output({ output }: { readonly output: unknown }) {
  return typeof output === "string" ? <Block label="Output" text={output} /> : <ContentParts content={output} />;
}

function ListedTools({ item }: { readonly item: ShownItem }) {
  return (
    <>
      <ul className="tool-names">
        {listAt(item, "tools").map((tool, index) => (
          <li key={index} className="tag" title={textAt(tool, "description")}>
            <code>{textAt(tool, "name")}</code>
          </li>
        ))}
      </ul>
      <Failure error={item["error"]} />
    </>
  );
}

function WebSearch({ action }: { readonly action: Members }) {
  const queries = listAt(action, "queries").filter((query) => typeof query === "string");
  const query = textAt(action, "query") || queries.join(", ");
  return (
    <>
      <p>
        {query === "" ? textAt(action, "url") : `“${query}”`} {textAt(action, "pattern")}
      </p>
      <ol className="sources">
        {listAt(action, "sources").map((source, index) => (
          <li key={index}>{textAt(source, "url") || textAt(source, "name")}</li>
        ))}
      </ol>
    </>
  );
}

function FileSearch({ item }: { readonly item: ShownItem }) {
  const queries = listAt(item, "queries").filter((query) => typeof query === "string");
  return (
    <>
      <p>{queries.map((query) => `“${query}”`).join(", ")}</p>
      {listAt(item, "results").map((result, index) => (
        <Block key={index} label={textAt(result, "filename") || "Result"} text={textAt(result, "text")} />
      ))}
      <ShownToModel item={item} />
    </>
  );
}

function Code({ item }: { readonly item: ShownItem }) {
  return (
    <>
      <Block label="Code" text={textAt(item, "code")} />
      {listAt(item, "outputs").map((output, index) =>
        textAt(output, "type") === "image" ? (
          <Picture key={index} url={textAt(output, "url")} name="picture" />
        ) : (
          <Block key={index} label="Printed" text={textAt(output, "logs")} />
        ),
      )}
      <ShownToModel item={item} />
    </>
  );
}

/** The result of a call as the model saw it, where the item does not have it. */
function ShownToModel({ item }: { readonly item: ShownItem }) {
  const result = useToolResult(item);
  if (result === null) return null;
  return (
    <>
      <Block label="Shown to the model" text={result.text} />
      {result.is_truncated ? <p className="hint">The model was shown more than this.</p> : null}
    </>
  );
}

function Shell({ action }: { readonly action: Members }) {
  const commands = [
    ...listAt(action, "commands"),
    ...(listAt(action, "command").length > 0 ? [listAt(action, "command").join(" ")] : []),
  ];
  return <Block label="Commands" text={commands.join("\n")} />;
}

function ShellOutput({ item }: { readonly item: ShownItem }) {
  return listAt(item, "output").map((output, index) => (
    <Block
      key={index}
      label={outcomeOf(membersAt(output, "outcome"))}
      text={textAt(output, "stdout") + textAt(output, "stderr")}
    />
  ));
}

function outcomeOf(outcome: Members): string {
  return textAt(outcome, "type") === "timeout" ? "Timed out" : `Exit ${numberAt(outcome, "exit_code") ?? ""}`;
}

function Patch({ operation }: { readonly operation: Members }) {
  return (
    <Block
      label={`${textAt(operation, "type").replaceAll("_", " ")} ${textAt(operation, "path")}`}
      text={textAt(operation, "diff")}
    />
  );
}

function Rest({ item }: { readonly item: ShownItem }) {
  const { output, action, ...rest } = item;
  if (typeof output === "string") return <Block label="Output" text={output} />;
  const shown = isMembers(action) ? action : rest;
  return <Json value={shown} label={item.type} />;
}
