import type { Resource } from '#clients/client/client.ts';
import { Choice, More, Name, Text } from './fields.tsx';

/** Settings of a policy set. */

const kindNames: Record<string, string> = { opa: 'Policy evaluation', sentinel: 'Policy check' };

/** When a set's policies are evaluated. */
export const stageOf = ({ attributes }: Resource<'policy-sets'>): string =>
  (attributes['agent-enabled'] ? kindNames.opa : kindNames.sentinel) ?? '';

export const PolicySetFields = ({ kind }: { kind: string }) => (
  <>
    <Name />
    <Text label="Description" name="description" />
    <Choice
      name="global"
      label="Apply to all workspaces"
      hint="Including workspaces created later. Otherwise, select workspaces and projects."
    />
    {kind === 'opa' && (
      <Choice
        name="overridable"
        label="Overridable"
        hint="Users with the override permission can let a run continue after a mandatory policy fails."
      />
    )}
    <More summary="More settings">
      <Text label="Policies path" name="policies-path" placeholder="upload root" />
      <Text label="Policy engine version" name="policy-tool-version" placeholder="latest" />
    </More>
  </>
);
