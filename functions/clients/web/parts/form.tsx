import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { ApiError } from '#clients/client/client.ts';
import { useSettled } from '../click-guard.ts';
import { conflictingChange, errorText } from '../session.ts';
import { Ago, Notice } from './basics.tsx';
import { SmallButton } from './button.tsx';
import { Decision } from './decision.tsx';
import { FormContext, type Problem, type Values } from './fields.tsx';

/** Forms: the server's errors, one submission at a time. */

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
