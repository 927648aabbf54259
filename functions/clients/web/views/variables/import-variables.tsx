import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Resource } from '#clients/client/client.ts';
import { count } from '#clients/client/text/time.ts';
import { Notice, Value } from '#clients/web/parts/basics.tsx';
import { Dialog } from '#clients/web/parts/dialog.tsx';
import { Failures } from '#clients/web/parts/failures.tsx';
import { Text } from '#clients/web/parts/fields.tsx';
import { Form } from '#clients/web/parts/form.tsx';
import { Table } from '#clients/web/parts/list.tsx';
import { change, create, errorText } from '#clients/web/session.ts';
import { type ImportedVariable, importOf } from '#clients/web/text/variable-import.ts';
import { TfvarsError } from '#platform/formats/tfvars.ts';

/** Imports pasted variables, after a preview in which each can be excluded or made sensitive. */

interface Props {
  path: string;
  own: Resource<'vars'>[];
  ofSets: [Resource<'vars'>, set: string][];
  onClose(): void;
}

const states: Record<ImportedVariable['state'], string> = {
  new: 'new',
  changed: 'replaces',
  hidden: 'replaces a sensitive value',
  same: 'unchanged',
};

const save = (path: string, { key, value, hcl, existing }: ImportedVariable, sensitive: boolean): Promise<unknown> => {
  if (!existing) return create(path, 'vars', { key, value, hcl, sensitive, category: 'terraform' });
  const basis = { etag: `"${existing.attributes['version-id']}"` };
  return change(`${path}/${existing.id}`, 'vars', { value, hcl, ...(sensitive ? { sensitive } : {}) }, { basis });
};

interface Reading {
  variables: ImportedVariable[];
  problem: string | undefined;
}

const readingOf = (text: string, own: Props['own'], ofSets: Props['ofSets']): Reading => {
  try {
    return { variables: importOf(text, own, ofSets), problem: undefined };
  } catch (error) {
    if (!(error instanceof TfvarsError)) throw error;
    return { variables: [], problem: `Not a valid .tfvars or .tfvars.json file: ${error.message}.` };
  }
};

export const ImportVariables = ({ path, own, ofSets, onClose }: Props) => {
  const text = useSignal('');
  /** The user's changes to the preview. */
  const left = useSignal<ReadonlySet<string>>(new Set());
  const secret = useSignal<Record<string, boolean>>({});
  const failures = useSignal<[key: string, why: string][] | undefined>(undefined);
  const { variables, problem } = useMemo(() => readingOf(text.value, own, ofSets), [text.value, own]);
  const isSecret = ({ key, state, looksSecret }: ImportedVariable) =>
    state === 'hidden' || (secret.value[key] ?? looksSecret);
  const chosen = variables.filter(({ key, state }) => state !== 'same' && !left.value.has(key));
  const submit = async () => {
    const failed: [string, string][] = [];
    for (const variable of chosen) {
      await save(path, variable, isSecret(variable)).catch((error) => failed.push([variable.key, errorText(error)]));
    }
    if (failed.length === 0) onClose();
    else failures.value = failed;
  };
  if (failures.value) {
    return (
      <Failures title="Import variables" failed={failures.value} onClose={onClose}>
        Imported {chosen.length - failures.value.length} of {chosen.length}.
      </Failures>
    );
  }
  return (
    <Dialog title="Import variables" onClose={onClose}>
      <Form
        submit={chosen.length ? `Import ${count(chosen.length, 'variable')}` : 'Import'}
        disabled={chosen.length === 0}
        onSubmit={submit}
        onCancel={onClose}
      >
        <Text
          label="Content of a .tfvars or .tfvars.json file"
          name="file"
          lines={6}
          autoFocus
          placeholder={'region = "eu-central-1"\nzones  = ["a", "b"]'}
          onInput={(value) => (text.value = value)}
        />
        {problem && <Notice kind="bad">{problem}</Notice>}
        {variables.length > 0 && (
          <Preview
            variables={variables}
            left={left.value}
            isSecret={isSecret}
            onLeave={(key, leave) => {
              const next = new Set(left.value);
              if (leave) next.add(key);
              else next.delete(key);
              left.value = next;
            }}
            onSecret={(key, is) => (secret.value = { ...secret.value, [key]: is })}
          />
        )}
      </Form>
    </Dialog>
  );
};

interface PreviewProps {
  variables: ImportedVariable[];
  left: ReadonlySet<string>;
  isSecret(variable: ImportedVariable): boolean;
  onLeave(key: string, leave: boolean): void;
  onSecret(key: string, is: boolean): void;
}

const Preview = ({ variables, left, isSecret, onLeave, onSecret }: PreviewProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable by keyboard on narrow screens
  <section class="scrolls panel tfvars" tabIndex={0} aria-label="Variables in the file">
    <Table class="stacks" heads={['Import', 'Value', { hidden: 'Sensitive' }]}>
      {variables.map((variable) => {
        const { key, value, hcl, state, existing, overrides } = variable;
        const hides = isSecret(variable);
        return (
          <tr key={key}>
            <th scope="row">
              <label class="choice">
                <input
                  type="checkbox"
                  checked={state !== 'same' && !left.has(key)}
                  disabled={state === 'same'}
                  onChange={(event) => onLeave(key, !event.currentTarget.checked)}
                />
                <span class="mono break">{key}</span>
              </label>
              <span class={`tag${state === 'changed' || state === 'hidden' ? ' warn' : ''}`}>{states[state]}</span>
              {overrides && <span class="tag warn">overrides set {overrides}</span>}
            </th>
            <td class="break">
              {state === 'changed' && (
                <del>
                  <Value text={existing?.attributes.value ?? ''} />
                </del>
              )}
              {hides ? <span class="soft">hidden</span> : <Value text={value} />}
              {hcl && <span class="soft small">HCL</span>}
            </td>
            <td>
              <label class="choice">
                <input
                  type="checkbox"
                  checked={hides}
                  disabled={state === 'hidden' || state === 'same' || left.has(key)}
                  onChange={(event) => onSecret(key, event.currentTarget.checked)}
                />
                <span>
                  Sensitive<span class="visually-hidden">: {key}</span>
                </span>
              </label>
            </td>
          </tr>
        );
      })}
    </Table>
  </section>
);
