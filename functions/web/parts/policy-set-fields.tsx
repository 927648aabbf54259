import type { Resource } from '../../client/client.ts';
import { Choice, Text, textOf } from './form.tsx';

/** What a policy set is, whatever is in it. */

export const kindNames: Record<string, string> = { opa: 'Policy evaluation', sentinel: 'Policy check' };

interface Props {
  set?: Resource;
  kind: string;
}

export const PolicySetFields = ({ set, kind }: Props) => {
  const known = set?.attributes;
  return (
    <>
      <Text
        label="Name"
        name="name"
        required
        autoFocus={!set}
        value={known?.name}
        pattern="[A-Za-z0-9_\-]+"
        hint="Letters, digits, - and _."
      />
      <Text label="Description" name="description" value={known?.description ?? ''} />
      <Choice
        name="global"
        label="Every workspace of the organization"
        checked={known?.global}
        hint="Also those that are made later. Otherwise you choose workspaces and projects."
      />
      {kind === 'opa' && (
        <Choice
          name="overridable"
          label="May be overridden"
          checked={known?.overridable}
          hint="Who may override policies lets a run go on although a mandatory one failed."
        />
      )}
      <details>
        <summary>More settings</summary>
        <div class="stack">
          <Text
            label="Folder with the policies"
            name="policies-path"
            value={known?.['policies-path'] ?? ''}
            placeholder="the root of what is uploaded"
          />
          <Text
            label="Version of the policy engine"
            name="policy-tool-version"
            value={known?.['policy-tool-version'] ?? ''}
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
