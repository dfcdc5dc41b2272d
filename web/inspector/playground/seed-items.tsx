import { isMembers, jsonOrUndefined, type Members } from "../base/members.ts";
import { asShownItem } from "../items/fold-events.ts";
import { ItemBody } from "../items/item-body.tsx";
import { itemTitle } from "../items/item-title.ts";
import { Icon } from "../shell/icons.tsx";

interface SeedItemsProps {
  readonly items: readonly Members[];
  readonly onChange: (items: readonly Members[]) => void;
}

/** The items that a fork begins with. Each can be changed or left out. */
export function SeedItems({ items, onChange }: SeedItemsProps) {
  if (items.length === 0) return null;
  return (
    <section className="seed" aria-label="Items to begin with">
      <h2>Begins with</h2>
      {items.map((item, index) => (
        <SeedItem
          key={index}
          item={item}
          onChange={(changed) => onChange(items.map((other, place) => (place === index ? changed : other)))}
          onRemove={() => onChange(items.filter((_, place) => place !== index))}
        />
      ))}
    </section>
  );
}

interface SeedItemProps {
  readonly item: Members;
  readonly onChange: (item: Members) => void;
  readonly onRemove: () => void;
}

function SeedItem({ item, onChange, onRemove }: SeedItemProps) {
  const shown = asShownItem(item);
  const title = shown === null ? "Item" : itemTitle(shown);
  const edit = (json: string): void => {
    const value = jsonOrUndefined(json);
    if (isMembers(value)) onChange(value);
  };
  return (
    <article className="item" data-kind="seed" aria-label={title}>
      <header className="item-head">
        <span className="item-title">{title}</span>
        <span className="item-aside" />
        <button type="button" className="quiet icon-button" aria-label={`Leave out ${title}`} onClick={onRemove}>
          <Icon name="close" />
        </button>
      </header>
      {shown === null ? null : <ItemBody item={shown} />}
      <details className="item-json">
        <summary>Change</summary>
        <textarea
          className="mono"
          rows={8}
          aria-label={`JSON of ${title}`}
          spellCheck={false}
          defaultValue={JSON.stringify(item, null, 2)}
          onChange={({ target }) => edit(target.value)}
        />
      </details>
    </article>
  );
}
