import { type ReactNode, useState } from "react";
import { asWords } from "../base/format.ts";
import { textAt } from "../base/members.ts";
import { Icon } from "../shell/icons.tsx";
import type { ShownItem } from "./fold-events.ts";
import { ItemBody } from "./item-body.tsx";
import { isToolItem, itemTitle } from "./item-title.ts";
import { Json } from "./json.tsx";

interface ItemCardProps {
  readonly item: ShownItem;
  /** Whether the item came from the client. */
  readonly isInput?: boolean;
  readonly actions?: ReactNode;
  /** What stands beside the title, such as how long a call took. */
  readonly aside?: ReactNode;
  readonly children?: ReactNode;
}

/** An item as a person reads it, with its JSON one click away. */
export function ItemCard({ item, isInput = false, actions, aside, children }: ItemCardProps) {
  const [isJson, setIsJson] = useState(false);
  const role = textAt(item, "role");
  const status = textAt(item, "status");
  const kind = isToolItem(item) ? "tool" : item.type === "reasoning" ? "reasoning" : role === "" ? "other" : role;
  return (
    <article className="item" data-kind={kind} data-type={item.type} aria-label={itemTitle(item)}>
      <header className="item-head">
        <span className="item-title">{itemTitle(item)}</span>
        {isInput ? <span className="tag">input</span> : null}
        {status === "" || status === "completed" ? null : (
          <span className="tag" data-status={status}>
            {asWords(status)}
          </span>
        )}
        {textAt(item, "phase") === "" ? null : <span className="tag">{asWords(textAt(item, "phase"))}</span>}
        <span className="item-aside">{aside}</span>
        <span className="item-actions">
          <button
            type="button"
            className="quiet icon-button"
            aria-pressed={isJson}
            aria-label={`JSON of ${itemTitle(item)}`}
            title="JSON"
            onClick={() => setIsJson(!isJson)}
          >
            <Icon name="braces" />
          </button>
          {actions}
        </span>
      </header>
      {isJson ? <Json value={item} label={`${itemTitle(item)} as JSON`} /> : <ItemBody item={item} />}
      {children}
    </article>
  );
}
