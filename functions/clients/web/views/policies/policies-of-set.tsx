import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Resource } from '#clients/client/client.ts';
import { useEntry } from '#clients/web/editing.ts';
import { Confirm, Dialog } from '#clients/web/parts/dialog.tsx';
import { Form, Select, Text, textOf } from '#clients/web/parts/form.tsx';
import { SmallButton } from '#clients/web/parts/small-button.tsx';
import { call, change, content, create, errorText, putText } from '#clients/web/session.ts';
import { enforcementLevels, type PolicyKind } from '#run/policies.ts';

/** Individual policies of a set, as opposed to uploaded versions. */

interface Props {
  set: Resource<'policy-sets'>;
  policies: Resource<'policies'>[];
  organization: string;
  may: boolean;
  onChange(): void;
}

export const Policies = ({ set, policies, organization, may, onChange }: Props) => {
  const { editing, removing, close } = useEntry<Resource>(onChange);
  const versionless = policies.length === 0;
  return (
    <section class="stack" aria-label="Policies">
      <div class="row spread">
        <h2>{versionless ? 'Individual policies' : 'Policies'}</h2>
        {may && (
          <button type="button" onClick={() => (editing.value = 'new')}>
            Add policy
          </button>
        )}
      </div>
      {versionless ? (
        <p class="soft">No individual policies yet. Add one to write its source here.</p>
      ) : (
        <ul class="panel list" aria-label="Policies">
          {policies.map((policy) => (
            <Line
              key={policy.id}
              policy={policy}
              may={may}
              onEdit={() => (editing.value = policy)}
              onRemove={() => (removing.value = policy)}
            />
          ))}
        </ul>
      )}
      {editing.value && (
        <EditPolicy
          set={set}
          policy={editing.value === 'new' ? undefined : editing.value}
          organization={organization}
          onClose={close}
        />
      )}
      {removing.value && <RemovePolicy set={set} policy={removing.value} onClose={close} />}
    </section>
  );
};

interface LineProps {
  policy: Resource<'policies'>;
  may: boolean;
  onEdit(): void;
  onRemove(): void;
}

const Line = ({ policy, may, onEdit, onRemove }: LineProps) => {
  const { name, description, query, 'enforcement-level': level } = policy.attributes;
  return (
    <li class="item">
      <span class="row">
        <span class="title">{name}</span>
        <span class="tag">{level}</span>
        {!policy.links?.download && <span class="tag">no source</span>}
      </span>
      <span class="meta break">
        {description && <>{description} </>}
        {query && <code>{query}</code>}
      </span>
      {may && (
        <span class="end">
          <span class="row">
            <SmallButton text="Change" of={name} onClick={onEdit} />
            <SmallButton text="Remove" of={name} danger onClick={onRemove} />
          </span>
        </span>
      )}
    </li>
  );
};

interface EditProps {
  set: Resource<'policy-sets'>;
  policy: Resource<'policies'> | undefined;
  organization: string;
  onClose(): void;
}

const EditPolicy = ({ set, policy, organization, onClose }: EditProps) => {
  const kind: PolicyKind = set.attributes.kind;
  const current = policy?.attributes;
  const source = useSource(policy);
  const saved = useSignal(policy);
  const submit = async (data: FormData) => {
    const attributes = {
      description: textOf(data, 'description') ?? null,
      query: textOf(data, 'query') ?? null,
      'enforcement-level': data.get('enforcement-level'),
    };
    // After a rejected source, the policy already exists when the user tries again.
    saved.value = saved.value
      ? await change(`/policies/${saved.value.id}`, 'policies', attributes)
      : await create(
          `/organizations/${organization}/policies`,
          'policies',
          { name: textOf(data, 'name'), kind, ...attributes },
          { 'policy-sets': { data: [{ type: 'policy-sets', id: set.id }] } },
        );
    await putText(`/policies/${saved.value.id}/upload`, String(data.get('source')));
    onClose();
  };
  return (
    <Dialog title={policy ? `Change ${current?.name}` : 'Add a policy'} onClose={onClose}>
      <Form
        submit={policy ? 'Save' : 'Add policy'}
        disabled={source === undefined}
        onSubmit={submit}
        onCancel={onClose}
      >
        {!policy && (
          <Text
            label="Name"
            name="name"
            required
            autoFocus
            pattern="[A-Za-z0-9_\-]+"
            hint="Letters, digits, - and _."
          />
        )}
        <Select
          label="Enforcement"
          name="enforcement-level"
          options={enforcementLevels[kind]}
          value={current?.['enforcement-level']}
        />
        <Text
          label="Query"
          name="query"
          required={kind === 'opa'}
          value={current?.query ?? ''}
          placeholder="data.terraform.deny"
          hint={
            kind === 'opa' ? 'The rule to evaluate. Each value that it returns is a violation.' : 'Rego policies only.'
          }
        />
        {source === undefined ? (
          <p class="soft">Loading source …</p>
        ) : (
          <Text label="Source" name="source" required lines={12} value={source} />
        )}
        <Text label="Description" name="description" value={current?.description ?? ''} />
      </Form>
    </Dialog>
  );
};

/** Undefined while loading. */
const useSource = (policy: Resource<'policies'> | undefined): string | undefined => {
  const uploaded = policy?.links?.download !== undefined;
  const source = useSignal<string | undefined>(uploaded ? undefined : '');
  useEffect(() => {
    if (!policy || !uploaded) return;
    content(`/policies/${policy.id}/download`)
      .then((answer) => answer.text())
      .then(
        (text) => (source.value = text),
        (error) => (source.value = `# ${errorText(error)}`),
      );
  }, [policy?.id]);
  return source.value;
};

const RemovePolicy = ({
  set,
  policy,
  onClose,
}: {
  set: Resource<'policy-sets'>;
  policy: Resource<'policies'>;
  onClose(): void;
}) => {
  const shared = policy.attributes['policy-set-count'] > 1;
  const remove = () =>
    shared
      ? call('DELETE', `/policy-sets/${set.id}/relationships/policies`, { data: [{ type: 'policies', id: policy.id }] })
      : call('DELETE', `/policies/${policy.id}`);
  return (
    <Confirm title={`Remove ${policy.attributes.name}?`} yes="Remove policy" onYes={remove} onClose={onClose}>
      <p>
        {shared
          ? 'Other policy sets use this policy, so it is kept.'
          : 'No other policy set uses this policy, so it is deleted with its source.'}{' '}
        Queued runs are still checked with it.
      </p>
    </Confirm>
  );
};
