import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { saying } from '../session.ts';
import { Notice } from './basics.tsx';

/** Forms: labelled fields, what the server says about them, one submission at a time. */

export const Field = ({
  label,
  hint,
  children,
}: {
  label: string;
  hint?: ComponentChildren;
  children(id: string, describedBy: string | undefined): ComponentChildren;
}) => {
  const id = useId();
  const hintId = `${id}-hint`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(id, hint ? hintId : undefined)}
      {hint && (
        <span class="hint" id={hintId}>
          {hint}
        </span>
      )}
    </div>
  );
};

interface TextProps {
  label: string;
  name: string;
  hint?: ComponentChildren;
  value?: string;
  placeholder?: string;
  required?: boolean;
  pattern?: string;
  type?: 'text' | 'password';
  lines?: number;
  autoFocus?: boolean;
  readOnly?: boolean;
  disabled?: boolean;
  autoComplete?: 'current-password';
}

export const Text = ({ label, hint, lines, autoFocus, value, type, ...rest }: TextProps) => {
  const shared = { spellcheck: false, autocapitalize: 'off' as const, autoComplete: 'off' as const, ...rest };
  return (
    <Field label={label} hint={hint}>
      {(id, describedBy) => {
        const own = { id, 'aria-describedby': describedBy, defaultValue: value, autofocus: autoFocus, ...shared };
        if (lines) return <textarea rows={lines} {...own} />;
        return type === 'password' ? <input type="password" {...own} /> : <input {...own} />;
      }}
    </Field>
  );
};

interface ChoiceProps {
  label: string;
  name: string;
  hint?: string;
  type?: 'checkbox' | 'radio';
  value?: string;
  checked?: boolean;
  disabled?: boolean;
  onChange?(checked: boolean): void;
}

export const Choice = ({ label, hint, type = 'checkbox', checked, onChange, ...rest }: ChoiceProps) => {
  const id = useId();
  return (
    <div class="choice">
      <input
        id={id}
        type={type}
        defaultChecked={checked}
        onChange={(event) => onChange?.(event.currentTarget.checked)}
        {...rest}
      />
      <label for={id}>
        {label}
        {hint && <span class="hint">{hint}</span>}
      </label>
    </div>
  );
};

interface FormProps {
  submit: string;
  /** Of the button that leads away. */
  back?: string;
  danger?: boolean;
  disabled?: boolean;
  /** @throws what to tell the reader */
  onSubmit(data: FormData): Promise<void>;
  onCancel?(): void;
  children: ComponentChildren;
}

export const Form = ({ submit, back = 'Cancel', danger, disabled, onSubmit, onCancel, children }: FormProps) => {
  const busy = useSignal(false);
  const error = useSignal<string | undefined>(undefined);
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    if (busy.value) return;
    busy.value = true;
    error.value = undefined;
    try {
      await onSubmit(new FormData(event.currentTarget as HTMLFormElement));
    } catch (caught) {
      error.value = saying(caught);
    }
    busy.value = false;
  };
  return (
    <form class="stack" onSubmit={send}>
      {children}
      {error.value && <Notice kind="bad">{error.value}</Notice>}
      <div class="row ends">
        {onCancel && (
          <button type="button" onClick={onCancel}>
            {back}
          </button>
        )}
        <button type="submit" class={danger ? 'primary danger' : 'primary'} disabled={busy.value || disabled}>
          {busy.value ? 'Working …' : submit}
        </button>
      </div>
    </form>
  );
};

/** A window on top of the page; Escape closes it, and the focus goes back to where it was. */
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

/** What a form's text field says; empty is undefined. */
export const textOf = (data: FormData, name: string): string | undefined => {
  const value = data.get(name);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
};
