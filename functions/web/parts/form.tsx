import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { ApiError } from '../../cli/client.ts';
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
  autoComplete?: 'current-password' | 'new-password';
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

interface SelectProps {
  label: string;
  name: string;
  hint?: ComponentChildren;
  value?: string;
  /** Values with what they are called; a text alone is both. */
  options: readonly (string | readonly [value: string, text: string])[];
  onChange?(value: string): void;
}

export const Select = ({ label, name, hint, value, options, onChange }: SelectProps) => (
  <Field label={label} hint={hint}>
    {(id, describedBy) => (
      <select
        id={id}
        name={name}
        aria-describedby={describedBy}
        onChange={(event) => onChange?.(event.currentTarget.value)}
      >
        {options.map((option) => {
          const [own, text] = typeof option === 'string' ? [option, option] : option;
          return (
            <option key={own} value={own} selected={own === value}>
              {text}
            </option>
          );
        })}
      </select>
    )}
  </Field>
);

export type Option = readonly [value: string, label: string, hint?: string];

interface ChoicesProps {
  legend: string;
  name: string;
  options: readonly Option[];
  /** Of checkboxes, those that are ticked; of radio buttons, the one. */
  chosen: readonly string[];
  type?: 'checkbox' | 'radio';
  disabled?: boolean;
  onChange?(value: string, checked: boolean): void;
}

export const Choices = ({ legend, name, options, chosen, type, disabled, onChange }: ChoicesProps) => (
  <fieldset>
    <legend>{legend}</legend>
    {options.map(([value, label, hint]) => (
      <Choice
        key={value}
        type={type}
        name={name}
        value={value}
        label={label}
        hint={hint}
        checked={chosen.includes(value)}
        disabled={disabled}
        onChange={(checked) => onChange?.(value, checked)}
      />
    ))}
  </fieldset>
);

/** Shows which field the server speaks of. */
const pointAt = (form: HTMLFormElement, error: unknown): void => {
  for (const field of form.querySelectorAll('[aria-invalid]')) field.removeAttribute('aria-invalid');
  const pointer = error instanceof ApiError ? error.errors[0]?.source?.pointer : undefined;
  const field = pointer && form.elements.namedItem(pointer.split('/').at(-1) ?? '');
  if (!(field instanceof HTMLElement)) return;
  field.setAttribute('aria-invalid', 'true');
  field.focus();
};

interface FormProps {
  submit: string;
  /** Of the button that leads away. */
  back?: string;
  danger?: boolean;
  disabled?: boolean;
  /** Shows what is so to somebody who may not change it. */
  readOnly?: boolean;
  /** @throws what to tell the reader */
  onSubmit(data: FormData): Promise<void>;
  onCancel?(): void;
  children: ComponentChildren;
}

export const Form = (props: FormProps) => {
  const { submit, back = 'Cancel', danger, disabled, readOnly, onSubmit, onCancel, children } = props;
  const busy = useSignal(false);
  const error = useSignal<string | undefined>(undefined);
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    if (busy.value) return;
    busy.value = true;
    error.value = undefined;
    const form = event.currentTarget as HTMLFormElement;
    let problem: unknown;
    try {
      await onSubmit(new FormData(form));
    } catch (caught) {
      problem = caught;
      error.value = saying(caught);
    }
    busy.value = false;
    pointAt(form, problem);
  };
  if (readOnly) {
    return (
      <fieldset class="stack" disabled>
        {children}
      </fieldset>
    );
  }
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

/** What a form's text field says; empty is undefined. */
export const textOf = (data: FormData, name: string): string | undefined => {
  const value = data.get(name);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
};
