import { type FormEvent, useState } from "react";
import type { ResponsesApi } from "../../../packages/client/src/index.ts";
import { sentenceOf } from "../api/use-call.ts";

/** What the form of a key has in its fields. */
export interface KeyFields {
  readonly name: string;
  /** Null without a budget. */
  readonly budget: ResponsesApi.KeyBudget | null;
  /** Empty for the default project. */
  readonly project: string;
  readonly isOperator: boolean;
}

const PERIODS = ["day", "week", "month", "total"] as const;

interface KeyFormProps {
  /** The key that changes; null for a new one. */
  readonly known: ResponsesApi.KeyRecord | null;
  readonly onSend: (fields: KeyFields) => Promise<void>;
}

/** The name and the budget of a key; of a new one also its project and whether it is an operator's. */
export function KeyForm({ known, onSend }: KeyFormProps) {
  const [trouble, setTrouble] = useState("");
  const [isSending, setIsSending] = useState(false);
  const send = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    setIsSending(true);
    onSend(fieldsOf(new FormData(event.currentTarget))).catch((error: unknown) => {
      setTrouble(sentenceOf(error));
      setIsSending(false);
    });
  };
  return (
    <form className="key-form" onSubmit={send}>
      <label className="field">
        <span>Name</span>
        <input name="name" required maxLength={100} defaultValue={known?.name ?? ""} />
      </label>
      {known === null ? <NewKeyFields /> : null}
      <BudgetFields budget={known?.budget ?? null} />
      <p className="hint">Without an amount and tokens, the key has no budget.</p>
      <button className="main" type="submit" disabled={isSending}>
        {known === null ? "Make the key" : "Save"}
      </button>
      <p className="trouble" role="alert">
        {trouble}
      </p>
    </form>
  );
}

function NewKeyFields() {
  return (
    <>
      <label className="field">
        <span>Project</span>
        <input name="project" placeholder="organization/project" />
      </label>
      <label>
        <input type="checkbox" name="operator" /> sees usage and changes keys
      </label>
    </>
  );
}

function BudgetFields({ budget }: { readonly budget: ResponsesApi.KeyBudget | null }) {
  return (
    <>
      <label className="field">
        <span>Amount</span>
        <input name="amount" type="number" min="0" step="any" defaultValue={budget?.amount ?? ""} />
      </label>
      <label className="field">
        <span>Tokens</span>
        <input name="tokens" type="number" min="1" step="1" defaultValue={budget?.tokens ?? ""} />
      </label>
      <label className="field">
        <span>Period</span>
        <select name="period" defaultValue={budget?.period ?? "month"}>
          {PERIODS.map((period) => (
            <option key={period}>{period}</option>
          ))}
        </select>
      </label>
    </>
  );
}

function fieldsOf(form: FormData): KeyFields {
  const text = (name: string): string => {
    const value = form.get(name);
    return typeof value === "string" ? value.trim() : "";
  };
  const number = (name: string): number | null => (text(name) === "" ? null : Number(text(name)));
  const period = PERIODS.find((each) => each === text("period")) ?? "month";
  const amount = number("amount");
  const tokens = number("tokens");
  return {
    name: text("name"),
    project: text("project"),
    isOperator: form.get("operator") !== null,
    budget: amount === null && tokens === null ? null : { period, amount, tokens },
  };
}
