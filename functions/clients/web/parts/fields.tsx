import type { Signal } from '@preact/signals';
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useId } from 'preact/hooks';
import type { conflictingChange } from '../session.ts';

/** Labeled fields of forms, with the saved values and the server's errors. */

/** Attributes by the names of fields. */
export type Values = Record<string, unknown>;

/** An error, and its field; undefined: the whole form. */
export interface Problem {
  text: string;
  field: string | undefined;
  /** Someone else has changed the data. */
  faster: ReturnType<typeof conflictingChange>;
}

interface Context {
  problem: Signal<Problem | undefined>;
  /** Saved values of the fields. */
  values: Values;
}

export const FormContext = createContext<Context | undefined>(undefined);

/** The saved value of a field. */
const useSaved = (name: string): unknown => useContext(FormContext)?.values[name];

interface FieldProps {
  label: string;
  /** Name in the form's data, and at the end of the server's JSON pointers. */
  name?: string;
  hint?: ComponentChildren;
  children(attributes: {
    id: string;
    'aria-describedby': string | undefined;
    'aria-invalid'?: true;
  }): ComponentChildren;
}

export const Field = ({ label, name, hint, children }: FieldProps) => {
  const id = useId();
  const hintId = `${id}-hint`;
  const problem = useContext(FormContext)?.problem.value;
  const wrong = name !== undefined && problem?.field === name;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': hint ? hintId : undefined, ...(wrong ? { 'aria-invalid': true } : {}) })}
      {wrong && (
        <span class="problem" role="alert">
          {problem.text}
        </span>
      )}
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
  /** Absent: the saved value of that name. */
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
  onInput?(text: string): void;
}

export const Text = ({ label, hint, lines, autoFocus, value, type, onInput, ...rest }: TextProps) => {
  const saved = useSaved(rest.name);
  const title = rest.pattern && typeof hint === 'string' ? hint : undefined;
  const shared = { title, spellcheck: false, autocapitalize: 'off' as const, autoComplete: 'off' as const, ...rest };
  return (
    <Field label={label} name={rest.name} hint={hint}>
      {(attributes) => {
        const heard = (event: Event) => onInput?.((event.currentTarget as HTMLInputElement).value);
        const defaultValue = value ?? (typeof saved === 'string' ? saved : undefined);
        const inputProps = { ...attributes, defaultValue, autofocus: autoFocus, onInput: heard, ...shared };
        if (lines) return <textarea rows={lines} {...inputProps} />;
        return type === 'password' ? <input type="password" {...inputProps} /> : <input {...inputProps} />;
      }}
    </Field>
  );
};

/** `2030-01-31T13:00` in the reader's time zone. @param at ISO 8601 */
const localTime = (at: string): string => {
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};

/** A date and time in the reader's time zone; its value in a form is read by {@link timeOf}. */
export const Time = ({ label, name, required }: Pick<TextProps, 'label' | 'name' | 'required'>) => {
  const saved = useSaved(name);
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return (
    <Field label={label} name={name} hint={`In your time zone, ${zone}.`}>
      {(attributes) => (
        <input
          {...attributes}
          {...{ name, required }}
          type="datetime-local"
          defaultValue={typeof saved === 'string' ? localTime(saved) : undefined}
        />
      )}
    </Field>
  );
};

/** ISO 8601 in UTC; null for an empty field. */
export const timeOf = (data: FormData, name: string): string | null => {
  const text = textOf(data, name);
  return text ? new Date(text).toISOString() : null;
};

/** A name that is part of addresses. */
export const Name = ({ hint = 'Letters, digits, - and _.' }: { hint?: string }) => (
  <Text label="Name" name="name" required autoFocus pattern="[A-Za-z0-9_\-]+" hint={hint} />
);

interface ChoiceProps {
  label: string;
  name: string;
  hint?: string;
  type?: 'checkbox' | 'radio';
  value?: string;
  /** Absent: the saved value. */
  checked?: boolean;
  /** Without a saved value. */
  initial?: boolean;
  disabled?: boolean;
  onChange?(checked: boolean): void;
}

export const Choice = ({ label, hint, type = 'checkbox', checked, initial, onChange, ...rest }: ChoiceProps) => {
  const id = useId();
  const saved = useSaved(rest.name);
  return (
    <div class="choice">
      <input
        id={id}
        type={type}
        defaultChecked={checked ?? (typeof saved === 'boolean' ? saved : initial)}
        onChange={(event) => onChange?.(event.currentTarget.checked)}
        aria-describedby={hint && `${id}-hint`}
        {...rest}
      />
      <div>
        <label for={id}>{label}</label>
        {hint && (
          <span class="hint" id={`${id}-hint`}>
            {hint}
          </span>
        )}
      </div>
    </div>
  );
};

interface SelectProps<T extends string> {
  label: string;
  name: string;
  hint?: ComponentChildren;
  /** Absent: the saved value. */
  value?: string;
  /** The value, where the form depends on it. */
  chosen?: { value: T };
  /** Values with their labels; a string is both. */
  options: readonly (T | readonly [value: T, text: string])[];
}

export const Select = <T extends string>({ label, name, hint, value, chosen, options }: SelectProps<T>) => {
  const saved = useSaved(name);
  const current = chosen?.value ?? value ?? saved;
  const choose = (next: string) => {
    if (chosen) chosen.value = next as T;
  };
  return (
    <Field label={label} name={name} hint={hint}>
      {(attributes) => (
        <select {...attributes} name={name} onChange={(event) => choose(event.currentTarget.value)}>
          {options.map((option) => {
            const [own, text] = typeof option === 'string' ? [option, option] : option;
            return (
              <option key={own} value={own} selected={own === current}>
                {text}
              </option>
            );
          })}
        </select>
      )}
    </Field>
  );
};

export type Option<T extends string = string> = readonly [value: T, label: string, hint?: string];

interface ChoicesProps {
  legend: string;
  name: string;
  options: readonly Option[];
  /** Checked values; absent: the saved ones. */
  chosen?: readonly string[];
  /** Without saved ones. */
  initial?: readonly string[];
}

export const Choices = ({ legend, name, options, chosen, initial = [] }: ChoicesProps) => {
  const saved = useSaved(name);
  const checked: readonly unknown[] = chosen ?? (Array.isArray(saved) ? saved : initial);
  return (
    <fieldset>
      <legend>{legend}</legend>
      {options.map(([value, label, hint]) => (
        <Choice key={value} name={name} value={value} label={label} hint={hint} checked={checked.includes(value)} />
      ))}
    </fieldset>
  );
};

interface RadiosProps<T extends string> {
  legend: string;
  name: string;
  options: readonly Option<T>[];
  chosen: { value: T };
  disabled?: boolean;
}

/** One of several choices, on which the form depends. */
export const Radios = <T extends string>({ legend, options, chosen, ...rest }: RadiosProps<T>) => (
  <fieldset>
    <legend>{legend}</legend>
    {options.map(([value, label, hint]) => (
      <Choice
        key={value}
        type="radio"
        value={value}
        label={label}
        hint={hint}
        checked={value === chosen.value}
        onChange={() => (chosen.value = value)}
        {...rest}
      />
    ))}
  </fieldset>
);

/** Fields that are shown on request. */
export const More = ({ summary, children }: { summary: string; children: ComponentChildren }) => (
  <details>
    <summary>{summary}</summary>
    <div class="stack">{children}</div>
  </details>
);

/** Value of a text field; undefined if empty. */
export const textOf = (data: FormData, name: string): string | undefined => {
  const value = data.get(name);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
};
