import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Field, Form } from './form.tsx';

/** A modal dialog; Escape closes it, and the focus returns to where it was. */
export const Dialog = ({
  title,
  onClose,
  children,
}: {
  title: string;
  onClose(): void;
  children: ComponentChildren;
}) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const element = dialog.current;
    const before = document.activeElement as HTMLElement | null;
    element?.showModal();
    return () => {
      element?.close();
      before?.focus?.();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div class="dialog-body">
        <h2 id={heading}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
};

interface ConfirmProps {
  title: string;
  /** Label of the button. */
  yes: string;
  /** Text to type before the action, against accidental deletion. */
  typed?: string;
  onYes(data: FormData): Promise<unknown>;
  onClose(): void;
  /** The consequences. */
  children: ComponentChildren;
}

/** Asks for confirmation before an action that cannot be undone. */
export const Confirm = ({ title, yes, typed, onYes, onClose, children }: ConfirmProps) => {
  const confirmation = useSignal('');
  const submit = async (data: FormData) => {
    await onYes(data);
    onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <Form
        submit={yes}
        danger
        disabled={typed !== undefined && confirmation.value !== typed}
        onSubmit={submit}
        onCancel={onClose}
      >
        {children}
        {typed !== undefined && (
          <Field label={`Type ${typed} to confirm`}>
            {(attributes) => (
              <input
                {...attributes}
                autoComplete="off"
                onInput={(event) => (confirmation.value = event.currentTarget.value)}
              />
            )}
          </Field>
        )}
      </Form>
    </Dialog>
  );
};
