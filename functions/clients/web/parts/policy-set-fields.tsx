import type { Resource } from '#clients/client/client.ts';
import { Choice, Text, textOf } from './form.tsx';

/** Settings of a policy set. */

export const kindNames: Record<string, string> = { opa: 'Policy evaluation', sentinel: 'Policy check' };

interface Props {
  set?: Resource<'policy-sets'>;
  kind: string;
}

export const PolicySetFields = ({ set, kind }: Props) => {
  const attributes = set?.attributes;
  return (
    <>
      <Text
        label="Name"
        name="name"
        required
        autoFocus={!set}
        value={attributes?.name}
        pattern="[A-Za-z0-9_\-]+"
        hint="Letters, digits, - and _."
      />
      <Text label="Description" name="description" value={attributes?.description ?? ''} />
      <Choice
        name="global"
        label="Apply to all workspaces"
        checked={attributes?.global}
        hint="Including workspaces created later. Otherwise, select workspaces and projects."
      />
      {kind === 'opa' && (
        <Choice
          name="overridable"
          label="Overridable"
          checked={attributes?.overridable}
          hint="Users with the override permission can let a run continue after a mandatory policy fails."
        />
      )}
      <details>
        <summary>More settings</summary>
        <div class="stack">
          <Text
            label="Policies path"
            name="policies-path"
            value={attributes?.['policies-path'] ?? ''}
            placeholder="upload root"
          />
          <Text
            label="Policy engine version"
            name="policy-tool-version"
            value={attributes?.['policy-tool-version'] ?? ''}
            placeholder="latest"
          />
        </div>
      </details>
    </>
  );
};

export const policySetOf = (data: FormData, kind: string) => ({
  name: textOf(data, 'name'),
  description: textOf(data, 'description') ?? '',
  global: data.has('global'),
  ...(kind === 'opa' ? { overridable: data.has('overridable') } : {}),
  'policies-path': textOf(data, 'policies-path') ?? '',
  'policy-tool-version': textOf(data, 'policy-tool-version') ?? 'latest',
});
