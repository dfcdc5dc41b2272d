import { Component, type ReactNode } from "react";

interface CrashGuardProps {
  readonly children: ReactNode;
}

/** Says what went wrong in the page, in place of an empty one. A key that changes starts over. */
export class CrashGuard extends Component<CrashGuardProps, { readonly fault: string | null }> {
  override state = { fault: null };

  static getDerivedStateFromError(error: unknown): { fault: string } {
    return { fault: error instanceof Error ? error.message : String(error) };
  }

  override render(): ReactNode {
    const { fault } = this.state;
    if (fault === null) return this.props.children;
    return (
      <div className="crash card" role="alert">
        <h1>This page broke</h1>
        <p className="trouble">{fault}</p>
        <p className="hint">The server is not concerned. Please report it, with what you did before.</p>
        <button type="button" onClick={() => location.reload()}>
          Load again
        </button>
      </div>
    );
  }
}
