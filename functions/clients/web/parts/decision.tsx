import type { ComponentChildren } from 'preact';

interface Props {
  class: string;
  type?: 'button' | 'submit';
  /** False for a moment after the decision appears or changes its meaning. */
  settled: boolean;
  disabled?: boolean;
  onClick?(): void;
  children: ComponentChildren;
}

/** A button for a decision. While inert it keeps the focus, and a progress bar shows when it becomes active. */
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
