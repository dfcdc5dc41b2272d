import { type ClipboardEvent, type DragEvent, type KeyboardEvent, useRef } from "react";
import type { Members } from "../base/members.ts";
import { Icon } from "../shell/icons.tsx";
import type { Attachment } from "./attachments.ts";
import { type Attachments, useAttachments } from "./use-attachments.ts";
import { type Recorder, useRecorder } from "./use-recorder.ts";

interface ComposerProps {
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly isBusy: boolean;
  /** Whether a message without any words may be sent. */
  readonly mayBeEmpty: boolean;
  readonly onSend: (message: Members | null) => void;
  readonly onStop: () => void;
  /** Asks for the code of the request with this message, which is null if there is none. */
  readonly onCode: (message: Members | null) => void;
}

/** Where a message is written: text, pictures, files and recordings. Enter sends; Shift and Enter starts a new line. */
export function Composer({ text, onText, isBusy, mayBeEmpty, onSend, onStop, onCode }: ComposerProps) {
  const attached = useAttachments();
  const recorder = useRecorder(attached.addRecording);
  const canSend = !isBusy && (text.trim() !== "" || attached.list.length > 0 || mayBeEmpty);
  const send = (): void => {
    if (!canSend) return;
    onSend(messageOf(text, attached.list));
    onText("");
    attached.clear();
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === "Escape" && isBusy) onStop();
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  const takeDrop = (event: DragEvent): void => {
    event.preventDefault();
    attached.addFiles([...event.dataTransfer.files]);
  };
  const takePaste = (event: ClipboardEvent): void => {
    if (event.clipboardData.files.length === 0) return;
    event.preventDefault();
    attached.addFiles([...event.clipboardData.files]);
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={takeDrop}
    >
      <AttachedList attached={attached} />
      <textarea
        id="composer"
        rows={3}
        aria-label="Message"
        placeholder="Write a message. Drop or paste pictures and files."
        value={text}
        onChange={({ target }) => onText(target.value)}
        onKeyDown={press}
        onPaste={takePaste}
      />
      <ComposerTools
        attached={attached}
        recorder={recorder}
        sending={{ isBusy, canSend, onStop }}
        onCode={() => onCode(messageOf(text, attached.list))}
      />
    </form>
  );
}

function AttachedList({ attached: { list, remove } }: { readonly attached: Attachments }) {
  if (list.length === 0) return null;
  return (
    <ul className="attached" aria-label="Attached">
      {list.map(({ key, name }) => (
        <li key={key} className="tag">
          {name}
          <button type="button" className="quiet icon-button" aria-label={`Remove ${name}`} onClick={() => remove(key)}>
            <Icon name="close" size={12} />
          </button>
        </li>
      ))}
    </ul>
  );
}

interface ComposerToolsProps {
  readonly attached: Attachments;
  readonly recorder: Recorder;
  readonly sending: { readonly isBusy: boolean; readonly canSend: boolean; readonly onStop: () => void };
  readonly onCode: () => void;
}

function ComposerTools({ attached, recorder, sending: { isBusy, canSend, onStop }, onCode }: ComposerToolsProps) {
  const picker = useRef<HTMLInputElement>(null);
  const attach = "Attach pictures and files";
  return (
    <div className="composer-tools">
      <button
        type="button"
        className="quiet icon-button"
        aria-label={attach}
        title={attach}
        onClick={() => picker.current?.click()}
      >
        <Icon name="plus" />
      </button>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        aria-label="Files"
        onChange={({ target }) => attached.addFiles([...(target.files ?? [])])}
      />
      <button
        type="button"
        className="quiet icon-button"
        aria-pressed={recorder.isRecording}
        aria-label={recorder.isRecording ? "Stop recording" : "Record the microphone"}
        title="Record the microphone"
        onClick={recorder.toggle}
      >
        <Icon name="microphone" />
      </button>
      {recorder.isRecording ? <meter aria-label="Level" min={0} max={1} value={recorder.level} /> : null}
      <p className="trouble" role="alert">
        {attached.trouble || recorder.trouble}
      </p>
      <button type="button" className="quiet code-button" onClick={onCode}>
        Code
      </button>
      {isBusy ? (
        <button type="button" onClick={onStop}>
          <Icon name="stop" /> Stop
        </button>
      ) : (
        <button type="submit" className="main" disabled={!canSend}>
          <Icon name="send" /> Send
        </button>
      )}
    </div>
  );
}

/** A message of the user; null if there is nothing in it. */
function messageOf(text: string, attached: readonly Attachment[]): Members | null {
  const words = text.trim() === "" ? [] : [{ type: "input_text", text }];
  const content = [...words, ...attached.map(({ part }) => part)];
  return content.length === 0 ? null : { type: "message", role: "user", content };
}
