import { isMembers, listAt, type Members, membersAt, textAt } from "../base/members.ts";
import { Icon } from "../shell/icons.tsx";
import { BlobAudio } from "./blob-audio.tsx";
import { bytesOfBase64 } from "./bytes.ts";
import { Prose } from "./prose.tsx";

/** The content of a message: text, pictures, files, recordings and refusals. */
export function ContentParts({ content }: { readonly content: unknown }) {
  if (typeof content === "string") return <Prose text={content} />;
  if (!Array.isArray(content)) return null;
  return content.map((part, index) => <ContentPart key={index} part={isMembers(part) ? part : {}} />);
}

function ContentPart({ part }: { readonly part: Members }) {
  switch (textAt(part, "type")) {
    case "input_text":
    case "text":
      return <Prose text={textAt(part, "text")} />;
    case "output_text":
      return (
        <>
          <Prose text={textAt(part, "text")} />
          <Annotations annotations={listAt(part, "annotations")} />
        </>
      );
    case "refusal":
      return <p className="refusal">{textAt(part, "refusal")}</p>;
    case "input_image":
      return <Picture url={textAt(part, "image_url")} name={textAt(part, "file_id")} />;
    case "input_file":
      return (
        <Attachment name={textAt(part, "filename") || textAt(part, "file_id") || textAt(part, "file_url") || "file"} />
      );
    case "input_audio": {
      const { data, format } = audioOf(part);
      return data === "" ? (
        <Attachment name="recording" />
      ) : (
        <BlobAudio bytes={bytesOfBase64(data)} type={`audio/${format}`} label="Recording" />
      );
    }
    default:
      return <Prose text={textAt(part, "text")} />;
  }
}

function audioOf(part: Members): { data: string; format: string } {
  const audio = membersAt(part, "input_audio");
  return { data: textAt(audio, "data"), format: textAt(audio, "format") || "wav" };
}

/** A picture. One that lies elsewhere is named, because this page loads nothing from other servers. */
export function Picture({ url, name }: { readonly url: string; readonly name: string }) {
  if (url.startsWith("data:image/")) return <img className="picture" src={url} alt="Attached" />;
  return (
    <p className="attachment">
      <Icon name="picture" />{" "}
      {url === "" ? (
        name
      ) : (
        <a href={url} rel="noreferrer" target="_blank">
          {url}
        </a>
      )}
    </p>
  );
}

export function Attachment({ name }: { readonly name: string }) {
  return (
    <p className="attachment">
      <Icon name="file" /> {name}
    </p>
  );
}

function Annotations({ annotations }: { readonly annotations: readonly unknown[] }) {
  const sources = annotations.filter(isMembers);
  if (sources.length === 0) return null;
  return (
    <ol className="sources" aria-label="Sources">
      {sources.map((source, index) => {
        const url = textAt(source, "url");
        const title = textAt(source, "title") || textAt(source, "filename") || url || textAt(source, "type");
        return (
          <li key={index}>
            {/^https?:/.test(url) ? (
              <a href={url} rel="noreferrer" target="_blank">
                {title}
              </a>
            ) : (
              title
            )}
          </li>
        );
      })}
    </ol>
  );
}
