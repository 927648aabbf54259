import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Resource } from '#clients/client/client.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { DialogButton } from '#clients/web/parts/button.tsx';
import { ConfirmButton, FormDialog } from '#clients/web/parts/dialog.tsx';
import { Name, Select, Text, type Values } from '#clients/web/parts/fields.tsx';
import { Item, List } from '#clients/web/parts/list.tsx';
import { Section } from '#clients/web/parts/section.tsx';
import { call, change, content, create, errorText, putText } from '#clients/web/session.ts';
import { enforcementLevels, type PolicyKind } from '#run/policies.ts';

/** Individual policies of a set, as opposed to uploaded versions. */

interface Props extends OrganizationProps {
  set: Resource<'policy-sets'>;
  policies: Resource<'policies'>[];
  may: boolean;
  onChange(): void;
}

export const Policies = ({ set, policies, organization, may, onChange }: Props) => {
  const edit = (close: () => void, policy?: Resource<'policies'>) => (
    <EditPolicy set={set} policy={policy} organization={organization} onClose={close} />
  );
  const add = (
    <DialogButton text="Add policy" onClose={onChange}>
      {(close) => edit(close)}
    </DialogButton>
  );
  return (
    <Section title={policies.length === 0 ? 'Individual policies' : 'Policies'} label="Policies" action={may && add}>
      {policies.length === 0 ? (
        <p class="soft">No individual policies yet. Add one to write its source here.</p>
      ) : (
        <List label="Policies" of={policies}>
          {(policy) => {
            const {
              name,
              description,
              query,
              'enforcement-level': level,
              'uncompiled-reason': uncompiled,
            } = policy.attributes;
            return (
              <Item
                key={policy.id}
                title={name}
                notes={[uncompiled && `Not compiled: ${uncompiled}`]}
                tags={[level, !policy.links?.download && 'no source']}
                meta={
                  <>
                    {description && <>{description} </>}
                    {query && <code>{query}</code>}
                  </>
                }
              >
                {may && (
                  <>
                    <DialogButton small text="Change" of={name} onClose={onChange}>
                      {(close) => edit(close, policy)}
                    </DialogButton>
                    <RemovePolicy set={set} policy={policy} onClose={onChange} />
                  </>
                )}
              </Item>
            );
          }}
        </List>
      )}
    </Section>
  );
};

interface EditProps extends OrganizationProps {
  set: Resource<'policy-sets'>;
  policy: Resource<'policies'> | undefined;
  onClose(): void;
}

const EditPolicy = ({ set, policy, organization, onClose }: EditProps) => {
  const kind: PolicyKind = set.attributes.kind;
  const source = useSource(policy);
  const saved = useSignal(policy);
  const submit = async (data: FormData, { source, name, ...attributes }: Values) => {
    // After a rejected source, the policy already exists when the user tries again.
    saved.value = saved.value
      ? await change(`/policies/${saved.value.id}`, 'policies', attributes)
      : await create(
          `/organizations/${organization}/policies`,
          'policies',
          { name, kind, ...attributes },
          { 'policy-sets': { data: [{ type: 'policy-sets', id: set.id }] } },
        );
    await putText(`/policies/${saved.value.id}/upload`, String(data.get('source')));
  };
  return (
    <FormDialog
      title={policy ? `Change ${policy.attributes.name}` : 'Add a policy'}
      submit={policy ? 'Save' : 'Add policy'}
      values={policy?.attributes}
      disabled={source === undefined}
      onSubmit={submit}
      onClose={onClose}
    >
      {!policy && <Name />}
      <Select label="Enforcement" name="enforcement-level" options={enforcementLevels[kind]} />
      <Text
        label="Query"
        name="query"
        required={kind === 'opa'}
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
      <Text label="Description" name="description" />
    </FormDialog>
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

const RemovePolicy = ({ set, policy, onClose }: Omit<EditProps, 'organization'> & { policy: Resource<'policies'> }) => {
  const { id, attributes } = policy;
  const shared = attributes['policy-set-count'] > 1;
  const remove = () =>
    shared
      ? call('DELETE', `/policy-sets/${set.id}/relationships/policies`, { data: [{ type: 'policies', id }] })
      : call('DELETE', `/policies/${id}`);
  return (
    <ConfirmButton small text="Remove" of={attributes.name} yes="Remove policy" onYes={remove} onClose={onClose}>
      <p>
        {shared
          ? 'Other policy sets use this policy, so it is kept.'
          : 'No other policy set uses this policy, so it is deleted with its source.'}{' '}
        Queued runs are still checked with it.
      </p>
    </ConfirmButton>
  );
};
