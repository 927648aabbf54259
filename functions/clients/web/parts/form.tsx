import { type Signal, useSignal } from '@preact/signals';
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useId } from 'preact/hooks';
import { ApiError } from '#clients/client/client.ts';
import { useSettled } from '../click-guard.ts';
import { conflictingChange, errorText } from '../session.ts';
import { Ago, Notice } from './basics.tsx';
import { SmallButton } from './button.tsx';
import { Decision } from './decision.tsx';

/** Forms: labeled fields, the server's errors, one submission at a time. */

/** Attributes by the names of fields. */
export type Values = Record<string, unknown>;

/** An error, and its field; undefined: the whole form. */
interface Problem {
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

const FormContext = createContext<Context | undefined>(undefined);

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

interface SelectProps {
  label: string;
  name: string;
  hint?: ComponentChildren;
  /** Absent: the saved value. */
  value?: string;
  /** Values with their labels; a string is both. */
  options: readonly (string | readonly [value: string, text: string])[];
  onChange?(value: string): void;
}

export const Select = ({ label, name, hint, value, options, onChange }: SelectProps) => {
  const saved = useSaved(name);
  return (
    <Field label={label} name={name} hint={hint}>
      {(attributes) => (
        <select {...attributes} name={name} onChange={(event) => onChange?.(event.currentTarget.value)}>
          {options.map((option) => {
            const [own, text] = typeof option === 'string' ? [option, option] : option;
            return (
              <option key={own} value={own} selected={own === (value ?? saved)}>
                {text}
              </option>
            );
          })}
        </select>
      )}
    </Field>
  );
};

export type Option = readonly [value: string, label: string, hint?: string];

interface ChoicesProps {
  legend: string;
  name: string;
  options: readonly Option[];
  /** Checked values; absent: the saved ones. */
  chosen?: readonly string[];
  /** Without saved ones. */
  initial?: readonly string[];
  type?: 'checkbox' | 'radio';
  disabled?: boolean;
  onChange?(value: string, checked: boolean): void;
}

export const Choices = ({ legend, name, options, chosen, initial = [], type, disabled, onChange }: ChoicesProps) => {
  const saved = useSaved(name);
  const checked: readonly unknown[] = chosen ?? (Array.isArray(saved) ? saved : initial);
  return (
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
          checked={checked.includes(value)}
          disabled={disabled}
          onChange={(checked) => onChange?.(value, checked)}
        />
      ))}
    </fieldset>
  );
};

/** Fields that are shown on request. */
export const More = ({ summary, children }: { summary: string; children: ComponentChildren }) => (
  <details>
    <summary>{summary}</summary>
    <div class="stack">{children}</div>
  </details>
);

/** The field of a server error, if the form has it: the error is shown there. */
const fieldOf = (form: HTMLFormElement, error: unknown): string | undefined => {
  const pointer = error instanceof ApiError && error.errors.length === 1 ? error.errors[0]?.source?.pointer : undefined;
  const field = pointer ? form.elements.namedItem(pointer.split('/').at(-1) ?? '') : null;
  if (!(field instanceof HTMLElement) || !field.closest('.field')) return undefined;
  field.focus();
  return field.getAttribute('name') ?? undefined;
};

/** Values of a form's fields by name: text (empty: null), whether a box is checked, the checked boxes of a group. */
const valuesOf = (form: HTMLFormElement): Values => {
  const values: Record<string, unknown> = {};
  for (const field of form.elements) {
    if (
      !(field instanceof HTMLInputElement || field instanceof HTMLSelectElement || field instanceof HTMLTextAreaElement)
    )
      continue;
    const { name, type, value } = field;
    const checked = field instanceof HTMLInputElement && field.checked;
    if (field.disabled || !name) continue;
    if (type === 'checkbox' && !field.hasAttribute('value')) values[name] = checked;
    else if (type === 'checkbox') values[name] = [...((values[name] as string[]) ?? []), ...(checked ? [value] : [])];
    else if (type !== 'radio' || checked) values[name] = value.trim() || null;
  }
  return values;
};

export interface FormProps {
  submit: string;
  /** Label of the cancel button. */
  back?: string;
  /** Cannot be undone: the button is inert until its meaning has been unchanged for a second. */
  danger?: boolean;
  /** The action's current meaning, if it changes while the form is open. */
  meaning?: string;
  disabled?: boolean;
  /** Read-only, for users without permission to change it. */
  readOnly?: boolean;
  /** Saved values of the fields, by name. */
  values?: Values;
  /** @throws {Error} with a message for the user */
  onSubmit(data: FormData, values: Values): Promise<unknown>;
  onCancel?(): void;
  /** Reloads the current version after a conflict; discards unsaved input. */
  onReload?: (() => Promise<void>) | undefined;
  children?: ComponentChildren;
}

export const Form = (props: FormProps) => {
  const { submit, back = 'Cancel', danger, disabled, readOnly, values = {}, onSubmit, onCancel, onReload } = props;
  const settled = useSettled(`${submit} ${props.meaning}`) || !danger;
  const busy = useSignal(false);
  const problem = useSignal<Problem | undefined>(undefined);
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    if (busy.value || !settled) return;
    busy.value = true;
    problem.value = undefined;
    const form = event.currentTarget as HTMLFormElement;
    try {
      await onSubmit(new FormData(form), valuesOf(form));
    } catch (caught) {
      problem.value = { text: errorText(caught), field: fieldOf(form, caught), faster: conflictingChange(caught) };
    }
    busy.value = false;
  };
  const fields = <FormContext.Provider value={{ problem, values }}>{props.children}</FormContext.Provider>;
  if (readOnly) {
    return (
      <fieldset class="stack" disabled>
        {fields}
      </fieldset>
    );
  }
  return (
    <form class="stack" onSubmit={send}>
      {fields}
      {problem.value?.faster && <Outdated {...problem.value.faster} onReload={onReload} />}
      {problem.value && !problem.value.field && !problem.value.faster && (
        <Notice kind="bad">{problem.value.text}</Notice>
      )}
      <div class="row ends">
        {onCancel && (
          <button type="button" onClick={onCancel}>
            {back}
          </button>
        )}
        <Decision
          type="submit"
          class={danger ? 'primary danger' : 'primary'}
          settled={settled}
          disabled={busy.value || disabled}
        >
          {busy.value ? 'Working …' : submit}
        </Decision>
      </div>
    </form>
  );
};

interface OutdatedProps {
  by: string;
  at: string | undefined;
  onReload: FormProps['onReload'];
}

/** Shown to the second of two users who edit the same thing. */
const Outdated = ({ by, at, onReload }: OutdatedProps) => {
  const failed = useSignal<string | undefined>(undefined);
  const reload = () =>
    onReload?.().catch((error) => {
      failed.value = errorText(error);
    });
  return (
    <Notice kind="bad">
      <div class="stack tight">
        <p>
          <strong>{by}</strong> changed this {at ? <Ago at={at} /> : 'in the meantime'}, after you opened it. Your
          changes are not saved.
        </p>
        {onReload && (
          <p>
            <SmallButton text="Reload" onClick={reload} /> to load the current version, then make your changes again.
          </p>
        )}
        {failed.value && <p>{failed.value}</p>}
      </div>
    </Notice>
  );
};

/** Value of a text field; undefined if empty. */
export const textOf = (data: FormData, name: string): string | undefined => {
  const value = data.get(name);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
};
