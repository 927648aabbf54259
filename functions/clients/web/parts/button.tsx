import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { errorText } from '../session.ts';
import { Notice } from './basics.tsx';

/** Buttons, and actions that they start. */

export interface ButtonProps {
  text: string;
  /** What it acts on, for screen readers. */
  of?: string;
  /** Accessible name, instead of `text` and `of`. */
  label?: string;
  title?: string;
  small?: boolean;
  primary?: boolean;
  danger?: boolean;
  disabled?: boolean;
}

export const Button = (props: ButtonProps & { onClick(): unknown }) => {
  const { text, of, label = of && `${text} ${of}`, small, primary, danger, disabled, title, onClick } = props;
  const looks = [small && 'small-button', primary && 'primary', danger && 'danger'];
  return (
    <button
      type="button"
      class={looks.filter(Boolean).join(' ') || undefined}
      aria-label={label}
      disabled={disabled}
      title={title}
      onClick={() => onClick()}
    >
      {text}
    </button>
  );
};

/** A button beside an entry of a list. */
export const SmallButton = (props: ButtonProps & { onClick(): unknown }) => <Button {...props} small />;

/** State of a button's action: `busy` while it runs, and `failure` with the error of the last attempt. */
export const useAction = () => {
  const busy = useSignal(false);
  const error = useSignal<string | undefined>(undefined);
  /** @returns whether it succeeded */
  const perform = async (work: () => Promise<unknown>): Promise<boolean> => {
    busy.value = true;
    error.value = undefined;
    try {
      await work();
      return true;
    } catch (caught) {
      error.value = errorText(caught);
      return false;
    } finally {
      busy.value = false;
    }
  };
  return { busy, perform, failure: error.value && <Notice kind="bad">{error.value}</Notice> };
};

interface ActionProps extends ButtonProps {
  /** Text while it runs. */
  working?: string;
  /** @throws {Error} with a message for the user */
  work(): Promise<unknown>;
  /** Called even after a failure: another user may have made the change first. */
  onDone?(): void;
}

/** A button that does something at once, and shows its error. */
export const ActionButton = ({ text, working = text, work, onDone, ...button }: ActionProps) => {
  const { busy, perform, failure } = useAction();
  const start = async () => {
    await perform(work);
    onDone?.();
  };
  return (
    <>
      <Button {...button} text={busy.value ? working : text} disabled={button.disabled || busy.value} onClick={start} />
      {failure}
    </>
  );
};

interface OpenerProps<T> extends ButtonProps {
  /** Reads what the dialog needs before it opens. */
  load?(): Promise<T>;
  /** After the dialog was closed, or could not be opened. */
  onClose?(): void;
  children(close: () => void, loaded: T): ComponentChildren;
}

/** A button that opens a dialog. */
export const DialogButton = <T,>({ load, onClose, children, ...button }: OpenerProps<T>) => {
  const opened = useSignal<{ loaded: T } | undefined>(undefined);
  const open = async () => {
    try {
      opened.value = { loaded: (await load?.()) as T };
    } catch {
      // It was deleted, or the platform is unreachable: the view shows that.
      onClose?.();
    }
  };
  const close = () => {
    opened.value = undefined;
    onClose?.();
  };
  return (
    <>
      <Button {...button} onClick={open} />
      {opened.value && children(close, opened.value.loaded)}
    </>
  );
};
