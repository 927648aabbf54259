import type { ComponentChildren } from 'preact';

interface Props {
  class: string;
  type?: 'button' | 'submit';
  /** False while it has just come, or has come to mean something else. */
  settled: boolean;
  disabled?: boolean;
  onClick?(): void;
  children: ComponentChildren;
}

/** A button that decides something. While it is inert it keeps the focus, and shows that it is about to be ready. */
export const Decision = ({ class: look, type = 'button', settled, disabled = false, onClick, children }: Props) => (
  <button
    type={type}
    class={settled ? look : `${look} settling`}
    disabled={disabled}
    aria-disabled={!settled}
    onClick={(event) => {
      if (settled) onClick?.();
      else event.preventDefault();
    }}
  >
    {children}
  </button>
);
