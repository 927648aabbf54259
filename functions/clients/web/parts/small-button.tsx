interface Props {
  text: string;
  /** What it acts on, for screen readers. */
  of?: string;
  danger?: boolean;
  disabled?: boolean;
  onClick(): unknown;
}

/** A button beside an entry of a list. */
export const SmallButton = ({ text, of, danger, disabled, onClick }: Props) => (
  <button
    type="button"
    class={danger ? 'small-button danger' : 'small-button'}
    aria-label={of === undefined ? undefined : `${text} ${of}`}
    disabled={disabled}
    onClick={() => onClick()}
  >
    {text}
  </button>
);
