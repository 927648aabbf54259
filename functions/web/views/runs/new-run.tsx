import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Resource } from '../../../client/client.ts';
import { go } from '../../location.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Choice, Choices, Form, Text, textOf } from '../../parts/form.tsx';
import { Picker } from '../../parts/picker.tsx';
import { call, create } from '../../session.ts';
import { configuration, type Picked, upload } from '../../upload.ts';

type Kind = 'plan_and_apply' | 'plan_only' | 'refresh_only' | 'destroy' | 'empty_apply';

const kinds: [Kind, string, string][] = [
  ['plan_and_apply', 'Plan and apply', 'The usual: shows what will change, then asks.'],
  ['plan_only', 'Plan only', 'Shows what would change. Never applies, waits for nobody.'],
  ['refresh_only', 'Refresh state', 'Brings the state up to date with what really is there; changes nothing else.'],
  ['destroy', 'Destroy', 'Plans the end of everything in this workspace, then asks.'],
  ['empty_apply', 'Allow empty apply', 'Applies even without changes, e.g. to upgrade the state’s format.'],
];

const optionsOf: Record<Kind, Record<string, boolean>> = {
  plan_and_apply: {},
  plan_only: { 'plan-only': true },
  refresh_only: { 'refresh-only': true },
  destroy: { 'is-destroy': true },
  empty_apply: { 'allow-empty-apply': true },
};

/** `aws_vpc.main, module.a.b.c[0]`, one to a line or between commas outside of brackets. */
const addresses = (text: string | undefined): string[] | undefined => {
  const found = (text ?? '')
    .split(/[\n]|,(?![^[]*\])/)
    .map((one) => one.trim())
    .filter(Boolean);
  return found.length ? found : undefined;
};

export const NewRun = ({
  workspace,
  organization,
  onClose,
}: {
  workspace: Resource;
  organization: string;
  onClose(): void;
}) => {
  const kind = useSignal<Kind>('plan_and_apply');
  const source = useSignal<Picked | undefined>(undefined);
  const hasConfiguration = useSignal<boolean | undefined>(undefined);
  const { name, permissions } = workspace.attributes;
  useEffect(() => {
    call<Resource[]>('GET', `/workspaces/${workspace.id}/configuration-versions?page[size]=20`).then(
      ({ data }) => {
        hasConfiguration.value = data.some(
          ({ attributes }) => attributes.status === 'uploaded' && !attributes.speculative,
        );
      },
      () => {
        hasConfiguration.value = true;
      },
    );
  }, [workspace.id, hasConfiguration]);
  const submit = async (data: FormData) => {
    const versionId = source.value && (await upload(workspace.id, source.value, kind.value === 'plan_only'));
    const run = await create(
      '/runs',
      'runs',
      {
        message: textOf(data, 'message') ?? 'Started on the web page',
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
    ([one]) => one === 'plan_only' || permissions['can-queue-apply'] || one === 'plan_and_apply',
  );
  const missing = hasConfiguration.value === false && !source.value;
  return (
    <Dialog title={`Start a run in ${name}`} onClose={onClose}>
      <Form
        submit="Start run"
        danger={kind.value === 'destroy'}
        disabled={missing}
        onSubmit={submit}
        onCancel={onClose}
      >
        <Text label="Message" name="message" autoFocus placeholder="Why this run?" />
        <Choices
          legend="What it does"
          type="radio"
          name="kind"
          options={allowed}
          chosen={[kind.value]}
          onChange={(value) => (kind.value = value as Kind)}
        />
        <Picker
          label="Configuration"
          source={source}
          wanted={configuration}
          says={
            hasConfiguration.value === false
              ? 'This workspace has none yet. Pick the folder with your .tf files, or an archive (.tar.gz).'
              : 'The latest one of this workspace. Or pick another:'
          }
        />
        <details>
          <summary>More options</summary>
          <div class="stack">
            {permissions['can-queue-apply'] && (
              <Choice
                name="auto-apply"
                label="Apply without asking"
                hint="If the plan has changes, apply them at once."
              />
            )}
            <Choice
              name="no-refresh"
              label="Do not refresh"
              hint="Plan from the state as it is, without asking the providers."
            />
            <Text label="Only these resources" name="targets" lines={2} hint="Addresses, one to a line (-target)." />
            <Text
              label="Replace these resources"
              name="replacements"
              lines={2}
              hint="Addresses, one to a line (-replace)."
            />
          </div>
        </details>
      </Form>
    </Dialog>
  );
};
