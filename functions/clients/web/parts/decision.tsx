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

/** A button for a decision. Until it is settled, it ignores clicks, can keep the focus and shows a progress bar. */
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
