import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import { go } from '#clients/web/location.ts';
import type { WorkspaceProps } from '#clients/web/organization.ts';
import { FormDialog } from '#clients/web/parts/dialog.tsx';
import { Choice, More, Radios, Text, textOf } from '#clients/web/parts/fields.tsx';
import { Picker } from '#clients/web/parts/picker.tsx';
import { call, create } from '#clients/web/session.ts';
import { configuration, type Picked, upload } from '#clients/web/upload.ts';

type Kind = 'plan_and_apply' | 'plan_only' | 'refresh_only' | 'destroy' | 'empty_apply';

const kinds: [Kind, string, string][] = [
  ['plan_and_apply', 'Plan and apply', 'Shows the changes, then waits for confirmation.'],
  ['plan_only', 'Plan only', 'Shows the changes without applying them. Does not wait in the queue.'],
  ['refresh_only', 'Refresh state', 'Updates the state to match real infrastructure. Changes no resources.'],
  ['destroy', 'Destroy', 'Plans to destroy every resource in this workspace, then waits for confirmation.'],
  ['empty_apply', 'Allow empty apply', 'Applies a plan without changes, for example to upgrade the state format.'],
];

const optionsOf: Record<Kind, Record<string, boolean>> = {
  plan_and_apply: {},
  plan_only: { 'plan-only': true },
  refresh_only: { 'refresh-only': true },
  destroy: { 'is-destroy': true },
  empty_apply: { 'allow-empty-apply': true },
};

/** Addresses separated by line breaks, or by commas outside of brackets: `aws_vpc.main, module.a.b.c[0]`. */
const addresses = (text: string | undefined): string[] | undefined => {
  const addresses = (text ?? '')
    .split(/[\n]|,(?![^[]*\])/)
    .map((address) => address.trim())
    .filter(Boolean);
  return addresses.length ? addresses : undefined;
};

export const NewRun = ({ workspace, organization, onClose }: WorkspaceProps & { onClose(): void }) => {
  const kind = useSignal<Kind>('plan_and_apply');
  const source = useSignal<Picked | undefined>(undefined);
  const { name, permissions } = workspace.attributes;
  const path = `/workspaces/${workspace.id}/configuration-versions?page[size]=20`;
  const versions = useLive(path, async () => (await call<Resource[]>('GET', path)).data);
  const hasConfiguration =
    versions.value?.some(({ attributes }) => attributes.status === 'uploaded' && !attributes.speculative) ?? true;
  const submit = async (data: FormData) => {
    const versionId = source.value && (await upload(workspace.id, source.value, kind.value === 'plan_only'));
    const run = await create(
      '/runs',
      'runs',
      {
        message: textOf(data, 'message') ?? 'Started from the web page',
        ...optionsOf[kind.value],
        ...(data.has('auto-apply') ? { 'auto-apply': true } : {}),
        ...(data.has('no-refresh') ? { refresh: false } : {}),
        'target-addrs': addresses(textOf(data, 'targets')),
        'replace-addrs': addresses(textOf(data, 'replacements')),
      },
      {
        workspace: { data: { type: 'workspaces', id: workspace.id } },
        ...(versionId ? { 'configuration-version': { data: { type: 'configuration-versions', id: versionId } } } : {}),
      },
    );
    go({ view: 'run', organization, workspace: name, run: run.id });
  };
  const allowed = kinds.filter(
    ([kind]) => kind === 'plan_only' || permissions['can-queue-apply'] || kind === 'plan_and_apply',
  );
  return (
    <FormDialog
      title={`Start a run in ${name}`}
      submit="Start run"
      danger={kind.value === 'destroy'}
      disabled={!hasConfiguration && !source.value}
      onSubmit={submit}
      onClose={onClose}
    >
      <Text label="Message" name="message" autoFocus placeholder="Why this run?" />
      <Radios legend="Run type" name="kind" options={allowed} chosen={kind} />
      <Picker
        label="Configuration"
        source={source}
        kind={configuration}
        says={
          hasConfiguration
            ? 'Uses the latest configuration of this workspace, unless you choose another one.'
            : 'No configuration yet. Choose the folder with your .tf files, or an archive (.tar.gz).'
        }
      />
      <More summary="More options">
        {permissions['can-queue-apply'] && (
          <Choice
            name="auto-apply"
            label="Apply without confirmation"
            hint="A plan with changes is applied immediately."
          />
        )}
        <Choice
          name="no-refresh"
          label="Skip refresh"
          hint="Plan from the saved state, without reading real infrastructure."
        />
        <Text label="Target resources" name="targets" lines={2} hint="One address per line (-target)." />
        <Text label="Replace resources" name="replacements" lines={2} hint="One address per line (-replace)." />
      </More>
    </FormDialog>
  );
};
